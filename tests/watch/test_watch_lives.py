"""Random lives of a watch: a service that flaps, a clock that jumps, and a reader of every update.

The reader believes what an update says and nothing else. After each good response it must know
exactly the records of that response, whatever failed, was repeated, came late or was interrupted
before; and it must be told of everything once.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import tradingdata as td
from tradingdata import _core
from tradingdata.watch.polling import AsyncWatch, Rules
from tradingdata.watch.updates import KnownOrders, KnownTrades
from watch.watching import (
    Clock,
    Record,
    content,
    order_book,
    some_orders,
    some_trades,
    trade_book,
    watched,
)

ERRORS: dict[str, Callable[[], BaseException]] = {
    "down": lambda: td.ServerError("down", retryable=True),
    "refused": lambda: td.AuthenticationError("expired"),
    "limited": lambda: td.RateLimitError("slow down", retry_after=20.0),
    "failed": lambda: td.ServiceError("try later"),
    "unreadable": lambda: td.DecodeError("not JSON"),
    "own": lambda: ValueError("of a token function"),
    "no token": lambda: td.ConfigurationError("no token"),
    "closed": lambda: td.ClientClosedError("closed"),
    "interrupt": KeyboardInterrupt,
}
# What no later poll can mend, and what is raised after some polls.
UNMENDED = (KeyboardInterrupt, ValueError, td.ConfigurationError, td.ClientClosedError)
RAISED = (*UNMENDED, td.AuthenticationError)
FAULTS = ("none", "none", "empty", "part", "older", "shuffled", "blank", "twice", *ERRORS)
REFUSED = (td.AuthenticationError, td.RateLimitError, td.ServiceError)  # the next poll is later
REFUSALS = 3  # in a row, after which the error is raised
ROUNDING = 1e-6  # seconds: after a pause with jitter the clock is at no whole second
EXECUTED = ("txn_type", "quantity", "traded_price")
TIMES = [name for name, kind, _, _ in _core.fields_of("Trade") if kind == "timestamp"]
AMENDED: dict[str, Any] = {"txn_type": "BS", "quantity": (1, 2), "traded_price": (1.0, 2.0)}
Key = str | None


class Service:
    """The records of a day, and how it responds to the next requests."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.records: dict[int, Record] = {}
        self.removed: dict[int, Record] = {}
        self.states: list[list[Record]] = []
        self.faults: list[tuple[str, int]] = []
        self.outcomes: list[BaseException | list[Record]] = []  # since the last update
        self.at: list[float] = []
        self.takes = 0.0  # seconds
        self.errors = ERRORS
        self.repeats = False  # whether a response may have a record twice

    def respond(self) -> list[Record]:
        self.at.append(self.clock.now)
        self.clock.now += self.takes
        fault, number = self.faults.pop(0) if self.faults else ("none", 0)
        if fault in self.errors:
            error = self.errors[fault]()
            self.outcomes.append(error)
            raise error
        records = self._records(fault, random.Random(number))
        self.states.append(records)
        self.outcomes.append(records)
        return records

    def _records(self, fault: str, rng: random.Random) -> list[Record]:
        records = list(self.records.values())
        if fault == "empty":
            return []
        if fault == "part":
            return [record for record in records if rng.random() < 0.7]
        if fault == "older" and self.states:
            return rng.choice(self.states)
        if fault == "shuffled":
            return rng.sample(records, len(records))
        if fault == "twice" and self.repeats:
            return [record for record in records for _ in range(rng.randint(1, 2))]
        if fault == "blank":
            late = rng.choice(["exch_order_no", *TIMES])
            return [
                {**record, late: None} if late in record and rng.random() < 0.3 else record
                for record in records
            ]
        return records


class Life(RuleBasedStateMachine):
    """What happens to a watch of any book; subclasses check the updates of one."""

    interval = 5.0
    again = 1.0  # seconds until a response that lacks records is asked for again

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.service = Service(self.clock)
        self.refused = self.misses = 0
        self.is_refused = False
        self.book: Any = None
        self.requested: Any = None
        self.present: list[Key] = []  # in the last good response
        self.watch = self.started()

    # What subclasses know of a book.

    def started(self) -> Any:
        raise NotImplementedError

    def new(self, number: int) -> Record:
        raise NotImplementedError

    def check(self, update: Any, book: Any, vanished: list[Key]) -> None:
        raise NotImplementedError

    def keys(self, book: Any) -> list[Key]:
        raise NotImplementedError

    def advance(self) -> Any:
        """The next update."""
        return next(self.watch)

    # What happens at the service.

    @rule(count=st.integers(1, 4))
    def add(self, count: int) -> None:
        known = len(self.service.records) + len(self.service.removed)
        for number in range(known, known + count):
            self.service.records[number] = self.new(number)

    @precondition(lambda self: self.service.records)
    @rule(data=st.data(), name=st.sampled_from([*AMENDED]), nth=st.integers(0, 1))
    def amend(self, data: st.DataObject, name: str, nth: int) -> None:
        number = data.draw(st.sampled_from(sorted(self.service.records)))
        self.service.records[number] = self.service.records[number] | {name: AMENDED[name][nth]}

    @precondition(lambda self: self.service.records)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.service.records)))
        self.service.removed[number] = self.service.records.pop(number)

    @precondition(lambda self: self.service.removed)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.service.removed)))
        self.service.records[number] = self.service.removed.pop(number)

    @rule()
    def clear(self) -> None:
        self.service.removed |= self.service.records
        self.service.records = {}

    @rule(seconds=st.sampled_from([0.0, 0.5, 7.0]), after=st.sampled_from([0.0, 12.0]))
    def slow(self, seconds: float, after: float) -> None:
        """Requests take that long, and so does the body of the loop once."""
        self.service.takes = seconds
        self.clock.now += after

    # What the reader sees.

    @rule(faults=st.lists(st.tuples(st.sampled_from(FAULTS), st.integers(0, 99)), max_size=3))
    def poll(self, faults: list[tuple[str, int]]) -> None:
        self.service.faults, self.service.outcomes = faults, []
        before, now, was_refused = len(self.service.at), self.clock.now, self.is_refused
        try:
            update = self.advance()
        except RAISED as error:
            self.raised(error)
        else:
            self.delivered(update)
        for one, other in zip(
            self.service.at[before:], self.service.at[before + 1 :], strict=False
        ):
            assert 0 < other - one <= self.again + self.service.takes + ROUNDING
        last = self.service.outcomes[-1] if self.service.outcomes else None
        self.is_refused = isinstance(last, REFUSED)
        first = self.service.at[before] if len(self.service.at) > before else now
        assert was_refused or first - now <= self.interval + ROUNDING, "also after a cancelled wait"

    def raised(self, error: BaseException) -> None:
        """What ends nothing, and is no update."""
        assert error is self.service.outcomes[-1]
        if isinstance(error, td.AuthenticationError):
            self.refused += 1
            assert self.refused >= REFUSALS

    def delivered(self, update: Any) -> None:
        *asked_again, outcome = self.service.outcomes
        for records in asked_again:  # only a response that lacks records is asked for again
            assert isinstance(records, list)
            assert set(self.present) - set(self.keys(self.decoded(records)))
        if isinstance(outcome, BaseException):
            assert not isinstance(outcome, UNMENDED)
            self.misses += 1
            is_refused = isinstance(outcome, td.AuthenticationError)
            self.refused = self.refused + 1 if is_refused else 0
            assert self.refused < REFUSALS
            assert (update.missed, update.misses) == (outcome, self.misses)
            assert (update.changes, update.cleared, getattr(update, "fills", ())) == ((), False, ())
            assert update[0] is self.book  # the last response, of equal ones too
            assert outcome.__traceback__ is None
            return
        self.misses = self.refused = 0
        book = self.decoded(outcome)
        now = self.keys(book)
        assert update[0] == book
        assert update[0] is self.requested
        assert (update.missed, update.misses) == (None, 0)
        vanished = [key for key in self.present if key not in now]
        most = len(vanished) == len(self.present) or 2 * len(vanished) >= max(len(self.present), 4)
        assert update.cleared == (bool(vanished) and most)
        assert not vanished or asked_again or update[0] == self.book
        self.check(update, update[0], vanished)
        self.book, self.present = update[0], now

    def decoded(self, records: list[Record]) -> Any:
        raise NotImplementedError

    def request(self) -> Any:
        self.requested = self.decoded(self.service.respond())
        return self.requested

    def teardown(self) -> None:
        """In the end the reader knows what the service has."""
        self.service.takes = 0.0
        self.poll([])


class OrderLife(Life):
    def __init__(self) -> None:
        self.view: dict[Key, Any] = {}
        self.absent: dict[Key, Any] = {}
        super().__init__()

    def started(self) -> Any:
        state = KnownOrders(("row_no", "ref_ltp"), None)
        return watched(self.request, state, self.clock, self.interval)

    def decoded(self, records: list[Record]) -> td.OrderBook:
        return order_book(records)

    def new(self, number: int) -> Record:
        return some_orders(1)[0] | {"order_no": str(number), "quantity": 9}

    def keys(self, book: td.OrderBook) -> list[Key]:
        return [order.order_no for order in book]

    def check(self, update: td.types.OrderUpdate, book: td.OrderBook, vanished: list[Key]) -> None:
        now = dict(zip(self.keys(book), content(book), strict=True))
        told = [change.order.order_no for change in update.changes]
        assert len(set(told)) == len(told)
        there = [key for key in told if key in now]
        assert there == [key for key in now if key in there]  # in the order of the book
        for change in update.changes:
            key = change.order.order_no
            known = {"changed": self.view, "returned": self.absent, "gone": self.view}
            before = known[change.kind][key] if change.kind != "new" else None
            if change.kind == "new":
                assert key not in self.view
                assert key not in self.absent
                assert (change.previous, change.fields) == (None, ())
            else:
                assert change.previous is not None
                assert content([change.previous]) == [before]
            if change.kind == "gone":
                assert key in vanished
                assert change.fields == ()
                continue
            (after,) = content([change.order])
            if before is not None:
                assert list(change.fields) == [
                    name for name in after if after[name] != before[name]
                ]
            assert change.kind != "changed" or change.fields
            self.absent.pop(key, None)
            self.view[key] = after
        gone = [change.order.order_no for change in update.changes if change.kind == "gone"]
        assert gone == ([] if update.cleared else vanished)
        self.absent |= {key: self.view.pop(key) for key in vanished}
        assert self.view == now


class TradeLife(Life):
    def __init__(self) -> None:
        self.held: dict[Key, Any] = {}  # by number: what was executed
        self.known: set[Key] = set()
        self.cleared: set[Key] = set()
        super().__init__()

    def started(self) -> Any:
        self.service.repeats = True
        return watched(self.request, KnownTrades(None), self.clock, self.interval)

    def decoded(self, records: list[Record]) -> td.TradeBook:
        return trade_book(records)

    def new(self, number: int) -> Record:
        return some_trades(1)[0] | {"trade_no": str(number), "quantity": 9}

    def keys(self, book: td.TradeBook) -> list[Key]:
        return list(dict.fromkeys(trade.trade_no for trade in book))

    def check(self, update: td.types.TradeUpdate, book: td.TradeBook, vanished: list[Key]) -> None:
        now = {trade.trade_no: [trade[name] for name in EXECUTED] for trade in book}
        for fill in update.fills:
            assert fill.trade_no not in self.known
            self.known.add(fill.trade_no)
            self.held[fill.trade_no] = [fill[name] for name in EXECUTED]
        if update.cleared:
            self.cleared |= set(vanished)
        busted = set()
        for change in update.changes:
            before, after = change.previous, change.trade
            if change.kind == "returned":
                assert before is None
                assert after is not None
                assert after.trade_no in self.known - set(self.held)
            else:
                assert before is not None
                was = self.held.pop(before.trade_no)
                assert [before[name] for name in EXECUTED] == was
            if before is not None and change.kind == "busted":
                assert after is None
                busted.add(before.trade_no)
            else:
                assert after is not None
                self.held[after.trade_no] = [after[name] for name in EXECUTED]
                fields = () if before is None else differing(before, after)
                assert change.fields == fields
                assert (change.kind == "corrected") == bool(fields)
        self.cleared -= set(now) | busted
        assert not busted & set(now)
        assert update.cleared or set(vanished) <= busted
        # What is held is in the book, or left it with most others.
        assert {key: value for key, value in self.held.items() if key in now} == now
        assert set(self.held) - set(now) == self.cleared


def differing(before: td.Trade, after: td.Trade) -> tuple[str, ...]:
    return tuple(name for name in EXECUTED if before[name] != after[name])


class AsyncLife(OrderLife):
    """The same with `anext()`, which is cancelled at any point and called again."""

    again = 2 * OrderLife.interval  # if the wait for it was cancelled

    def started(self) -> Any:
        self.loop = asyncio.new_event_loop()
        # An interrupt ends a loop, not a task.
        self.service.errors = ERRORS | {"interrupt": ERRORS["own"]}
        state = KnownOrders(("row_no", "ref_ltp"), None)
        rules = Rules(self.interval, lambda: math.inf, lambda: False)
        return AsyncWatch(self.slowly, state, rules, clock=self.clock, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.clock.sleep(seconds)

    async def slowly(self) -> Any:
        await asyncio.sleep(0)
        book = self.request()
        await asyncio.sleep(0)
        return book

    def advance(self) -> Any:
        return self.loop.run_until_complete(self.cancelled())

    async def cancelled(self) -> Any:
        for steps in self.cancels:
            waiting = asyncio.ensure_future(anext(self.watch))
            for _ in range(steps):
                await asyncio.sleep(0)
            waiting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                return await waiting
        return await anext(self.watch)

    cancels: tuple[int, ...] = ()

    @rule(cancels=st.lists(st.integers(0, 9), max_size=3))
    def cancel(self, cancels: list[int]) -> None:
        self.cancels = tuple(cancels)

    def teardown(self) -> None:
        self.cancels = ()
        super().teardown()
        self.loop.run_until_complete(self.watch.aclose())
        self.loop.close()


@pytest.mark.parametrize("life", [OrderLife, TradeLife, AsyncLife])
def test_the_reader_of_a_watch_knows_the_book(life: type[Life]) -> None:
    machine: Any = life.TestCase
    machine.settings = settings(max_examples=settings().max_examples // 3, stateful_step_count=25)
    machine("runTest").runTest()
