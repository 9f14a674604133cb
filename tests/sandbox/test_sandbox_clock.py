"""The sandbox's clock: a day that stands, unfolds, or is led by hand."""

from __future__ import annotations

import asyncio
import datetime as dt
import time as wall
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

import pytest

import tradingdata as td
from sandbox_calls import ask, column, orders, trades
from tradingdata import sandbox
from tradingdata._util.declarations import BOOK_CALLS
from tradingdata.sandbox.day import SimulatedBooks
from tradingdata.sandbox.market import Market


@pytest.fixture
def led() -> Iterator[sandbox.Service]:
    """A day whose clock stays at 09:15 until it is advanced."""
    with sandbox.start(speed=0) as running:
        yield running


def test_every_time_is_in_market_hours_and_in_order(led: sandbox.Service) -> None:
    for moment in ("09:20", "11:11:11", "15:30"):
        now = led.advance_to(moment).isoformat(" ")
        for trade in trades(led):
            entered, received = trade["order_date_time"], trade["exch_order_time"]
            traded, updated = trade["exch_trade_time"], trade["last_updated_time"]
            assert entered <= received <= traded <= updated <= now
            assert received >= "2026-11-20 09:15:00"
        for order in orders(led):
            entered, received = order["order_date_time"], order["exch_order_time"]
            assert entered <= received >= "2026-11-20 09:15:00"
            assert received <= order["last_updated_time"] <= now
    assert now == "2026-11-20 15:30:00"


def test_books_only_grow_and_end_as_the_day_that_stands() -> None:
    with sandbox.start() as done, sandbox.start(speed=0) as led:
        assert done.now == datetime(2026, 11, 20, 15, 30)
        seen: list[str] = []
        while led.now.time() < time(15, 30):
            led.advance_to((led.now + timedelta(minutes=10)).time())
            numbers = column(trades(led), "trade_no")
            assert numbers[: len(seen)] == seen
            seen = numbers
        for endpoint in BOOK_CALLS:
            assert ask(led, endpoint).body == ask(done, endpoint).body


def test_the_reference_price_of_a_waiting_order_moves_and_then_rests(led: sandbox.Service) -> None:
    led.advance_to("10:00")
    first = {order["order_no"]: order for order in orders(led)}
    led.advance_to("10:10")
    second = {order["order_no"]: order for order in orders(led)}
    moved = {key for key in first if first[key]["ref_ltp"] != second[key]["ref_ltp"]}
    ended = {key for key in first if first[key]["status"] != "Pending"}
    assert moved
    assert not moved & ended


def test_a_day_with_a_speed_unfolds_and_goes_on_from_where_it_is_set() -> None:
    with sandbox.start(speed=600) as service:
        first = service.now
        assert first < datetime(2026, 11, 20, 9, 45)
        wall.sleep(0.3)
        assert 150 < (service.now - first).total_seconds() < 3600 * 5
        assert trades(service)
        assert time(13) <= service.advance_to("13:00").time() < time(13, 30)
        wall.sleep(0.1)
        assert service.now.time() > time(13, 0, 30)


def test_a_day_that_unfolds_stops_at_its_end() -> None:
    with sandbox.start(speed=10_000_000) as service:
        wall.sleep(0.02)
        assert service.now == datetime(2026, 11, 20, 15, 30)
        assert service.advance_to("18:00").time() == time(18)
        assert len(orders(service)) == 200


def test_times_of_a_day_are_taken_in_every_usual_form(led: sandbox.Service) -> None:
    expected = datetime(2026, 11, 20, 10, 30)
    assert led.advance_to("10:30") == expected
    assert led.advance_to("10:30:00") == expected
    assert led.advance_to(time(10, 30)) == expected
    assert led.now == expected
    for moment in ("soon", "25:00", time(10, tzinfo=UTC)):
        with pytest.raises(ValueError, match=r"time|zone"):
            led.advance_to(moment)
    assert led.now == expected
    assert led.advance_to("09:00").time() == time(9)
    assert orders(led) == []


def test_a_second_is_made_once() -> None:
    books = SimulatedBooks(0, Market(0, dt.date(2026, 11, 20)), 5)
    assert books.at(60) is books.at(60)
    assert books.at(61) is not books.at(60)


def test_one_label_is_not_taken_for_its_letters() -> None:
    with pytest.raises(TypeError, match=r"\['desk1'\]"):
        sandbox.start(accounts="desk1")


# -- the clock of books --


CLOSE = dt.datetime(2026, 11, 20, 10, 0, tzinfo=dt.UTC)  # 15:30 in India


def received_at(book: td.TradeBook | td.OrderBook) -> dt.datetime:
    assert book.response is not None
    assert book.response.received_at is not None
    return book.response.received_at.replace(microsecond=0)


def test_a_book_was_received_at_its_market_time() -> None:
    with td.sandbox.start(orders=20, speed=0) as service, service.client() as client:
        for moment in ("15:30", "09:30", "11:00:01"):
            clock = service.advance_to(moment)
            india = dt.timezone(dt.timedelta(hours=5, minutes=30))
            assert received_at(client.order_book()) == clock.replace(tzinfo=india)
        awaited = asyncio.run(later(service))
        assert received_at(awaited) == clock.replace(tzinfo=india)


async def later(service: td.sandbox.Service) -> td.TradeBook:
    async with service.async_client() as client:
        return await client.trade_book()


def test_another_service_has_no_simulated_clock() -> None:
    """A token of any other form, and another address, leave the computer's clock in charge."""
    with td.sandbox.start(orders=20) as simulated:
        before = dt.datetime.now(dt.UTC).replace(microsecond=0)
        token = simulated._tokens["desk1"] = simulated.token().replace("sandbox-", "other-")
        book = td.Client(simulated.base_url, access_token=token).trade_book()
    assert before <= received_at(book) <= dt.datetime.now(dt.UTC)
