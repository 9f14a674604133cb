"""Random timelines: opening lots in any order, arrivals, changes, settlements, strategies.

The oracle walks through every share on its own, in fractions, and uses nothing of the package's
calculations.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import tradingdata as td
from analysis_samples import DAY, TIME, trade
from cases import CALL
from tradingdata.analysis.keys import CONTRACT, REQUIRED

DAYS = [DAY + dt.timedelta(days=number) for number in range(12)]
ID, EXPIRY, SEGMENT = CONTRACT[2], CONTRACT[3], CONTRACT[1]
TAGS = ("slow", "fast", None)
HELD = {name: trade(1, "B", 1, 1.0)[name] for name in REQUIRED}

# Of what a trade or a lot is: its client, id, expiry and tag.
Key = tuple[str, str | None, dt.date | None, str | None]


@dataclass
class Share:
    """One share: its side, what it cost, and its time, by which lots are closed."""

    sign: int
    cost: Fraction
    time: dt.datetime


@dataclass
class Event:
    """What happens at a moment; ``rank`` orders what happens at the same one."""

    at: dt.datetime
    rank: int
    kind: str
    key: Key | None = None
    sign: int = 1
    quantity: int = 0
    price: Fraction = Fraction(0)
    time: dt.datetime = dt.datetime.min
    change: td.LotChange | None = None


@dataclass
class Timeline:
    """Events in any order, and the arguments of a ledger that mean them."""

    events: list[Event] = field(default_factory=list)
    trades: list[td.Trade] = field(default_factory=list)
    opening: list[dict[str, Any]] = field(default_factory=list)
    changes: list[td.LotChange] = field(default_factory=list)
    settlements: dict[Any, float] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "opening": self.opening,
            "changes": self.changes,
            "settle": self.settlements,
            "by": "algo_id",
        }


OPTIONS = [
    (DAYS[4], {ID: "40", SEGMENT: "D", EXPIRY: DAYS[4], **CALL}),
    (DAYS[9], {ID: "40", SEGMENT: "D", EXPIRY: DAYS[9], **CALL}),
    (DAY - dt.timedelta(days=3), {ID: "41", SEGMENT: "D", EXPIRY: DAY - dt.timedelta(days=3)}),
]


def timeline(rng: random.Random, most: int = 40) -> Timeline:
    """A timeline of twelve days with two clients. Prices are whole rupees, so shares are exact."""
    made = Timeline()
    clients = ["C1", "C2"]

    def moment(day: int) -> dt.datetime:
        at = dt.datetime.combine(DAYS[day], dt.time(9, 15))
        return at + dt.timedelta(seconds=rng.randrange(20000))

    taken: set[dt.datetime] = set()
    for number in range(1, rng.randint(4, most)):
        day = rng.randrange(12)
        at = moment(day)
        if at in taken:
            continue
        taken.add(at)
        fields: dict[str, Any] = {ID: rng.choice(["10", "11"])}
        if rng.random() < 0.3:
            expiry, of_option = rng.choice(OPTIONS[:2])
            if DAYS[day] <= expiry:
                fields = of_option
        tag, client = rng.choice(TAGS), rng.choice(clients)
        sign, quantity, price = rng.choice([1, -1]), rng.randint(1, 9), rng.randint(5, 90)
        row = trade(number, "B" if sign > 0 else "S", quantity, float(quantity * price))._replace(
            **fields
            | {TIME: at, "algo_id": tag, "client_id": client, "traded_price": float(price)},
            lot_size=1,
        )
        made.trades.append(row)
        key = client, row.security_id, row.expiry_date, tag
        made.events.append(Event(at, 3, "trade", key, sign, quantity, Fraction(price), at))
    if not made.trades:
        return timeline(rng, most)
    first = min(row[TIME] for row in made.trades)
    begin = dt.datetime.combine(first.date(), dt.time())
    _opening(rng, made, begin, clients)
    _changes(rng, made, begin)
    for expiry, fields in OPTIONS:
        if rng.random() < 0.7:
            price = rng.randint(0, 60)
            made.settlements[fields[ID], expiry] = float(price)
            at = dt.datetime.combine(expiry, dt.time(15, 30))
            key = "", fields[ID], expiry, None
            made.events.append(Event(at, 4, "settle", key, price=Fraction(price)))
    return made


def _opening(rng: random.Random, made: Timeline, begin: dt.datetime, clients: list[str]) -> None:
    """Lots without a time, of other times before the first day, and arrivals in mid-stream."""
    lots: list[tuple[dict[str, Any], Event]] = []
    for _ in range(rng.randint(0, 6)):
        fields: dict[str, Any] = {ID: rng.choice(["10", "11"])}
        if rng.random() < 0.3:
            fields = rng.choice(OPTIONS)[1]
        quantity, price = rng.randint(1, 9), rng.randint(5, 90)
        time = begin - dt.timedelta(days=rng.randint(1, 400), seconds=rng.randrange(80000))
        client, tag = rng.choice(clients), rng.choice(TAGS)
        arrives = ID in fields and EXPIRY not in fields and rng.random() < 0.3
        known: dt.datetime | None = None if rng.random() < 0.2 and not arrives else time
        if arrives:  # a bonus or an allotment
            known = begin + dt.timedelta(days=rng.randrange(6), hours=rng.randrange(24))
        lot = {**HELD, **fields, "client_id": client, "by": tag, "quantity": quantity}
        lot |= {"value": float(quantity * price), "time": known, "multiplier": 1}
        key = client, fields[ID], fields.get(EXPIRY), tag
        at, rank = (known or begin, 2) if arrives else (dt.datetime.min, 0)
        time = known or dt.datetime.min
        lots.append((lot, Event(at, rank, "lot", key, 1, quantity, Fraction(price), time)))
    rng.shuffle(lots)  # given in any order; those without a time stay in it
    made.opening += [lot for lot, _ in lots]
    made.events += [event for _, event in lots]


def _changes(rng: random.Random, made: Timeline, begin: dt.datetime) -> None:
    for _ in range(rng.randint(0, 2)):
        at = begin + dt.timedelta(days=rng.randrange(8), hours=rng.choice([0, 0, 12]))
        change = rng.choice(
            [
                td.LotChange(at, where={ID: "10"}, ratio=rng.choice([2, 5])),
                td.LotChange(at, where={ID: "11"}, add=rng.choice([3, -2])),
                td.LotChange(at, where={ID: "10"}, into={ID: "12"}, cost=0.25),
                td.LotChange(at, where={ID: "99"}, ratio=2),
            ]
        )
        made.changes.append(change)
        made.events.append(Event(at, 1, "change", change=change))


class Oracle:
    """Every share until a moment: what was realised on each day, and what is held.

    ``sides`` are keys with lots of both sides at once, which a ledger refuses or leaves out.
    """

    def __init__(self, made: Timeline, stop: dt.datetime, until: dt.date) -> None:
        self.held: dict[Key, list[Share]] = defaultdict(list)
        self.realised: dict[tuple[Key, dt.date], Fraction] = defaultdict(Fraction)
        self.sides = False
        self.stop = stop
        last = dt.datetime.combine(until, dt.time()) + dt.timedelta(days=1)
        events = sorted(made.events, key=lambda event: (event.at, event.rank))
        lots = [event for event in events if event.at == dt.datetime.min]
        others = [event for event in events if event.at > dt.datetime.min]
        for event in [*lots, *others]:
            if event.at < stop and event.at < last:
                getattr(self, f"_{event.kind}")(event)

    def _lot(self, event: Event) -> None:
        assert event.key is not None
        shares = self.held[event.key]
        if any(share.sign != event.sign for share in shares):
            self.sides = True  # left out, if it arrives
            return
        shares += [Share(event.sign, event.price, event.time) for _ in range(event.quantity)]
        shares.sort(key=lambda share: share.time)

    def _trade(self, event: Event) -> None:
        assert event.key is not None
        shares = self.held[event.key]
        for _ in range(event.quantity):
            if shares and shares[0].sign == -event.sign:
                self._close(event.key, shares.pop(0), event.price, event.at.date())
            else:
                shares.append(Share(event.sign, event.price, event.at))

    def _settle(self, event: Event) -> None:
        assert event.key is not None
        for key, shares in self.held.items():
            if key[1:3] == event.key[1:3]:
                for share in shares:
                    self._close(key, share, event.price, event.at.date())
                shares.clear()

    def _close(self, key: Key, share: Share, price: Fraction, day: dt.date) -> None:
        self.realised[key, day] += (price - share.cost) * share.sign

    def _change(self, event: Event) -> None:
        change = event.change
        assert change is not None
        for key, shares in list(self.held.items()):
            if key[1] != change.where[ID] or key[2] is not None:
                continue
            if change.add is not None:
                for share in shares:
                    share.cost += Fraction(change.add)
            elif change.into is not None:
                parts = [Share(share.sign, share.cost / 4, share.time) for share in shares]
                for share in shares:
                    share.cost *= Fraction(3, 4)
                target = self.held[key[0], "12", None, key[3]]
                target += parts
                target.sort(key=lambda share: share.time)
                self.sides |= len({share.sign for share in target}) > 1
            else:
                ratio = int(change.share)
                shares[:] = [
                    Share(share.sign, share.cost / ratio, share.time)
                    for share in shares
                    for _ in range(ratio)
                ]

    def lots(self) -> Counter[tuple[Any, ...]]:
        """The shares held, with their side, cost and time."""
        return Counter(
            (key, share.sign, share.cost, share.time)
            for key, shares in self.held.items()
            for share in shares
        )


def key_of(row: Any) -> Key:
    return row.client_id, row.security_id, row.expiry_date, row.by


def shares_of(lots: Any) -> tuple[Counter[Any], dict[Key, Fraction]]:
    """How many shares of each key, side and time lots have, and what all of a key cost."""
    counts: Counter[Any] = Counter()
    costs: dict[Key, Fraction] = defaultdict(Fraction)
    for lot in lots:
        sign = 1 if lot.side == "long" else -1
        counts[key_of(lot), sign, lot.time or dt.datetime.min] += lot.quantity
        costs[key_of(lot)] += sign * Fraction(repr(lot.value))
    return counts, costs
