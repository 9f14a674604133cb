"""Realised profit and loss by signed first-in-first-out matching, exact to the paisa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import compress, pairwise
from operator import sub
from typing import Any

from .. import _core
from ..books.book import TradeBook
from ..display.text import counted
from .changes import LotChange, changed
from .fills import Fills
from .inputs import IST, PRODUCTS, Lookup, Multipliers, Prices, chosen
from .isins import MATCH_BY, elsewhere
from .issues import EXPIRED, TIED, UNOPENED, Note, named, noted, unused
from .keys import CONTRACT, EXPIRY_AT, KEY, KEYED, SECURITY_AT, Key, key_of
from .realised import (
    ATTRIBUTES,
    LONG,
    SHORT,
    UNMATCHED,
    GivenLots,
    Lot,
    Lots,
    Matches,
    RealisedPnl,
    read_lots,
)

_SETTLED_AT = time(15, 30)  # of the expiry date, in India; the service documents no settlement
_SETTLED_AFTER = timedelta(hours=_SETTLED_AT.hour, minutes=_SETTLED_AT.minute)


def realised_pnl(
    trades: TradeBook,
    opening: GivenLots | None = None,
    *,
    day: date | str | None = None,
    settle: Prices | None = None,
    multipliers: Multipliers | None = None,
    changes: Sequence[LotChange] = (),
    match_by: str = MATCH_BY[0],
    shorts: bool | Collection[str] = True,
    buy: str = "B",
    sell: str = "S",
) -> RealisedPnl:
    """Computes realised profit and loss by signed first-in-first-out matching, before charges.

    Within one client, contract and product, a trade first closes the oldest open lots of the other
    side; the rest of it opens a lot of its own side. A sale thus closes long lots and then opens a
    short one, which a later purchase closes. A contract is exchange, segment, security and expiry.

    A sale of holdings from before these trades looks like a short sale. Pass the holdings with
    ``opening``, or exclude shorts with ``shorts``: such sales are then listed in ``unmatched`` and
    not realised.

    Trades are processed by ``exch_trade_time``. Trades of one second are in the direction of their
    response, which ``row_no`` or the trade numbers of an exchange and segment show; so a sort or a
    concatenation changes nothing. Where no number shows it, the tie is in ``issues``. Amounts are
    exact: values are sums of ``trade_value``, a part of a trade has its share of the value to the
    smallest decimal that was sent (usually the paisa), the parts add up to it, and each result is
    the float nearest to the exact sum. (Service: "Trade record".)

    Args:
        trades: Trades of any number of days, accounts, clients and exchanges.
        opening: Lots that were open before the first trade, in their order: the ``open_lots`` of an
            earlier result, or one dict for each lot with the fields of the key, ``quantity``,
            ``value`` and optionally the other fields of ``Lot`` (``side`` is ``long`` unless
            given). A time without a zone is taken to be in the zone of the trades. A lot without
            an expiry is of shares, unless its id has an expiry elsewhere.
        day: The day to report, as a date or ISO text. Earlier trades are matched first, and what
            they leave open is the day's opening; only what closes on the day counts, and later
            trades are left out. Without it, all days of the book count.
        settle: Settlement prices of expired contracts, in the forms of ``prices`` in
            ``td.unrealised_pnl`` (0 for a worthless option); a function gets a trade of the
            contract. A lot of it is closed at its expiry date, and counts on that date. Without a
            price, a lot whose contract expired before the day (the last day of the book) is neither
            open nor realised, but ``expired``.
        multipliers: Multipliers of contracts that their trades do not prove, by ``security_id`` or
            ``(security_id, expiry_date)``.
        changes: Splits, conversions and other changes of open lots (see ``td.LotChange``) until the
            end of the last day. Opening lots have those after their ``as_of``; one without is as it
            was at the beginning of the first day.
        match_by: ``"isin"`` matches shares of one ISIN as one security, under the exchange and id
            of its last trade: bought on one exchange and sold on another, or moved to another
            series. Products other than ``C`` are matched within an exchange. A price, a settlement
            or the condition of a change may be under any of the ids. Text that has not the form of
            an ISIN matches nothing.
        shorts: Whether sales may open short lots: True, False, or the product codes for which they
            may, such as ``{"I", "M"}``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key, with ``days``, ``matches``, ``open_lots``, ``expired``, ``unmatched``,
        ``issues`` and the sum ``realised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a trade lacks a required value, has another ``txn_type`` or a quantity below
            1, or appears twice, if quantities of one contract are in different units, if an opening
            lot is incomplete or unmatched, if ``opening`` or a change makes long and short lots of
            one key, or if ``shorts`` or ``day`` is not valid or the day is before the trades and
            the opening.
        OverflowError: If amounts are too large to be added exactly.

    Warns:
        DataWarning: If the result has issues.

    Example:
        >>> monday = td.realised_pnl(monday_trades)
        >>> tuesday = td.realised_pnl(tuesday_trades, opening=monday.open_lots)
        >>> td.realised_pnl(week_of_trades, day="2026-11-20")
    """
    lots = [] if opening is None else read_lots("opening", opening)
    more: Any = {"multipliers": multipliers, "changes": changes, "match_by": match_by}
    fills = Fills(trades, day, buy, sell, lots=lots, timed=True, earlier=True, **more)
    stages = matched(fills, settle, shorts, buy, sell)
    return noted(realised_of(fills, stages), fills.notes)


def matched(
    fills: Fills, settle: Prices | None, shorts: bool | Collection[str], buy: str, sell: str
) -> list[Matching]:
    """Returns what trades match: from one change of lots to the next, a part each."""
    prices = None if settle is None else Lookup("settle", settle)
    moments = [datetime.min, *dict.fromkeys(at for at, _ in fills.changes), datetime.max]
    stages: list[Matching] = []
    lots: list[Lot] | None = None
    stage, multipliers = fills, {}
    if fills.changes:
        leading, found, _ = fills.facts(_core.Groups([fills.rows], KEY))
        multipliers = dict(zip((each[2:6] for each in leading), found, strict=True))
    for start, stop in pairwise(moments):
        if fills.changes:
            stage = fills.stage(start, stop, lots, multipliers)
        made = Matching(stage, buy, sell)
        if fills.changes:
            stage.notes = []  # those of all the trades are there
        made.match(fills.day, shorts)
        if prices is not None and fills.last != date.min:
            zone = fills.rows.zone
            local = stop if zone is None or stop == datetime.max else _in(IST, stop, zone)
            before = (local - _SETTLED_AFTER).date()
            prices.same = stage.same
            made.settle(min(fills.last, before), prices, fills.day, shorts)
        stages.append(made)
        if stop != datetime.max:
            lots = list(made.lots(made.left))
            for change in (change for at, change in fills.changes if at == stop):
                lots, notes = changed(lots, change, stage.same)
                fills.notes += notes
    if prices is not None and any(stages[-1].is_expired(fills.last)):
        contracts = {
            each[SECURITY_AT - 2 : EXPIRY_AT + 1] for made in stages for each in made.leading
        }
        fills.notes += unused("settle", prices.unmatched(contracts))
    return stages


def _in(zone: tzinfo, at: datetime, of: tzinfo) -> datetime:
    """Returns a time on the clock of one zone on that of another."""
    return at.replace(tzinfo=of).astimezone(zone)


def realised_of(fills: Fills, stages: list[Matching]) -> RealisedPnl:
    """Returns what trades realise, and notes what is not known of them."""
    stage, top = stages[-1], max(each.decimals for each in stages)
    scale = 10**top
    sums: dict[Key, list[int]] = {}
    leading: dict[Key, tuple[Any, ...]] = {}
    contracts: dict[Key, tuple[int | None, str]] = {}

    def count(each: Matching, number: int, at: int, quantity: int, *values: int) -> None:
        found = sums.setdefault(key_of(each.leading[number]), [0] * 7)
        for place, value in enumerate((quantity, *values), at):
            found[place] += value if place == at else value * 10 ** (top - each.decimals)

    for each in stages:
        for number, (lead, *totals) in enumerate(zip(each.leading, *each.totals, strict=True)):
            leading[key_of(lead)] = lead
            contracts[key_of(lead)] = each.multipliers[number], each.kinds[number]
            count(each, number, 0, *totals)
        for row, _, *amounts in zip(*each.unmatched, strict=True):
            count(each, each.numbers[row], 3, *amounts)
    is_expired = stage.is_expired(fills.last)
    for over, row, is_long, *amounts in zip(is_expired, *stage.left, strict=True):
        sign = 0 if over else 1 if is_long else -1
        count(stage, stage.numbers[row], 5, *(sign * amount for amount in amounts))
    made = RealisedPnl._of(
        (
            *(*leading[key], quantity),
            *(each / scale for each in (cost, proceeds, proceeds - cost)),
            *(missing, missing_value / scale, held, value / scale),
        )
        for key, (quantity, cost, proceeds, missing, missing_value, held, value) in sums.items()
    )
    made.days = fills.days if fills.day is None else (fills.day,)
    made._contracts = contracts
    made._matches = lambda: _one([each.matches() for each in stages])
    made.unmatched = _one([each.lots(each.unmatched, UNMATCHED) for each in stages])
    lots = stage.lots(stage.left, as_of=fills.as_of())
    made.open_lots, made.expired = (
        lots._taken([row for row, each in enumerate(is_expired) if each is wanted])
        for wanted in (False, True)
    )
    for each in stages:
        each.note_ties()
        each.note(UNOPENED, "sale", each.unmatched[0])
    stage.note(EXPIRED, "lot", compress(stage.left[0], is_expired))
    if fills.changes:
        fills.notes += [note for each in stages for note in each.fills.notes]
    if not fills.is_by_isin:
        fills.notes += elsewhere(made)
    return made


def _one(tables: list[Any]) -> Any:
    """Returns tables of one kind as one."""
    first, *others = tables
    return first._over(_core.join([each._rows for each in tables])) if others else first


class Matching:
    """Opening lots, trades and settlements as one sequence of rows, grouped by key."""

    def __init__(self, fills: Fills, buy: str, sell: str) -> None:
        self.fills, self._rows, self._zone = fills, fills.rows, fills.rows.zone
        self._opening, self._settled = fills.opening, 0
        self._buy, self._sell = buy, sell
        self._groups = _core.Groups([self._rows], KEY)
        self.leading, self.multipliers, self.kinds = fills.facts(self._groups)
        self._expiries = [leading[EXPIRY_AT] for leading in self.leading]

    def match(self, day: date | None, shorts: object) -> None:
        """Matches the rows; only what closes on the day is reported."""
        products = [leading[KEYED.index("product")] for leading in self.leading]
        if isinstance(shorts, bool):
            may_short = [shorts] * len(products)
        else:
            takes = "True, False or a collection of product codes such as {'I', 'M'}"
            allowed = chosen("shorts", shorts, {*products, *PRODUCTS}, takes)
            may_short = [product in allowed for product in products]
        self.numbers = self._groups.numbers()  # the key of each row
        self.decimals = _core.decimals_of([(self._rows, "trade_value")])
        permitted = [may_short[number] for number in self.numbers]
        limits = self._opening, self._settled
        self.found, self.unmatched, self.left, self.totals, self._tied = self._groups.match(
            self._buy, self.decimals, *limits, permitted, day, self._origin()
        )

    def _origin(self) -> list[int]:
        """Returns the number of the exchange where each row was traded, if ISINs changed some."""
        if not self.fills.is_by_isin:
            return []
        numbers: list[int] = _core.Groups([self.fills.sent], CONTRACT[:2]).numbers()
        return numbers + [-1] * self._settled

    def settle(self, last: date, price_of: Lookup, day: date | None, shorts: object) -> None:
        """Closes the lots whose contract has expired and has a price, as trades at the expiry."""
        closing = []
        contracts = (leading[SECURITY_AT - 2 : EXPIRY_AT + 1] for leading in self.leading)
        price_of.among(key for key in contracts if key[-1] is not None and key[-1] <= last)
        for place, is_long, quantity in zip(*self.left[:3], strict=True):
            number = self.numbers[place]
            expiry, multiplier = self._expiries[number], self.multipliers[number]
            if expiry is None or expiry > last:
                continue
            row = self._rows[place]
            price = price_of(row)
            if price is None or (price and multiplier is None):
                continue
            at = datetime.combine(expiry, _SETTLED_AT)
            closed = row._replace(
                txn_type=self._sell if is_long else self._buy,
                trade_no=None,
                quantity=quantity,
                traded_price=None,  # which is no proof of the multiplier
                trade_value=float(price * quantity * (multiplier if multiplier else 0)),
                exch_trade_time=at if self._zone is None else _in(self._zone, at, IST),
            )
            closing.append(closed)
        if closing:
            self._settled = len(closing)
            settlements = _core.from_rows("Trade", closing)
            self._rows = _core.join([self._rows, settlements.with_zone(self._zone)])
            self._groups = _core.Groups([self._rows], KEY)  # with the same numbers
            self.match(day, shorts)

    def parts(self) -> Iterator[tuple[tuple[Any, ...], date | None, date | None, int, int, int]]:
        """Yields each part that was opened, with what closing it realised.

        That is its leading columns, the days on which it was opened (None for an opening lot) and
        closed (None for what is left), its quantity and value, negative if short, and the profit.
        """
        (times,) = self._rows.cells([*range(len(self._rows))], [_TRADED[1]])
        days = [None] * self._opening + [time.date() for time in times[self._opening :]]
        for lot, trade, is_long, quantity, cost, proceeds in zip(*self.found, strict=True):
            held = (quantity, cost) if is_long else (-quantity, -proceeds)
            yield self.leading[self.numbers[lot]], days[lot], days[trade], *held, proceeds - cost
        for row, is_long, quantity, value in zip(*self.left, strict=True):
            held = (quantity, value) if is_long else (-quantity, -value)
            yield self.leading[self.numbers[row]], days[row], None, *held, 0

    def is_expired(self, last: date) -> list[bool]:
        """Returns whether the contract of each lot that is left has expired before a day."""
        over = [expiry is not None and expiry < last for expiry in self._expiries]
        return [over[self.numbers[row]] for row in self.left[0]]

    def note_ties(self) -> None:
        """Notes purchases and sales of one second whose order nothing shows."""
        by_key: dict[int, list[int]] = {}
        for row in dict.fromkeys(self._tied):
            by_key.setdefault(self.numbers[row], []).append(row)
        for number, rows in by_key.items():
            self.fills.note_rows(self.leading[number], TIED, rows)

    def note(self, problem: str, noun: str, rows: Iterable[int]) -> None:
        """Notes rows by key."""
        for number, count in Counter(self.numbers[row] for row in rows).items():
            text = f"{named(self.leading[number])}: {counted(count, noun)}"
            self.fills.notes.append(Note(self.leading[number], problem, text, count))

    def _columns(self, rows: list[int]) -> list[list[Any]]:
        found = [self.leading[self.numbers[row]] for row in rows]
        return [[each[at] for each in found] for at in range(len(KEYED))]

    def matches(self) -> Matches:
        """Returns which trade closed which lot."""
        lots, trades, is_long, quantities, costs, proceeds = self.found
        sides = list(zip(lots, trades, is_long, strict=True))
        bought = [lot if each else trade for lot, trade, each in sides]
        sold = [trade if each else lot for lot, trade, each in sides]
        scale, cells = 10**self.decimals, self._rows.cells
        opened, old = cells(lots, [_TRADED[1], ATTRIBUTES[-1]])
        closed, new = cells(trades, [_TRADED[1], ATTRIBUTES[-1]])
        columns: list[list[Any]] = [
            *self._columns(trades),
            [LONG if each else SHORT for each in is_long],
            *(*cells(bought, _TRADED), *cells(sold, _TRADED)),
            *(closed, quantities),
            *([each / scale for each in column] for column in (costs, proceeds)),
            [each / scale for each in map(sub, proceeds, costs)],
            [later or earlier for earlier, later in zip(old, new, strict=True)],
            [
                since and (at.date() - since.date()).days
                for since, at in zip(opened, closed, strict=True)
            ],
        ]
        made = Matches._of_columns(columns, self._zone)
        return made.sort("close_time") if self._settled else made

    def lots(self, parts: Any, side: str | None = None, as_of: datetime | None = None) -> Lots:
        """Returns parts of rows as lots."""
        rows, is_long, quantities, values = parts
        trade_numbers, times, *attributes = self._rows.cells(rows, [*_TRADED, *ATTRIBUTES])
        columns: list[list[Any]] = [
            *self._columns(rows),
            [side or (LONG if each else SHORT) for each in is_long],
            *(trade_numbers, times, quantities),
            [value / 10**self.decimals for value in values],
            [self.multipliers[self.numbers[row]] for row in rows],
            *attributes,
            [as_of] * len(rows),
        ]
        return Lots._of_columns(columns, self._zone)


_TRADED = ("trade_no", "exch_trade_time")
