"""Validates the opening lots that a caller passes to ``realised_pnl``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from .fifo import LONG, SHORT, UNMATCHED, Lot, Lots
from .security_key import KEY, Key, Names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    Opening = Lots | Iterable[Lot | Mapping[str, Any]]

_FIELDS = tuple(field.name for field in fields(Lot))
_NEEDED = (*KEY, "quantity", "value")


class OpeningLot(NamedTuple):
    """A validated opening lot; the value is still a float."""

    key: Key
    names: Names
    side: str
    time: Any
    trade_no: str | None
    quantity: int
    value: float


def read_opening(opening: Opening | None, zone: tzinfo | None = None) -> list[OpeningLot]:
    """Returns the lots in the order given, their times in the zone of the trades.

    Raises:
        TypeError: If ``opening`` is not a collection of lots, or a value has the wrong type.
        ValueError: If a lot is incomplete, unmatched, or has a value that a lot cannot have.
    """
    if opening is None:
        return []
    if isinstance(opening, (str, bytes, Mapping)) or not hasattr(opening, "__iter__"):
        raise TypeError(_EXPECTED.format(type(opening).__name__))
    return [_read(at, lot, zone) for at, lot in enumerate(opening)]


_EXPECTED = (
    "opening takes lots, not {}: pass the open_lots of an earlier result, or one dict for each lot "
    "(of a data frame, frame.to_dict('records'))"
)


def _read(at: int, lot: object, zone: tzinfo | None) -> OpeningLot:
    if isinstance(lot, Lot):
        given: Mapping[str, Any] = {name: getattr(lot, name) for name in _FIELDS}
    elif isinstance(lot, Mapping):
        given = lot
    else:
        raise TypeError(_EXPECTED.format(f"{type(lot).__name__} (lot {at})"))
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
    quantity, value = given["quantity"], given["value"]
    if not _is_number(quantity) or quantity != int(quantity) or quantity < 1:
        raise ValueError(
            f"lot {at}: quantity must be a whole number of at least 1, not {quantity!r}; "
            f"side={SHORT!r} marks a short lot"
        )
    if not _is_number(value):
        raise ValueError(f"lot {at}: value must be a finite number, not {value!r}")
    return OpeningLot(
        tuple(given[name] for name in KEY),
        (given.get("symbol"), given.get("display_name")),
        _side(at, given.get("side", LONG)),
        _time(at, given.get("time"), zone),
        given.get("trade_no"),
        int(quantity),
        float(value),
    )


def _side(at: int, side: object) -> str:
    if side == UNMATCHED:
        raise ValueError(
            f"lot {at} is an unmatched sale, not an open lot: pass open_lots, or let sales open "
            "short lots with shorts=True"
        )
    if side not in (LONG, SHORT):
        raise ValueError(f"lot {at}: side must be {LONG!r} or {SHORT!r}, not {side!r}")
    return str(side)


def _time(at: int, time: object, zone: tzinfo | None) -> datetime | None:
    """Returns the time in the zone of the trades; a naive time is taken to be in it already."""
    if time is None:
        return None
    if not isinstance(time, datetime):
        raise TypeError(f"lot {at}: time must be a datetime, not {time!r}")
    if time.tzinfo is None:
        return time.replace(tzinfo=zone)
    if zone is None:
        raise ValueError(
            f"lot {at}: its time has a zone, but the trades have none: localize the trades"
        )
    return time.astimezone(zone)


def _is_missing(value: Any) -> bool:
    """Whether a data frame means a missing value: NaN and NaT differ from themselves, NA raises."""
    try:
        return bool(value != value)
    except TypeError:
        return True


def _is_number(value: Any) -> bool:
    try:
        return not isinstance(value, (str, bytes, bool)) and isfinite(value)
    except (TypeError, OverflowError):
        return False
