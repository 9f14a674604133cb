"""Explains why a filter matched no row: lists the values of the field of each condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._util.suggestions import closest
from ..display.preview import plain, printable
from .conditions import matching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._core import Slice
    from .conditions import Condition

_MOST_VALUES = 8
_SOME_VALUES = 3  # number of examples if there are more
_MOST_COMPARED = 2000  # difflib takes about 20 microseconds per value


def match_notes(rows: Slice, conditions: Sequence[Condition]) -> tuple[str, ...]:
    """Returns a note for each condition that no row meets by itself."""
    alone = [one for one in conditions if not len(matching(rows, [one]))]
    if alone or len(conditions) < 2:
        return tuple(_note(rows, one) for one in alone)
    fields = ", ".join(dict.fromkeys(one.field for one in conditions))
    return (f"{fields}: each condition holds for some rows, but for none do all",)


def _note(rows: Slice, condition: Condition) -> str:
    name = condition.field
    fields: dict[str, Any] = {field: about for field, *about in _core.fields_of(rows.row_type)}
    kind, _, personal = fields[name]
    if personal:
        return f"{name} has no such value; its values are personal data and not listed"
    values = sorted(set(rows.column(name)) - {None})
    if not values:
        return f"{name} has no value in any row"
    if kind == "text":
        return f"{name} {_texts(values)}{_suggestion(condition, values)}"
    if len(values) <= _MOST_VALUES:
        return f"{name} {_listed([plain(kind, value) for value in values])}"
    return f"{name} is between {plain(kind, values[0])} and {plain(kind, values[-1])}"


def _texts(values: list[str]) -> str:
    shown = [printable(value) or "''" for value in values]
    if len(shown) <= _MOST_VALUES:
        return _listed(shown)
    return f"has {len(shown):,} values, such as {', '.join(shown[:_SOME_VALUES])}"


def _listed(values: list[str]) -> str:
    return f"is {'one of ' if len(values) > 1 else ''}{', '.join(values)}"


def _suggestion(condition: Condition, values: list[str]) -> str:
    if condition.comparison != "eq" or len(values) > _MOST_COMPARED:
        return ""
    wanted = condition.value
    for one in wanted if isinstance(wanted, (set, frozenset)) else [wanted]:
        near = None if one is None else closest(one.strip(), values)
        if near is not None:
            return f"; did you mean {printable(near)}?"
    return ""
