"""Refuses rows that a calculation cannot use.

Every message names the first such row, and says how to continue.
"""

from __future__ import annotations

from typing import Any

from .._core import Slice
from .._util.validate import text
from ..books.issues import repeated
from .keys import KEY, REQUIRED


def check_codes(buy: str, sell: str) -> None:
    """Raises TypeError or ValueError unless the side codes are two different strings."""
    text("buy", buy)
    text("sell", sell)
    if buy == sell:
        raise ValueError(f"buy and sell must be two different codes, not {buy!r} twice")


def require_values(rows: Slice, *names: str) -> None:
    """Raises ValueError for the first row in which a required value is missing."""
    missing = rows.missing(names)
    if missing is not None:
        name, row = missing
        raise ValueError(
            f"{name} is missing in row {row} ({_trade(rows, row)}) and cannot be treated as zero: "
            "see `trades.issues`, then correct such rows, or leave them out with "
            f"`td.TradeBook(t for t in trades if t.{name} is not None)`"
        )


def _trade(rows: Slice, row: int) -> str:
    return f"trade_no {rows[row].trade_no!r}"


def require_sides(rows: Slice, buy: str, sell: str) -> None:
    """Raises ValueError for a transaction type that is neither code."""
    if {buy, sell}.issuperset(rows.distinct("txn_type")):
        return
    pass_codes = "pass the codes of the service as `buy` and `sell`"
    _refuse(rows, "txn_type", "ne", [buy, sell], f"neither {buy!r} nor {sell!r}: {pass_codes}")


def _refuse(rows: Slice, field: str, comparison: str, values: list[Any], problem: str) -> None:
    """Raises ValueError for the first row whose field meets a condition."""
    refused = rows.where([(field, comparison, "all", False, values)])
    if len(refused):
        row = rows.find(refused[0])[0]
        where = f"{field} is {refused[0][field]!r} in row {row} ({_trade(rows, row)})"
        raise ValueError(f"{where}, {problem}")


_IDENTITY = ("trade_no", *KEY, "order_no", "txn_type", "exch_trade_time.day")


def require_once(rows: Slice) -> None:
    """Raises ValueError for a trade that the book contains twice, which would count twice."""
    for first, row in repeated(rows, _IDENTITY):
        raise ValueError(
            f"rows {first} and {row} are one trade ({_trade(rows, row)}) and would count twice: "
            "keep one of each if they are equal, with td.TradeBook(dict.fromkeys(trades))"
        )


def require_fills(rows: Slice, buy: str, sell: str, *, timed: bool = False) -> None:
    """Raises ValueError for a row of trades that cannot be added up.

    That is a row that lacks a required value (with ``timed``, also ``exch_trade_time``), has
    another ``txn_type`` than the two codes or a quantity below 1, or appears twice.
    """
    check_codes(buy, sell)
    time = ["exch_trade_time"] if timed else []
    require_values(rows, *REQUIRED, "txn_type", "quantity", "trade_value", *time)
    require_sides(rows, buy, sell)
    at_least = "but a trade has at least 1: correct the row or leave it out"
    _refuse(rows, "quantity", "lt", [1], at_least)
    require_once(rows)
