"""Lots: trades, or parts of them, that are still open; as results, and as the input of others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from .. import _core
from .._core import Trade
from ..table.rows import declared
from .keys import APART, KEY, LEAD, Keyed, kind_of
from .result_table import ResultTable, kinds_of

if TYPE_CHECKING:
    from datetime import tzinfo

    from .._core import Slice

LONG = "long"
SHORT = "short"
UNMATCHED = "unmatched"


@declared
class Lot(Keyed):
    """One trade, or the part of it that is still open; see also ``Keyed``.

    Attributes:
        side: ``long`` (bought, not yet sold), ``short`` (sold, not yet bought back), or
            ``unmatched`` for a sale that had no lot to close and was not allowed to open one.
        trade_no: Trade number; ``None`` if an opening lot was given without one.
        time: Time of the trade; ``None`` if an opening lot was given without one.
        quantity: Shares or contracts, always positive.
        value: Value of this quantity when it was traded, before charges.
        multiplier: 1, or the lot size where ``value`` counts a contract as a lot of shares.
        expiry_date: Expiry date of a contract; ``None`` for shares.
        strike_price: Strike price of an option; zero or ``None`` for what is none.
        opt_type: Option type, as the service codes it.
        isin: ISIN, if known.
    """

    __slots__ = ()

    side: str
    trade_no: str | None
    time: datetime | None
    quantity: int
    value: float
    multiplier: int
    expiry_date: date | None
    strike_price: float | None
    opt_type: str | None
    isin: str | None

    @property
    def kind(self) -> str:
        """``shares``, ``future`` or ``option``."""
        return kind_of(self.expiry_date, self.strike_price)


CONTRACT = ("expiry_date", "strike_price", "opt_type", "isin")  # of a lot, as in a trade


class Lots(ResultTable[Lot]):
    """Lots grouped by key, within a key the oldest first."""

    __slots__ = ()
    _row = Lot
    _lead = LEAD
    _apart = APART
    _key_columns = ("side", "quantity", "value", "time")


if TYPE_CHECKING:
    GivenLots = Lots | Iterable[Lot | Mapping[str, Any]]

_KINDS = kinds_of(Lot)
_FIELDS = tuple(_KINDS)
_NEEDED = (*KEY, "quantity", "value")
_TEXTS = tuple(name for name, kind in _KINDS.items() if kind == "text")
_OF_LOT = ("account", "side", "time", "value", "multiplier")  # what a trade does not have
_EXPECTED = (
    "{} takes lots, not {}: pass the open_lots of an earlier result, or one dict for each lot "
    "(of a data frame, frame.to_dict('records'))"
)


def read_lots(argument: str, lots: object) -> list[Lot]:
    """Returns the lots in the order given; a ``multiplier`` of 0 means that it is unknown.

    Raises:
        TypeError: If ``lots`` is not a collection of lots, or a value has the wrong type.
        ValueError: If a lot is incomplete, unmatched, or has a value that a lot cannot have.
    """
    if isinstance(lots, (str, bytes, Mapping)) or not isinstance(lots, (Lots, Iterable)):
        raise TypeError(_EXPECTED.format(argument, type(lots).__name__))
    return [_read(argument, at, lot) for at, lot in enumerate(lots)]


def _read(argument: str, at: int, lot: object) -> Lot:
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
    for name in _TEXTS:
        if not isinstance(given.get(name, ""), (str, type(None))):
            raise TypeError(f"lot {at}: {name} must be text, not {given[name]!r}")
    for name in ("value", "strike_price"):
        if given.get(name) is not None and not _is_number(given[name]):
            raise ValueError(f"lot {at}: {name} must be a finite number, not {given[name]!r}")
    for name, kind in (("time", datetime), ("expiry_date", date)):
        if not isinstance(given.get(name), (kind, type(None))):
            raise TypeError(f"lot {at}: {name} must be a {kind.__name__}, not {given[name]!r}")
    strike, expiry = given.get("strike_price"), given.get("expiry_date")
    read = {
        "side": _side(at, given.get("side", LONG)),
        "quantity": _whole(at, given, "quantity"),
        "value": float(given["value"]),
        "multiplier": _whole(at, given, "multiplier") if given.get("multiplier") else 0,
        "strike_price": None if strike is None else float(strike),
        "expiry_date": expiry.date() if isinstance(expiry, datetime) else expiry,
    }
    return Lot(**{name: given.get(name) for name in _FIELDS} | read)


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


def rows_of(lots: list[Lot], zone: tzinfo | None, buy: str, sell: str) -> Slice:
    """Returns the lots as trades, whose times are in this zone; a naive time is taken to be in it.

    Raises:
        ValueError: If the time of a lot has a zone and the trades have none.
    """
    rows = [
        Trade(
            **{name: getattr(lot, name) for name in _FIELDS if name not in _OF_LOT},
            txn_type=buy if lot.side == LONG else sell,
            trade_value=lot.value,
            exch_trade_time=_wall_clock(at, lot.time, zone),
        )
        for at, lot in enumerate(lots)
    ]
    return _core.from_rows("Trade", rows).with_zone(zone)


def _wall_clock(at: int, time: datetime | None, zone: tzinfo | None) -> datetime | None:
    if time is None or time.tzinfo is None:
        return time
    if zone is None:
        raise ValueError(
            f"lot {at}: its time has a zone, but the trades have none: localize the trades"
        )
    return time.astimezone(zone).replace(tzinfo=None)
