"""Every kind of fault that the sandbox can be asked for, as it looks from the other end."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox_calls import Response, ask
from tradingdata import sandbox
from tradingdata._util.declarations import CALLS

ENDPOINTS = list(CALLS)


@pytest.fixture(scope="module")
def running() -> Iterator[sandbox.Service]:
    with sandbox.start(orders=30, accounts=2) as service:
        yield service


@pytest.fixture
def day(running: sandbox.Service) -> Iterator[sandbox.Service]:
    yield running
    running.clear_faults()


def after(day: sandbox.Service, kind: str, endpoint: str, **details: Any) -> Response:
    """The call that meets the fault; the call after it succeeds."""
    good = ask(day, endpoint)
    assert good.status == 200
    day.fail_next(kind, **details)
    response = ask(day, endpoint)
    assert ask(day, endpoint).body == good.body
    return response


HTML = "text/html; charset=utf-8"
JSON = "application/json"
REFUSED = b'{"data":null,"message":"Refused","status":"error"}'
EMPTY = '{"data":null,"message":"Success","status":"success"}'


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(
    ("kind", "details", "status", "content_type", "body"),
    [
        *((str(status), {}, status, JSON, REFUSED) for status in (401, 403, 429, 500, 503)),
        ("status", {}, 418, JSON, REFUSED),
        ("status", {"code": 404}, 404, JSON, REFUSED),
        *(("429", {"retry_after": after}, 429, JSON, REFUSED) for after in (2, 0.5, "soon")),
        ("200", {"message": "Refused"}, 200, JSON, REFUSED),
        ("200", {"body": EMPTY}, 200, JSON, EMPTY.encode()),
        ("200", {"body": b""}, 200, JSON, b""),
        ("200", {"body": '{"data" [}'}, 200, JSON, b'{"data" [}'),
        ("503", {"body": "<html>₹</html>"}, 503, HTML, "<html>₹</html>".encode()),
    ],
)
def test_a_response_has_the_status_and_the_body_asked_for(
    day: sandbox.Service,
    endpoint: str,
    kind: str,
    details: dict[str, Any],
    status: int,
    content_type: str,
    body: bytes,
) -> None:
    response = after(day, kind, endpoint, **details)
    assert (response.status, response.headers["content-type"]) == (status, content_type)
    assert response.body == body
    wait = details.get("retry_after")
    assert response.headers.get("retry-after") == (None if wait is None else str(wait))
    assert "date" in response.headers


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_stall_sends_nothing_for_its_time(day: sandbox.Service, endpoint: str) -> None:
    day.fail_next("stall", seconds=30)
    with pytest.raises(TimeoutError):
        ask(day, endpoint, timeout=0.2)
    day.fail_next("stall", seconds=0.1)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(day, endpoint)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_cut_body_is_shorter_than_was_said(day: sandbox.Service, endpoint: str) -> None:
    whole = ask(day, endpoint).body
    for part in (0.5, 0):
        day.fail_next("cut", at=part)
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(day, endpoint)
        assert caught.value.partial == whole[: int(len(whole) * part)]


def test_faults_come_in_turn_and_as_often_as_asked(day: sandbox.Service) -> None:
    day.fail_next(503, times=2)
    day.fail_next("429")
    assert [ask(day, "search").status for _ in range(4)] == [503, 503, 429, 200]


def test_a_fault_waits_for_its_endpoint_and_its_account(day: sandbox.Service) -> None:
    day.fail_next("500", endpoint="order_book")
    day.fail_next("504", account="desk2")
    failed = [name for name in ENDPOINTS if ask(day, name).status == 500]
    assert failed == ["order_book"]
    assert ask(day, "trade_book", "desk1").status == 200
    assert ask(day, "trade_book", "desk2").status == 504


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "stalls"}, "did you mean 'stall'"),
        ({"kind": "meteor"}, "known: 'status', 'stall'"),
        ({"kind": "500", "endpoint": "orders_book"}, "did you mean 'order_book'"),
        ({"kind": "500", "account": "desk9"}, "desk1, desk2"),
        ({"kind": "stall", "second": 1}, "did you mean 'seconds'"),
        ({"kind": "cut", "seconds": 1}, "known: 'at'"),
        ({"kind": "stall", "seconds": "1"}, "seconds must be a number"),
        ({"kind": "cut", "at": -1}, "at must be a number"),
        ({"kind": "500", "times": 0}, "times must be 1 or more"),
    ],
)
def test_a_slip_in_asking_is_reported_at_once(
    day: sandbox.Service, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        day.fail_next(**arguments)
    assert ask(day, "search").status == 200
