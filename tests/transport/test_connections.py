"""Kept connections: what ends them, and what arrives on them between two calls."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

import service as s
import tradingdata as td
from calls import TOKEN, Call, at_once, both, good_book, sync_call, within
from service import Authority, Behaviour, Service
from tradingdata._util.declarations import BOOK_CALLS, CALLS

pytestmark = pytest.mark.sanitize

BODY = s.as_json(s.envelope(list(s.trades(3))))
PAUSES = [0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2]
LONG_PAUSES = [pytest.param(seconds, marks=pytest.mark.slow) for seconds in (1, 2, 5)]
ENOUGH = 0.02  # seconds in which bytes cross the loopback
secure = pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])


def started(service: Service, *first: Behaviour, ca: Authority) -> dict[str, Any]:
    """Scripts `first` for the trade book and 5 rows for every later call; returns the options."""
    service.script(*first, then=s.book_reply(s.trades(5)), path=CALLS["trade_book"]["path"])
    service.script(then=s.book_reply(s.orders(5)), path=CALLS["order_book"]["path"])
    service.choose(s.pages(s.stocks(5)), path=CALLS["search"]["path"])
    return {"access_token": TOKEN, "ca_file": str(ca.pem_file), "attempts": 1}


def sync_rows(url: str, options: dict[str, Any], call: str, idle: Any) -> list[int]:
    """The rows of a trade book, then of a call after `idle` has returned, then of both again."""

    def rows(client: td.Client, call: str) -> int:
        result = getattr(client, call)(*([] if call in BOOK_CALLS else ["tata"]))
        return len(result if call in BOOK_CALLS else result.first(5))

    with td.Client(url, **options) as client:
        first = rows(client, "trade_book")
        idle()
        return [first, *(rows(client, call) for call in (call, "trade_book", call))]


def async_rows(url: str, options: dict[str, Any], call: str, idle: Any) -> list[int]:
    """The same with AsyncClient."""

    async def rows(client: td.AsyncClient, call: str) -> int:
        result = getattr(client, call)(*([] if call in BOOK_CALLS else ["tata"]))
        return len(await (result if call in BOOK_CALLS else result.first(5)))

    async def run() -> list[int]:
        async with td.AsyncClient(url, **options) as client:
            first = await rows(client, "trade_book")
            await asyncio.to_thread(idle)
            return [first, *[await rows(client, call) for call in (call, "trade_book", call)]]

    return asyncio.run(run())


COMBINATIONS = [(read, call) for read in (sync_rows, async_rows) for call in CALLS]


@secure
@pytest.mark.parametrize("pause", [*PAUSES, *LONG_PAUSES])
def test_a_response_that_nobody_asked_for_is_nobody_s(
    pause: float, secure: bool, ca: Authority
) -> None:
    def rows(index: int) -> tuple[list[int], int]:
        read, call = COMBINATIONS[index]
        body = s.EMPTY_BOOK if call in BOOK_CALLS else b"[]"
        sent = threading.Event()

        def idle() -> None:
            assert sent.wait(30)
            time.sleep(ENOUGH)

        with Service(tls=ca.good() if secure else None) as service:
            first = s.unasked(s.reply(200, BODY), sent, pause=pause, body=body)
            counts = read(service.base_url, started(service, first, ca=ca), call, idle)
            return counts, len(service.connections)

    assert at_once(len(COMBINATIONS), rows) == [([3, 5, 5, 5], 2)] * len(COMBINATIONS)


def in_one_write(cut: int, extra: bytes) -> Behaviour:
    """Sends a head, a part of the body, and the rest of it with more bytes, in three writes."""
    start = s.head(200, s.CONTENT_TYPE, ("Content-Length", str(len(BODY))))
    rest = s.delay(ENOUGH, s.raw(BODY[cut:] + extra))
    return s.steps(s.raw(start), s.delay(ENOUGH, s.raw(BODY[:cut])), rest)


@secure
@pytest.mark.parametrize("cut", [0, len(BODY) // 2, len(BODY) - 1])
def test_bytes_that_came_with_the_end_of_a_response_are_dropped(
    cut: int, secure: bool, ca: Authority
) -> None:
    """Over TLS the library has decrypted them, and the socket has nothing to read."""
    with Service(tls=ca.good() if secure else None) as service:
        stray = in_one_write(cut, s.message(body=s.EMPTY_BOOK))
        options = started(service, stray, stray, ca=ca)
        counts = sync_rows(service.base_url, options, "trade_book", lambda: None)
        assert counts == [3, 3, 5, 5]
        assert len(service.connections) == 3


@secure
@both
def test_a_quiet_connection_is_kept(call: Call, secure: bool, ca: Authority) -> None:
    """Also where TLS 1.3 sent its session tickets after the handshake."""
    with Service(tls=ca.good() if secure else None) as service:
        read = sync_rows if call.__name__ == "sync_call" else async_rows
        counts = read(
            service.base_url, started(service, ca=ca), "order_book", lambda: time.sleep(ENOUGH)
        )
        assert counts == [5, 5, 5, 5]
        assert len(service.connections) == 1


def test_the_new_connection_is_within_the_deadline_and_no_attempt(service: Service) -> None:
    sent = threading.Event()
    service.script(s.unasked(good_book(), sent), s.stall())
    with td.Client(service.base_url, access_token=TOKEN, timeout=0.3) as client:
        client.trade_book(timeout=5)
        assert sent.wait(30)
        time.sleep(ENOUGH)
        waiting = pytest.raises(td.DeadlineError, match="while waiting for the response")
        with within(0.3), waiting as caught:
            client.trade_book()
        assert caught.value.attempts == 1
        assert len(service.requests) == 2


def test_every_one_of_many_kept_connections_is_looked_at(service: Service) -> None:
    """Eight calls at once leave eight connections, four of them with a stray response."""
    sent = [threading.Event() for _ in range(4)]
    gate = threading.Event()
    kept = [s.hold(gate, good_book()) for _ in range(4)]
    service.script(
        *(s.hold(gate, s.unasked(good_book(), event)) for event in sent), *kept, then=good_book(5)
    )

    async def run() -> list[int]:
        async with td.AsyncClient(service.base_url, access_token=TOKEN) as client:
            first = [asyncio.create_task(client.trade_book()) for _ in range(8)]
            await asyncio.to_thread(service.wait_for_requests, 8)
            gate.set()
            await asyncio.gather(*first)
            assert all([await asyncio.to_thread(event.wait, 30) for event in sent])
            await asyncio.sleep(ENOUGH)
            books = await asyncio.gather(*(client.trade_book() for _ in range(8)))
            return [len(book) for book in books]

    assert asyncio.run(run()) == [5] * 8
    assert len(service.connections) <= 12


class TestConnections:
    """Kept connections that end in the wrong moment cost no error."""

    @both
    def test_closed_while_idle(self, call: Any, service: Service) -> None:
        service.script(s.steps(good_book(), s.hang_up), good_book())
        with td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            service.wait_for_open(0)
            book = client.trade_book()
        assert book.response is not None
        assert book.response.attempts == 1
        assert [request.connection for request in service.requests] == [0, 1]

    @pytest.mark.parametrize("end", [s.hang_up, s.reset], ids=["closed", "reset"])
    def test_closed_after_the_request_was_written(self, service: Service, end: Behaviour) -> None:
        service.script(good_book(), end, good_book())
        with td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            assert len(client.trade_book()) == 3
        assert [request.connection for request in service.requests] == [0, 0, 1]
        assert len({request.raw for request in service.requests}) == 1

    @pytest.mark.long
    def test_a_connection_idle_for_a_minute_is_not_trusted(self, service: Service) -> None:
        service.script(then=good_book())
        with td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            time.sleep(62)
            client.trade_book()
        assert [request.connection for request in service.requests] == [0, 1]

    def test_http_1_1_is_spoken_even_where_http_2_is_offered(self, ca: Authority) -> None:
        with Service(tls=ca.good(alpn=["h2", "http/1.1"])) as service:
            service.script(good_book())
            assert len(sync_call(service.base_url, ca_file=ca.pem_file)) == 3
            assert service.connections[0].alpn in {None, "http/1.1"}
            assert service.requests[0].version == "HTTP/1.1"


def test_cookies_and_security_headers_change_nothing(service: Service) -> None:
    headers = {
        "Set-Cookie": "session=canary; Path=/; Domain=127.0.0.1",
        "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
        "Alt-Svc": 'h2="127.0.0.1:1"; ma=3600',
    }
    service.script(then=s.reply(200, s.EMPTY_BOOK, headers=headers))
    with td.Client(service.base_url, access_token=TOKEN) as client:
        client.trade_book()
        client.trade_book()
    first, second = service.requests
    assert first.raw == second.raw


def test_a_stall_on_a_kept_connection_is_not_taken_for_a_stalled_lookup(service: Service) -> None:
    service.script(good_book(), s.stall())
    with td.Client(service.base_url, access_token=TOKEN) as client:
        client.trade_book()
        with pytest.raises(td.DeadlineError, match="while waiting for the response"):
            client.trade_book(timeout=0.2)
    assert len(service.connections) == 1
