"""Realised profit and loss by signed first-in-first-out matching, exact to the paisa."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ..books.book import TradeBook
from .by_account import joined
from .exact_sums import exact_sum, in_units
from .fifo import LONG, SHORT, UNMATCHED, Fill, Lots, OpenLots, Remainder
from .opening_lots import GivenLot, in_zone, read_lots
from .result_table import ResultTable
from .security_key import APART, KEY, LEAD, Key, Keyed, leading
from .trade_columns import Fills, read_fills

if TYPE_CHECKING:
    from .by_account import Trades
    from .opening_lots import GivenLots


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Keyed):
    """A quantity that one trade opened and another closed; see also ``Keyed``.

    Attributes:
        side: ``long`` if the purchase came first, ``short`` if the sale did.
        buy_trade_no: Trade number of the purchase; ``None`` for an opening lot without one.
        buy_time: Time of the purchase; ``None`` for an opening lot without one.
        sell_trade_no: Trade number of the sale; ``None`` for an opening lot without one.
        sell_time: Time of the sale; ``None`` for an opening lot without one.
        close_time: Time of the closing trade: the sale of a long lot, the purchase for a short one.
        quantity: Shares or contracts.
        cost: Value of the purchase.
        proceeds: Value of the sale.
        realised: ``proceeds - cost``, before charges.
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


class Matches(ResultTable[Match]):
    """Matches of opening and closing trades, in the order in which they were closed."""

    __slots__ = ()
    _row = Match
    _lead = LEAD
    _apart = APART
    _key_columns = ("side", "realised", "quantity", "close_time", "cost", "proceeds")
    _summed = ("realised",)


@dataclass(frozen=True, slots=True, kw_only=True)
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
        open_quantity: Quantity still open: positive if long, negative if short.
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


class RealisedPnl(ResultTable[Realised]):
    """Result of ``realised_pnl``: one row for each key, with the lots behind the figures.

    Attributes:
        matches: Which trade closed which lot.
        unmatched: Sales that neither closed nor opened a lot; not part of ``realised``.
        open_lots: Lots still open; the ``opening`` of the next day.

    The result of ``filter`` has the matches and lots of its rows.
    """

    __slots__ = ("matches", "open_lots", "unmatched")
    _row = Realised
    _lead = LEAD
    _apart = APART
    _key_columns = (
        *("realised", "open_quantity", "matched_quantity", "cost", "proceeds"),
        "unmatched_quantity",
    )
    _summed = ("realised",)
    _size = "realised"

    matches: Matches
    unmatched: Lots
    open_lots: Lots

    def _take(self, rows: Sequence[int]) -> RealisedPnl:
        made = super()._take(rows)
        keys = set(map(_key, made))
        made.matches = self.matches.filter(lambda row: _key(row) in keys)
        made.unmatched = self.unmatched.filter(lambda row: _key(row) in keys)
        made.open_lots = self.open_lots.filter(lambda row: _key(row) in keys)
        return made

    @property
    def realised(self) -> float:
        """Sum over all rows, before charges."""
        return exact_sum(self._columns["realised"])

    def _heading(self) -> str:
        from ..display.plain_table import group

        parts = [super()._heading(), f"realised {group(self.realised, 2)} before charges"]
        if sold := sum(self._columns["unmatched_quantity"]):
            parts.append(f"{group(sold)} sold without an opening (see .unmatched)")
        return ", ".join(parts)


def _key(row: Keyed) -> Key:
    return tuple(getattr(row, name) for name in KEY)


def realised_pnl(
    trades: Trades,
    opening: GivenLots | None = None,
    *,
    shorts: bool | Collection[str] = True,
    buy: str = "B",
    sell: str = "S",
) -> RealisedPnl:
    """Computes realised profit and loss by signed first-in-first-out matching, before charges.

    Within one client, exchange, segment, security and product, a trade first closes the oldest open
    lots of the other side; the rest of it opens a lot of its own side. A sale thus closes long lots
    and then opens a short one, which a later purchase closes.

    A sale of holdings from before these trades looks like a short sale. Pass the holdings with
    ``opening``, or exclude shorts with ``shorts``: such sales are then listed in ``unmatched`` and
    not realised.

    Trades are processed by ``exch_trade_time``; trades of the same second keep the order of the
    book. Amounts are exact: values are sums of ``trade_value``, a part of a trade has its share of
    the value to the smallest decimal that was sent (usually the paisa), the parts add up to it, and
    each result is the float nearest to the exact sum. (Service: "Trade record".)

    Args:
        trades: Trades of any number of days, clients and exchanges: a book, or the books of several
            accounts as ``td.trade_books`` returns them or by label.
        opening: Lots that were open before the first trade, in their order: the ``open_lots`` of an
            earlier result, or one dict for each lot with the five fields of the key, ``quantity``,
            ``value`` and optionally the other fields of ``Lot`` (``side`` is ``long`` unless
            given). A time without a zone is taken to be in the zone of the trades.
        shorts: Whether sales may open short lots: True, False, or the product codes for which they
            may, such as ``{"I", "M"}``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key, with ``matches``, ``open_lots``, ``unmatched`` and the sum
        ``realised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, if quantities of one security are in different units, or if an
            opening lot is incomplete or unmatched.
        TradingDataError: If the book of one of several accounts could not be fetched.

    Example:
        >>> monday = td.realised_pnl(monday_trades)
        >>> tuesday = td.realised_pnl(tuesday_trades, opening=monday.open_lots)
    """
    book, accounts = joined("trades", trades, TradeBook)
    shortable = _short_products(shorts)
    given = [] if opening is None else read_lots("opening", opening)
    zone = book._rows.zone
    given = [lot._replace(time=in_zone(at, lot.time, zone)) for at, lot in enumerate(given)]
    values = [lot.value for lot in given]
    fills = read_fills(book, accounts, buy, sell, also=values, timed=True)
    matching = _Matching(given, fills)
    matching.run(shortable)
    return matching.result(zone)


def _short_products(shorts: object) -> bool | frozenset[str]:
    if isinstance(shorts, bool):
        return shorts
    if isinstance(shorts, Collection) and not isinstance(shorts, (str, bytes)):
        codes = frozenset(shorts)
        if all(isinstance(code, str) for code in codes):
            return codes
    raise TypeError(
        "shorts must be True, False or a collection of product codes such as {'I', 'M'}, "
        f"not {shorts!r}"
    )


class _Tally:
    """The open lots and the sums of one key, in exact units."""

    __slots__ = ("cost", "lots", "matched", "proceeds", "unmatched", "unmatched_value")

    def __init__(self) -> None:
        self.lots = OpenLots()
        self.matched = self.cost = self.proceeds = 0
        self.unmatched = self.unmatched_value = 0


class _Matching:
    def __init__(self, opening: list[GivenLot], fills: Fills) -> None:
        self._fills = fills
        self._scale = 10**fills.decimals
        self._names = {lot.key: lot.names for lot in opening} | fills.names
        self._multipliers = dict(fills.multipliers)
        self._tallies = {key: _Tally() for key in self._names}
        self._matches: list[tuple[Any, ...]] = []
        self._unmatched: list[tuple[Any, ...]] = []
        units = in_units([lot.value for lot in opening], fills.decimals)
        for lot, value in zip(opening, units, strict=True):
            self._set_multiplier(lot)
            fill = Fill(lot.time, lot.trade_no, lot.quantity, value)
            self._tallies[lot.key].lots.open(lot.side, Remainder(fill))

    def _set_multiplier(self, lot: GivenLot) -> None:
        if lot.multiplier is None:
            return
        known = self._multipliers.setdefault(lot.key, lot.multiplier)
        if known != lot.multiplier:
            raise ValueError(
                f"an opening lot of security_id {lot.key[3]!r} has the multiplier "
                f"{lot.multiplier}, but its other trades have {known}: convert its quantity"
            )

    def run(self, shortable: bool | frozenset[str]) -> None:
        fills = self._fills
        parts = list(map(Fill, fills.times, fills.trade_nos, fills.quantities, fills.values))
        # Sorting is stable, so trades of the same second keep the order of the book.
        for row in sorted(range(len(parts)), key=fills.times.__getitem__):
            key = fills.keys[row]
            bought = fills.bought[row]
            trade, lots = Remainder(parts[row]), self._tallies[key].lots
            self._close(key, trade, bought=bought)
            if not trade.left:
                continue
            if bought:
                lots.open(LONG, trade)
            elif shortable is True or (shortable and key[-1] in shortable):
                lots.open(SHORT, trade)
            else:
                self._leave_unmatched(key, trade)

    def _close(self, key: Key, trade: Remainder, *, bought: bool) -> None:
        tally, scale, close_time = self._tallies[key], self._scale, trade.fill.time
        closed = SHORT if bought else LONG
        for lot, quantity, lot_value, trade_value in tally.lots.close(closed, trade):
            buy, sell = (trade.fill, lot) if bought else (lot, trade.fill)
            cost, proceeds = (trade_value, lot_value) if bought else (lot_value, trade_value)
            tally.matched += quantity
            tally.cost += cost
            tally.proceeds += proceeds
            facts = (buy.trade_no, buy.time, sell.trade_no, sell.time, close_time, quantity)
            amounts = (cost / scale, proceeds / scale, (proceeds - cost) / scale)
            self._matches.append((*self._leading(key), closed, *facts, *amounts))

    def _leave_unmatched(self, key: Key, trade: Remainder) -> None:
        tally = self._tallies[key]
        tally.unmatched += trade.left
        tally.unmatched_value += trade.value
        self._unmatched.append(self._lot_row(key, UNMATCHED, trade))

    def _lot_row(self, key: Key, side: str, lot: Remainder) -> tuple[Any, ...]:
        fill, value = lot.fill, lot.value / self._scale
        facts = (side, fill.trade_no, fill.time, lot.left, value, self._multipliers.get(key, 1))
        return (*self._leading(key), *facts)

    def _leading(self, key: Key) -> tuple[Any, ...]:
        return leading(key, self._names[key])

    def result(self, zone: Any) -> RealisedPnl:
        scale = self._scale
        rows, left = [], []
        for key, tally in self._tallies.items():
            lots = list(tally.lots)
            left += [self._lot_row(key, side, lot) for side, lot in lots]
            signed = [(1 if side == LONG else -1, lot) for side, lot in lots]
            rows.append(
                (
                    *self._leading(key),
                    tally.matched,
                    tally.cost / scale,
                    tally.proceeds / scale,
                    (tally.proceeds - tally.cost) / scale,
                    tally.unmatched,
                    tally.unmatched_value / scale,
                    sum(sign * lot.left for sign, lot in signed),
                    sum(sign * lot.value for sign, lot in signed) / scale,
                )
            )
        made = RealisedPnl._of(rows, zone)
        made.matches = Matches._of(self._matches, zone)
        made.unmatched = Lots._of(self._unmatched, zone)
        made.open_lots = Lots._of(left, zone)
        return made
