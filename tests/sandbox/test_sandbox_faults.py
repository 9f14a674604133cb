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


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("401", 401),
        ("403", 403),
        ("429", 429),
        ("500", 500),
        ("502", 502),
        ("503", 503),
        ("504", 504),
        ("status", 418),
    ],
)
def test_a_refusal_is_a_status_with_an_error_envelope(
    day: sandbox.Service, endpoint: str, kind: str, status: int
) -> None:
    response = after(day, kind, endpoint)
    assert response.status == status
    assert response.json["status"] == "error"
    assert response.json["data"] is None
    assert response.json["message"]


@pytest.mark.parametrize(
    ("given", "sent"), [(2, "2"), (0.5, "0.5"), ("soon", "soon"), (None, None)]
)
@pytest.mark.parametrize("kind", ["429", "503"])
def test_retry_after_is_sent_as_asked(
    day: sandbox.Service, kind: str, given: object, sent: str | None
) -> None:
    response = after(day, kind, "trade_book", retry_after=given)
    assert response.headers.get("retry-after") == sent
    assert "date" in response.headers


HTML = "text/html; charset=utf-8"
JSON = "application/json"
FAILED = b'{"data":null,"message":"Session ended","status":"error"}'
EMPTY = '{"data":null,"message":"Success","status":"success"}'


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize(
    ("status", "details", "content_type", "body"),
    [
        (200, {"message": "Session ended"}, JSON, FAILED),
        (200, {"body": EMPTY}, JSON, EMPTY.encode()),
        (200, {"body": b""}, JSON, b""),
        (200, {"body": '{"data" [}'}, JSON, b'{"data" [}'),
        (503, {"body": "<html>₹</html>"}, HTML, "<html>₹</html>".encode()),
    ],
)
def test_a_response_has_the_status_and_the_body_asked_for(
    day: sandbox.Service,
    endpoint: str,
    status: int,
    details: dict[str, Any],
    content_type: str,
    body: bytes,
) -> None:
    response = after(day, str(status), endpoint, **details)
    assert (response.status, response.headers["content-type"]) == (status, content_type)
    assert response.body == body


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
