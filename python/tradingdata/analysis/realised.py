"""The result of ``realised_pnl``: its rows, and the matches and lots behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, tzinfo
from functools import cached_property, partial
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice, Trade
from .._util.declarations import kinds_of
from ..display.text import group
from ..table.rows import declared
from .inputs import days_text, is_missing
from .keys import CONTRACT, REQUIRED, Keyed, contract_of, kind_of, missing_expiries
from .result_table import BY_CONTRACT, ResultTable

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
        multiplier: Shares in a contract as ``value`` counts it, 1 for shares; ``None`` where
            nothing proves it.
        strike_price: Strike price of an option; zero or ``None`` for what is none.
        opt_type: Option type, as the service codes it.
        isin: ISIN, if known.
        as_of: The moment up to which trades and changes are in it (see ``td.LotChange``), if known.
    """

    side: str
    trade_no: str | None
    time: datetime | None
    quantity: int
    value: float
    multiplier: int | None
    strike_price: float | None
    opt_type: str | None
    isin: str | None
    as_of: datetime | None

    @property
    def kind(self) -> str:
        """``shares``, ``future`` or ``option``."""
        return kind_of(self.expiry_date, self.strike_price)


ATTRIBUTES = ("strike_price", "opt_type", "isin")  # fields that lots have in common with trades


class Lots(ResultTable[Lot]):
    """Lots grouped by key, within a key the oldest first."""

    _row = Lot
    _view = BY_CONTRACT._replace(columns=("side", "quantity", "value", "time"))


GivenLots = Lots | Iterable[Lot | Mapping[str, Any]]

_FIELDS = tuple(kinds_of(Lot))
_NEEDED = (*REQUIRED, "quantity", "value")
_OF_LOT = ("side", "time", "value", "multiplier", "as_of")  # fields that trades do not have
_EXPECTED = (
    "{} takes lots, not {}: pass the open_lots of an earlier result, or one dict for each lot "
    "(of a data frame, frame.to_dict('records'))"
)


def read_lots(argument: str, lots: object) -> list[Lot]:
    """Returns the lots in the order given, with the expiry of their contract if they lack one.

    A ``multiplier`` of 0 is that of shares, unless trades prove another; None is not proved.

    Raises:
        TypeError: If ``lots`` is not a collection of lots, or a value has the wrong type.
        ValueError: If a lot is incomplete, unmatched, or has a value that a lot cannot have.
    """
    if isinstance(lots, (str, bytes, Mapping)) or not isinstance(lots, (Lots, Iterable)):
        raise TypeError(_EXPECTED.format(argument, type(lots).__name__))
    read = [_read(argument, at, lot) for at, lot in enumerate(lots)]
    expiries = missing_expiries(list(map(contract_of, read)))
    for at, expiry in expiries.items():
        known = read[at].multiplier or None
        read[at] = read[at]._replace(expiry_date=expiry, multiplier=known)
    return read


def _read(argument: str, at: int, lot: object) -> Lot:
    values = lot._asdict() if isinstance(lot, Lot) else lot
    if not isinstance(values, Mapping):
        raise TypeError(_EXPECTED.format(argument, f"{type(lot).__name__} (lot {at})"))
    read: dict[str, Any] = {"side": LONG}
    if CONTRACT[-1] not in values and "multiplier" not in values:
        read["multiplier"] = 0
    read |= {name: value for name, value in values.items() if not is_missing(value)}
    if isinstance(expiry := read.get("expiry_date"), datetime):  # pandas stores dates as times
        read["expiry_date"] = expiry.date()
    try:
        valid = Lot(**read)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"lot {at}: {error}") from None
    for name in _NEEDED:
        if getattr(valid, name) is None:
            raise ValueError(f"lot {at} has no {name}: it needs {', '.join(_NEEDED)}")
    if valid.side not in (LONG, SHORT):
        raise ValueError(f"lot {at}: side must be {LONG!r} or {SHORT!r}, not {valid.side!r}")
    if (
        valid.quantity < 1
        or values.get("multiplier", 1) in (0, False)
        or (valid.multiplier or 0) < 0
    ):
        raise ValueError(
            f"lot {at}: quantity and multiplier must be at least 1, not {valid.quantity} and "
            f"{valid.multiplier}; side={SHORT!r} marks a short lot"
        )
    return valid


def as_trades(lots: list[Lot], zone: tzinfo | None, buy: str, sell: str) -> Slice:
    """Returns the lots as trades, whose times are in this zone; a naive time is taken to be in it.

    Raises:
        ValueError: If the time of a lot has a zone and the trades have none.
    """
    rows = [
        Trade(
            **{name: getattr(lot, name) for name in _FIELDS if name not in _OF_LOT},
            txn_type=buy if lot.side == LONG else sell,
            trade_value=lot.value,
            exch_trade_time=lot.time and wall_clock(f"lot {at}", lot.time, zone),
        )
        for at, lot in enumerate(lots)
    ]
    return _core.from_rows("Trade", rows).with_zone(zone)


def wall_clock(name: str, time: datetime, zone: tzinfo | None) -> datetime:
    """Returns a time on the clock of a zone; a naive one is taken to be on it."""
    if time.tzinfo is None:
        return time
    if zone is None:
        raise ValueError(
            f"{name}: its time has a zone, but the trades have none: localize the trades"
        )
    return time.astimezone(zone).replace(tzinfo=None)


@declared
class Match(Keyed):
    """A quantity that one trade opened and another closed; see also ``Keyed``.

    Attributes:
        side: ``long`` if the purchase came first, ``short`` if the sale did.
        buy_trade_no: Trade number of the purchase; ``None`` for a settlement, or an opening lot
            without one.
        buy_time: Time of the purchase; ``None`` for an opening lot without one.
        sell_trade_no: Trade number of the sale; ``None`` for a settlement, or an opening lot
            without one.
        sell_time: Time of the sale; ``None`` for an opening lot without one.
        close_time: Time of the closing trade: the sale of a long lot, the purchase for a short one.
            A settlement is at 15:30 in India on the expiry date.
        quantity: Shares or contracts.
        cost: Value of the purchase.
        proceeds: Value of the sale.
        realised: ``proceeds - cost``, before charges.
        isin: ISIN of the closing trade, or else of the lot, if known.
        held: Days from opening to closing, 0 within a day; ``None`` for an opening lot without a
            time.
    """

    side: str
    buy_trade_no: str | None
    buy_time: datetime | None
    sell_trade_no: str | None
    sell_time: datetime | None
    close_time: datetime
    quantity: int
    cost: float
    proceeds: float
    realised: float
    isin: str | None
    held: int | None


class Matches(ResultTable[Match]):
    """Matches of opening and closing trades, in the order in which they were closed."""

    _row = Match
    _view = BY_CONTRACT._replace(
        columns=("side", "realised", "quantity", "close_time", "cost", "proceeds"),
        sums=("realised",),
    )


@declared
class Realised(Keyed):
    """Realised profit and loss of one client in one security and product; see also ``Keyed``.

    Attributes:
        matched_quantity: Quantity that was both opened and closed.
        cost: Value of its purchases.
        proceeds: Value of its sales.
        realised: ``proceeds - cost``, before charges.
        unmatched_quantity: Quantity sold that neither closed a lot nor was allowed to open a short
            one (see ``shorts``); not part of ``realised``.
        unmatched_value: Value of these sales.
        open_quantity: Quantity still open: positive if long, negative if short; without what has
            expired.
        open_value: Value at which the open quantity was traded: paid if positive, received if
            negative.
    """

    matched_quantity: int
    cost: float
    proceeds: float
    realised: float
    unmatched_quantity: int
    unmatched_value: float
    open_quantity: int
    open_value: float


class Later(NamedTuple):
    """What makes the tables of a result when they are first read, which may take as long as it."""

    matches: Callable[[], Matches]
    unmatched: Callable[[], Lots]
    open_lots: Callable[[], Lots]
    expired: Callable[[], Lots]


class RealisedPnl(ResultTable[Realised]):
    """Result of ``realised_pnl``: one row for each key, with the lots behind the figures.

    Attributes:
        days: The days whose closing trades count, in order.
    """

    _row = Realised
    _view = BY_CONTRACT._replace(
        columns=(
            *("realised", "open_quantity", "matched_quantity", "cost", "proceeds"),
            "unmatched_quantity",
        ),
        sums=("realised",),
        rank="realised",
    )

    days: tuple[date, ...]
    _later: Later

    @cached_property
    def matches(self) -> Matches:
        """Which trade closed which lot."""
        return self._later.matches()

    @cached_property
    def unmatched(self) -> Lots:
        """Sales that neither closed nor opened a lot; not part of ``realised``."""
        return self._later.unmatched()

    @cached_property
    def open_lots(self) -> Lots:
        """Lots still open at the end of the last day; the ``opening`` of the next."""
        return self._later.open_lots()

    @cached_property
    def expired(self) -> Lots:
        """Lots whose contract expired before the last day and that no ``settle`` price closed.

        They are neither realised nor open.
        """
        return self._later.expired()

    def __reduce__(self) -> tuple[Any, ...]:
        for name in Later._fields:
            getattr(self, name)
        vars(self).pop("_later", None)
        return super().__reduce__()

    def _part(self, rows: Slice) -> RealisedPnl:
        part = super()._part(rows)

        def later(name: str) -> Any:
            return getattr(self, name)._of_keys(set(part._keys()))

        part._later = Later._make(partial(later, name) for name in Later._fields)
        return part

    @property
    def realised(self) -> float:
        """Sum over all rows, before charges."""
        return self._sum("realised")

    def _heading(self) -> str:
        parts = [super()._heading(), f"realised {group(self.realised, 2)} before charges"]
        if self.days:
            parts[0] = f"{days_text(self.days)}: {parts[0]}"
        return ", ".join(parts)
