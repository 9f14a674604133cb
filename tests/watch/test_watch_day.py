"""A simulated day of an exchange, watched through lossy, late, stale and reordered responses."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope
from systems import posix
from tradingdata.watch.polling import watch
from tradingdata.watch.state import OrderState, TradeState
from watching import (
    Clock,
    Polls,
    Record,
    content,
    order_book,
    some_orders,
    some_trades,
    until_over,
)

SESSION = 240  # seconds of the day, each a state of the exchange
TEMPLATES = some_orders(12)
FILLS = some_trades(60)


@dataclass
class Exchange:
    """The day's states, second by second; what ticks is put in when a response is made."""

    orders: list[list[Record]] = field(default_factory=list)
    trades: list[list[Record]] = field(default_factory=list)

    @classmethod
    def day(cls, chance: random.Random) -> Exchange:
        """Orders enter, fill in parts and end; one event a second at the most."""
        made = cls()
        book: list[Record] = []
        fills: list[Record] = []
        for second in range(SESSION):
            moment = f"2026-01-06 10:{second // 60:02}:{second % 60:02}"
            event = chance.random()
            pending = [place for place, order in enumerate(book) if order["status"] == "Pending"]
            if event < 0.06 and len(book) < len(TEMPLATES):
                template = TEMPLATES[len(book)]
                entered = {"status": "Pending", "traded_qty": 0, UPDATED: moment}
                book = [*book, {**template, **entered}]
            elif event < 0.4 and pending:
                place = chance.choice(pending)
                order = dict(book[place], **{UPDATED: moment})
                if event < 0.1:
                    order["status"] = "Error"
                elif len(fills) < len(FILLS):
                    order["traded_qty"] += 1
                    order["status"] = "Success" if order["traded_qty"] == 5 else "Pending"
                    fills = [*fills, FILLS[len(fills)]]
                book = [*book[:place], order, *book[place + 1 :]]
            made.orders.append(book)
            made.trades.append(fills)
        return made


(UPDATED,) = (name for name in TEMPLATES[0] if name.startswith("last_up"))


@dataclass
class Service:
    """Responses of that day, as they come: lost, late, out of date, in another order."""

    states: list[list[Record]]
    clock: Clock
    start: float
    chance: random.Random
    staleness: float
    most_stale: int = 1000
    stale: int = 0  # the last responses in a row that were out of date

    def second(self) -> int:
        return int(self.clock.now - self.start)

    def response(self) -> Any:
        # After the close: the longest back-off (60 s), then at least three responses 15 s apart.
        if self.second() >= SESSION + 150:
            return None
        if self.second() >= SESSION:
            return self.body(SESSION - 1)
        what = self.chance.random()
        if what < 0.1:
            self.clock.sleep(self.chance.uniform(0, 20))  # late, and lost
            kind = self.chance.choice([td.DeadlineError, td.ServerError, td.RateLimitError])
            return kind("lost", retryable=True)
        asked = self.second()
        if what < 0.2:
            self.clock.sleep(self.chance.uniform(0, 8))  # late: made when it was asked for
        elif what < 0.2 + self.staleness and self.stale < self.most_stale:
            asked -= self.chance.randint(1, 30)  # a machine that lags
            self.stale += 1
            return self.body(max(0, min(asked, SESSION - 1)))
        self.stale = 0
        return self.body(max(0, min(asked, SESSION - 1)))

    def body(self, second: int) -> bytes:
        rows = list(self.states[second])
        if self.chance.random() < 0.3:
            self.chance.shuffle(rows)
        ticking = {"row_no": self.chance.randrange(99)}
        if rows and "ref_ltp" in rows[0]:
            ticking["ref_ltp"] = self.chance.randrange(99)
        return as_json(envelope([row | ticking for row in rows]))


def updates_of(kind: type, interval: float, service: Service) -> list[Any]:
    clock = service.clock
    polls = Polls(iter(lambda: service.response, None), clock, kind.from_json)  # type: ignore[attr-defined]
    state: Any = (
        OrderState(("row_no", "ref_ltp"), None) if kind is td.OrderBook else TradeState(None)
    )
    return list(until_over(watch(polls, state, interval, clock=clock, sleep=clock.sleep)))


def service_of(states: list[list[Record]], seed: int, stale: float, **options: Any) -> Service:
    clock = Clock()
    return Service(states, clock, clock.now, random.Random(seed), stale, **options)


def keyed(rows: Any) -> dict[str, dict[str, Any]]:
    return {row["order_no"]: row for row in content(rows)}


DAYS = {
    "seed": st.integers(0, 2**32),
    "interval": st.floats(0.5, 15.0),
    "stale": st.sampled_from([0.0, 0.2, 0.5]),
}


@settings(deadline=None, max_examples=60)
@given(**DAYS)
def test_the_final_states_are_exact_and_the_changes_lead_there(
    seed: int, interval: float, stale: float
) -> None:
    day = Exchange.day(random.Random(seed))
    updates = updates_of(td.OrderBook, interval, service_of(day.orders, seed, stale))
    last = next(update for update in reversed(updates) if update.missed is None)
    assert keyed(last.orders) == keyed(order_book(day.orders[-1]))
    known: dict[str, dict[str, Any]] = {}
    for update in updates:
        for change in update.changes:
            number = change.order.order_no
            (now,) = content([change.order])
            if change.kind == "new":
                assert number not in known
            else:
                assert content([change.previous]) == [known[number]]  # no change is reported twice
            if change.kind == "gone":
                del known[number]
            else:
                assert known.get(number) != now
                known[number] = now
        if update.missed is None:
            assert keyed(update.orders) == known


@settings(deadline=None, max_examples=30)
@given(**DAYS)
def test_each_fill_of_the_day_is_reported_once(seed: int, interval: float, stale: float) -> None:
    day = Exchange.day(random.Random(seed))
    updates = updates_of(td.TradeBook, interval, service_of(day.trades, seed, stale))
    fills = [fill for update in updates for fill in update.fills]
    wanted = [row["trade_no"] for row in day.trades[-1]]
    assert sorted(str(fill.trade_no) for fill in fills) == sorted(wanted)


def test_an_order_that_only_moves_on_is_never_reported_as_going_back() -> None:
    """Two old responses in a row are held: what an order has done only grows."""
    for seed in range(8):
        day = Exchange.day(random.Random(seed))
        service = service_of(day.orders, seed, 0.4, most_stale=2)
        done: dict[str | None, float] = {}
        for update in updates_of(td.OrderBook, 1.0, service):
            for change in update.changes:
                quantity = change.order.traded_qty or 0
                if change.kind == "changed":
                    assert quantity >= done[change.order.order_no]
                done[change.order.order_no] = quantity


def test_ten_thousand_polls_grow_with_the_changes_and_not_with_the_polls() -> None:
    """Every poll's body differs in what ticks; every hundredth brings a change."""
    count, clock = 30, Clock()
    records = some_orders(count, row_no=987654321, ref_ltp=987654321)

    def bodies(polls: int) -> Any:
        for poll in range(polls):
            if poll % 100 == 0:
                records[poll // 100 % count]["status"] = f"number {poll // 100}"
                body = as_json(envelope(records))
            yield body.replace(b"987654321", str(poll).encode())

    page: int = posix("resource").getpagesize()

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * page

    kept: list[td.types.OrderChange] = []
    polls = Polls(bodies(10_000), clock, td.OrderBook.from_json)
    state = OrderState(("row_no", "ref_ltp"), None)
    early = 0
    for number, update in enumerate(
        until_over(watch(polls, state, 0.5, clock=clock, sleep=clock.sleep))
    ):
        kept.extend(update.changes)
        if number == 1000:
            early = resident()
    grown = resident() - early
    assert len(kept) == count + 99
    assert grown < 9 * 2**20  # 9,000 polls of 42 kB each would be 360 MB
