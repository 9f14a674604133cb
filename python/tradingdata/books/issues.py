"""The issues of a book: values that do not fit their documented type, or each other.

The decoder finds the former; `check()` of a book finds the latter.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DataWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .._core import Slice

    Row = tuple[int, Any]  # the number of the row, and the value


_NAMED = 3  # of the fields in a warning


class Issue(NamedTuple):
    """Values of a field that do not fit its documented type, by field and problem.

    Attributes:
        field: Wire name of the field.
        problem: Description of the problem.
        count: Number of values affected.
        row: Row of the first one, counted from 0 in the response.
        raw: JSON text of the first one, cut to 64 bytes; ``""`` for personal and missing values.
        lost: Whether the values became ``None``; otherwise the conversion was lossless.
    """

    field: str
    problem: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    row: int
    raw: str
    lost: bool


def decode_issues(rows: Slice) -> tuple[Issue, ...]:
    """Returns the issues that the decoder found in single values and in the book."""
    return tuple(Issue(*issue) for issue in rows.issues)


def warn_of_lost(issues: Iterable[Issue], record: str, *, stacklevel: int) -> None:
    """Warns once for all fields that lost values; the text is constant, so a loop warns once."""
    fields = [f"{record}.{name}" for name in dict.fromkeys(i.field for i in issues if i.lost)]
    if not fields:
        return
    named = ", ".join(fields[:_NAMED]) + (", ..." if len(fields) > _NAMED else "")
    count = f"values of {len(fields)} fields" if len(fields) > 1 else "values"
    warnings.warn(
        f"{count} were lost or missing ({named}): the result's .issues says which",
        DataWarning,
        stacklevel=stacklevel + 1,
    )


_HALF_A_PAISA = 0.005  # prices and values are rounded to two decimals
_A_PAISA = 0.01


def disagreements(rows: Slice, *, is_whole: bool) -> tuple[Issue, ...]:
    """Returns the issues that ``check()`` finds in rows, which may be a complete response."""
    found = list(_of_trades(rows) if rows.record == "Trade" else _of_orders(rows))
    if is_whole:  # row numbers of a part have gaps, and those of a concatenation repeat
        found += _of_row_numbers(rows)
    return tuple(issue for issue in found if issue is not None)


def _of_trades(trades: Slice) -> Iterable[Issue | None]:
    names = ("quantity", "traded_price", "trade_value", "lot_size")
    rows = list(_rows(trades, *names))

    def differs(values: tuple[Any, ...]) -> bool:
        return None not in values[:3] and not matching_multipliers(*values)

    problem = "differs from quantity times traded_price, and from that times lot_size"
    yield _issue("trade_value", problem, rows, differs, lambda values: values[2])


def matching_multipliers(quantity: int, price: float, value: float, lot: int | None) -> set[int]:
    """Returns the multipliers for which the value equals ``quantity * price * multiplier``.

    The service says "shares or contracts", so a contract may count for a lot of shares. The
    multiplier is therefore 1 or the lot size; with a price near zero both match.
    """
    counts = {multiplier: quantity * multiplier for multiplier in (1, lot or 1)}
    return {
        multiplier
        for multiplier, count in counts.items()
        if abs(value - count * price) <= abs(count) * _HALF_A_PAISA + _A_PAISA
    }


def _of_orders(orders: Slice) -> Iterable[Issue | None]:
    names = ("quantity", "remaining_quantity", "traded_qty", "rem_qty_tot_qty")
    rows = list(_rows(orders, *names))

    def pair_differs(values: tuple[Any, ...]) -> bool:
        quantity, remaining, _, pair = values
        if pair is None or "/" not in pair:
            return False
        for text, number in zip(pair.split("/", 1), (remaining, quantity), strict=True):
            try:
                if number is not None and float(text) != number:
                    return True
            except ValueError:
                return True
        return False

    def too_many(values: tuple[Any, ...]) -> bool:
        quantity, remaining, traded, _ = values
        return None not in (quantity, remaining, traded) and remaining + traded > quantity

    yield _issue(
        "rem_qty_tot_qty",
        "differs from remaining_quantity and quantity",
        rows,
        pair_differs,
        lambda values: values[3],
    )
    yield _issue(
        "traded_qty",
        "is, with remaining_quantity, more than quantity",
        rows,
        too_many,
        lambda values: values[2],
    )


def _of_row_numbers(book: Slice) -> Iterable[Issue | None]:
    from itertools import pairwise

    rows = [(row, number) for row, (number,) in _rows(book, "row_no") if number is not None]
    first: dict[Any, int] = {}
    for row, number in rows:
        first.setdefault(number, row)
    again = [(row, number) for row, number in rows if first[number] != row]
    if again:
        yield Issue("row_no", "comes more than once", len(again), *_first(again), False)
    numbers = sorted(first)
    behind = [
        (first[number], number) for before, number in pairwise(numbers) if number > before + 1
    ]
    if behind:
        problem = "numbers before it are left out"
        yield Issue("row_no", problem, len(behind), *_first(behind), False)


def _rows(book: Slice, *names: str) -> Iterable[tuple[int, tuple[Any, ...]]]:
    return enumerate(zip(*map(book.column, names), strict=True))


def _issue(
    field: str,
    problem: str,
    rows: Iterable[tuple[int, tuple[Any, ...]]],
    differs: Callable[[tuple[Any, ...]], bool],
    shown: Callable[[tuple[Any, ...]], Any],
) -> Issue | None:
    odd = [(row, shown(values)) for row, values in rows if differs(values)]
    return Issue(field, problem, len(odd), *_first(odd), False) if odd else None


def _first(rows: list[Row]) -> tuple[int, str]:
    import json

    row, value = rows[0]
    return row, json.dumps(value)
