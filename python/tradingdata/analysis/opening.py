"""Lots from before the trades at hand, as a caller gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from .keys import KEY, Key, Names
from .lots import Lot, Lots

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    Opening = Lots | Iterable[Lot | Mapping[str, Any]]

_FIELDS = tuple(field.name for field in fields(Lot))
_NEEDED = (*KEY, "quantity", "value")


class OpeningLot(NamedTuple):
    """A lot that was there before: its key, its facts, and its value as it was given."""

    key: Key
    names: Names
    time: Any
    trade_no: str | None
    quantity: int
    value: float


def read_opening(opening: Opening | None, zone: tzinfo | None = None) -> list[OpeningLot]:
    """The lots in the order given, their times in the zone, which is that of the trades.

    Raises TypeError and ValueError for what is no lot.
    """
    if opening is None:
        return []
    if isinstance(opening, (str, bytes, Mapping)) or not hasattr(opening, "__iter__"):
        raise TypeError(_WANTED.format(type(opening).__name__))
    return [_read(at, lot, zone) for at, lot in enumerate(opening)]


_WANTED = (
    "opening takes lots: the open_lots of an earlier result, or a dict each (of a data frame, "
    "frame.to_dict('records')), not {}"
)


def _read(at: int, lot: object, zone: tzinfo | None) -> OpeningLot:
    if isinstance(lot, Lot):
        given: Mapping[str, Any] = {name: getattr(lot, name) for name in _FIELDS}
    elif isinstance(lot, Mapping):
        given = lot
    else:
        raise TypeError(_WANTED.format(f"{type(lot).__name__} (lot {at})"))
    for name in given:
        if name not in _FIELDS:
            raise ValueError(f"lot {at} has {name!r}; a lot has {', '.join(_FIELDS)}")
    given = {name: value for name, value in given.items() if not _is_nothing(value)}
    for name in _NEEDED:
        if given.get(name) is None:
            raise ValueError(f"lot {at} has no {name}; it needs {', '.join(_NEEDED)}")
    for name in KEY:
        if not isinstance(given[name], str):
            raise TypeError(f"lot {at}: {name} is text, not {given[name]!r}")
    quantity, value = given["quantity"], given["value"]
    if not _is_number(quantity) or quantity != int(quantity) or quantity < 1:
        raise ValueError(f"lot {at}: quantity is a whole number from 1 on, not {quantity!r}")
    if not _is_number(value):
        raise ValueError(f"lot {at}: value is a finite number, not {value!r}")
    return OpeningLot(
        tuple(given[name] for name in KEY),
        (given.get("symbol"), given.get("display_name")),
        _time(at, given.get("time"), zone),
        given.get("trade_no"),
        int(quantity),
        float(value),
    )


def _time(at: int, time: object, zone: tzinfo | None) -> datetime | None:
    """A lot's time on the clock of the trades; one without a zone is on that clock already."""
    if time is None:
        return None
    if not isinstance(time, datetime):
        raise TypeError(f"lot {at}: time is a datetime, not {time!r}")
    if time.tzinfo is None:
        return time.replace(tzinfo=zone)
    if zone is None:
        raise ValueError(f"lot {at}: its time has a zone, and those of the trades have none")
    return time.astimezone(zone)


def _is_nothing(value: Any) -> bool:
    """Whether a data frame writes nothing so: NaN and NaT differ from themselves, NA is mute."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, (str, bytes, bool)) and isfinite(value)
    except (TypeError, OverflowError):
        return False
