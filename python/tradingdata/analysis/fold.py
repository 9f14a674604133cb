"""The fold behind a ledger: from event to event, in the order of their time.

The core keeps the queues of open lots and the journal of what ended; this module says which events
there are, what a change makes of lots, and what is known of rows, keys and multipliers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from functools import cached_property, partial
from heapq import heappop, heappush
from math import floor
from typing import Any, NamedTuple

from .. import _core
from .._core import Groups, Slice, Trade
from .._util.validate import did_you_mean, shown
from ..books.book import TradeBook
from ..display.text import counted
from .events import (
    Events,
    LotChange,
    Proof,
    agreed_unit,
    moments_of,
    multipliers_of,
    under,
    unmet,
    wall_clock,
)
from .inputs import (
    IST,
    PRODUCTS,
    Lookup,
    as_conditions,
    chosen,
    day_from,
)
from .keys import (
    CONTRACT,
    KEY,
    KEYED,
    NAMES,
    SOME_MISSING,
    Key,
    Lead,
    contract_of,
    key_of,
    kind_of,
    lead_of,
)
from .results import (
    ATTRIBUTES,
    EARLIER,
    FRACTION,
    LATE,
    LONG,
    MEETS,
    NO_KEY,
    SHORT,
    Lot,
    Lots,
    Note,
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


class _Finer(Exception):
    """A value needs more decimals than the unit has; the fold begins again with them."""

    def __init__(self, decimals: int) -> None:
        super().__init__(decimals)
        self.decimals = decimals


def folded(events: Events, targets: Mapping[Key, Key], options: Mapping[str, Any]) -> Run:
    """Returns the fold of all events."""
    decimals = _core.decimals_of([(events.rows, "trade_value")])
    while True:
        try:
            return Run(events, targets, options, decimals)
        except _Finer as finer:
            decimals = finer.decimals


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

    def __init__(
        self, events: Events, targets: Mapping[Key, Key], options: Mapping[str, Any], decimals: int
    ) -> None:
        self._events, self._targets, self._options = events, targets, options
        self.buy, self._sell = options["buy"], options["sell"]
        self.decimals, self._unit = decimals, 10**decimals
        self._zone = events.rows.zone
        self._made: list[Trade] = []  # the rows after those of the events
        self._sent_of: dict[int, Trade] = {}
        self.settled: dict[int, Trade] = {}
        self.notes: list[tuple[int, Note]] = []
        self.closings: set[date] = set()
        self._group(options["by"])
        settle = options["settle"]
        self._price_of = None if settle is None else Lookup("settle", settle)
        if self._price_of is not None:
            self._price_of.same = events.same
        changes = moments_of(options["changes"], self._zone)
        self._changed = [at for at, _ in changes]
        self._begin = min(map(moment_at, events.days), default=None)
        self._last_day(options["until"])
        renewed = {moment_at(at) for at, change in changes if change.renews_multiplier}
        self.spans = [-EVER, *sorted(renewed)]
        self._units = [self._proofs(0)]
        self._pending: dict[int, int | None] = {}  # multipliers of keys, while one changes
        self.fold = self.groups.fold(
            self.buy, decimals, events.opening, self._may_short(), self._origin()
        )
        self._count, self._renewing = 0, False
        self._go(changes)

    # -- before the first event --

    def _group(self, by: Any) -> None:
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
        at = wall_clock("a lot", lot.time, self._zone)
        return at if moment_at(at) >= self._begin else None

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
            self.fold.run(min(moment + (rank == _SETTLEMENT), self.stop))
            event(moment)
            if rank == _CHANGE and (not self._waiting or self._waiting[0][:2] != (moment, rank)):
                self._changes_end(moment)
        self.fold.run(self.stop)

    def _await(self, moment: int, rank: int, event: Callable[[int], None]) -> None:
        self._count += 1
        heappush(self._waiting, (moment, rank, self._count, event))

    def _arrives(self, row: int, lot: Lot, first: int | None) -> None:
        """Adds the event of an opening lot: before all others, at its ``as_of`` or at its time."""
        moment = since = -EVER
        at = -EVER if lot.time is None else moment_at(wall_clock("a lot", lot.time, self._zone))
        if lot.as_of is not None:
            known = wall_clock("as_of of a lot", lot.as_of, self._zone)
            moment = moment_at(known)
            if first is not None and moment > first:
                raise ValueError(
                    f"opening lots are as of {known}, which is after the first trade: pass the "
                    "trades after that moment only"
                )
        elif self._arrival(lot) is not None:
            moment = since = at
            if at >= self._end:
                text = f"its time is {time_of(at)}, after the last day, {self.until}"
                self.notes.append((-EVER, about(lead_of(self.row(row)), LATE, text)))
                return
        rank = _OLDER if moment == -EVER else _ARRIVAL
        self._await(moment, rank, partial(self._open, row, lot, at, since))

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
            self.notes.append((since, about(lead, MEETS, text)))
            return
        value = int(Fraction(repr(lot.value)) * self._unit)
        self.fold.put(row, key, is_long, lot.quantity, value, time, since)
        self._late(key, moment, since)

    def _expires(self, contract: Key) -> None:
        """Adds the event of a contract's settlement, after its last trade of that day."""
        expiry = contract[-1]
        if expiry is None or expiry > self.until or contract in self._due:
            return
        at = datetime.combine(expiry, _SETTLED_AT)
        if self._zone is not None:
            at = at.replace(tzinfo=IST).astimezone(self._zone).replace(tzinfo=None)
        self._due[contract] = moment = max(moment_at(at), self._last_trades.get(contract, -EVER))
        self._await(moment, _SETTLEMENT, partial(self._settle, contract, None))

    @cached_property
    def _last_trades(self) -> dict[Key, int]:
        """The moment of the last trade of each contract that expires."""
        last: dict[Key, int] = {}
        ends = self.groups.extremes("exch_trade_time", True)
        for contract, at in zip(self._contracts(), ends, strict=False):
            if contract[-1] is not None and at is not None and moment_at(at) < self.stop:
                last[contract] = max(last.get(contract, -EVER), moment_at(at))
        return last

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
        time = datetime.combine(contract[-1], _SETTLED_AT)
        if self._zone is not None:
            time = time.replace(tzinfo=IST).astimezone(self._zone)
        for part in self._parts(*map(self.fold.held, held)):
            value = price * part.quantity * (multiplier or 0)
            settlement = self.row(part.row)._replace(
                txn_type=self._sell if part.is_long else self.buy,
                trade_no=None,
                order_no=None,
                quantity=part.quantity,
                traded_price=None,  # a settlement price does not prove the multiplier
                trade_value=float(value),
                exch_trade_time=time,
            )
            closing = self._add(settlement, part.key)
            self.settled[closing] = settlement
            self.fold.close(closing, part.key, part.quantity, self._whole(value), at)
        self.closings.add(time.date())

    def _whole(self, value: Fraction) -> int:
        """Returns a value in units, which must have enough decimals for it."""
        units = value * self._unit
        if units.denominator == 1:
            return int(units)
        decimals = self.decimals
        while (value * 10**decimals).denominator != 1 and decimals < _MOST_DECIMALS:
            decimals += 1
        if decimals > self.decimals:
            raise _Finer(decimals)
        return _half_up(units)

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
            self.notes.append((moment, about(lead, EARLIER, text)))
            due.remove(part)
            is_earlier = True
        most = change.quantity
        of_holders: dict[tuple[Key, bool], list[tuple[_Part, int]]] = {}
        for part in self._by_holder(due):
            taken = part.quantity if most is None else min(most, part.quantity)
            most = None if most is None else most - taken
            if taken:
                holder = self.key(part.key)[:-1], part.is_long
                of_holders.setdefault(holder, []).append((part, taken))
        begins = self._begin is None or moment <= self._begin
        is_awaited = any(rank == _ARRIVAL for _, rank, *_ in self._waiting)  # as of a later moment
        if (most or not of_holders) and not is_earlier and (parts or not (begins and is_awaited)):
            lacks = (
                f"{most} of {change.quantity} not held" if most and of_holders else "no lot matches"
            )
            self.notes.append((moment, unmet(change, lacks)))
        for lots in of_holders.values():
            self._change_held(change, moment, lots)

    def _by_holder(self, parts: list[_Part]) -> list[_Part]:
        """Returns lots by key without ``by``, the oldest first, as they are held."""
        if len(set(self.keys[-1])) < 2:
            return parts
        places: dict[Key, int] = {}
        for part in parts:
            places.setdefault(self.key(part.key)[:-1], len(places))
        return sorted(parts, key=lambda part: (places[self.key(part.key)[:-1]], part.time))

    def _change_held(self, change: LotChange, moment: int, lots: list[tuple[_Part, int]]) -> None:
        """Ends what changes of a holding, and opens what it becomes."""
        ratio, total = change.share, sum(taken for _, taken in lots)
        whole, rest = divmod(ratio * total, 1)
        is_second = change.into is not None
        lead = lead_of(self.row(lots[0][0].row))
        if rest and not (whole or change.cash is not None):
            effect = "no second lot" if is_second else "its lots stay as they are"
            text = f"{rest} of one and no whole one from {change.at}, so {effect}"
            self.notes.append((moment, about(lead, FRACTION, text)))
            if not is_second:
                return
        moved_part = Fraction(repr(change.cost)) if is_second else Fraction(1)
        if is_second and not whole and change.cash is None:
            moved_part = Fraction(0)
        fields = change.replace if change.into is None else change.into
        held = added = value_before = kept_before = 0
        moved: list[list[int]] = []  # the value of each lot that its new lot has
        opened: list[tuple[_Part, int, int, Mapping[str, Any]]] = []
        places: list[int] = []
        for part, taken in lots:
            value = floor(Fraction(part.value * taken, part.quantity))
            left = part.value - value
            held += taken
            more = _half_up(Fraction(repr(change.add or 0)) * self._unit * held) - added
            added += more
            value += more
            # Rounded for all lots together, so that none is off by more than a unit.
            value_before += value
            kept = floor(value_before * (1 - moved_part)) - kept_before
            kept_before += kept
            if is_second:
                opened.append((part, taken, kept, change.replace))
            places.append(len(opened))
            opened.append((part, 0, value - kept, fields))
            if taken < part.quantity:
                opened.append((part, part.quantity - taken, left, {}))
            moved.append([taken, value - kept])
        if rest and change.cash is not None:
            self._pay(moment, lots, moved, rest / ratio, Fraction(repr(change.cash)) * rest)
            for place, (_, value) in zip(places, moved, strict=True):
                opened[place] = (*opened[place][:2], value, opened[place][3])
        count = carried = 0
        last: int | None = None
        before = 0
        for place, (taken, _) in zip(places, moved, strict=True):
            before += taken
            part, _, value, _ = opened[place]
            quantity = floor(ratio * before) - count
            count += quantity
            carried += value
            opened[place] = (part, quantity, carried if quantity else 0, fields)
            if quantity:
                last, carried = place, 0
        if last is not None:
            part, quantity, value, _ = opened[last]
            opened[last] = (part, quantity, value + carried, fields)
            if rest and change.cash is None:
                text = f"{rest} of one, whose value is in the last lot"
                row = self.row(part.row)._replace(**_of_trade(fields))
                self.notes.append((moment, about(lead_of(row), FRACTION, text)))
        for part, _ in lots:
            self.fold.end(part.lot, moment)
        for part, quantity, value, changed in opened:
            if quantity:
                self._reopen(part, quantity, value, changed, moment)

    def _pay(
        self,
        moment: int,
        lots: list[tuple[_Part, int]],
        moved: list[list[int]],
        shares: Fraction,
        cash: Fraction,
    ) -> None:
        """Realises the value of the old shares that became a fraction, those of the last lots."""
        total, paid, sold = _half_up(cash * self._unit), 0, Fraction(0)
        for (part, taken), amounts in reversed(list(zip(lots, moved, strict=True))):
            own = min(shares - sold, Fraction(taken))
            if not own:
                break
            sold += own
            value = _half_up(amounts[1] * own / taken)
            proceeds = floor(total * sold / shares) - paid
            paid += proceeds
            amounts[1] -= value
            row = self.row(part.row)._replace(
                txn_type=self._sell if part.is_long else self.buy,
                trade_no=None,
                order_no=None,
                quantity=0,
                traded_price=None,
                trade_value=proceeds / self._unit,
                exch_trade_time=time_of(moment).replace(tzinfo=self._zone),
            )
            self.fold.pay(part.lot, self._add(row, part.key), value, proceeds, moment)
        self.closings.add(time_of(moment).date())

    def _reopen(
        self, part: _Part, quantity: int, value: int, fields: Mapping[str, Any], moment: int
    ) -> None:
        """Opens what a lot became, with its time and its number."""
        row, key = part.row, part.key
        multiplier = self.multiplier(self.contract(key), moment, before=self._renewing)
        if fields:
            sent = self._sent_of.get(row) or self._events.sent[row]
            sent = sent._replace(**_of_trade(fields))
            target = self._targets.get(joining(sent), contract_of(sent))
            joined = sent._replace(**dict(zip(CONTRACT, target, strict=True)))
            key = self._key(joined, self.keys[-1][key])
            row = self._add(joined, key)
            self._sent_of[row] = sent
            multiplier = fields.get("multiplier", multiplier)
        self._pending[key] = self._agreed(key, multiplier)
        if quantity > _MOST:
            raise OverflowError(
                f"a change of {time_of(moment)} makes {quantity} of {lead_of(self.row(row))}: "
                "correct its ratio"
            )
        self.fold.put(row, key, part.is_long, quantity, value, part.time, moment)
        self._late(key, moment, moment)

    def _agreed(self, key: int, multiplier: int | None) -> int | None:
        """Returns the multiplier of a key's lots, which must be that of its trades."""
        contract = self.contract(key)
        known = self._units[-1].get(contract)
        if known is None or known.multiplier is None:
            lacks = known.lacks if known is not None else "its lots have none"
            self._units[-1][contract] = Proof(multiplier, "" if multiplier else lacks)
        elif multiplier is not None:
            agreed_unit({contract: known.multiplier}, contract, multiplier)
        return multiplier

    def _changes_end(self, moment: int) -> None:
        """Checks what the changes of a moment leave open."""
        if self._renewing:
            for key in dict.fromkeys(self.fold.open()[2]):
                if key not in self._pending:
                    contract = self.contract(key)
                    self._agreed(key, self.multiplier(contract, moment, before=True))
        for key in self._pending:
            if len(set(self.fold.held(key)[3])) > 1:
                lead = lead_of(self.row(self.fold.held(key)[1][0]))
                raise ValueError(
                    f"the changes of {time_of(moment)} leave long and short lots of {lead}, "
                    f"product {lead.product}: give them a time before the trade that opened the "
                    "other side, or pass the `opening` lots or `shorts` that make it close one"
                )
        self._pending.clear()
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
        (strikes,) = self._events.rows.cells(self.groups.last(), [ATTRIBUTES[0]])
        strikes += [None] * (len(self.keys[0]) - len(strikes))
        name = ATTRIBUTES[0]
        if self._made or max(self.groups.likenesses(name), default=0) > SOME_MISSING:
            for strike, number in zip(self.rows.column(name), self.numbers(), strict=True):
                strikes[number] = strikes[number] if strike is None else strike
        found: list[float | None] = strikes
        return found

    @cached_property
    def leads(self) -> list[Lead]:
        """The leading columns of each key, with the names of its last row."""
        last = self.fold.rows(EVER)[1]
        names = self.rows.cells([row if row >= 0 else 0 for row in last], NAMES)
        return list(map(Lead, *self.keys[:-1], *names))

    def lead(self, key: int) -> Lead:
        """Returns the leading columns of a key."""
        return self.leads[key]

    def multiplier(self, contract: Key, moment: int, *, before: bool = False) -> int | None:
        """Returns the multiplier of a contract at a moment, or just before it."""
        span = min(bisect_right(self.spans, moment), len(self._units)) - 1
        proof = self._units[span - before].get(contract)
        return None if proof is None else proof.multiplier

    def multipliers(self, keys: Sequence[int], stop: int) -> list[int | None]:
        """Returns the multipliers of keys at the end of a cut."""
        of_keys = {key: self.multiplier(self.contract(key), stop - 1) for key in set(keys)}
        return [of_keys[key] for key in keys]

    def unproved(self, stop: int) -> dict[Key, Proof]:
        """Returns the contracts whose multiplier nothing proves at the end of a cut."""
        span = min(bisect_right(self.spans, stop - 1), len(self._units)) - 1
        return {key: proof for key, proof in self._units[span].items() if proof.multiplier is None}

    def as_of(self, stop: int) -> datetime | None:
        """Returns the moment of the last trade or change in a cut."""
        events = self._events
        known = [at for at in self._changed if at.date() <= self.until and moment_at(at) < stop]
        for lot in events.lots:
            if lot.as_of is not None:
                known.append(wall_clock("as_of of a lot", lot.as_of, self._zone))
        last = self.fold.last_time(min(stop, self.stop))
        if last > -EVER:
            known.append(time_of(last))
        return max(known).replace(tzinfo=self._zone) if known else None

    # -- issues --

    def counts(self, problem: str, noun: str, keys: Iterable[int]) -> list[Note]:
        """Returns the issue of parts of rows, by key."""
        return [
            about(self.lead(key), problem, counted(count, noun), count)
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
            notes.append(Note(NO_KEY, LATE, f"{text}{self.until}: pass `until`"))
        if is_left or (not self.settled and any(contract[-1] for contract in held)):
            notes += unused("settle", self._price_of.unmatched(self._contracts()))
        return notes


_OLDER, _CHANGE, _ARRIVAL, _SETTLEMENT = 0, 1, 2, 4  # the order of events of one moment
_MOST_DECIMALS = 12  # of a settlement


def _half_up(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _of_trade(fields: Mapping[str, Any]) -> dict[str, Any]:
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
