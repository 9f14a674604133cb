"""The orders of a random world: each side in legs, in the states that it had on each of its days.

Legs are numbered, have child ids, are known by the exchange's number alone, which may be another
one on each day, or stand alone. Where states say when they were updated, their rows are shuffled.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import tradingdata as td
from analysis_samples import DAY, at
from cases import ENTERED, RECEIVED
from tradingdata.analysis.inputs import UPDATED
from tradingdata.analysis.keys import ORDER_COLUMNS

from . import EXCHANGE, INDIA, Event, World

STYLES = ("numbered", "children", "by the exchange", "sent again", "alone")
OPEN = dt.time(9, 15)
# Seconds from the opening bell to entry and to the exchange's receipt.
MOMENTS = {"early": (-60, -59), "live": (0, 2), "trigger": (-60, -59), "changed": (-60, 1800)}


@dataclass
class Terms:
    """What an order says, besides its legs: one of MOMENTS, its price and trigger."""

    moments: str
    price: float | None

    @property
    def trigger(self) -> float:
        return 15.0 if self.moments == "trigger" else 0.0


@dataclass
class Expected:
    """What is known of one side of an order after its last trade."""

    quantity: int
    filled: int
    fills: int
    legs: int
    lacks_entry: bool
    to_first_fill: float | None
    to_exchange: float | None = None
    waited: float | None = None
    price: float | None = None
    average: Fraction | None = None
    better_by: Fraction | None = None
    is_triggered: bool = False


@dataclass
class Orders:
    """Orders as an archive of their days has them, those of the last state of each, and facts."""

    book: td.OrderBook
    last: td.OrderBook
    sides: dict[Any, Expected]


def orders_of(made: World, rng: random.Random) -> Orders:
    """The orders of a world whose order numbers are of one contract and product."""
    styles: dict[Any, str] = {}
    sides: dict[Any, list[Event]] = defaultdict(list)
    for event in made.events:
        order = event.party, event.row.order_no
        styles.setdefault(order, rng.choice(STYLES))
        sides[*order, event.side].append(event)
    states: list[tuple[int, td.Order]] = []
    facts: dict[Any, Expected] = {}
    received_at: dict[Any, dt.datetime] = {}
    for (*order, side), events in sides.items():
        terms = Terms(rng.choice(list(MOMENTS)), rng.choice([None, 0.0, 15.5, 21.35]))
        legs = _legs(rng, styles[tuple(order)])
        first, last = events[0].entered, (events[-1].time.date() - DAY).days
        quantities = [
            sum(event.quantity for event in events) + rng.randint(0, 2),
            *(rng.randint(1, 5) for _ in legs[1:]),
        ]
        for day in range(first, last + 1):
            again = styles[tuple(order)] == "sent again"
            legs_of_day = _rows(events, legs, quantities, day, terms, again=again)
            states += [(day, row) for row in legs_of_day]
        received = received_at[(*order, side)] = legs_of_day[0][RECEIVED]
        waited = (events[0].time - received).total_seconds()
        facts[(*order, side)] = Expected(
            sum(quantities),
            sum(event.quantity for event in events),
            len(events),
            len(legs),
            any(event.row[ENTERED] is None for event in events),
            waited if waited >= 0 else None,
            **_price_facts(events, side, terms),
        )
        facts[(*order, side)].waited = (
            received - at(MOMENTS[terms.moments][0], events[0].entered)
        ).total_seconds()
    _tell_waits(sides, facts, received_at)
    states.sort(key=lambda state: state[0])
    last_of = {_leg(row): row for _, row in states}
    rows = [row for _, row in states]
    if rng.random() < 0.5:
        rows = [row._replace(**{UPDATED[0]: at(30000, day)}) for day, row in states]
        rng.shuffle(rows)
    return Orders(_in_a_zone(rng, made, rows), td.OrderBook(last_of.values()), facts)


def _price_facts(events: list[Event], side: str, terms: Terms) -> dict[str, Any]:
    """The price of an order, the average of its trades, and how much better that is."""
    shares = sum(event.quantity for event in events) * events[0].contract.multiplier
    average = sum((event.value for event in events), Fraction(0)) / shares
    price = terms.price or None
    better = (
        None if price is None else (Fraction(str(price)) - average) * (1 if side == "B" else -1)
    )
    facts = {"price": price, "average": average, "better_by": better}
    return facts | {"is_triggered": terms.trigger > 0}


def _tell_waits(
    sides: dict[Any, list[Event]], facts: dict[Any, Expected], received: dict[Any, dt.datetime]
) -> None:
    """Says of each time from entry to the exchange whether it was a latency, a wait or a change.

    An order waits that has a trigger, or that was entered before the market opened and before its
    exchange took any order of that day. What had traded before was changed later.
    """
    first: dict[Any, dt.datetime] = {}
    for key, events in sides.items():
        day = dict(events[0].contract.fields)[EXCHANGE], received[key].date()
        first[day] = min(first.get(day, received[key]), received[key])
    for key, events in sides.items():
        expected, at_exchange = facts[key], received[key]
        seconds, entered = expected.waited, at_exchange - dt.timedelta(seconds=expected.waited or 0)
        exchange = dict(events[0].contract.fields)[EXCHANGE]
        opening = dt.datetime.combine(at_exchange.date(), OPEN)
        waits = entered < min(opening, first[exchange, at_exchange.date()])
        if events[0].time < at_exchange:
            expected.waited = None
        elif not waits and not expected.is_triggered:
            expected.to_exchange, expected.waited = seconds, None


def _legs(rng: random.Random, style: str) -> list[dict[str, Any]]:
    count = rng.randint(1, 3)
    if style == "numbered":
        return [{"leg_no": number} for number in range(1, count + 1)]
    if style == "children":
        return [{"child_leg_unq_id": number} for number in range(1, count + 1)]
    if style == "by the exchange":
        return [{"leg_no": 0, "exch_order_no": f"X{number}"} for number in range(1, count + 1)]
    return [{"leg_no": rng.choice([0, None])}]


def _rows(
    events: list[Event],
    legs: list[dict[str, Any]],
    quantities: list[int],
    day: int,
    terms: Terms,
    *,
    again: bool,
) -> list[Any]:
    """The legs at the end of a day; the first has all fills."""
    fills = [event for event in events if (event.time.date() - DAY).days <= day]
    filled = sum(event.quantity for event in fills)
    value = sum(event.value for event in fills)
    multiplier = events[0].contract.multiplier
    known = {name: events[0].row[name] for name in ORDER_COLUMNS}
    entered, received = MOMENTS[terms.moments]
    known |= {ENTERED: at(entered, events[0].entered)}
    known |= {RECEIVED: at(received, day if again else events[0].entered)}
    known |= {"price": terms.price, "trigger_price": terms.trigger}
    rows = []
    for number, (leg, quantity) in enumerate(zip(legs, quantities, strict=True)):
        traded = filled if number == 0 else 0
        average = round(float(value / (traded * multiplier)), 4) if traded else None
        sent = {"exch_order_no": f"X{day if again else 0}"} | leg
        rows.append(
            td.Order(**known | sent, quantity=quantity, traded_qty=traded, avg_traded_price=average)
        )
    return rows


def _leg(row: td.Order) -> Any:
    """What makes a row another leg, rather than a later state of one."""
    number = row.leg_no or row.child_leg_unq_id or row.exch_order_no
    number = number if row.leg_no or row.child_leg_unq_id else str(number)
    return *(row[name] for name in ORDER_COLUMNS if name != ENTERED), number


def _in_a_zone(rng: random.Random, made: World, rows: list[td.Order]) -> td.OrderBook:
    """Naive with naive trades, else in India or the same instants in UTC."""
    if made.book._rows.zone is None:
        return td.OrderBook(rows)
    if rng.random() < 0.5:
        return td.OrderBook(rows).localize("Asia/Kolkata")
    shifted = [
        row._replace(**{name: row[name] and row[name] - INDIA for name in (ENTERED, *UPDATED)})
        for row in rows
    ]
    return td.OrderBook(shifted).localize("UTC")
