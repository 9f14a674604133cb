"""The fold behind a ledger: from event to event, in the order of their time.

The core keeps the queues of open lots and the journal of what ended; this module says which events
there are, what a change makes of lots, and what is known of rows, keys and multipliers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from functools import cached_property, partial
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from math import floor
from operator import add, sub
from typing import Any, NamedTuple, TypedDict

from .. import _core
from .._core import Groups, Slice, Trade
from .._util.validate import did_you_mean, shown
from ..books.book import TradeBook
from ..display import counted
from .events import Events, LotChange, moments_of, strikes_of, under, unmet
from .inputs import (
    IST,
    PRODUCTS,
    Lookup,
    Multipliers,
    Prices,
    as_conditions,
    chosen,
    day_from,
)
from .keys import (
    CONTRACT,
    KEY,
    KEYED,
    NAMES,
    Key,
    Lead,
    contract_of,
    key_of,
    kind_of,
    lead_of,
)
from .multipliers import Proof, agreed_unit, multipliers_of
from .results import (
    ATTRIBUTES,
    LONG,
    NO_KEY,
    SHORT,
    Lot,
    Lots,
    Note,
    Problem,
    about,
    unused,
)

_SETTLED_AT = time(15, 30)  # on the expiry date, in India; the service documents no settlement
_MOST = 2**63 - 1  # shares or contracts of a lot
EVER = 2**62  # after every moment; before every moment, with a minus
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_TRADED = ("trade_no", "exch_trade_time")


def moment_at(at: date) -> int:
    """Returns a time on the clock of the trades, or the beginning of a day, as a moment."""
    if not isinstance(at, datetime):
        at = datetime.combine(at, time.min)
    return (at.replace(tzinfo=None) - _EPOCH) // _MICROSECOND


def time_of(moment: int) -> datetime:
    """Returns a moment as a time on the clock of the trades."""
    return _EPOCH + moment * _MICROSECOND


By = str | Mapping[str, str | None] | Callable[[Trade], str | None]


class Options(TypedDict, total=False):
    """The options of a ``Ledger``, which its shorthands take too."""

    changes: Sequence[LotChange]
    settle: Prices | None
    multipliers: Multipliers | None
    match_by: str
    shorts: bool | Collection[str]
    until: date | str | None
    by: By | None
    buy: str
    sell: str


@contextmanager
def _largest_named(events: Events) -> Iterator[None]:
    """Adds the largest amount to the error of the core about amounts that are too large."""
    try:
        yield
    except OverflowError as error:
        sizes = [abs(value) for value in events.rows.column("trade_value")]
        row = max(range(len(sizes)), key=sizes.__getitem__)
        largest = f"trade_value {events.rows[row].trade_value} in {events.where(row)}"
        number = events.rows[row].trade_no
        raise OverflowError(f"{error}: the largest is {largest} (trade_no {number!r})") from None


def joining(row: Trade) -> Key:
    """Returns what joins shares of one ISIN."""
    return (*key_of(row), row.isin)


class _Part(NamedTuple):
    """What is open of a lot."""

    lot: int
    row: int
    key: int
    is_long: bool
    time: int
    quantity: int
    value: int


_Taken = tuple[_Part, int]  # a lot, and the quantity of it that changes


class Run:
    """The fold, from its first event to its last, and what it knows of rows and keys.

    Attributes:
        fold: The queues and the journal, in the core.
        keys: The columns of the keys, and the values of ``by`` last.
        sent: The lots that changes made, whose ids are not those of their security.
        settled: The settlements, by row.
        until: The last day that counts, of which ``stop`` is the end.
        spans: The moments from which contracts prove their multipliers anew.
        notes: The issues found on the way, each with its moment.
        closings: The days of settlements, and of fractions that were paid for.
    """

    def __init__(self, events: Events, targets: Mapping[Key, Key], options: Options) -> None:
        self._events, self._targets, self._options = events, targets, options
        self.buy, self._sell = options["buy"], options["sell"]
        self._zone = events.rows.zone
        self._made: list[Trade] = []  # the rows after those of the events
        self._sent_of: dict[int, Trade] = {}
        self.settled: dict[int, Trade] = {}
        self.notes: list[tuple[int, Note]] = []
        self.closings: set[date] = set()
        self._group(options["by"])
        settle = options["settle"]
        self._price_of = None if settle is None else Lookup("settle", settle)
        with _largest_named(events):
            decimals = _core.decimals_of([(events.rows, "trade_value")])
        if self._price_of is not None:
            self._price_of.same = events.same
            decimals = max(decimals, self._price_of.decimals())
        self.decimals, self._unit = decimals, 10**decimals
        changes = moments_of(options["changes"], self._zone)
        self._changed = [at for at, _ in changes]
        self._begin = min(map(moment_at, events.days), default=None)
        self._last_day(options["until"])
        renewed = {moment_at(at) for at, change in changes if change.renews_multiplier}
        self.spans = [-EVER, *sorted(renewed)]
        self._units = [self._proofs(0)]
        self._reopened: set[int] = set()  # keys of lots that changes of one moment made
        may_short, origin = self._may_short(), self._origin()
        with _largest_named(events):
            self.fold = self.groups.fold(self.buy, decimals, events.opening, may_short, origin)
        self._count, self._renewing = 0, False
        self._go(changes)

    # -- before the first event --

    def _group(self, by: By | None) -> None:
        """Groups the rows by key, and by what ``by`` says of them."""
        events, labels = self._events, []
        names: list[str | None] = []
        if by is not None:
            values = [lot.by for lot in events.lots] + _values_by(by, events.trades)
            known: dict[str | None, int] = {}
            labels = [known.setdefault(value, len(known)) for value in values]
            names = list(known)
        self.groups = Groups([events.rows], KEY, labels=labels) if labels else events.by_key
        first = self.groups.first()
        self.keys: list[list[Any]] = events.rows.cells(first, KEY)
        self.keys.append([names[labels[row]] if labels else None for row in first])
        self._numbers: list[int] = []
        self._number_of: dict[Key, int] = {}

    def _last_day(self, until: date | str | None) -> None:
        """Finds the last day: of trades, or of an expiry that a mapping of settlements prices."""
        traded = max(self._events.days, default=date.min)
        if not self._events.days:
            moments = [lot.as_of or lot.time for lot in self._events.lots]
            known = [at.date() for at in moments if at is not None]
            traded = max([*known, *(at.date() for at in self._changed)], default=date.min)
        # A lot that arrives later is known to be there then.
        arrivals = [self._arrival(lot) for lot in self._events.lots]
        traded = max([traded, *(at.date() for at in arrivals if at is not None)])
        self.until, is_limited = traded, until is not None
        if until is not None:
            self.until = day_from(until, "until")
        elif self._price_of is not None:
            later = self._price_of.later(self._contracts(), traded)
            self.until = max([traded, *(contract[-1] for contract in later)])
        is_limited &= traded > self.until
        self.stop = moment_at(self.until + timedelta(days=1)) if is_limited else EVER
        self._end = EVER if self.until == date.max else moment_at(self.until + timedelta(days=1))

    def _arrival(self, lot: Lot) -> datetime | None:
        """Returns when an opening lot arrives, if it was not there before the first day."""
        if lot.time is None or lot.as_of is not None or self._begin is None:
            return None
        return lot.time if moment_at(lot.time) >= self._begin else None

    def _may_short(self) -> list[bool]:
        """Returns whether a sale of each key may open a short lot."""
        shorts, products = self._options["shorts"], self.keys[KEY.index("product")]
        if isinstance(shorts, bool):
            return [shorts] * len(products)
        takes = "True, False or a collection of product codes such as {'I', 'M'}"
        allowed = chosen("shorts", shorts, {*products, *PRODUCTS}, takes)
        return [product in allowed for product in products]

    def _origin(self) -> list[int]:
        """Returns the number of the exchange where each row was traded, if ISINs changed some."""
        events = self._events
        if not events.same:
            return []
        numbers: list[int] = Groups([events.sent], CONTRACT[:2]).numbers()
        return numbers

    def _proofs(self, span: int) -> dict[Key, Proof]:
        """Returns what trades of a span of time prove of the multipliers of their contracts."""
        events = self._events
        rows, groups, where, lots = events.rows, self.groups, events.where, events.lots
        if len(self.spans) > 1:
            start, stop = self.spans[span], (*self.spans, EVER)[span + 1]
            times = rows.column("exch_trade_time")[events.opening :]
            at = [
                row for row, t in enumerate(times, events.opening) if start <= moment_at(t) < stop
            ]
            at = [*(range(events.opening) if span == 0 else ()), *at]
            rows, lots = rows.take(at), lots if span == 0 else []
            groups = Groups([rows], KEY)
            where = lambda row: events.where(at[row])  # noqa: E731
        proofs = multipliers_of(rows, groups, where, given=events.given, lots=lots)
        contracts = zip(*rows.cells(groups.first(), CONTRACT), strict=True)
        return dict(zip(contracts, proofs, strict=True))

    # -- events --

    def _go(self, changes: list[tuple[datetime, LotChange]]) -> None:
        """Goes from event to event.

        At one moment, older lots come first, then changes, lots that arrive, trades, settlements.
        """
        events = self._events
        self._waiting: list[tuple[int, int, int, Callable[[int], None]]] = []
        self._due: dict[Key, int] = {}  # by contract: the moment of its settlement
        traded = Groups([events.rows[events.opening :]], [CONTRACT[0]])
        first = min(
            (moment_at(at) for at in traded.extremes("exch_trade_time", False) if at),
            default=None,
        )
        for contract in self._contracts() if self._price_of is not None else ():
            self._expires(contract)
        for row, lot in enumerate(events.lots):
            self._arrives(row, lot, first)
        for at, change in changes:
            if at.date() <= self.until:
                self._await(moment_at(at), _CHANGE, partial(self._change, change))
            elif at.date() > max(events.days, default=date.min):
                end = max(self.until, *events.days)
                self.notes.append((-EVER, unmet(change, f"it is after the last day, {end}")))
        while self._waiting:
            moment, rank, _, event = heappop(self._waiting)
            self._run(min(moment + (rank == _SETTLEMENT), self.stop))
            event(moment)
            if rank == _CHANGE and (not self._waiting or self._waiting[0][:2] != (moment, rank)):
                self._changes_end(moment)
        self._run(self.stop)

    def _run(self, moment: int) -> None:
        with _largest_named(self._events):
            self.fold.run(moment)

    def _await(self, moment: int, rank: int, event: Callable[[int], None]) -> None:
        self._count += 1
        heappush(self._waiting, (moment, rank, self._count, event))

    def _arrives(self, row: int, lot: Lot, first: int | None) -> None:
        """Adds the event of an opening lot: before all others, at its ``as_of`` or at its time."""
        moment = since = -EVER
        at = -EVER if lot.time is None else moment_at(lot.time)
        if lot.as_of is not None:
            moment = moment_at(lot.as_of)
            if first is not None and moment > first:
                raise ValueError(
                    f"opening lots are as of {lot.as_of}, which is after the first trade: pass the "
                    "trades after that moment only"
                )
        elif self._arrival(lot) is not None:
            moment = since = at
            if at >= self._end:
                text = f"its time is {time_of(at)}, after the last day, {self.until}"
                self.notes.append((-EVER, about(lead_of(self.row(row)), Problem.LATE, text)))
                return
        self._await(moment, _ARRIVAL, partial(self._open, row, lot, at, since))

    def _open(self, row: int, lot: Lot, time: int, since: int, moment: int) -> None:
        """Opens an opening lot."""
        key, is_long = self.numbers()[row], lot.side == LONG
        if self.fold.side(key) == (-1 if is_long else 1):
            lead = lead_of(self.row(row))
            if since == -EVER:
                raise ValueError(
                    f"opening has long and short lots of {lead}, product {lead.product}: leave out "
                    "the quantity that both have, which is no longer open"
                )
            text = f"it is {lot.side}, of {time_of(since)}, and left out"
            self.notes.append((since, about(lead, Problem.MEETS, text)))
            return
        value = int(Fraction(repr(lot.value)) * self._unit)
        if lot.multiplier and len(self._units) > 1:
            self._agree(key, lot.multiplier)
        self.fold.put(row, key, is_long, lot.quantity, value, time, since)
        self._late(key, moment, since)

    def _expires(self, contract: Key) -> None:
        """Adds the event of a contract's settlement, after its last trade of that day."""
        expiry = contract[-1]
        if expiry is None or expiry > self.until or contract in self._due:
            return
        at = moment_at(self._settled_at(expiry))
        self._due[contract] = moment = max(at, self._last_trades.get(contract, -EVER))
        self._await(moment, _SETTLEMENT, partial(self._settle, contract, None))

    def _settled_at(self, expiry: date) -> datetime:
        """Returns when contracts of an expiry are settled, in the zone of the trades."""
        at = datetime.combine(expiry, _SETTLED_AT)
        return at if self._zone is None else at.replace(tzinfo=IST).astimezone(self._zone)

    @cached_property
    def _last_trades(self) -> dict[Key, int]:
        """The moment of the last trade of each contract that expires."""
        trades = self._events.rows[self._events.opening :]
        groups = Groups([trades], CONTRACT)
        contracts = zip(*trades.cells(groups.first(), CONTRACT), strict=True)
        ends = map(moment_at, groups.extremes("exch_trade_time", True))
        pairs = zip(contracts, ends, strict=True)
        return {contract: at for contract, at in pairs if contract[-1] and at < self.stop}

    def _late(self, key: int, moment: int, since: int) -> None:
        """Settles a lot that arrives when its contract has been settled."""
        contract = self.contract(key)
        due = self._due.get(contract, EVER)
        if due < moment:
            self._settle(contract, max(due, since), moment)

    def _settle(self, contract: Key, at: int | None, moment: int) -> None:
        """Closes what is open of a contract at its settlement price, if it has one."""
        held = [key for key in self.keys_of[contract] if self.fold.side(key)]
        if not held or self._price_of is None:
            return
        at = moment if at is None else at
        self._price_of.among(self._due)
        row = self.row(self.fold.held(held[0])[1][0])
        price, multiplier = self._price_of.of(contract_of(row), row), self.multiplier(contract, at)
        if price is None or (price and multiplier is None):
            return
        time = self._settled_at(contract[-1])
        if time_of(at).date() > time.date():  # of a lot that arrives later
            time = time_of(at).replace(tzinfo=self._zone)
        for part in self._parts(*map(self.fold.held, held)):
            value = price * part.quantity * (multiplier or 0)
            settlement = self._closing(part, part.quantity, value, time)
            closing = self._add(settlement, part.key)
            self.settled[closing] = settlement
            self.fold.close(closing, part.key, part.quantity, _half_up(value * self._unit), at)
        self.closings.add(time.date())

    def _change(self, change: LotChange, moment: int) -> None:
        """Changes the lots that meet a change, or notes that there are none."""
        if change.renews_multiplier and self.spans[len(self._units)] == moment:
            self._units.append(self._proofs(len(self._units)))
            self._renewing = True
        parts, events = self._parts(self.fold.open()), self._events
        due = self._meeting(parts, change)
        is_earlier = False
        for part in [*due] if self._begin is None or moment < self._begin else ():
            if part.row >= events.opening or events.lots[part.row].as_of is not None:
                continue
            lead = lead_of(self.row(part.row))
            if self._begin is None:
                raise ValueError(f"the lot of {lead} needs as_of: what changes are in it?")
            text = f"{change.at} is before the first trade, and the lot has no as_of"
            self.notes.append((moment, about(lead, Problem.EARLIER, text)))
            due.remove(part)
            is_earlier = True
        of_holders: dict[Key, list[_Part]] = {}  # whatever `by` says of their lots
        for part in due:
            of_holders.setdefault(self.key(part.key)[:-1], []).append(part)
        most = change.quantity
        holdings: dict[tuple[Key, bool], list[_Taken]] = {}
        for holder, lots in of_holders.items():
            for part in sorted(lots, key=lambda part: part.time):
                taken = part.quantity if most is None else min(most, part.quantity)
                most = None if most is None else most - taken
                if taken:
                    holdings.setdefault((holder, part.is_long), []).append((part, taken))
        begins = self._begin is None or moment <= self._begin
        is_awaited = any(rank == _ARRIVAL for _, rank, *_ in self._waiting)  # as of a later moment
        if (most or not holdings) and not is_earlier and (parts or not (begins and is_awaited)):
            lacks = (
                f"{most} of {change.quantity} not held" if most and holdings else "no lot matches"
            )
            self.notes.append((moment, unmet(change, lacks)))
        for holding in holdings.values():
            self._change_held(change, moment, holding)

    def _change_held(self, change: LotChange, moment: int, lots: list[_Taken]) -> None:
        """Ends what changes of a holding, and opens what it becomes."""
        quantities = [taken for _, taken in lots]
        whole, rest = divmod(change.share * sum(quantities), 1)
        is_second, is_none = change.into is not None, not whole and change.cash is None
        fields = change.replace if change.into is None else change.into
        lead = lead_of(self.row(lots[0][0].row))
        if is_none:
            effect = "no second lot" if is_second else "its lots stay as they are"
            text = f"{rest} of one and no whole one from {change.at}, so {effect}"
            self.notes.append((moment, about(lead, Problem.FRACTION, text)))
            if not is_second:
                return
        if (met := self._other_side(lots, [change.replace, {} if is_none else fields])) is not None:
            text = (
                f"the change of {change.at} would make lots of {met}, product {met.product}, "
                "which has lots of the other side, so its lots stay as they are: give it a time "
                "before the trade that opened those, or pass the `opening` lots or `shorts` that "
                "make it close one"
            )
            self.notes.append((moment, about(lead, Problem.MEETS, text)))
            return
        moved_part = Fraction(0 if is_none else repr(change.cost) if is_second else 1)
        values = [floor(Fraction(part.value * taken, part.quantity)) for part, taken in lots]
        left = [part.value - value for (part, _), value in zip(lots, values, strict=True)]
        added = _prorated(quantities, Fraction(repr(change.add or 0)) * self._unit, _half_up)
        values = list(map(add, values, added))
        moved = _prorated(values, moved_part, _half_up)
        kept = list(map(sub, values, moved))
        if rest and change.cash is not None:
            cash = Fraction(repr(change.cash)) * rest
            moved = self._pay(moment, lots, moved, rest / change.share, cash)
        new = _prorated(quantities, change.share)
        last = max((at for at, quantity in enumerate(new) if quantity), default=None)
        carried = 0  # of lots of which no whole share is left, to the next, or else to the last one
        for at, quantity in enumerate(new):
            moved[at] += carried
            carried = 0 if quantity else moved[at]
        if last is not None:
            moved[last] += carried
            if rest and change.cash is None:
                text = f"{rest} of one, whose value is in the last lot"
                row = self.row(lots[last][0].row)._replace(**_of_trade(fields))
                self.notes.append((moment, about(lead_of(row), Problem.FRACTION, text)))
        for part, _ in lots:
            self.fold.end(part.lot, moment)
        for at, (part, taken) in enumerate(lots):
            if is_second:
                self._reopen(part, taken, kept[at], change.replace, moment)
            self._reopen(part, new[at], moved[at], fields, moment)
            self._reopen(part, part.quantity - taken, left[at], {}, moment)

    def _other_side(
        self, lots: list[_Taken], changes: Sequence[Mapping[str, object]]
    ) -> Lead | None:
        """Returns what the lots would become, if there are lots of the other side of it."""
        for part, _ in lots:
            for fields in changes:
                if fields:
                    _, row = self._changed_row(part, fields)
                    key = self._key(row, self.keys[-1][part.key])
                    if self.fold.side(key) == (-1 if part.is_long else 1):
                        return lead_of(row)
        return None

    def _pay(
        self, moment: int, lots: list[_Taken], moved: list[int], shares: Fraction, cash: Fraction
    ) -> list[int]:
        """Realises the value of the old shares that became a fraction, those of the last lots.

        Returns what is left of the values.
        """
        left, sold = [*moved], list[Fraction]()
        for _, taken in reversed(lots):
            own = min(shares - sum(sold), Fraction(taken))
            if not own:
                break
            sold.append(own)
        paid = _prorated(sold, _half_up(cash * self._unit) / shares)
        for at, (own, proceeds) in enumerate(zip(sold, paid, strict=True), 1):
            part, taken = lots[-at]
            value = _half_up(moved[-at] * own / taken)
            left[-at] -= value
            closing = self._closing(part, 0, Fraction(proceeds, self._unit), time_of(moment))
            self.fold.pay(part.lot, self._add(closing, part.key), value, proceeds, moment)
        self.closings.add(time_of(moment).date())
        return left

    def _closing(self, part: _Part, quantity: int, value: Fraction, time: datetime) -> Trade:
        """Returns what closes a lot though it is no trade of the book, without a price.

        A settlement price does not prove the multiplier.
        """
        return self.row(part.row)._replace(
            txn_type=self._sell if part.is_long else self.buy,
            trade_no=None,
            order_no=None,
            quantity=quantity,
            traded_price=None,
            trade_value=float(value),
            exch_trade_time=time.replace(tzinfo=time.tzinfo or self._zone),
        )

    def _changed_row(self, part: _Part, fields: Mapping[str, object]) -> tuple[Trade, Trade]:
        """Returns a lot with changed fields, and the same under the id of its security."""
        sent = self._sent_of.get(part.row) or self._events.sent[part.row]
        sent = sent._replace(**_of_trade(fields))
        target = self._targets.get(joining(sent), contract_of(sent))
        return sent, sent._replace(**dict(zip(CONTRACT, target, strict=True)))

    def _reopen(
        self, part: _Part, quantity: int, value: int, fields: Mapping[str, Any], moment: int
    ) -> None:
        """Opens what a lot became, with its time and its number, and in its place."""
        if not quantity:
            return
        row, key = part.row, part.key
        multiplier = self.multiplier(self.contract(key), moment, before=self._renewing)
        if fields:
            sent, joined = self._changed_row(part, fields)
            key = self._key(joined, self.keys[-1][key])
            row = self._add(joined, key)
            self._sent_of[row] = sent
            multiplier = fields.get("multiplier", multiplier)
        self._reopened.add(key)
        self._agree(key, multiplier)
        if quantity > _MOST:
            raise OverflowError(
                f"a change of {time_of(moment)} makes {quantity} of {lead_of(self.row(row))}: "
                "correct its ratio"
            )
        self.fold.put(row, key, part.is_long, quantity, value, part.time, moment, part.lot)
        self._late(key, moment, moment)

    def _agree(self, key: int, multiplier: int | None) -> None:
        """Keeps the multiplier of a key's lots, which must be that of its trades."""
        contract = self.contract(key)
        known = self._units[-1].get(contract)
        if known is None or known.multiplier is None:
            lacks = known.lacks if known is not None else "its lots have none"
            self._units[-1][contract] = Proof(multiplier, "" if multiplier else lacks)
        elif multiplier is not None:
            agreed_unit({contract: known.multiplier}, contract, multiplier)

    def _changes_end(self, moment: int) -> None:
        """Takes multipliers of what has not changed over to the span that changes began."""
        if self._renewing:
            for key in {*self.fold.open()[2]} - self._reopened:
                self._agree(key, self.multiplier(self.contract(key), moment, before=True))
        self._reopened.clear()
        self._renewing = False

    def _meeting(self, parts: list[_Part], change: LotChange) -> list[_Part]:
        """Returns the lots that meet the conditions of a change, under any id of their security."""
        where = as_conditions(change.where)
        if not where:
            return [*parts]
        lots = [self._lot(part) for part in parts]
        known: dict[Lot, Lot] = {lot: lot for lot in lots}
        for ids in self._events.same.values():
            for lot in lots if len(ids) > 1 else ():
                if contract_of(lot) in ids:
                    known |= {under(lot, contract): lot for contract in ids}
        table = Lots._over(_core.from_rows(Lot, [*known]))
        met = {known[row] for row in table.filter(**where)}
        return [part for part, lot in zip(parts, lots, strict=True) if lot in met]

    def _lot(self, part: _Part) -> Lot:
        row = self.row(part.row)
        return Lot(
            **{name: row[name] for name in (*KEYED, *ATTRIBUTES, _TRADED[0])},
            side=LONG if part.is_long else SHORT,
            time=row.exch_trade_time,
            quantity=part.quantity,
            value=part.value / self._unit,
            multiplier=self.multiplier(self.contract(part.key), EVER),
            as_of=None,
            by=self.keys[-1][part.key],
        )

    # -- rows and keys --

    def row(self, number: int) -> Trade:
        """Returns a row."""
        given = len(self._events.rows)
        row: Trade = self._events.rows[number] if number < given else self._made[number - given]
        return row

    def _add(self, row: Trade, key: int) -> int:
        """Adds a row of a key, and returns its number."""
        self.numbers().append(key)
        self._made.append(row)
        return len(self._events.rows) + len(self._made) - 1

    @staticmethod
    def _parts(*columns: Any) -> list[_Part]:
        return [_Part(*part) for of_key in columns for part in zip(*of_key, strict=True)]

    @cached_property
    def rows(self) -> Slice:
        """The opening lots and the trades, then the lots that changes made, and settlements."""
        if not self._made:
            return self._events.rows
        made = _core.from_rows("Trade", self._made).with_zone(self._zone)
        return _core.join([self._events.rows, made])

    @property
    def sent(self) -> list[Trade]:
        """The lots that changes made, under the ids that the changes gave them."""
        return list(self._sent_of.values())

    def numbers(self) -> list[int]:
        """Returns the number of each row's key."""
        self._numbers = self._numbers or self.groups.numbers()
        return self._numbers

    def times(self, row: int) -> int:
        """Returns the moment of a row."""
        at = self.row(row).exch_trade_time
        return -EVER if at is None else moment_at(at)

    def key(self, number: int) -> Key:
        """Returns a key, with ``by``."""
        return tuple(column[number] for column in self.keys)

    def by(self, keys: Iterable[int]) -> list[str | None]:
        """Returns what ``by`` says of keys."""
        column = self.keys[-1]
        return [column[key] for key in keys]

    def contract(self, number: int) -> Key:
        """Returns the contract of a key."""
        return tuple(column[number] for column in self.keys[2:6])

    def _contracts(self) -> list[Key]:
        return list(zip(*self.keys[2:6], strict=True))

    @cached_property
    def keys_of(self) -> dict[Key, list[int]]:
        """The keys of each contract."""
        keys: dict[Key, list[int]] = {}
        for number, contract in enumerate(self._contracts()):
            keys.setdefault(contract, []).append(number)
        return keys

    def _key(self, row: Trade, by: str | None) -> int:
        """Returns the number of the key of a row, which may be a new one."""
        if not self._number_of:
            self._number_of = {key: at for at, key in enumerate(zip(*self.keys, strict=True))}
        key = (*key_of(row), by)
        number = self._number_of.setdefault(key, len(self.keys[0]))
        if number == len(self.keys[0]):
            for column, part in zip(self.keys, key, strict=True):
                column.append(part)
            self.keys_of.setdefault(self.contract(number), []).append(number)
            if self._price_of is not None:
                self._expires(self.contract(number))
        return number

    def is_over(self, key: int, day: date) -> bool:
        """Returns whether the contract of a key expired before a day."""
        expiry = self.keys[5][key]
        return expiry is not None and expiry < day

    def kind(self, key: int) -> str:
        """Returns what is traded under a key."""
        return kind_of(self.keys[5][key], self._strikes[key])

    @cached_property
    def _strikes(self) -> list[float | None]:
        """The strike price of each key, the last that is known."""
        are_changed = bool(self._made)
        strikes = strikes_of(self.rows, self.groups, self.numbers, are_changed=are_changed)
        return strikes + [None] * (len(self.keys[0]) - len(strikes))

    @cached_property
    def leads(self) -> list[Lead]:
        """The leading columns of each key, with the names of its last row."""
        last = self.fold.rows(EVER)[1]
        names = self.rows.cells([row if row >= 0 else 0 for row in last], NAMES)
        return list(map(Lead, *self.keys[:-1], *names))

    def _span(self, moment: int) -> int:
        """Returns the number of the span of multipliers that a moment is in."""
        return min(bisect_right(self.spans, moment), len(self._units)) - 1

    def multiplier(self, contract: Key, moment: int, *, before: bool = False) -> int | None:
        """Returns the multiplier of a contract at a moment, or just before it."""
        span = self._span(moment) - before
        for proofs in self._units[span::-1]:  # without trades or lots since, it is what it was
            if contract in proofs:
                return proofs[contract].multiplier
        return None

    def multipliers(self, keys: Sequence[int], stop: int) -> list[int | None]:
        """Returns the multipliers of keys at the end of a cut."""
        of_keys = {key: self.multiplier(self.contract(key), stop - 1) for key in set(keys)}
        return [of_keys[key] for key in keys]

    def unproved(self, stop: int) -> dict[Key, Proof]:
        """Returns the contracts whose multiplier nothing proves at the end of a cut."""
        span = self._span(stop - 1)
        proofs: dict[Key, Proof] = {}
        for of_span in self._units[: span + 1]:
            proofs |= of_span
        return {key: proof for key, proof in proofs.items() if proof.multiplier is None}

    def as_of(self, stop: int) -> datetime | None:
        """Returns the moment of the last trade or change in a cut."""
        events = self._events
        known = [at for at in self._changed if at.date() <= self.until and moment_at(at) < stop]
        known += [lot.as_of for lot in events.lots if lot.as_of is not None]
        last = self.fold.last_time(min(stop, self.stop))
        if last > -EVER:
            known.append(time_of(last))
        return max(known).replace(tzinfo=self._zone) if known else None

    # -- issues --

    def counts(self, problem: str, noun: str, keys: Iterable[int]) -> list[Note]:
        """Returns the issue of parts of rows, by key."""
        return [
            about(self.leads[key], problem, counted(count, noun), count)
            for key, count in Counter(keys).items()
        ]

    @cached_property
    def odd_keys(self) -> list[Note]:
        """The issues of keys whose rows disagree, and of codes that look alike."""
        return self._events.odd_keys(self.groups, self.leads)

    def unused_settlements(self, *, is_left: bool) -> list[Note]:
        """Returns the issues of settlements that closed nothing."""
        if self._price_of is None:
            return []
        notes = []
        held = dict.fromkeys(self.contract(key) for key in self.fold.open()[2])
        settled = map(contract_of, self.settled.values())
        for contract, key in self._price_of.later([*settled, *held], self.until).items():
            text = f"settle has {key!r}, which expires on {contract[-1]}, after the last day, "
            notes.append(Note(NO_KEY, Problem.LATE, f"{text}{self.until}: pass `until`"))
        if is_left or (not self.settled and any(contract[-1] for contract in held)):
            notes += unused("settle", self._price_of.unmatched(self._contracts()))
        return notes


_CHANGE, _ARRIVAL, _SETTLEMENT = range(3)  # the order of events of one moment


def _half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _prorated(
    amounts: Iterable[int | Fraction], ratio: Fraction, rounded: Callable[[Fraction], int] = floor
) -> list[int]:
    """Returns amounts times a ratio, rounded for all together: no sum is off by more than 1."""
    sums = [0, *(rounded(ratio * total) for total in accumulate(amounts))]
    return [after - before for before, after in pairwise(sums)]


def _of_trade(fields: Mapping[str, object]) -> dict[str, object]:
    """Returns the fields of a lot that a trade has."""
    return {name: value for name, value in fields.items() if name != "multiplier"}


def _values_by(by: Any, trades: TradeBook) -> list[str | None]:
    """Returns what ``by`` says of each trade."""
    if isinstance(by, str):
        names = _core.names_of("Trade")
        if by not in names:
            raise ValueError(f"by must be a field of a trade{did_you_mean(by, names)}, not {by!r}")
        values = trades.column(by)
    elif isinstance(by, Mapping):
        values = [by.get(number) for number in trades.column("order_no")]
    elif callable(by):
        values = [by(trade) for trade in trades]
    else:
        raise TypeError(
            "by must be the name of a field, a mapping of order numbers or a function of a trade, "
            f"not {shown(by)}"
        )
    for value in dict.fromkeys(values):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"by must say text of a trade, or None, not {shown(value)}")
    return values
