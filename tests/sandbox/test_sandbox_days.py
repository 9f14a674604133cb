"""The sandbox's clock is that of its books: an archive has a simulated day under its own date."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path

import pytest

import tradingdata as td
from tradingdata.sandbox import DEFAULT_DAY

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


@pytest.mark.parametrize("days", [["2026-11-20"], ["2026-11-18", "2026-11-19", "2026-11-20"]])
def test_an_archive_has_each_simulated_day_under_its_date(tmp_path: Path, days: list[str]) -> None:
    archive = td.Archive(tmp_path / "books")
    for day in days:
        with td.sandbox.start(day=day, orders=30) as service, service.client() as client:
            archive.fetch(client)
            orders, trades = client.order_book(), client.trade_book()
        assert len(archive.orders(day)) == len(orders)
        assert len(archive.trades(day)) == len(trades)
    assert len(archive.fetches()) == len(archive.fetches(days[0], days[-1])) == 2 * len(days)
    assert len(archive.trades()) == len(archive.trades(days[0], days[-1]))


def test_a_failure_is_of_the_simulated_day() -> None:
    with td.sandbox.start(orders=20) as service, service.client(attempts=1) as client:
        service.fail_next(500)
        with pytest.raises(td.ServerError) as caught:
            client.trade_book()
    assert caught.value._received_at == CLOSE


def test_a_watch_is_at_the_market_time() -> None:
    with td.sandbox.start(orders=60, speed=600) as service, service.client() as client:
        updates = client.watch_orders(0.1)
        moments = [next(updates).at for _ in range(3)]
    assert moments == sorted(moments)
    assert {moment.date() for moment in moments} == {DEFAULT_DAY}
