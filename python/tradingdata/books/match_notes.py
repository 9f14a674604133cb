"""Why a filter matched no row: for each condition, the values that its field does have."""

from __future__ import annotations

from .. import _core
from .._util.suggestions import closest
from ..display.preview import plain, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .filter import Condition
    from .row_selection import RowSelection

_MOST_VALUES = 8
_SOME_VALUES = 3  # named where there are more
_MOST_COMPARED = 2000  # difflib takes about 20 microseconds per value


def match_notes(book: RowSelection[Any], conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Returns a note for each condition that no row of the book meets by itself."""
    if not len(book):
        return ()
    alone = [one for one in conditions if not len(book._where([one]))]
    if alone or len(conditions) < 2:
        return tuple(_note(book, one) for one in alone)
    fields = ", ".join(dict.fromkeys(one.field for one in conditions))
    return (f"{fields}: some rows meet each condition, none meets all",)


def _note(book: RowSelection[Any], condition: Condition) -> str:
    name = condition.field
    fields = {field: (kind, personal) for field, kind, _, personal in _core.fields_of(book._record)}
    kind, personal = fields[name]
    if personal:
        return f"{name}: no row matches; its values are personal data and not listed"
    column = book._table.column(name, book._start, book._stop)
    values = sorted(set(column) - {None})
    if not values:
        return f"{name}: no row has a value"
    if kind == "text":
        return f"{name}: {_texts(values)}{_suggestion(condition, values)}"
    if len(values) <= _MOST_VALUES:
        return f"{name}: {', '.join(plain(kind, value) for value in values)}"
    return f"{name}: {plain(kind, values[0])} to {plain(kind, values[-1])}"


def _texts(values: list[str]) -> str:
    shown = [printable(value) or "''" for value in values]
    if len(shown) <= _MOST_VALUES:
        return ", ".join(shown)
    return f"{len(shown):,} values, such as {', '.join(shown[:_SOME_VALUES])}"


def _suggestion(condition: Condition, values: list[str]) -> str:
    if condition.comparison != "eq" or len(values) > _MOST_COMPARED:
        return ""
    wanted = condition.value
    for one in wanted if isinstance(wanted, (set, frozenset)) else [wanted]:
        near = None if one is None else closest(one.strip(), values)
        if near is not None:
            return f"; did you mean {printable(near)}?"
    return ""
