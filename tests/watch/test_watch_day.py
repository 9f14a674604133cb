"""Eight hours of a service that fails in 20 ways, on a fake clock: nothing is missed or twice."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tradingdata as td
from tradingdata.watch.polling import AsyncWatch, Rules, Watch
from tradingdata.watch.updates import KnownOrders, KnownTrades
from watching import Clock, Record, order_book, some_orders, some_trades, trade_book

HOURS, FAULTS, INTERVAL = 8, 300, 5.0
SECONDS = HOURS * 3600.0
COUNT = 12  # orders, each with up to three fills of 5 and a last state
STATES = ("Pending", "Part", "Part", "Success")
ORDERS = some_orders(COUNT, traded_qty=0, status=STATES[0])
TRADES = some_trades(3 * COUNT, quantity=5)
Books = list[Record]
# Values that may arrive later than the record.
LATE = [name for name, value in TRADES[0].items() if name.endswith("time")]


class Market:
    """The true books at a time, and what a faulty service makes of them.

    Args:
        seed: Of the times of fills and faults.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.fills = [sorted(self.random.uniform(60, SECONDS - 600) for _ in "abc") for _ in ORDERS]
        kinds = [kind for kind in FAULT_KINDS for _ in range(FAULTS // len(FAULT_KINDS))]
        self.random.shuffle(kinds)
        self.faults = list(zip(self.times(len(kinds)), kinds, strict=True))
        self.met: list[str] = []
        self.books: dict[int, Any] = {}  # as long as the rows are the same
        self.lasting: list[str] = []

    def times(self, count: int) -> list[float]:
        return sorted(self.random.uniform(300, SECONDS - 600) for _ in range(count))

    def orders(self, now: float) -> Books:
        entered = [row for row, times in enumerate(self.fills) if times[0] - 60 <= now]
        return [self._order(row, sum(at <= now for at in self.fills[row])) for row in entered]

    def _order(self, row: int, fills: int) -> Record:
        return {**ORDERS[row], "traded_qty": 5 * fills, "status": STATES[fills], "row_no": row}

    def trades(self, now: float) -> Books:
        return [
            {**TRADES[3 * row + number], "order_no": ORDERS[row]["order_no"]}
            for row, times in enumerate(self.fills)
            for number, at in enumerate(times)
            if at <= now
        ]

    def response(self, now: float, rows_at: Callable[[float], Books], decode: Any) -> Any:
        """What the service sends: the book, or what a fault makes of it, for one to four times."""
        if self.faults and self.faults[0][0] <= now and not self.lasting:
            _, kind = self.faults.pop(0)
            self.met.append(kind)
            self.lasting = [kind] * self.random.randint(1, 4)
        if self.lasting:
            return decode(FAULT_KINDS[self.lasting.pop()](self, rows_at(now)))
        version = sum(at <= now for times in self.fills for at in (times[0] - 60, *times))
        if version not in self.books:
            self.books = {version: decode(rows_at(now))}
        return self.books[version]


def failing(error: Callable[[], td.TradingDataError]) -> Callable[[Market, Books], Books]:
    def fail(market: Market, rows: Books) -> Books:
        raise error()

    return fail


def shuffled(market: Market, rows: Books) -> Books:
    rows = list(rows)
    market.random.shuffle(rows)
    return rows


def without_some(market: Market, rows: Books) -> Books:
    return [row for row in rows if market.random.random() > 0.1]


def lacking(names: list[str]) -> Callable[[Market, Books], Books]:
    """A response in which some values of some rows are still missing."""

    def lack(market: Market, rows: Books) -> Books:
        missing = dict.fromkeys(names)
        return [
            {**row, **{name: None for name in missing if name in row}}
            if market.random.random() < 0.5
            else row
            for row in rows
        ]

    return lack


FAULT_KINDS: dict[str, Callable[[Market, Books], Books]] = {
    "connection lost": failing(lambda: td.ConnectError("refused", retryable=True)),
    "deadline": failing(lambda: td.DeadlineError("late", retryable=True)),
    "cut response": failing(lambda: td.TransportError("cut", retryable=True)),
    "503": failing(lambda: td.ServerError("503", retryable=True, status_code=503)),
    "500": failing(lambda: td.ServerError("500", status_code=500)),
    "maintenance page": failing(lambda: td.DecodeError("a page of HTML")),
    "404 of a load balancer": failing(lambda: td.NotFoundError("404", status_code=404)),
    "redirect": failing(lambda: td.StatusError("302", status_code=302)),
    "403 of a rate limit": failing(lambda: td.AuthenticationError("403", status_code=403)),
    "429": failing(lambda: td.RateLimitError("429", retryable=True)),
    "429 with a wait": failing(lambda: td.RateLimitError("429", retry_after=20.0)),
    "429 with 16 hours": failing(lambda: td.RateLimitError("429", retry_after=57600.0)),
    "too many requests in a 200": failing(lambda: td.ServiceError("Too many requests")),
    "certificate of a proxy": failing(lambda: td.TLSError("unknown issuer")),
    "null book": lambda market, rows: [],
    "half a book": lambda market, rows: rows[: len(rows) // 2],
    "rows missing": without_some,
    "another row order": shuffled,
    "times arrive later": lacking(LATE),
    "parts of the key arrive later": lacking(["segment", "client_id"]),
}


class Day:
    """Both watches of a day; what a loop over each adds up."""

    def __init__(self, seed: int) -> None:
        self.clock = Clock()
        self.begin = self.clock.now
        self.market = Market(seed)
        self.fills: list[str | None] = []
        self.executed = self.filled = 0.0
        self.last: dict[str | None, td.Order] = {}
        self.misses = 0

    @property
    def now(self) -> float:
        return self.clock.now - self.begin

    def rules(self) -> Rules:
        return Rules(INTERVAL, lambda: SECONDS - self.now, None, lambda: False)

    def poll_orders(self) -> td.OrderBook:
        book: td.OrderBook = self.market.response(self.now, self.market.orders, order_book)
        return book

    def poll_trades(self) -> td.TradeBook:
        book: td.TradeBook = self.market.response(self.now, self.market.trades, trade_book)
        return book

    def take_orders(self, update: td.types.OrderUpdate) -> None:
        self.misses += update.missed is not None
        for change in update.changes:
            before = change.previous
            self.filled += (change.order.traded_qty or 0) - (
                before.traded_qty or 0 if before else 0
            )
            self.last[change.order.order_no] = change.order

    def take_trades(self, update: td.types.TradeUpdate) -> None:
        self.misses += update.missed is not None
        self.fills += [fill.trade_no for fill in update.fills]
        self.executed += sum(fill.quantity or 0 for fill in update.fills)
        for change in update.changes:
            after, before = change.trade, change.previous
            self.executed += after.quantity or 0 if after else 0
            self.executed -= before.quantity or 0 if before else 0

    def check_orders(self) -> None:
        assert self.filled == 15 * COUNT
        assert {order.status for order in self.last.values()} == {STATES[-1]}
        assert len(self.last) == COUNT

    def check_trades(self) -> None:
        assert sorted(self.fills, key=str) == sorted((row["trade_no"] for row in TRADES), key=str)
        assert self.executed == 15 * COUNT

    def check_faults(self) -> None:
        assert len(self.market.met) == FAULTS
        assert set(self.market.met) == set(FAULT_KINDS)
        assert self.misses >= FAULTS / 2


def of_sync(day: Day, kind: str) -> Iterator[Any]:
    state = KnownOrders(("row_no", "ref_ltp"), None) if kind == "orders" else KnownTrades(None)
    poll: Callable[[], Any] = getattr(day, f"poll_{kind}")
    return Watch(poll, state, day.rules(), clock=day.clock, sleep=day.clock.sleep)


def of_async(day: Day, kind: str) -> Iterator[Any]:
    state = KnownOrders(("row_no", "ref_ltp"), None) if kind == "orders" else KnownTrades(None)
    poll: Callable[[], Any] = getattr(day, f"poll_{kind}")

    async def polled() -> Any:
        await asyncio.sleep(0)
        return poll()

    async def slept(seconds: float) -> None:
        day.clock.sleep(seconds)

    async def updates() -> list[Any]:
        watch: AsyncWatch[Any] = AsyncWatch(
            polled, state, day.rules(), clock=day.clock, sleep=slept
        )
        found = []
        while True:
            try:
                found.append(await asyncio.wait_for(anext(watch), 60))
            except StopAsyncIteration:
                return found

    yield from asyncio.run(updates())


@pytest.mark.parametrize("kind", ["orders", "trades"])
@pytest.mark.parametrize("watched", [of_sync, of_async], ids=["sync", "async"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_f162_eight_hours_with_300_faults_miss_nothing(watched: Any, kind: str, seed: int) -> None:
    """F161, F162, F163: each fill once, every order's last state right."""
    day = Day(seed)
    take = getattr(day, f"take_{kind}")
    for update in watched(day, kind):
        take(update)
    getattr(day, f"check_{kind}")()
    day.check_faults()


@pytest.mark.memory
def test_the_memory_of_a_watch_is_that_of_its_books() -> None:
    """A day of faults leaves no more behind than the first hour."""
    day = Day(4)
    sizes: list[int] = []
    tracemalloc.start()
    try:
        for update in of_sync(day, "orders"):
            day.take_orders(update)
            if day.now // 3600 > len(sizes):
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert len(sizes) >= HOURS - 1
    assert sizes[-1] - sizes[1] < 200_000
