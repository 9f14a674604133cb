"""Validates the lots that a caller passes to a calculation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from .fifo import LONG, SHORT, UNMATCHED, Lot, Lots
from .security_key import KEY, Key, Names

if TYPE_CHECKING:
    from datetime import tzinfo

    GivenLots = Lots | Iterable[Lot | Mapping[str, Any]]

_FIELDS = tuple(field.name for field in fields(Lot))
_NEEDED = (*KEY, "quantity", "value")


class GivenLot(NamedTuple):
    """A validated lot; the value is still a float, and the multiplier may be unknown."""

    key: Key
    names: Names
    side: str
    time: Any
    trade_no: str | None
    quantity: int
    value: float
    multiplier: int | None


def read_lots(argument: str, lots: object) -> list[GivenLot]:
    """Returns the lots in the order given.

    Raises:
        TypeError: If ``lots`` is not a collection of lots, or a value has the wrong type.
        ValueError: If a lot is incomplete, unmatched, or has a value that a lot cannot have.
    """
    if isinstance(lots, (str, bytes, Mapping)) or not isinstance(lots, (Lots, Iterable)):
        raise TypeError(_EXPECTED.format(argument, type(lots).__name__))
    return [_read(argument, at, lot) for at, lot in enumerate(lots)]


_EXPECTED = (
    "{} takes lots, not {}: pass the open_lots of an earlier result, or one dict for each lot "
    "(of a data frame, frame.to_dict('records'))"
)


def _read(argument: str, at: int, lot: object) -> GivenLot:
    if isinstance(lot, Lot):
        given: Mapping[str, Any] = {name: getattr(lot, name) for name in _FIELDS}
    elif isinstance(lot, Mapping):
        given = lot
    else:
        raise TypeError(_EXPECTED.format(argument, f"{type(lot).__name__} (lot {at})"))
    for name in given:
        if name not in _FIELDS:
            raise ValueError(f"lot {at} has {name!r}, but a lot has only {', '.join(_FIELDS)}")
    given = {name: value for name, value in given.items() if not _is_missing(value)}
    for name in _NEEDED:
        if given.get(name) is None:
            raise ValueError(f"lot {at} has no {name}: it needs {', '.join(_NEEDED)}")
    for name in KEY:
        if not isinstance(given[name], str):
            raise TypeError(f"lot {at}: {name} must be text, not {given[name]!r}")
    if not _is_number(given["value"]):
        raise ValueError(f"lot {at}: value must be a finite number, not {given['value']!r}")
    time = given.get("time")
    if time is not None and not isinstance(time, datetime):
        raise TypeError(f"lot {at}: time must be a datetime, not {time!r}")
    return GivenLot(
        tuple(given[name] for name in KEY),
        Names(*(given.get(name) for name in Names._fields)),
        _side(at, given.get("side", LONG)),
        time,
        given.get("trade_no"),
        _whole(at, given, "quantity"),
        float(given["value"]),
        _whole(at, given, "multiplier") if "multiplier" in given else None,
    )


def _whole(at: int, given: Mapping[str, Any], name: str) -> int:
    value = given[name]
    if not _is_number(value) or value != int(value) or value < 1:
        hint = f"; side={SHORT!r} marks a short lot" if name == "quantity" else ""
        raise ValueError(f"lot {at}: {name} must be an integer of at least 1, not {value!r}{hint}")
    return int(value)


def _side(at: int, side: object) -> str:
    if side == UNMATCHED:
        raise ValueError(
            f"lot {at} is an unmatched sale, not an open lot: pass open_lots, or let sales open "
            "short lots with shorts=True"
        )
    if side not in (LONG, SHORT):
        raise ValueError(f"lot {at}: side must be {LONG!r} or {SHORT!r}, not {side!r}")
    return str(side)


def in_zone(at: int, time: datetime | None, zone: tzinfo | None) -> datetime | None:
    """Returns the time of a lot in the zone of the trades; a naive time is taken to be in it."""
    if time is None:
        return None
    if time.tzinfo is None:
        return time.replace(tzinfo=zone)
    if zone is None:
        raise ValueError(
            f"lot {at}: its time has a zone, but the trades have none: localize the trades"
        )
    return time.astimezone(zone)


def _is_missing(value: Any) -> bool:
    """Returns whether a value is missing in a data frame (NaN and NaT are unequal, NA raises)."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, (str, bytes, bool)) and isfinite(value)
    except (TypeError, OverflowError):
        return False
