"""What closed trades earned: sales matched with the oldest lots, exact to the paisa."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .amounts import in_units
from .columns import check_book
from .fills import Fills, read_fills
from .keys import ASIDES, Key, Keyed
from .lots import Lots, Part, Queue, Remainder
from .opening import OpeningLot, read_opening
from .results import ResultTable

if TYPE_CHECKING:
    from ..books import TradeBook
    from .opening import Opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Keyed):
    """Some of a lot, sold; see also ``Keyed``.

    Attributes:
        buy_trade_no: of the lot; ``None`` for an opening lot that was given without one.
        buy_time: of the lot; ``None`` for an opening lot that was given without it.
        sell_trade_no: of the sale.
        sell_time: of the sale.
        quantity: how many.
        cost: what these cost.
        proceeds: what these brought.
        realised: proceeds less cost, before charges.
    """

    buy_trade_no: str | None
    buy_time: datetime | None
    sell_trade_no: str | None
    sell_time: datetime | None
    quantity: int
    cost: float
    proceeds: float
    realised: float


class Matches(ResultTable[Match]):
    """Which lot each sale closed, in the order of the sales."""

    __slots__ = ()
    _row = Match
    _asides = ASIDES


@dataclass(frozen=True, slots=True, kw_only=True)
class Realised(Keyed):
    """What one account earned with one security and product; see also ``Keyed``.

    Attributes:
        matched_quantity: sold out of lots.
        cost: what these cost.
        proceeds: what these brought.
        realised: proceeds less cost, before charges.
        unmatched_quantity: sold without a lot to take it from; not in ``realised``.
        unmatched_value: what these brought.
        open_quantity: bought and not sold.
        open_value: what these cost.
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
    """What ``realised_pnl`` gives: a row for each key, and where its figures come from.

    Attributes:
        matches: which lot each sale closed.
        unmatched: what was sold without a lot to take it from; not in ``realised``.
        open_lots: what is left at the end; the ``opening`` of the next day.
        realised: the sum over all rows, before charges.
    """

    __slots__ = ("matches", "open_lots", "realised", "unmatched")
    _row = Realised
    _asides = ASIDES

    matches: Matches
    unmatched: Lots
    open_lots: Lots
    realised: float

    def _heading(self) -> str:
        from .._tables import group

        parts = [super()._heading(), f"realised {group(self.realised, 2)} before charges"]
        if sold := sum(self._columns["unmatched_quantity"]):
            parts.append(f"{group(sold)} sold without an opening (see .unmatched)")
        return ", ".join(parts)


def realised_pnl(
    trades: TradeBook, opening: Opening | None = None, *, buy: str = "B", sell: str = "S"
) -> RealisedPnl:
    """What sales realised, first in, first out, gross: no charge, tax or fee is taken off.

    A sale closes the oldest lots of the same account, exchange, segment, security and product;
    ``trade_value`` is the cost of a lot and the proceeds of a sale. ``opening`` are lots from
    before, older than all trades, in their order: the ``open_lots`` of an earlier result, or a dict
    each with the key's five fields, ``quantity`` and ``value``. Of localized trades, lots' times
    without a zone are taken to be in theirs.

    What is sold without a lot to take it from is no short sale here: it is listed in ``unmatched``,
    and a purchase after it opens a lot. So an intraday short sale is unmatched, and its cover open.

    Trades go by ``exch_trade_time``. Within one second purchases go first, then trade numbers, the
    shorter ones first; the order of the book does not count. Amounts are exact: a part of a fill
    has its share of the value to the smallest decimal that was sent (the paisa), and the parts add
    up to it; each result is the float nearest to the exact sum. ``buy`` and ``sell`` are the codes
    of ``txn_type``, which the service does not document.

    Raises ValueError for another code, for a trade that lacks a value which counts, for a quantity
    below 1, and for a trade that stands in the book twice. (Service: "Trade record".)
    """
    from ..books import TradeBook

    check_book("trades", trades, TradeBook)
    given = read_opening(opening, trades._table.zone)
    fills = read_fills(trades, buy, sell, also=[lot.value for lot in given], timed=True)
    matching = _Matching(given, fills)
    matching.run()
    return matching.result(trades._table.zone)


class _Tally:
    """The lots of one key, and what came of them so far, in units."""

    __slots__ = ("cost", "lots", "matched", "proceeds", "unmatched", "unmatched_value")

    def __init__(self) -> None:
        self.lots = Queue()
        self.matched = self.cost = self.proceeds = 0
        self.unmatched = self.unmatched_value = 0


class _Matching:
    def __init__(self, opening: list[OpeningLot], fills: Fills) -> None:
        self._fills = fills
        self._scale = 10**fills.decimals
        self._names = {lot.key: lot.names for lot in opening} | fills.names
        self._tallies = {key: _Tally() for key in self._names}
        self._matches: list[tuple[Any, ...]] = []
        self._unmatched: list[tuple[Any, ...]] = []
        units = in_units([lot.value for lot in opening], fills.decimals)
        for lot, value in zip(opening, units, strict=True):
            part = Part(lot.time, lot.trade_no, lot.quantity, value)
            self._tallies[lot.key].lots.buy(part)

    def _in_time(self) -> list[int]:
        times, bought, numbers = self._fills.times, self._fills.bought, self._fills.trade_nos

        def moment(row: int) -> tuple[Any, ...]:
            number = numbers[row] or ""
            return times[row], not bought[row], len(number), number

        return sorted(range(len(times)), key=moment)

    def run(self) -> None:
        fills = self._fills
        parts = list(map(Part, fills.times, fills.trade_nos, fills.quantities, fills.values))
        for row in self._in_time():
            key = fills.keys[row]
            if fills.bought[row]:
                self._tallies[key].lots.buy(parts[row])
            else:
                self._sell(key, parts[row])

    def _sell(self, key: Key, fill: Part) -> None:
        tally, sale, scale = self._tallies[key], Remainder(fill), self._scale
        about, sold = (*key, *self._names[key]), (fill.trade_no, fill.time)
        for lot, quantity, cost, proceeds in tally.lots.sell(sale):
            tally.matched += quantity
            tally.cost += cost
            tally.proceeds += proceeds
            amounts = (cost / scale, proceeds / scale, (proceeds - cost) / scale)
            self._matches.append((*about, lot.trade_no, lot.time, *sold, quantity, *amounts))
        if sale.left:
            rest = sale.rest()
            tally.unmatched += rest.quantity
            tally.unmatched_value += rest.value
            self._unmatched.append((*about, *sold, rest.quantity, rest.value / scale))

    def result(self, zone: Any) -> RealisedPnl:
        scale = self._scale
        rows, left = [], []
        for key, tally in self._tallies.items():
            about = (*key, *self._names[key])
            rest = list(tally.lots.rest())
            left += [
                (*about, lot.trade_no, lot.time, lot.quantity, lot.value / scale) for lot in rest
            ]
            rows.append(
                (
                    *about,
                    tally.matched,
                    tally.cost / scale,
                    tally.proceeds / scale,
                    (tally.proceeds - tally.cost) / scale,
                    tally.unmatched,
                    tally.unmatched_value / scale,
                    sum(lot.quantity for lot in rest),
                    sum(lot.value for lot in rest) / scale,
                )
            )
        made = RealisedPnl._of(rows, zone)
        made.matches = Matches._of(self._matches, zone)
        made.unmatched = Lots._of(self._unmatched, zone)
        made.open_lots = Lots._of(left, zone)
        total = sum(tally.proceeds - tally.cost for tally in self._tallies.values())
        made.realised = total / scale
        return made
