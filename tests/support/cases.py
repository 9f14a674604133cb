"""Trades and orders of one client in one option, for the cases of public reports."""

from __future__ import annotations

import datetime as dt
from typing import Any

import tradingdata as td
from analysis_samples import TIME, unwarned
from tradingdata._util.declarations import RECORDS
from tradingdata.analysis.keys import CONTRACT, REQUIRED
from tradingdata.analysis.results import ATTRIBUTES

CALL: dict[str, Any] = dict(zip(ATTRIBUTES[:2], (24000.0, "CE"), strict=True))
PUT: dict[str, Any] = dict(zip(ATTRIBUTES[:2], (25000.0, "PE"), strict=True))
KEY_OF_C1: dict[str, Any] = dict(zip(REQUIRED, ("C1", "NSE", "D", "43210", "M"), strict=True))
ENTERED, RECEIVED = RECORDS["Order"]["event_times"]


def when(text: str) -> dt.datetime:
    """A time of November 2026, such as "16 10:00"."""
    return dt.datetime.strptime(f"2026-11 {text}", "%Y-%m %d %H:%M")


def expiring(day: int, month: int = 11, **more: Any) -> dict[str, Any]:
    """The fields of a contract that expires on a day."""
    return {CONTRACT[-1]: dt.date(2026, month, day), **more}


def made(
    number: int,
    side: str,
    quantity: int,
    price: float,
    time: str,
    value: float | None = None,
    **fields: Any,
) -> td.Trade:
    """A trade whose value is that of single shares unless given."""
    facts: dict[str, Any] = KEY_OF_C1 | {"order_no": str(number), "lot_size": 1, TIME: when(time)}
    return td.Trade(
        **facts | fields,
        trade_no=str(number),
        txn_type=side,
        quantity=quantity,
        traded_price=price,
        trade_value=quantity * price if value is None else value,
    )


def ordered(entered: dt.datetime, received: dt.datetime, number: str = "1", **fields: Any) -> Any:
    """The order of ten that the trade of that number belongs to."""
    facts = {**KEY_OF_C1, "txn_type": "B", "order_no": number, "quantity": 10}
    return td.Order(**{**facts, ENTERED: entered, RECEIVED: received, **fields})


def filled(entered: dt.datetime, **fields: Any) -> Any:
    """An order of ten that was filled at 100."""
    return ordered(entered, entered, traded_qty=10, avg_traded_price=100.0, **fields)


def problems(result: Any) -> list[str]:
    return [issue.problem for issue in result.issues]


def measured(*orders: Any, trades: Any = ()) -> list[tuple[Any, ...]]:
    """The latency, the wait and the time to the first fill of each order."""
    found = unwarned(lambda: td.execution_quality(td.OrderBook(orders), td.TradeBook(trades)))
    return [(row.to_exchange, row.waited, row.to_first_fill) for row in found]


SOLD = made(1, "S", 75, 10, "16 10:00", **expiring(17, **CALL))
BOUGHT = made(2, "B", 75, 50, "20 10:00", **expiring(24, **PUT))
TWO_CONTRACTS = td.TradeBook([SOLD, BOUGHT])
