"""Conditions of ``filter``: parsed and validated here, evaluated by the core.

A condition is a keyword, ``field=value`` or ``field__comparison=value``, rather than an expression
object: one notation serves equality, sets and comparisons, needs no further public name, and
translates directly to ``--where`` of the command line. A function of the row expresses everything
else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, time, tzinfo
from math import isfinite
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from .._util.declarations import kinds_of
from .._util.validate import did_you_mean, no_field, shown

CoreCondition = tuple[str, str, str, bool, list[object]]


COMPARISONS = ("ne", "lt", "le", "gt", "ge", "between")


class Condition(NamedTuple):
    """A condition on one field; ``comparison`` is ``"eq"`` or one of COMPARISONS."""

    field: str
    comparison: str
    value: Any

    @property
    def keyword(self) -> str:
        """The equivalent keyword of ``filter``."""
        return self.field if self.comparison == "eq" else f"{self.field}__{self.comparison}"


def parse_conditions(
    title: str, known: Collection[str], keywords: Mapping[str, object]
) -> list[Condition]:
    """Returns the conditions that the keywords of ``filter`` express.

    Args:
        title: What the table is called.
        known: The names of its columns.
        keywords: The keywords.

    Raises:
        TypeError: A field or a comparison does not exist.
    """
    conditions = []
    for keyword, value in keywords.items():
        name, _, comparison = keyword.rpartition("__")
        if keyword in known or not name:
            name, comparison = keyword, "eq"
        if name not in known:
            raise TypeError(no_field(title, name, tuple(known)))
        if comparison != "eq" and comparison not in COMPARISONS:
            endings = ", ".join(f"__{ending}" for ending in COMPARISONS)
            raise TypeError(
                f"{keyword}= is not a comparison: write {name}=value, {name}={{...}} for any of "
                f"several values, or one of {endings}; everything else is a function of a row"
            )
        conditions.append(Condition(name, comparison, value))
    return conditions


def core_conditions(rows: Slice, conditions: Iterable[Condition]) -> list[CoreCondition]:
    """Returns the conditions in the core's form.

    Raises:
        TypeError: A value is of a type that the field never has.
    """
    kinds = kinds_of(rows.row_type)
    return [
        in_core
        for condition in conditions
        for in_core in _in_core(condition, kinds[condition.field], rows.zone)
    ]


def _in_core(condition: Condition, kind: str, zone: tzinfo | None) -> list[CoreCondition]:
    field, comparison, value = condition
    if comparison == "between":
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise TypeError(f"{condition.keyword}= takes (lowest, highest), not {shown(value)}")
        ends = zip(("ge", "le"), value, strict=True)
        return [in_core for end in ends for in_core in _in_core(Condition(field, *end), kind, zone)]
    several = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    if several and comparison not in ("eq", "ne"):
        raise TypeError(f"{condition.keyword}= takes one value, not a {type(value).__name__}")
    if isinstance(value, (Mapping, range)) or hasattr(value, "columns"):
        raise TypeError(
            f"{condition.keyword}= takes a value or a set of values, not {shown(value)}"
        )
    values = list(value) if several else [value]
    wanted = [_plain(condition, kind, member, zone) for member in values if member is not None]
    if not wanted and comparison not in ("eq", "ne"):
        raise TypeError(f"{condition.keyword}= takes a value to compare with, not None")
    null = len(wanted) < len(values)
    if kind == "timestamp":
        part, wanted = _moments(condition, wanted, zone)
        return [(field, comparison, part, null, wanted)]
    if kind == "integer":  # 1e5 is how people write 100,000
        wanted = [int(x) if isinstance(x, float) and x.is_integer() else x for x in wanted]
    return [(field, comparison, "all", null, wanted)]


def moment_of(text: str) -> date | time | datetime:
    """Returns the day, the time of a day, or the time of any day that an ISO text means."""
    if "T" in text or " " in text:
        return datetime.fromisoformat(text)
    return time.fromisoformat(text) if ":" in text else date.fromisoformat(text)


_SHORT_HOUR = re.compile(r"(^|[ T])(\d:)")


def value_in(what: str, kind: str, text: str) -> Any:
    """Returns the value of a field of this kind that a text means, in a file or an option.

    Raises ValueError, which begins with ``what``, if the text means none.
    """
    parser, example = _PARSERS[kind]
    try:
        return parser(text.strip())
    except ValueError:
        raise ValueError(f"{what} takes {example}, not {shown(text.strip())}") from None


def _text(text: str) -> str:
    text.encode()  # bytes that are no UTF-8 are half surrogate pairs among the arguments
    return text


def _number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError("not finite")
    return number


def _whole(text: str) -> int:
    if not -(2**63) <= (number := int(text)) < 2**63:
        raise ValueError("more than 64 bits")
    return number


def _local_moment(text: str) -> date | time | datetime:
    moment = moment_of(_SHORT_HOUR.sub(r"\g<1>0\2", text))
    if getattr(moment, "tzinfo", None) is not None:
        raise ValueError("a time with a zone")
    return moment


_PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "text": (_text, "text in UTF-8"),
    "integer": (_whole, "a whole number of at most 64 bits"),
    "number": (_number, "a number"),
    "timestamp": (_local_moment, "a time such as 09:15, 2026-11-20 or '2026-11-20 09:15:00'"),
    "date": (date.fromisoformat, "a date such as 2026-11-26"),
}


def _plain(condition: Condition, kind: str, value: object, zone: tzinfo | None) -> object:
    """Returns what the text of a time or a date means, and scalars of NumPy as those of Python."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if kind == "date" and isinstance(value, datetime) and value.time() == time():
        return value.date()  # data frames store days as times at midnight
    if kind not in ("timestamp", "date") or not isinstance(value, str):
        return value
    try:
        if kind == "date":
            return date.fromisoformat(value)
        moment = moment_of(value)
        if isinstance(moment, datetime) and moment.tzinfo is None:
            return moment.replace(tzinfo=zone)
        return moment
    except ValueError:
        example = "'2026-11-20'" + (", '09:15' or '2026-11-20 09:15:00'" * (kind != "date"))
        raise ValueError(
            f"{condition.keyword}= takes ISO text such as {example}, not {shown(value)}"
        ) from None


def _moments(
    condition: Condition, wanted: list[Any], zone: tzinfo | None
) -> tuple[str, list[object]]:
    """Returns which part of a timestamp is compared, and with what."""
    if all(isinstance(value, datetime) for value in wanted):
        return "all", [_wall_clock(condition, value, zone) for value in wanted]
    if all(isinstance(value, date) and not isinstance(value, datetime) for value in wanted):
        return "day", wanted
    if all(isinstance(value, time) and value.tzinfo is None for value in wanted):
        return "clock", [
            ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
            for value in wanted
        ]
    raise TypeError(
        f"{condition.keyword}= takes a datetime, a date (that day) or a naive time (of any day), "
        f"or a set of one of these, not {shown(condition.value)}"
    )


def _wall_clock(condition: Condition, value: datetime, zone: tzinfo | None) -> datetime:
    """Returns the datetime on the clock of the book's zone."""
    if (value.tzinfo is None) != (zone is None):
        what = "has no zone: pass a time without one, or localize() the table"
        if zone is not None:
            what = f"is in {zone}: pass a time with a zone, or ISO text"
        raise TypeError(f"{condition.keyword}= got {value!r}, but {condition.field} {what}")
    return value if zone is None else value.astimezone(zone)


_MOST_LISTED = 5


def why_none(rows: Slice, conditions: Sequence[Condition]) -> str:
    """Returns which condition no row meets, and the values that there are; or empty text."""
    if not len(rows) or not conditions:
        return ""
    for condition in conditions:
        name = condition.field
        if len(rows.where(core_conditions(rows, [condition]))) or _core.is_personal(name):
            continue
        groups = _core.Groups([rows], [name])
        (values,) = rows.cells(groups.first(), [name])
        known = [value for value in values if value is not None]
        if kinds_of(rows.row_type)[name] != "text" and known:
            return f": {name} is from {min(known)} to {max(known)}"
        near = did_you_mean(condition.value, known) if isinstance(condition.value, str) else ""
        listed = ", ".join(map(repr, known[:_MOST_LISTED])) or "missing in every row"
        more = f" and {len(known) - _MOST_LISTED:,} more" if len(known) > _MOST_LISTED else ""
        return f": {name} is {listed}{more}{near if more else ''}"
    return ": no row meets " + ("it" if len(conditions) == 1 else "all conditions at once")
