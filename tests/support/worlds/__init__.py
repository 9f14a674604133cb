"""Random trades as a desk has them: in the order in which they happened, and as a book shows them.

Ids are used again after an expiry and on another exchange, lot sizes disagree with values, prices
are rounded or zero, expiries and entry times are missing, both sides share an order number and a
second, clients have no label or two, and the book begins with its newest or its oldest row, is
sorted by something else, or has its times in another zone. Orders may be valid for two days.
"""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import tradingdata as td
from analysis_samples import DAY, TIME, at, trade
from cases import CALL, ENTERED, PUT
from tradingdata.analysis.keys import KEY

DAYS = 4
ACCOUNT, CLIENT, EXCHANGE, SEGMENT, SECURITY, EXPIRY, PRODUCT = KEY
Party = tuple[str | None, str]
PARTIES: dict[str, list[Party]] = {
    "without labels": [(None, "C1"), (None, "C2")],
    "labelled": [("desk1", "C1"), ("desk2", "C2")],
    "two labels of one client": [("desk1", "C1"), ("desk2", "C1")],
}
INDIA = dt.timedelta(hours=5, minutes=30)


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
    """One trade as it happened; ``entered`` is the day on which its order was entered."""

    party: Party
    product: str
    contract: Contract
    side: str
    quantity: int
    value: Fraction
    time: dt.datetime
    row: td.Trade
    entered: int


@dataclass
class World:
    """Trades in the order in which they happened, and the book that shows them.

    ``has_orders`` says whether each order number is that of one contract and product.
    """

    events: list[Event]
    book: td.TradeBook
    has_orders: bool
    ordered: bool  # whether a number in the rows decides the order within a second


def world(rng: random.Random, most: int = 30) -> World:
    """A world of some days. Without numbers, the rows are where they were in their response."""
    parties = PARTIES[rng.choice(list(PARTIES))]
    some = [
        (rng.randrange(DAYS), rng.randint(1, 6), rng.choice([parties[0], *parties]))
        for _ in range(rng.randint(1, most))
    ]
    # Each client trades in two seconds of each day, so that the direction of a response shows.
    ends = [(day, second, party) for day in range(DAYS) for second in (0, 7) for party in parties]
    numbered, counted, has_orders = (rng.random() < 0.5 for _ in range(3))
    events: list[Event] = []
    started: dict[Any, int] = {}  # the day of an order, by what it is about
    for number, (day, second, party) in enumerate(sorted([*some, *ends], key=lambda it: it[:2]), 1):
        contract = rng.choice([c for c in CONTRACTS if c.first <= day <= c.last])
        event = _event(rng, number, party, contract, at(second, day), numbered=numbered)
        events.append(event)
        event.entered = day
        if has_orders:
            about = party, contract, event.product
            if day - started.setdefault(about, day) > 1 or rng.random() < 0.5:
                started[about] = day
            event.entered = started[about]
            name = f"O{list(started).index(about)}-{event.entered}"
            entered = event.row[ENTERED] and at(-60, event.entered)
            event.row = event.row._replace(**{ENTERED: entered}, order_no=name)
    _lose(rng, events)
    responses = _responses(rng, parties, events, counted=counted)
    book = td.concat([td.TradeBook(rows) for rows in responses])
    if (numbered or counted) and rng.random() < 0.5:
        book = book.sort(rng.choice(["traded_price", TIME, "-" + TIME, "-quantity"]))
    return World(events, _in_a_zone(rng, book), has_orders, numbered or counted)


def _event(
    rng: random.Random,
    number: int,
    party: Party,
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
    first = 7000 if dict(contract.fields)["exchange"] == "NSE" else 100  # each exchange counts
    facts = {ACCOUNT: party[0], CLIENT: party[1], PRODUCT: product, TIME: time}
    row = trade(number, side, quantity, float(value))._replace(
        **facts | {ENTERED: None if rng.random() < 0.1 else time} | dict(contract.fields),
        traded_price=round(float(price), 2),
        trade_no=str(first + number) if numbered else f"T{rng.randrange(10**9)}",
        order_no=f"O{rng.randint(0, 5)}",  # of both sides, and of several products
        symbol=f"S{number}",
    )
    return Event(party, product, contract, side, quantity, value, time, row, 0)


def _lose(rng: random.Random, events: list[Event]) -> None:
    """Takes the expiry of some rows whose id has only one."""
    for event in events:
        if event.contract in (FUTURE, LOTS) and rng.random() < 0.1:
            kept = [each for each in events if each.contract == event.contract]
            if sum(each.row[EXPIRY] is not None for each in kept) > 1:
                event.row = event.row._replace(**{EXPIRY: None})


def _responses(
    rng: random.Random, parties: list[Party], events: list[Event], *, counted: bool
) -> list[list[td.Trade]]:
    """The rows as a response of each day and client has them, in the order of the book."""
    responses = []
    newest_first = rng.random() < 0.5
    for day in range(DAYS):
        for party in rng.sample(parties, len(parties)):
            on = DAY + dt.timedelta(days=day)
            rows = [it.row for it in events if it.party == party and it.time.date() == on]
            if newest_first:
                rows.reverse()
            if counted:
                rows = [row._replace(row_no=number) for number, row in enumerate(rows, 1)]
            responses.append(rows)
    return responses[::-1] if newest_first else responses


def _in_a_zone(rng: random.Random, book: td.TradeBook) -> td.TradeBook:
    """The book with naive times, with those of India, or with the same instants in UTC."""
    chance = rng.random()
    if chance < 0.6:
        return book
    if chance < 0.8:
        return book.localize("Asia/Kolkata")
    rows = [
        row._replace(**{name: row[name] and row[name] - INDIA for name in (TIME, ENTERED)})
        for row in book
    ]
    return td.TradeBook(rows).localize("UTC")
