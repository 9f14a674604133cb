"""Random books of sixty days as a desk has them, and a ledger of single shares in fractions.

Two accounts trade shares that are split, get a new ISIN and are converted to delivery, futures
whose id is assigned anew, and an option; some contracts are never settled, some days have no price.
The ledger is written from the docstrings and uses nothing of the package's calculations.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import tradingdata as td
from analysis_samples import DAY, TIME, trade
from cases import CALL
from tradingdata.analysis.keys import CONTRACT, KEY
from tradingdata.analysis.results import ATTRIBUTES

DAYS = [DAY + dt.timedelta(days=number) for number in range(60)]
_, SEGMENT, SECURITY, EXPIRY = CONTRACT
ACCOUNT, PRODUCT, ISIN = KEY[0], KEY[-1], ATTRIBUTES[-1]

Holder = tuple[str, str]
ByDay = dict[Holder, dict[dt.date, Fraction]]
Share = tuple[int, Fraction, dt.datetime]  # its side, 1 if long, its value and time
Place = tuple[str, dt.date | None]  # security and expiry


@dataclass(frozen=True)
class Contract:
    """What is traded: its fields, the shares in a contract, and the days on which it trades."""

    fields: tuple[tuple[str, Any], ...]
    multiplier: int = 1
    days: range = range(60)

    @property
    def place(self) -> Place:
        fields = dict(self.fields)
        return fields[SECURITY], fields.get(EXPIRY)


def _derivative(security: str, days: range, multiplier: int, **more: Any) -> Contract:
    fields = {SECURITY: security, SEGMENT: "D", EXPIRY: DAYS[days[-1]], **more}
    return Contract(tuple(fields.items()), multiplier, days)


SPLIT = Contract(((SECURITY, "10"), (ISIN, "INE000A01010")))
PARENT = Contract(((SECURITY, "11"),))
PART = Contract(((SECURITY, "12"),))
CONTRACTS = (
    SPLIT,
    PARENT,
    PART,
    _derivative("30", range(21), 25),
    _derivative("30", range(21, 46), 25),  # the same id, assigned anew
    _derivative("40", range(5, 31), 1, **CALL),
)


@dataclass
class Event:
    """One trade as it happened; its price is in whole rupees, so that each share's is in paise."""

    holder: Holder
    product: str
    contract: Contract
    sign: int
    quantity: int
    value: Fraction
    row: td.Trade

    @property
    def day(self) -> dt.date:
        moment: dt.datetime = self.row[TIME]
        return moment.date()


@dataclass
class LedgerWorld:
    """What happened on sixty days, and the prices of their ends."""

    events: list[Event]
    prices: dict[tuple[dt.date, Place], Fraction]
    settlements: dict[Place, Fraction]
    split: tuple[dt.date, int]
    converted: tuple[dt.date, str, int | None]  # of which account, and how many at most
    demerged: dt.date

    @property
    def book(self) -> td.TradeBook:
        return td.TradeBook(event.row for event in self.events)

    @property
    def changes(self) -> list[td.LotChange]:
        at, ratio = self.split
        new = {ISIN: "INE000A01028"}
        day, account, most = self.converted
        intraday = {SECURITY: "11", PRODUCT: "I", ACCOUNT: account}
        return [
            td.LotChange(at, where={ISIN: "INE000A01010"}, ratio=ratio, replace=new),
            td.LotChange(day, where=intraday, replace={PRODUCT: "C"}, quantity=most),
            td.LotChange(self.demerged, where={SECURITY: "11"}, into={SECURITY: "12"}, cost=0.25),
        ]


def ledger_world(rng: random.Random, most: int = 120) -> LedgerWorld:
    """A world of sixty days with two accounts."""
    split = rng.choice(DAYS[5:50]), rng.choice([2, 5, 10])
    events: list[Event] = []
    count = rng.randint(2, most)
    moments = sorted({(rng.randrange(60), rng.randrange(6000)) for _ in range(count)})
    for number, (day, second) in enumerate(moments, 1):
        contract = rng.choice([each for each in CONTRACTS if day in each.days])
        quantity, price = rng.randint(1, 9), rng.randint(5, 90)
        value = Fraction(quantity * price * contract.multiplier)
        sign = rng.choice([1, -1])
        account = rng.choice(["desk1", "desk2"])
        product = rng.choice("CI")
        fields: dict[str, Any] = dict(contract.fields) | {PRODUCT: product, ACCOUNT: account}
        if contract is SPLIT and DAYS[day] >= split[0]:
            fields[ISIN] = "INE000A01028"
        row = trade(number, "B" if sign > 0 else "S", quantity, float(value))._replace(
            **fields,
            **{TIME: dt.datetime.combine(DAYS[day], dt.time(9, 15)) + dt.timedelta(seconds=second)},
            order_no=f"O{rng.randint(0, 3)}",
            traded_price=float(price),
            lot_size=contract.multiplier,
        )
        holder = account, td.required(row.client_id)
        events.append(Event(holder, product, contract, sign, quantity, value, row))
    prices = {
        (day, each.place): Fraction(rng.randint(100, 9999), 100)
        for number, day in enumerate(DAYS)
        for each in CONTRACTS
        if number in each.days and rng.random() < 0.8
    }
    settlements = {
        each.place: Fraction(rng.randint(0, 9999), 100)
        for each in CONTRACTS
        if each.place[1] and rng.random() < 0.6
    }
    for _ in range(100):
        converted = rng.choice(DAYS[1:]), rng.choice(["desk1", "desk2"]), rng.choice([None, 5, 20])
        demerged = rng.choice(DAYS[1:])
        if converted[0] != demerged and not _join_sides(events, converted, demerged):
            return LedgerWorld(events, prices, settlements, split, converted, demerged)
    return ledger_world(rng, most)  # these trades join sides whatever changes


def _join_sides(
    events: list[Event], converted: tuple[dt.date, str, int | None], demerged: dt.date
) -> bool:
    """Whether the changes make long and short lots of one key, which is refused."""
    held: dict[Any, int] = defaultdict(int)
    for day in DAYS:
        moves: list[tuple[Any, Any, int]] = []
        if day == converted[0]:
            for holder in {event.holder for event in events if event.holder[0] == converted[1]}:
                parent = holder, "I", PARENT
                most = abs(held[parent]) if converted[2] is None else converted[2]
                moves.append((parent, (holder, "C", PARENT), max(-most, min(most, held[parent]))))
        if day == demerged:
            moves += [(None, (*key[:2], PART), n) for key, n in held.items() if key[2] is PARENT]
        for source, target, moved in moves:
            if moved * held[target] < 0:
                return True
            held[target] += moved
            held[source] -= moved
        for event in events:
            if event.day == day:
                held[event.holder, event.product, event.contract] += event.sign * event.quantity
    return False


def charges_of(events: list[Event]) -> Fraction:
    """What the orders of one holder and day cost at the rates of the test, as a note says it."""
    orders: dict[Any, Fraction] = defaultdict(Fraction)
    total = Fraction(0)
    for event in events:
        orders[event.row.segment, event.row.order_no, event.sign] += event.value
        total += event.value * Fraction(1, 1000) if event.sign < 0 else 0
    for value in orders.values():
        brokerage = max(min(value * Fraction(3, 1000), Fraction(5, 2)), Fraction(1, 2)) + 1
        total += brokerage * Fraction(118, 100)
    return total


class Ledger:
    """Every share on its own, first in, first out on either side; a state for each day."""

    def __init__(self, world: LedgerWorld, days: list[dt.date]) -> None:
        self.world = world
        self.lots: dict[Any, list[Share]] = defaultdict(list)
        self.seen: dict[Any, dt.date] = {}  # by what is held: the first day
        self.realised: ByDay = defaultdict(lambda: defaultdict(Fraction))
        self.charges: ByDay = defaultdict(lambda: defaultdict(Fraction))
        self.unrealised: ByDay = defaultdict(dict)
        self.unpriced: dict[Holder, set[dt.date]] = defaultdict(set)
        self.holders = sorted({event.holder for event in world.events}, key=str)
        for day in days:
            self._change(day)
            self._expire(day, settles=False)
            of_day = [event for event in world.events if event.day == day]
            for event in of_day:
                self._trade(event, day)
            self._expire(day, settles=True)
            for holder in self.holders:
                own = [event for event in of_day if event.holder == holder]
                self.charges[holder][day] = charges_of(own)
                self.unrealised[holder][day] = self._value(holder, day)

    def _change(self, day: dt.date) -> None:
        if day == self.world.split[0]:
            ratio = self.world.split[1]
            for key, lots in self.lots.items():
                if key[2] is SPLIT:
                    parts = [(sign, value / ratio, at) for sign, value, at in lots]
                    lots[:] = [part for part in parts for _ in range(ratio)]
        converted, account, most = self.world.converted
        if day == converted:
            for holder in self.holders:
                if holder[0] == account:
                    lots = self.lots[holder, "I", PARENT]
                    self._move(holder, "C", PARENT, lots[:most], day)
                    del lots[:most]
        if day == self.world.demerged:
            for holder, product, contract in list(self.lots):
                if contract is PARENT:
                    lots = self.lots[holder, product, PARENT]
                    parts = [(sign, value / 4, at) for sign, value, at in lots]
                    lots[:] = [(sign, value * 3 / 4, at) for sign, value, at in lots]
                    self._move(holder, product, PART, parts, day)

    def _move(
        self, holder: Holder, product: str, to: Contract, lots: list[Share], day: dt.date
    ) -> None:
        if lots:
            kept = self.lots[holder, product, to]
            kept[:] = sorted([*kept, *lots], key=lambda lot: lot[2])
            self.seen.setdefault((holder, product, to), day)

    def _trade(self, event: Event, day: dt.date) -> None:
        key = event.holder, event.product, event.contract
        lots = self.lots[key]
        for _ in range(event.quantity):
            value = event.value / event.quantity
            closed = next((lot for lot in lots if lot[0] == -event.sign), None)
            if closed is not None:
                lots.remove(closed)
                self.realised[event.holder][day] += (value - closed[1]) * closed[0]
            else:
                self.seen.setdefault(key, day)
                lots.append((event.sign, value, event.row[TIME]))

    def _expire(self, day: dt.date, *, settles: bool) -> None:
        """Closes what expires on the day at its price, or drops what has expired before."""
        for (holder, _, contract), lots in self.lots.items():
            expiry = contract.place[1]
            if expiry is None or (expiry != day if settles else expiry >= day):
                continue
            price = self.world.settlements.get(contract.place)
            if settles and price is not None:
                for sign, paid, _ in lots:
                    self.realised[holder][day] += (price * contract.multiplier - paid) * sign
            if price is not None or not settles:
                lots.clear()

    def _value(self, holder: Holder, day: dt.date) -> Fraction:
        total = Fraction(0)
        for key, lots in self.lots.items():
            if key[0] == holder and lots:
                days = [at for at in DAYS if self.seen[key] <= at <= day]
                known = [at for at in days if (at, key[2].place) in self.world.prices]
                if known:
                    price = self.world.prices[known[-1], key[2].place] * key[2].multiplier
                    total += sum((price - paid) * sign for sign, paid, _ in lots)
                else:
                    self.unpriced[holder].add(day)
        return total
