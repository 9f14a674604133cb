"""What ``book.filter`` takes: equality, or a set of values."""

from __future__ import annotations

from datetime import date, datetime

from . import _core

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .books import Book

_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
    "timestamp": (datetime,),
    "date": (date,),
}


def _values(name: str, kind: str, wanted: Any) -> frozenset[Any]:
    values = frozenset(wanted) if isinstance(wanted, (set, frozenset)) else None
    if values is None:
        if isinstance(wanted, (list, tuple, dict)):
            raise TypeError(f"{name}= takes a value or a set of values, not {wanted!r}")
        values = frozenset([wanted])
    for value in values - {None}:
        odd = isinstance(value, bool) or (kind == "date" and isinstance(value, datetime))
        if odd or not isinstance(value, _TYPES[kind]):
            raise TypeError(f"{name} is a {kind} field and is never {value!r}")
    return values


def rows_where(book: Book[Any], conditions: dict[str, Any]) -> list[int]:
    """The rows of the book's table that meet all conditions."""
    kinds = {name: kind for name, kind, _, _ in _core.fields_of(book._record)}
    rows = list(range(book._start, book._stop))
    for name, wanted in conditions.items():
        if name not in kinds:
            from difflib import get_close_matches

            close = get_close_matches(name, kinds, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{book._record} has no field {name!r}{hint}")
        rows = book._table.where(name, _values(name, kinds[name], wanted), rows)
    return rows
