"""Random trades as a desk has them: in the order in which they happened, and as a book shows them.

Ids are used again after an expiry and on another exchange, lot sizes disagree with values, prices
are rounded or zero, expiries and entry times are missing, both sides share an order number and a
second, and the book begins with its newest or its oldest row, or is sorted by something else.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import tradingdata as td
from analysis_samples import DAY, TIME, at, trade
from cases import CALL, ENTERED, PUT
from tradingdata.analysis.keys import CONTRACT, REQUIRED

DAYS = 4
EXCHANGE, SEGMENT, SECURITY, EXPIRY = CONTRACT
CLIENT, PRODUCT = REQUIRED[0], REQUIRED[-1]


@dataclass(frozen=True)
class Contract:
    """What is traded: the fields of its rows, the shares in one contract, how prices are shown."""

    fields: tuple[tuple[str, Any], ...]
    multiplier: int = 1
    rounded: bool = False
    first: int = 0  # the days on which it trades
    last: int = DAYS - 1

    @property
    def expiry(self) -> dt.date | None:
        return dict(self.fields).get(EXPIRY)


def _contract(security: str, exchange: str = "NSE", expiry: int | None = None, **more: Any) -> Any:
    fields: dict[str, Any] = {SECURITY: security, EXCHANGE: exchange}
    if expiry is not None:
        fields |= {EXPIRY: DAY + dt.timedelta(days=expiry), SEGMENT: "D"}
    options: dict[str, Any] = {
        name: more.pop(name) for name in ("multiplier", "rounded") if name in more
    }
    last = DAYS - 1 if expiry is None else expiry
    return Contract(tuple((fields | more).items()), **options, last=last)


SHARES = _contract("10")
ELSEWHERE = _contract("10", "BSE")  # the same id on another exchange
FIRST_CALL = _contract("20", expiry=1, **CALL)
SECOND_PUT = Contract(_contract("20", expiry=9, **PUT).fields, first=2)
FUTURE = _contract("30", expiry=9, multiplier=25, lot_size=1)  # the lot size is not the multiplier
LOTS = _contract("40", expiry=9, multiplier=50, lot_size=50, rounded=True)
CONTRACTS = (SHARES, ELSEWHERE, FIRST_CALL, SECOND_PUT, FUTURE, LOTS)


@dataclass
class Event:
    """One trade as it happened."""

    client: str
    product: str
    contract: Contract
    side: str
    quantity: int
    value: Fraction
    time: dt.datetime
    row: td.Trade


@dataclass
class World:
    """Trades in the order in which they happened, the book that shows them, and prices."""

    events: list[Event]
    book: td.TradeBook
    lost_expiries: int = 0
    prices: dict[Any, float] = field(default_factory=dict)


def world(rng: random.Random, most: int = 30) -> World:
    """A world of some days; what decides the order within a second is always there."""
    some: list[tuple[int, int, str]] = [
        (rng.randrange(DAYS), rng.randint(1, 6), rng.choice(["C1", "C1", "C2"]))
        for _ in range(rng.randint(1, most))
    ]
    # Each client trades in two seconds of each day, so that the direction of a response shows.
    ends = [
        (day, second, name) for day in range(DAYS) for second in (0, 7) for name in ("C1", "C2")
    ]
    numbered, counted = rng.random() < 0.5, rng.random() < 0.5
    events: list[Event] = []
    for number, (day, second, client) in enumerate(
        sorted([*some, *ends], key=lambda it: it[:2]), 1
    ):
        contract = rng.choice([c for c in CONTRACTS if c.first <= day <= c.last])
        events.append(_event(rng, number, client, contract, at(second, day), numbered=numbered))
    lost = _lose(rng, events)
    return World(events, _book(rng, events, numbered, counted), lost)


def _event(
    rng: random.Random,
    number: int,
    client: str,
    contract: Contract,
    time: dt.datetime,
    *,
    numbered: bool,
) -> Event:
    quantity = 1 if contract.rounded else rng.randint(1, 9)
    price = Fraction(rng.randint(1500, 3000), 300 if contract.rounded else 100)
    if rng.random() < 0.05 and contract.expiry is None:
        price = Fraction(0)
    value = Fraction(round(price * quantity * contract.multiplier * 100), 100)
    side, product = rng.choice("BS"), rng.choice("CI")
    entered = None if rng.random() < 0.1 else time
    row = trade(number, side, quantity, float(value))._replace(
        **{CLIENT: client, PRODUCT: product, TIME: time, ENTERED: entered} | dict(contract.fields),
        traded_price=round(float(price), 2),
        trade_no=str(7000 + number) if numbered else f"T{rng.randrange(10**9)}",
        order_no=f"O{rng.randint(0, 5)}",  # of both sides, and of several products
    )
    return Event(client, product, contract, side, quantity, value, time, row)


def _lose(rng: random.Random, events: list[Event]) -> int:
    """Takes the expiry of some rows whose id has only one."""
    lost = 0
    for event in events:
        if event.contract in (FUTURE, LOTS) and rng.random() < 0.1:
            kept = [each for each in events if each.contract == event.contract]
            if sum(each.row[EXPIRY] is not None for each in kept) > 1:
                event.row = event.row._replace(**{EXPIRY: None})
                lost += 1
    return lost


def _book(rng: random.Random, events: list[Event], numbered: bool, counted: bool) -> td.TradeBook:
    """The rows as a response of each day has them, and then as a user may have sorted them."""
    parts = []
    newest_first = rng.random() < 0.5
    for day in sorted({event.time.date() for event in events}):
        rows = [event.row for event in events if event.time.date() == day]
        if newest_first:
            rows.reverse()
        if counted:
            rows = [row._replace(row_no=number) for number, row in enumerate(rows, 1)]
        parts.append(td.TradeBook(rows))
    if newest_first:
        parts.reverse()
    book = td.concat(parts)
    if (numbered or counted) and rng.random() < 0.5:
        book = book.sort(rng.choice(["traded_price", TIME, "-quantity"]))
    return book.localize("Asia/Kolkata") if rng.random() < 0.2 else book
