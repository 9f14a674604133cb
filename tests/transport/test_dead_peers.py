"""Silence: of a service that takes its time, and of a connection that is gone."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import service as s
import tradingdata as td
from calls import TOKEN, both, good_book, served, sync_call, within
from service import Authority, Connection, Service
from systems import posix


@pytest.fixture(scope="module", autouse=True)
def may_drop_packets() -> None:
    """Skips here, since a behaviour runs on a thread of the service."""
    posix("fcntl")
    with Service() as service:
        skipped: list[BaseException] = []

        def attempt(connection: Connection) -> None:
            try:
                s.cut_off(connection)
            except BaseException as error:
                skipped.append(error)
            connection.close()

        service.script(then=attempt)
        with pytest.raises(td.TransportError):
            sync_call(service.base_url, attempts=1, timeout=0.5)
        if skipped:
            raise skipped[0]


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
def test_a_dropped_kept_connection_is_replaced_within_a_third(secure: bool, ca: Authority) -> None:
    dropped = threading.Event()
    first = s.steps(good_book(), s.cut_off, lambda _: dropped.set())
    with Service(tls=ca.good() if secure else None) as service:
        service.script(first, then=good_book(5))
        options: dict[str, Any] = {"ca_file": ca.pem_file} if secure else {}
        with td.Client(service.base_url, access_token=TOKEN, timeout=6, **options) as client:
            assert len(client.trade_book()) == 3
            assert dropped.wait(30)
            with within(2.5, at_least=0.5):  # a third, and at most 0.25 s of back-off
                assert len(client.trade_book()) == 5
        assert len(service.connections) == 2


@both
def test_a_connection_dropped_in_a_wait_is_replaced_within_a_third(call: Any) -> None:
    """Probes find out, since everything that was sent has been acknowledged."""
    wait = s.steps(s.cut_off, s.stall())
    with served(wait, good_book()) as service, within(4.5, at_least=1):
        book = call(service.base_url, timeout=12)
    assert len(book) == 3
    assert book.response.attempts == 2


@both
def test_a_slow_service_is_waited_for(call: Any) -> None:
    with served(s.delay(2.5, good_book())) as service:  # more than a third of the deadline
        book = call(service.base_url, timeout=6)
        assert len(service.connections) == 1
    assert (len(book), book.response.attempts) == (3, 1)


@pytest.mark.slow
@both
def test_a_response_after_30_s_is_taken_within_the_deadline(call: Any) -> None:
    with served(s.delay(30, good_book())) as service:
        book = call(service.base_url, timeout=100)
    assert (len(book), book.response.attempts) == (3, 1)


@pytest.mark.slow
@both
def test_a_body_may_pause_for_25_s(call: Any) -> None:
    body = s.as_json(s.envelope(list(s.trades(3))))
    message = s.message(body=body)
    halves = s.steps(s.raw(message[:-100]), s.delay(25, s.raw(message[-100:])))
    with served(halves) as service:
        book = call(service.base_url, timeout=100)
    assert (len(book), book.response.attempts) == (3, 1)
