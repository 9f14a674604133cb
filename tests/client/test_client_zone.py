"""`Client(tz=)`: one zone for rows, headings, frames, watches and the archive."""

from __future__ import annotations

import asyncio
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import tradingdata as td
from tradingdata.sandbox import Service

INDIA = ZoneInfo("Asia/Kolkata")


def options(sandbox: Service, **more: Any) -> dict[str, Any]:
    return {
        "base_url": sandbox.base_url,
        "access_token": sandbox.token(),
        "account": "desk1",
        **more,
    }


async def async_books(given: dict[str, Any]) -> list[Any]:
    async with td.AsyncClient(**given) as client:
        return [await client.trade_book(), *await client.books()]


@pytest.mark.parametrize("tz", ["Asia/Kolkata", INDIA])
def test_every_book_of_the_client_is_in_its_zone(sandbox: Service, tz: Any) -> None:
    client = td.Client(**options(sandbox, tz=tz))
    naive = td.Client(**options(sandbox))
    assert client.tz == INDIA
    assert naive.tz is None
    found = [
        client.trade_book(),
        *client.books(),
        *asyncio.run(async_books(options(sandbox, tz=tz))),
    ]
    plain: dict[Any, Any] = {td.TradeBook: naive.trade_book(), td.OrderBook: naive.order_book()}
    for book in found:
        assert book == plain[type(book)].localize(INDIA)
        assert book.response.received_at.tzinfo == UTC
        assert book.issues == plain[type(book)].issues


def test_a_zone_that_does_not_exist_is_a_configuration_error(sandbox: Service) -> None:
    with pytest.raises(td.ConfigurationError, match="tz: there is no time zone 'Asia/Mumbai'"):
        td.Client(sandbox.base_url, tz="Asia/Mumbai")
    with pytest.raises(TypeError, match="a time zone is a name"):
        td.Client(sandbox.base_url, tz=5.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("previous_zone", [None, "Asia/Kolkata", "UTC"])
def test_a_watch_continues_from_a_book_in_any_zone(
    sandbox: Service, previous_zone: str | None
) -> None:
    client = td.Client(**options(sandbox, tz="Asia/Kolkata"))
    previous = td.Client(**options(sandbox)).order_book().localize(previous_zone)
    update: Any = next(client.watch_orders(interval=0.1, previous=previous[1:]))
    assert [change.kind for change in update.changes] == ["new"]
    assert update.changes[0].order.order_date_time.tzinfo == INDIA
    assert update.orders[0].order_date_time.tzinfo == INDIA
    assert "+05:30" in repr(update)
    fills = td.Client(**options(sandbox)).trade_book().localize(previous_zone)
    traded: Any = next(client.watch_trades(interval=0.1, previous=fills[1:]))
    assert len(traded.fills) == 1
    assert traded.fills[0].exch_trade_time.tzinfo == INDIA
