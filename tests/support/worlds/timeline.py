"""Random timelines: opening lots in any order, arrivals, changes, settlements, strategies.

The oracle keeps every lot in fractions, and uses nothing of the package's calculations.
"""

from __future__ import annotations

import datetime as dt
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import tradingdata as td
from analysis_samples import DAY, TIME, trade
from cases import CALL
from tradingdata.analysis.keys import CONTRACT, KEY, REQUIRED

DAYS = [DAY + dt.timedelta(days=number) for number in range(12)]
ID, EXPIRY, SEGMENT, CLIENT, PRODUCT = CONTRACT[2], CONTRACT[3], CONTRACT[1], KEY[1], KEY[-1]
TAGS = ("slow", "fast", None)
HELD = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}
UNDATED = dt.datetime.min

# Of what a trade or a lot is: its client, id, expiry, tag and product.
Key = tuple[str, str | None, dt.date | None, str | None, str]
Contract = tuple[str | None, dt.date | None]
OPTIONS = [
    (DAYS[4], {ID: "40", SEGMENT: "D", EXPIRY: DAYS[4], **CALL}),
    (DAYS[9], {ID: "40", SEGMENT: "D", EXPIRY: DAYS[9], **CALL}),
    (DAY - dt.timedelta(days=3), {ID: "41", SEGMENT: "D", EXPIRY: DAY - dt.timedelta(days=3)}),
]
FUTURE: dict[str, Any] = {ID: "30", SEGMENT: "D", EXPIRY: DAYS[10]}
UNITS = (25, 40)  # shares in a contract of the future, before and after it is replaced


@dataclass(eq=False)
class Lot:
    """What is open of a lot: its side, quantity, cost, and the time by which lots are closed."""

    sign: int
    quantity: int
    cost: Fraction
    time: dt.datetime

    def take(self, quantity: int) -> Fraction:
        """Takes a quantity and returns its part of the cost."""
        part = self.cost * quantity / self.quantity
        self.quantity, self.cost = self.quantity - quantity, self.cost - part
        return part


@dataclass
class Event:
    """What happens at a moment; ``rank`` orders what happens at the same one."""

    at: dt.datetime
    rank: int
    kind: str
    key: Key | None = None
    sign: int = 1
    quantity: int = 0
    value: Fraction = Fraction(0)
    time: dt.datetime = UNDATED
    change: td.LotChange | None = None


@dataclass
class Timeline:
    """Events in any order, and the arguments of a ledger that mean them."""

    events: list[Event] = field(default_factory=list)
    trades: list[td.Trade] = field(default_factory=list)
    opening: list[dict[str, Any]] = field(default_factory=list)
    changes: list[td.LotChange] = field(default_factory=list)
    settlements: dict[Any, float] = field(default_factory=dict)
    replaced: dt.datetime = dt.datetime.max  # when the future's multiplier is
    begin: dt.datetime = dt.datetime.min  # of the first day of trades, as of which lots are
    by: Any = "algo_id"  # or what has it by the number of an order

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "opening": self.opening,
            "changes": self.changes,
            "settle": self.settlements,
            "by": self.by,
        }

    def unit(self, security: str | None, at: dt.datetime) -> int:
        """How many shares one of a security is at a moment."""
        is_new = at >= self.replaced or self.replaced < self.begin
        return 1 if security != FUTURE[ID] else UNITS[is_new]


def timeline(rng: random.Random, most: int = 40) -> Timeline:
    """A timeline of twelve days with two clients, with prices in whole rupees."""
    made = Timeline()
    clients = ["C1", "C2"]
    if rng.random() < 0.6:
        midnight = dt.datetime.combine(DAYS[rng.randrange(1, 10)], dt.time())
        made.replaced = midnight + dt.timedelta(hours=rng.choice([0, 11]))
    taken: set[dt.datetime] = set()
    for number in range(1, rng.randint(4, most)):
        day = rng.randrange(12)
        at = dt.datetime.combine(DAYS[day], dt.time(9, 15)) + dt.timedelta(0, rng.randrange(30000))
        if rng.random() < 0.05 and made.replaced < dt.datetime.max:
            at = made.replaced
        if at in taken:
            continue
        taken.add(at)
        fields: dict[str, Any] = {ID: rng.choice(["10", "11"])}
        if rng.random() < 0.4:
            expiry, derivative = rng.choice([*OPTIONS[:2], (FUTURE[EXPIRY], FUTURE)])
            fields = derivative if at.date() <= expiry else fields
        tag, client, product = rng.choice(TAGS), rng.choice(clients), rng.choice("CCI")
        sign, quantity, price = rng.choice([1, -1]), rng.randint(1, 9), rng.randint(5, 90)
        value = quantity * price * made.unit(fields[ID], at)
        fields = fields | {TIME: at, CLIENT: client, PRODUCT: product, "algo_id": tag}
        fields["lot_size"] = 1
        row = trade(number, "B" if sign > 0 else "S", quantity, float(value))
        made.trades.append(row._replace(**fields, traded_price=float(price)))
        key = client, fields[ID], fields.get(EXPIRY), tag, product
        made.events.append(Event(at, 3, "trade", key, sign, quantity, Fraction(value), at))
    if not made.trades:
        return timeline(rng, most)
    tags = {row.order_no: row.algo_id for row in made.trades}
    made.by = rng.choice(["algo_id", tags, lambda row: tags[row.order_no]])
    first = min(row[TIME] for row in made.trades)
    begin = made.begin = dt.datetime.combine(first.date(), dt.time())
    _opening(rng, made, begin, clients)
    _changes(rng, made, begin)
    for expiry, fields in [*OPTIONS, (FUTURE[EXPIRY], FUTURE)]:
        if rng.random() < 0.7:
            price = rng.randint(0, 60)
            made.settlements[fields[ID], expiry] = float(price)
            half_past_three = dt.datetime.combine(expiry, dt.time(15, 30))
            last = [each[TIME] for each in made.trades if each[EXPIRY] == expiry]
            at = max([half_past_three, *last])
            key = "", fields[ID], expiry, None, ""
            made.events.append(Event(at, 4, "settle", key, value=Fraction(price)))
    return made


def _opening(rng: random.Random, made: Timeline, begin: dt.datetime, clients: list[str]) -> None:
    """Lots without a time, of other times before the first day, and arrivals in mid-stream."""
    lots: list[tuple[dict[str, Any], Event]] = []
    for _ in range(rng.randint(0, 6)):
        fields: dict[str, Any] = {ID: rng.choice(["10", "11"])}
        if rng.random() < 0.4:
            fields = rng.choice([*(fields for _, fields in OPTIONS), FUTURE])
        unit = made.unit(fields[ID], UNDATED)
        time = begin - dt.timedelta(days=rng.randint(1, 400), seconds=rng.randrange(80000))
        client, tag, product = rng.choice(clients), rng.choice(TAGS), rng.choice("CCI")
        sign = rng.choice([1, 1, 1, -1])
        arrives = EXPIRY not in fields and rng.random() < 0.3
        known: dt.datetime | None = time
        if arrives:  # a bonus or an allotment
            known = begin + dt.timedelta(days=rng.randrange(6), hours=rng.randrange(24))
        elif rng.random() < 0.2:
            known = None
        lot = {**HELD, **fields, CLIENT: client, PRODUCT: product, "by": tag}
        lot |= {"time": known, "multiplier": unit, "side": "long" if sign > 0 else "short"}
        key = client, fields[ID], fields.get(EXPIRY), tag, product
        at, rank = (known or begin, 2) if arrives else (UNDATED, 0)
        for _ in range(rng.choice([1, 1, 2])):
            quantity = rng.randint(1, 9)
            cost = quantity * rng.randint(5, 90) * unit
            event = Event(at, rank, "lot", key, sign, quantity, Fraction(cost), known or UNDATED)
            lots.append((lot | {"quantity": quantity, "value": float(cost)}, event))
    rng.shuffle(lots)  # given in any order; those of one time stay in it
    made.opening += [lot for lot, _ in lots]
    made.events += [event for _, event in lots]


def _changes(rng: random.Random, made: Timeline, begin: dt.datetime) -> None:
    moments = {begin + dt.timedelta(rng.randrange(8), hours=rng.choice([0, 12])) for _ in "ab"}
    for at in sorted(moments)[: rng.randint(0, 2)]:
        cash = rng.choice([None, 7])
        intraday = {PRODUCT: "I", CLIENT: rng.choice(["C1", "C2"]), ID: rng.choice(["10", "11"])}
        made.changes.append(
            rng.choice(
                [
                    td.LotChange(at, where={ID: "10"}, ratio=rng.choice([2, 5])),
                    td.LotChange(at, where={ID: "10"}, ratio=(2, 3), cash=cash),
                    td.LotChange(at, where={ID: "11"}, ratio=(1, 7), cash=cash),
                    td.LotChange(at, where={ID: "11"}, add=rng.choice([3, -2])),
                    td.LotChange(at, where={ID: "10"}, into={ID: "12"}, cost=0.25),
                    td.LotChange(at, where={ID: "10"}, into={ID: "11"}, cost=0.25, ratio=(1, 4)),
                    td.LotChange(at, where={ID: "11"}, replace={ID: "10"}),
                    td.LotChange(at, where={ID: "99"}, ratio=2),
                    td.LotChange(at, where={PRODUCT: "I"}, replace={PRODUCT: "C"}),
                    td.LotChange(
                        at, where=intraday, replace={PRODUCT: "C"}, quantity=rng.randint(1, 9)
                    ),
                    td.LotChange(
                        at, where=intraday, into={ID: "12"}, cost=0.25, quantity=rng.randint(1, 9)
                    ),
                    td.LotChange(at, where=intraday, add=2, quantity=rng.randint(1, 9)),
                ]
            )
        )
    if made.replaced < dt.datetime.max:
        unit = {"multiplier": UNITS[1]}
        made.changes.append(td.LotChange(made.replaced, where={ID: FUTURE[ID]}, replace=unit))
    made.events += [Event(each._moment(), 1, "change", change=each) for each in made.changes]


class Oracle:
    """Every lot until a moment: what was realised on each day, and what is held.

    ``sides`` says that opening lots of a key have both sides, which a ledger refuses.
    """

    def __init__(self, made: Timeline, stop: dt.datetime, until: dt.date) -> None:
        self.made = made
        self.held: dict[Key, list[Lot]] = defaultdict(list)
        self.realised: dict[tuple[Key, dt.date], Fraction] = defaultdict(Fraction)
        self.seen: dict[Key, dt.date] = {}  # the first day of each key
        self.sides = False
        last = dt.datetime.combine(until, dt.time()) + dt.timedelta(days=1)
        for event in sorted(made.events, key=lambda event: (event.at, event.rank)):
            if event.at < stop and event.at < last:
                getattr(self, f"_{event.kind}")(event)
                for key, lots in self.held.items():
                    if lots or key == event.key:
                        self.seen.setdefault(key, event.at.date())

    def _lot(self, event: Event) -> None:
        assert event.key is not None
        lots = self.held[event.key]
        if any(lot.sign != event.sign for lot in lots):
            self.sides |= event.at == UNDATED  # left out, if it arrives
            return
        lots.append(Lot(event.sign, event.quantity, event.value, event.time))
        lots.sort(key=lambda lot: lot.time)

    def _trade(self, event: Event) -> None:
        assert event.key is not None
        lots, left = self.held[event.key], event.quantity
        while left and lots and lots[0].sign == -event.sign:
            quantity = min(left, lots[0].quantity)
            left -= quantity
            self._close(
                event.key, lots, quantity, event.value * quantity / event.quantity, event.at
            )
        if left:
            value = event.value * left / event.quantity
            lots.append(Lot(event.sign, left, value, event.at))

    def _settle(self, event: Event) -> None:
        assert event.key is not None
        for key, lots in self.held.items():
            while key[1:3] == event.key[1:3] and lots:
                shares = lots[0].quantity * self.made.unit(key[1], event.at)
                self._close(key, lots, lots[0].quantity, event.value * shares, event.at)

    def _close(
        self, key: Key, lots: list[Lot], quantity: int, value: Fraction, at: dt.datetime
    ) -> None:
        """Closes a quantity of the oldest lot for a value."""
        sign = lots[0].sign
        self.realised[key, at.date()] += (value - lots[0].take(quantity)) * sign
        if not lots[0].quantity:
            del lots[0]

    def _change(self, event: Event) -> None:
        change = event.change
        assert change is not None
        if "multiplier" in change.replace:
            return
        holders: dict[Any, list[tuple[Key, Lot]]] = defaultdict(list)
        for key, lots in self.held.items():
            if change.where.items() <= {CLIENT: key[0], ID: key[1], PRODUCT: key[4]}.items():
                holders[key[:3], key[4]] += [(key, lot) for lot in lots]
        for holder in holders.values():
            most = change.quantity or math.inf
            holdings: dict[int, list[tuple[Key, Lot, int]]] = defaultdict(list)
            for key, lot in sorted(holder, key=lambda pair: pair[1].time):
                taken = int(min(most, lot.quantity))
                most -= taken
                if taken:
                    holdings[lot.sign].append((key, lot, taken))
            for sign, holding in holdings.items():
                self._change_holding(change, sign, [self._taken(*each) for each in holding])

    def _taken(self, key: Key, lot: Lot, taken: int) -> tuple[Key, Lot]:
        """Makes the part of a lot that changes a lot of its own."""
        if taken == lot.quantity:
            return key, lot
        part = Lot(lot.sign, taken, lot.take(taken), lot.time)
        self.held[key].insert(self.held[key].index(lot), part)
        return key, part

    def _change_holding(self, change: td.LotChange, sign: int, lots: list[tuple[Key, Lot]]) -> None:
        """What all lots of one side that a client holds become, whatever their tags."""
        total = sum(lot.quantity for _, lot in lots)
        whole, rest = divmod(change.share * total, 1)
        gets_none = not whole and change.cash is None
        second = None if change.into is None else change.into[ID]
        fields = change.into or change.replace
        targets = [
            (key[0], fields.get(ID, key[1]), key[2], key[3], fields.get(PRODUCT, key[4]))
            for key, _ in lots
        ]
        if gets_none and second is None:
            return
        is_moved = targets != [key for key, _ in lots] and not gets_none
        if is_moved and any(lot.sign != sign for key in targets for lot in self.held[key]):
            return
        part = Fraction(0) if gets_none else Fraction(change.cost or 1)
        costs = []
        for _, lot in lots:
            lot.cost += Fraction(change.add or 0) * lot.quantity
            costs.append(lot.cost * part)
            lot.cost -= costs[-1]
        quantities = [lot.quantity for _, lot in lots]
        if rest and change.cash is not None:
            self._pay(change, sign, lots, costs, rest)
        before = carried = Fraction(0)
        opened: list[tuple[Key, Lot, Key, Lot]] = []
        for (key, lot), target, cost, quantity in zip(
            lots, targets, costs, quantities, strict=True
        ):
            count = math.floor(change.share * (before + quantity))
            count -= math.floor(change.share * before)
            before += quantity
            carried += cost
            if count:
                opened.append((key, lot, target, Lot(sign, count, carried, lot.time)))
                carried = Fraction(0)
        if opened:
            opened[-1][-1].cost += carried  # a fraction's value is in the last lot
        for key, lot, target, became in opened:
            if target == key:
                self.held[key].insert(self.held[key].index(lot), became)
            else:
                self.held[target].append(became)
                self.held[target].sort(key=lambda lot: lot.time)
        for key, lot in lots if second is None else ():
            self.held[key].remove(lot)

    def _pay(
        self,
        change: td.LotChange,
        sign: int,
        lots: list[tuple[Key, Lot]],
        costs: list[Fraction],
        rest: Fraction,
    ) -> None:
        """Realises the old shares of a fraction, those of the last lots, for cash."""
        left = rest / change.share
        for at in reversed(range(len(lots))):
            key, lot = lots[at]
            sold = min(left, Fraction(lot.quantity))
            left -= sold
            cost = costs[at] * sold / lot.quantity
            costs[at] -= cost
            cash = Fraction(change.cash or 0) * sold * change.share
            self.realised[key, change._moment().date()] += (cash - cost) * sign


def key_of(row: Any) -> Key:
    return row.client_id, row.security_id, row.expiry_date, row.by, row.product


def quantities_of(lots: Iterable[tuple[Key, Lot]]) -> Counter[Any]:
    """How many of each key, side and time lots have."""
    counts: Counter[Any] = Counter()
    for key, lot in lots:
        counts[key, lot.sign, lot.time] += lot.quantity
    return counts
