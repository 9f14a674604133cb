"""The orders of a random world: each side in legs, in the states that it had on each of its days.

Legs are numbered, have child ids, are known by the exchange's number alone, which may be another
one on each day, or stand alone. Where states say when they were updated, their rows are shuffled.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import tradingdata as td
from analysis_samples import DAY, at
from cases import ENTERED, RECEIVED
from tradingdata.analysis.inputs import UPDATED
from tradingdata.analysis.keys import ORDER_COLUMNS
from worlds import INDIA, Event, World

STYLES = ("numbered", "children", "by the exchange", "sent again", "alone")


@dataclass
class Expected:
    """What is known of one side of an order after its last trade."""

    quantity: int
    filled: int
    legs: int
    lacks_entry: bool
    to_first_fill: float | None


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
    for (*order, side), events in sides.items():
        legs = _legs(rng, styles[tuple(order)])
        first, last = events[0].entered, (events[-1].time.date() - DAY).days
        quantities = [
            sum(event.quantity for event in events) + rng.randint(0, 2),
            *(rng.randint(1, 5) for _ in legs[1:]),
        ]
        for day in range(first, last + 1):
            legs_of_day = _rows(
                events, legs, quantities, day, again=styles[tuple(order)] == "sent again"
            )
            states += [(day, row) for row in legs_of_day]
        received = legs_of_day[0][RECEIVED]
        waited = (events[0].time - received).total_seconds()
        facts[(*order, side)] = Expected(
            sum(quantities),
            sum(event.quantity for event in events),
            len(legs),
            any(event.row[ENTERED] is None for event in events),
            waited if waited >= 0 else None,
        )
    states.sort(key=lambda state: state[0])
    last_of = {_leg(row): row for _, row in states}
    rows = [row for _, row in states]
    if rng.random() < 0.5:
        rows = [row._replace(**{UPDATED[0]: at(30000, day)}) for day, row in states]
        rng.shuffle(rows)
    return Orders(
        _in_a_zone(rng, made, rows),
        td.OrderBook(last_of.values()),
        facts,
    )


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
    events: list[Event], legs: list[dict[str, Any]], quantities: list[int], day: int, *, again: bool
) -> list[Any]:
    """The legs at the end of a day; the first has all fills."""
    fills = [event for event in events if (event.time.date() - DAY).days <= day]
    filled = sum(event.quantity for event in fills)
    value = sum(event.value for event in fills)
    multiplier = events[0].contract.multiplier
    known = {name: events[0].row[name] for name in ORDER_COLUMNS}
    known |= {ENTERED: at(-60, events[0].entered)}
    known |= {RECEIVED: at(-59, day if again else events[0].entered)}
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
