"""Realised profit and loss by signed first-in-first-out matching, exact to the paisa."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime, time, timedelta, tzinfo
from itertools import compress, pairwise
from operator import add, sub
from typing import Any, NamedTuple

from .. import _core
from ..books.book import TradeBook
from ..display.text import counted
from .changes import LotChange, after_change
from .fills import Fills
from .inputs import IST, PRODUCTS, Lookup, Multipliers, Prices, chosen
from .isins import MATCH_BY, elsewhere, may_be_elsewhere
from .issues import EXPIRED, TIED, UNOPENED, about, noted, unused
from .keys import CONTRACT, KEY, KEYED, NAMES, Key, Lead
from .realised import (
    ATTRIBUTES,
    LONG,
    SHORT,
    UNMATCHED,
    GivenLots,
    Later,
    Lot,
    Lots,
    Matches,
    RealisedPnl,
    read_lots,
)

_SETTLED_AT = time(15, 30)  # on the expiry date, in India; the service documents no settlement
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
        facts = fills.facts()
        multipliers = dict(zip(facts.contracts(), facts.multipliers, strict=True))
    for start, stop in pairwise(moments):
        if fills.changes:
            stage = fills.stage(start, stop, lots, multipliers)
        matching = Matching(stage, buy, sell)
        if fills.changes:
            stage.notes = []  # `fills.notes` has those of all trades
        matching.match(fills.day, shorts)
        if prices is not None and fills.last != date.min:
            zone = fills.rows.zone
            local = stop if zone is None or stop == datetime.max else _in(IST, stop, zone)
            before = (local - _SETTLED_AFTER).date()
            prices.same = stage.same
            matching.settle(min(fills.last, before), prices, fills.day, shorts)
        stages.append(matching)
        if stop != datetime.max:
            lots = list(matching.lots(matching.found.open))
            for change in (change for at, change in fills.changes if at == stop):
                lots, notes = after_change(lots, change, stage.same)
                fills.notes += notes
    if prices is not None and stages[-1].left(fills.last, expired=True)[0]:
        contracts = {one for stage in stages for one in stage.facts.contracts()}
        fills.notes += unused("settle", prices.unmatched(contracts))
    return stages


def _in(zone: tzinfo, at: datetime, of: tzinfo) -> datetime:
    """Returns a time on the clock of one zone on that of another."""
    return at.replace(tzinfo=of).astimezone(zone)


class _Sums(NamedTuple):
    """The sums of each key, whose amounts are in the unit of the finest stage."""

    quantities: list[int]
    costs: list[int]
    proceeds: list[int]
    unmatched: list[int]
    unmatched_values: list[int]
    held: list[int]
    held_values: list[int]


def facts_of(stages: list[Matching]) -> dict[Key, tuple[int | None, str]]:
    """Returns the last that is known of each key: its multiplier and kind."""
    all_facts: dict[Key, tuple[int | None, str]] = {}
    for facts in (stage.facts for stage in stages):
        of_keys = zip(facts.multipliers, facts.kinds, strict=True)
        all_facts.update(zip(zip(*facts.keys, strict=True), of_keys, strict=True))
    return all_facts


def _added_up(stages: list[Matching], sums_of_stages: list[_Sums]) -> tuple[list[Any], _Sums]:
    """Returns the leading columns and the sums of the keys of all stages."""
    if len(stages) == 1:
        return stages[0].fills.leads(), sums_of_stages[0]
    leads: dict[Key, Lead] = {}  # with the last names that are known
    totals: dict[Key, list[int]] = {}
    for stage, columns in zip(stages, sums_of_stages, strict=True):
        for lead, *of_key in zip(stage.facts.leads, *columns, strict=True):
            before = totals.get(lead.key, [0] * len(of_key))
            totals[lead.key] = list(map(add, before, of_key))
            leads[lead.key] = lead
    names = [[lead[at] for lead in leads.values()] for at in range(len(KEYED))]
    sums = ([of_key[at] for of_key in totals.values()] for at in range(len(_Sums._fields)))
    return names, _Sums(*sums)


def realised_of(fills: Fills, stages: list[Matching]) -> RealisedPnl:
    """Returns what trades realise, and notes what is not known of them."""
    last, decimals = stages[-1], max(stage.decimals for stage in stages)
    leads, sums = _added_up(
        stages, [stage.sums(decimals, fills.last if stage is last else None) for stage in stages]
    )
    scale = 10**decimals
    columns: list[Any] = [
        *leads,
        sums.quantities,
        [units / scale for units in sums.costs],
        [units / scale for units in sums.proceeds],
        [units / scale for units in map(sub, sums.proceeds, sums.costs)],
        sums.unmatched,
        [units / scale for units in sums.unmatched_values],
        sums.held,
        [units / scale for units in sums.held_values],
    ]
    pnl = RealisedPnl._of_columns(columns)
    pnl.days = fills.days if fills.day is None else (fills.day,)
    pnl._later = Later(
        matches=lambda: _one([stage.matches() for stage in stages]),
        unmatched=lambda: _one([it.lots(it.found.unmatched, UNMATCHED) for it in stages]),
        open_lots=lambda: last.lots(last.left(fills.last, expired=False), as_of=fills.as_of()),
        expired=lambda: last.lots(last.left(fills.last, expired=True), as_of=fills.as_of()),
    )
    for stage in stages:
        stage.note_ties()
        stage.note(UNOPENED, "sale", stage.found.unmatched)
    last.note(EXPIRED, "lot", last.left(fills.last, expired=True))
    if fills.changes:
        fills.notes += [note for stage in stages for note in stage.fills.notes]
    if not fills.is_by_isin and (
        fills.changes or may_be_elsewhere(fills.rows, fills.by_key, sums.held, sums.unmatched)
    ):
        fills.notes += elsewhere(pnl)
    return pnl


def _one(tables: list[Any]) -> Any:
    """Returns tables of one kind as one."""
    first, *others = tables
    return first._over(_core.join([table._rows for table in tables])) if others else first


# The parts of rows that closed nothing or are left open: their rows, whether they are long, their
# quantities and their values in units.
Remainders = tuple[list[int], list[bool], list[int], list[int]]


class Move(NamedTuple):
    """A part that was opened, with what closing it realised; all amounts are in units.

    ``opened`` is None for an opening lot, ``closed`` for what is left. Quantity and value are
    negative if it is short.
    """

    lead: Lead
    opened: date | None
    closed: date | None
    quantity: int
    value: int
    realised: int


class Matching:
    """Opening lots, trades and settlements as one sequence of rows, grouped by key."""

    def __init__(self, fills: Fills, buy: str, sell: str) -> None:
        self.fills, self._rows, self._zone = fills, fills.rows, fills.rows.zone
        self._opening, self._settled = fills.opening, 0
        self._buy, self._sell = buy, sell
        self._groups = fills.by_key
        self._last = self._groups.last()  # without settlements
        self.facts = fills.facts()

    def match(self, day: date | None, shorts: object) -> None:
        """Matches the rows; only what closes on the day is reported."""
        products = self.facts.column("product")
        if isinstance(shorts, bool):
            may_short = [shorts] * len(products)
        else:
            takes = "True, False or a collection of product codes such as {'I', 'M'}"
            allowed = chosen("shorts", shorts, {*products, *PRODUCTS}, takes)
            may_short = [product in allowed for product in products]
        self._numbers: list[int] = []
        self.decimals = _core.decimals_of([(self._rows, "trade_value")])
        limits = self._opening, self._settled
        self.found = self._groups.match(
            self._buy, self.decimals, *limits, may_short, day, self._origin()
        )

    @property
    def numbers(self) -> list[int]:
        """The number of each row's key."""
        self._numbers = self._numbers or self._groups.numbers()
        return self._numbers

    def _origin(self) -> list[int]:
        """Returns the number of the exchange where each row was traded, if ISINs changed some."""
        if not self.fills.is_by_isin:
            return []
        numbers: list[int] = _core.Groups([self.fills.sent], CONTRACT[:2]).numbers()
        return numbers + [-1] * self._settled

    def settle(self, last: date, price_of: Lookup, day: date | None, shorts: object) -> None:
        """Closes the lots whose contract has expired and has a price, as trades at the expiry."""
        closing = []
        expiries = self.facts.column("expiry_date")
        is_due = [expiry is not None and expiry <= last for expiry in expiries]
        price_of.among(compress(self.facts.contracts(), is_due))
        for at_row, is_long, quantity, _ in zip(*self.found.open, strict=True):
            number = self.numbers[at_row]
            if not is_due[number]:
                continue
            row = self._rows[at_row]
            price, multiplier = price_of(row), self.facts.multipliers[number]
            if price is None or (price and multiplier is None):
                continue
            at = datetime.combine(row.expiry_date, _SETTLED_AT)
            closed = row._replace(
                txn_type=self._sell if is_long else self._buy,
                trade_no=None,
                quantity=quantity,
                traded_price=None,  # a settlement price does not prove the multiplier
                trade_value=float(price * quantity * (multiplier or 0)),
                exch_trade_time=at if self._zone is None else _in(self._zone, at, IST),
            )
            closing.append(closed)
        if closing:
            self._settled = len(closing)
            settlements = _core.from_rows("Trade", closing)
            self._rows = _core.join([self._rows, settlements.with_zone(self._zone)])
            self._groups = _core.Groups([self._rows], KEY)  # known keys keep their numbers
            self.match(day, shorts)

    def moves(self) -> Iterator[Move]:
        """Yields each part that was opened."""
        (times,) = self._rows.cells([*range(len(self._rows))], [_TRADED[1]])
        days = [None] * self._opening + [time.date() for time in times[self._opening :]]
        for lot, trade, is_long, quantity, cost, proceeds in zip(*self.found.matches, strict=True):
            held = (quantity, cost) if is_long else (-quantity, -proceeds)
            yield Move(self._lead(lot), days[lot], days[trade], *held, proceeds - cost)
        for row, is_long, quantity, value in zip(*self.found.open, strict=True):
            held = (quantity, value) if is_long else (-quantity, -value)
            yield Move(self._lead(row), days[row], None, *held, 0)

    def _lead(self, row: int) -> Lead:
        return self.facts.leads[self.numbers[row]]

    def _are_over(self, last: date) -> list[bool]:
        """Returns whether the contract of each key expired before a day."""
        expiries = self.facts.column("expiry_date")
        return [expiry is not None and expiry < last for expiry in expiries]

    def sums(self, decimals: int, last: date | None) -> _Sums:
        """Returns the sums of each key; with a last day, also of what is open then."""
        sums, unit = _Sums(*self.found.totals), 10 ** (decimals - self.decimals)
        amounts = sums.costs, sums.proceeds, sums.unmatched_values, sums.held_values
        for column in amounts if unit != 1 else ():
            column[:] = [amount * unit for amount in column]
        size = len(sums.held)
        is_over = [True] * size if last is None else self._are_over(last)
        for number in compress(range(size), is_over):
            sums.held[number] = sums.held_values[number] = 0
        return sums

    def left(self, last: date, *, expired: bool) -> Remainders:
        """Returns the lots that are left of contracts that expired before a day, or of others."""
        is_over = self._are_over(last)
        if not any(is_over):
            return ([], [], [], []) if expired else self.found.open
        columns: tuple[list[Any], ...] = self.found.open
        chosen = [is_over[self.numbers[row]] == expired for row in columns[0]]
        rows, is_long, quantities, values = (list(compress(each, chosen)) for each in columns)
        return rows, is_long, quantities, values

    def note_ties(self) -> None:
        """Notes purchases and sales of one second whose order nothing shows."""
        if undecided := self.found.undecided:
            self.fills.note_rows(TIED, dict.fromkeys(undecided), self.numbers, self.facts)

    def note(self, problem: str, noun: str, parts: Remainders) -> None:
        """Notes parts of rows by key."""
        for number, count in Counter(self.numbers[row] for row in parts[0]).items():
            text = counted(count, noun)
            self.fills.notes.append(about(self.facts.leads[number], problem, text, count))

    def _columns(self, rows: list[int]) -> list[Any]:
        """Returns the leading columns: the key of each row, and the names of its last trade."""
        last = [self._last[number] for number in map(self.numbers.__getitem__, rows)]
        return [(self._rows, rows, KEY), (self._rows, last, NAMES)]

    def matches(self) -> Matches:
        """Returns which trade closed which lot."""
        lots, trades, is_long, quantities, costs, proceeds = self.found.matches
        sides = list(zip(lots, trades, is_long, strict=True))
        bought = [lot if was_bought else trade for lot, trade, was_bought in sides]
        sold = [trade if was_bought else lot for lot, trade, was_bought in sides]
        scale, cells = 10**self.decimals, self._rows.cells
        opened, old = cells(lots, [_TRADED[1], ATTRIBUTES[-1]])
        closed, new = cells(trades, [_TRADED[1], ATTRIBUTES[-1]])
        columns: list[Any] = [
            *self._columns(trades),
            [LONG if was_bought else SHORT for was_bought in is_long],
            *((self._rows, rows, _TRADED) for rows in (bought, sold)),
            *(closed, quantities),
            *([units / scale for units in column] for column in (costs, proceeds)),
            [units / scale for units in map(sub, proceeds, costs)],
            [later or earlier for earlier, later in zip(old, new, strict=True)],
            [
                since and (at.date() - since.date()).days
                for since, at in zip(opened, closed, strict=True)
            ],
        ]
        matches = Matches._of_columns(columns, self._zone)
        return matches.sort("close_time") if self._settled else matches

    def lots(
        self, parts: Remainders, side: str | None = None, as_of: datetime | None = None
    ) -> Lots:
        """Returns parts of rows as lots."""
        rows, is_long, quantities, values = parts
        scale = 10**self.decimals
        columns: list[Any] = [
            *self._columns(rows),
            [side or (LONG if each else SHORT) for each in is_long],
            (self._rows, rows, _TRADED),
            quantities,
            [value / scale for value in values],
            [self.facts.multipliers[number] for number in map(self.numbers.__getitem__, rows)],
            (self._rows, rows, ATTRIBUTES),
            [as_of] * len(rows),
        ]
        return Lots._of_columns(columns, self._zone)


_TRADED = ("trade_no", "exch_trade_time")
