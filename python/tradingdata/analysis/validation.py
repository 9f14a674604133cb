"""Reads columns of a book and refuses rows that a calculation cannot use.

Every message names the first such row and says how to continue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._util.validate import text
from ..errors import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..books.book import OrderBook, TradeBook


class RowError(ValueError):
    """A row that a calculation cannot use, with a hint as in `TradingDataError`."""

    def __init__(self, message: str, *, hint: str | None = None, name: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        self.name = name

    def __str__(self) -> str:
        return text_of(self)


def read(book: TradeBook | OrderBook, *names: str) -> list[list[Any]]:
    """Returns the named columns of a book as lists of values."""
    return [book._rows.column(name) for name in names]


def check_codes(buy: str, sell: str) -> None:
    """Raises TypeError or ValueError unless the side codes are two different strings."""
    text("buy", buy)
    text("sell", sell)
    if buy == sell:
        raise ValueError(f"buy and sell must be two different codes, not {buy!r} twice")


def require_values(trades: TradeBook, columns: dict[str, Sequence[Any]]) -> None:
    """Raises ValueError for the first row in which a required value is missing."""
    for name, values in columns.items():
        if None in values:
            row = values.index(None)
            raise RowError(
                f"{name} is missing in row {row} ({_trade(trades, row)}) and cannot be treated as "
                "zero",
                hint="missing_value",
                name=name,
            )


def _trade(trades: TradeBook, row: int) -> str:
    return f"trade_no {trades[row].trade_no!r}"


def require_sides(trades: TradeBook, sides: list[str], buy: str, sell: str) -> None:
    """Raises ValueError for a transaction type that is neither code."""
    for code in set(sides) - {buy, sell}:
        row = sides.index(code)
        raise RowError(
            f"txn_type is {code!r} in row {row} ({_trade(trades, row)}), neither {buy!r} nor "
            f"{sell!r}",
            hint="side_codes",
        )


def require_quantities(trades: TradeBook, quantities: list[int]) -> None:
    """Raises ValueError for a quantity below 1, which the service does not define."""
    for row, quantity in enumerate(quantities):
        if quantity < 1:
            raise ValueError(
                f"quantity is {quantity} in row {row} ({_trade(trades, row)}), but a trade has at "
                "least 1: correct the row or leave it out"
            )


def require_once(trades: TradeBook, identities: list[tuple[Any, ...]]) -> None:
    """Raises ValueError for a trade that the book contains twice, which would count twice."""
    if len(set(identities)) == len(identities):
        return
    seen: dict[tuple[Any, ...], int] = {}
    for row, identity in enumerate(identities):
        if identity in seen:
            raise RowError(
                f"rows {seen[identity]} and {row} are one trade ({_trade(trades, row)}) and would "
                "count twice",
                hint="duplicates",
            )
        seen[identity] = row
