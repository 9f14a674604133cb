"""The recipe of docs/how-to/trade-statistics.md: a field of an order beside its trades.

It doubles no trade, whatever the legs, days and accounts of the orders.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import pytest

import tradingdata as td

KEYS = ["account", "client_id", "exchange", "segment", "day", "order_no"]
MORNING = dt.datetime(2026, 11, 20, 9, 30)
NEXT = MORNING + dt.timedelta(days=3)
# The legs that an order may have, as a service may number them; the first has the strategy.
LEGS: dict[str, list[dict[str, Any]]] = {
    "one": [{"leg_no": 1.0}],
    "not numbered": [{"leg_no": None}],
    "from zero": [{"leg_no": 0.0}, {"leg_no": 1.0, "txn_type": "S"}],
    "bracket": [
        {"leg_no": 3.0, "txn_type": "S"},
        {"leg_no": 1.0},
        {"leg_no": 2.0, "txn_type": "S", "order_date_time": MORNING + dt.timedelta(hours=1)},
    ],
}


def book_of(legs: list[dict[str, Any]], account: str | None, at: dt.datetime) -> td.OrderBook:
    first = min(range(len(legs)), key=lambda row: legs[row]["leg_no"] or 0)
    shared: dict[str, Any] = {"account": account, "client_id": "C1", "exchange": "NSE"}
    shared |= {"segment": "E", "order_no": "7", "txn_type": "B"}
    return td.OrderBook(
        td.Order(
            **shared | leg | {"order_date_time": leg.get("order_date_time", at)},
            strategy_id=f"{account} {at:%d}" if row == first else "of a later leg",
        )
        for row, leg in enumerate(legs)
    )


def fills_of(orders: td.OrderBook) -> td.TradeBook:
    """Two fills of each leg."""
    names = ["account", "client_id", "exchange", "segment", "order_no", "txn_type"]
    return td.TradeBook(
        td.Trade(
            **{name: order[name] for name in (*names, "order_date_time")},
            trade_no=str(number),
            trade_value=100.0,
        )
        for number, order in enumerate(order for order in orders for _ in range(2))
    )


def with_day(table: Any) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()
    return frame.assign(day=frame["order_date_time"].dt.normalize())


@pytest.mark.parametrize("accounts", [[None], ["a", "b"]])
@pytest.mark.parametrize("legs", LEGS)
def test_each_trade_is_there_once_with_the_field_of_its_order(
    legs: str, accounts: list[str | None]
) -> None:
    later = [leg for leg in LEGS[legs] if "order_date_time" not in leg]
    parts = [book_of(LEGS[legs], account, MORNING) for account in accounts]
    parts += [book_of(later, account, NEXT) for account in accounts]
    orders = td.concat(parts)
    trades = fills_of(orders)
    first = with_day(orders.sort("leg_no")).drop_duplicates(KEYS)
    fills = with_day(trades)
    beside = fills.merge(first[[*KEYS, "strategy_id"]], "left", on=KEYS, validate="many_to_one")
    assert beside["trade_value"].sum() == 100 * len(trades)
    day = beside["order_date_time"].dt.strftime("%d")
    account = [name or "None" for name in trades.column("account")]
    assert beside["strategy_id"].tolist() == [f"{a} {d}" for a, d in zip(account, day, strict=True)]
