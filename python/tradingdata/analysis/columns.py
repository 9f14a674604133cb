"""Columns of a book as lists, and what to say of a row that cannot be counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..books import OrderBook, TradeBook
from ..checks import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    AnyBook = TradeBook | OrderBook


def read(book: AnyBook, *names: str) -> list[list[Any]]:
    """The named columns of a book, each a list of its values."""
    return [book._table.column(name, book._start, book._stop) for name in names]


def check_book(name: str, value: object, kind: type[AnyBook]) -> None:
    """Raises TypeError for what is not a book of that kind, frames among them."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} takes a book of type {kind.__name__}, not {type(value).__name__}")


def check_codes(buy: str, sell: str) -> None:
    """Raises where the codes of the two sides are no two texts."""
    text("buy", buy)
    text("sell", sell)
    if buy == sell:
        raise ValueError(f"buy and sell are two codes, not {buy!r} twice")


def require_values(trades: TradeBook, columns: dict[str, Sequence[Any]]) -> None:
    """Raises ValueError for the first row that lacks a value which the result depends on."""
    for name, values in columns.items():
        if None in values:
            row = values.index(None)
            raise ValueError(
                f"{name} is missing in row {row} ({_told(trades, row)}), and cannot be taken as "
                f"nothing: see trades.issues, then leave such rows out with "
                f"td.TradeBook(t for t in trades if t.{name} is not None), or mend them"
            )


def _told(trades: TradeBook, row: int) -> str:
    return f"trade_no {trades[row].trade_no!r}"


def require_sides(trades: TradeBook, sides: list[str], buy: str, sell: str) -> None:
    """Raises ValueError for a transaction type that is neither code."""
    for code in set(sides) - {buy, sell}:
        row = sides.index(code)
        raise ValueError(
            f"txn_type is {code!r} in row {row} ({_told(trades, row)}), neither {buy!r} nor "
            f"{sell!r}: say which codes the service uses with buy= and sell="
        )


def require_quantities(trades: TradeBook, quantities: list[int]) -> None:
    """Raises ValueError for a quantity below 1, whose meaning the service does not tell."""
    for row, quantity in enumerate(quantities):
        if quantity < 1:
            raise ValueError(
                f"quantity is {quantity} in row {row} ({_told(trades, row)}): a trade has 1 or more"
            )


def require_once(trades: TradeBook, identities: list[tuple[Any, ...]]) -> None:
    """Raises ValueError for a trade that the book holds twice; it would be counted twice."""
    if len(set(identities)) == len(identities):
        return
    seen: dict[tuple[Any, ...], int] = {}
    for row, identity in enumerate(identities):
        if identity in seen:
            raise ValueError(
                f"rows {seen[identity]} and {row} are one trade ({_told(trades, row)}) and would "
                "count twice: where rows are equal, td.TradeBook(dict.fromkeys(trades)) keeps one"
            )
        seen[identity] = row
