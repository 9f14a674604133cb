"""What ``book.filter`` takes: equality, or a set of values."""

from __future__ import annotations

from datetime import date, datetime
from math import isfinite

from .. import _core
from .records import no_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo
    from typing import Any

    from .book import Book

_TAKEN = {
    "text": "a str",
    "integer": "an int",
    "number": "a finite number",
    "timestamp": "a datetime",
    "date": "a date",
}


def _fits(kind: str, value: Any) -> bool:
    if kind == "text":
        return isinstance(value, str)
    if kind == "timestamp":
        return isinstance(value, datetime)
    if kind == "date":
        return isinstance(value, date) and not isinstance(value, datetime)
    needed = "__index__" if kind == "integer" else "__float__"
    if isinstance(value, bool) or not hasattr(value, needed):
        return False
    return kind == "integer" or isfinite(value)


def _values(name: str, kind: str, wanted: Any, zone: tzinfo | None) -> frozenset[Any]:
    if isinstance(wanted, (list, tuple, dict, range)):
        raise TypeError(f"{name}= takes a value or a set of values, not {wanted!r}")
    values = frozenset(wanted if isinstance(wanted, (set, frozenset)) else [wanted])
    for value in values - {None}:
        if not _fits(kind, value):
            raise TypeError(f"{name}= takes {_TAKEN[kind]}, a set of such, or None, not {value!r}")
        if kind == "timestamp" and (value.tzinfo is None) != (zone is None):
            hint = "is naive" if zone is None else f"stands in {zone}"
            raise TypeError(f"{name} {hint}, so it never equals {value!r}; see localize()")
    return values


def rows_where(book: Book[Any], conditions: dict[str, Any]) -> list[int]:
    """The rows of the book's table that meet all conditions."""
    kinds = {name: kind for name, kind, _, _ in _core.fields_of(book._record)}
    rows = list(range(book._start, book._stop))
    for name, wanted in conditions.items():
        if name not in kinds:
            raise TypeError(no_field(book._record, name))
        values = _values(name, kinds[name], wanted, book._table.zone)
        rows = book._table.where(name, values, rows)
    return rows
