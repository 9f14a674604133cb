"""Watching a book: polls, their schedule, and the updates computed from responses and failures.

The loops of ``watch_orders`` and ``watch_trades``, sync and async, only poll and sleep.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from datetime import UTC, date, datetime
from datetime import time as clock_time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ._util.declarations import RECORDS
from ._util.plans import run, run_async
from ._util.validate import shown
from .books.book import OrderBook, TradeBook
from .books.diff import changes_of, checked_ignore, copies
from .errors import RateLimitError, TradingDataError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable

    from ._util.plans import Plan
    from .books.diff import OrderChange
    from .table.rows import Trade

    AnyBook = TypeVar("AnyBook", OrderBook, TradeBook)

_FOR_EVER = partial(float, "inf")


def watch(
    poll: Callable[[], Any],
    state: OrderState | TradeState,
    interval: float,
    left: Callable[[], float] = _FOR_EVER,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Generator[Any, None, None]:
    """Polls on a fixed grid and yields an update each time; polls never overlap.

    Args:
        poll: Makes one call.
        state: Computes the updates.
        interval: Seconds between polls.
        left: Returns how many seconds are left; the last poll is made when none are.
        clock: A monotonic clock.
        sleep: Waits.
    """
    grid = Grid(interval, clock())
    while True:
        yield run(_polled(poll, state, grid, clock))
        if not run(_slept(grid, left, clock, sleep)):
            return


async def watch_async(
    poll: Callable[[], Awaitable[Any]],
    state: OrderState | TradeState,
    interval: float,
    left: Callable[[], float] = _FOR_EVER,
    *,
    clock: Callable[[], float] | None = None,
    sleep: Callable[[float], Awaitable[object]] | None = None,
) -> AsyncGenerator[Any, None]:
    """Async variant of ``watch``, on the loop's clock."""
    import asyncio

    clock = asyncio.get_running_loop().time if clock is None else clock
    sleep = asyncio.sleep if sleep is None else sleep
    grid = Grid(interval, clock())
    while True:
        yield await run_async(_polled(poll, state, grid, clock))
        if not await run_async(_slept(grid, left, clock, sleep)):
            return


def _polled(
    poll: Callable[[], Any], state: OrderState | TradeState, grid: Grid, clock: Callable[[], float]
) -> Plan[OrderUpdate | TradeUpdate]:
    """The plan of one poll."""
    try:
        response = yield poll()
    except TradingDataError as error:
        if not error.retryable:
            raise
        grid.ended(clock(), error)
        # A list of updates would otherwise keep the frames of every failed poll alive.
        return state.missed(error.with_traceback(None))
    grid.ended(clock(), None)
    return state.received(response)


def _slept(
    grid: Grid, left: Callable[[], float], clock: Callable[[], float], sleep: Callable[[float], Any]
) -> Plan[bool]:
    """The plan of the wait for the next poll; returns False if there is none."""
    due = grid.next(now := clock(), now + left())
    while due is not None and (wait := due - clock()) > 0:
        yield sleep(wait)
    return due is not None


# Maximum seconds of the doubling wait after a 429 response without a Retry-After header.
LONGEST_WAIT = 60.0


class Grid:
    """Computes the next poll time: the first future ``start + n * interval``.

    The time that a poll takes therefore causes no drift, and ticks that pass during a slow poll are
    skipped. After a 429 response the next poll waits at least as long as the service requires, or
    twice as long as after the previous 429.
    """

    def __init__(self, interval: float, start: float) -> None:
        self._interval = interval
        self._start = start
        self._tick = 0
        self._not_before = start
        self._refusals = 0
        self._ended = False

    def ended(self, now: float, missed: TradingDataError | None) -> None:
        """Records when a poll ended, and its error if it failed."""
        self._not_before = now
        if isinstance(missed, RateLimitError):
            self._refusals += 1
            doubled = self._interval * 2.0 ** min(self._refusals, 30)
            longest = max(self._interval, LONGEST_WAIT)
            wait = missed.retry_after
            self._not_before += min(doubled, longest) if wait is None else wait
        elif missed is None:
            self._refusals = 0

    def next(self, now: float, end: float = math.inf) -> float | None:
        """Returns the time of the next poll. Skips ticks that have passed; never repeats one.

        The last poll is at ``end``, so that nothing before it goes unreported; then None.
        """
        passed = math.floor((now - self._start) / self._interval)
        allowed = math.ceil((self._not_before - self._start) / self._interval)
        self._tick = max(self._tick + 1, passed + 1, allowed)
        due = self._start + self._tick * self._interval
        if due < end:
            return due
        last, self._ended = not self._ended and self._not_before <= end, True
        return end if last else None


def time_left(until: datetime | clock_time | None, name: str = "until=") -> Callable[[], float]:
    """Returns a function that returns the seconds left until a time.

    It reads the system clock each time, which unlike the monotonic clock goes on while a computer
    sleeps.

    Args:
        until: A time of today or a datetime, on this computer's clock unless it has a time zone.
        name: How a message names it.

    Raises:
        TypeError: ``until`` is neither.
        ValueError: ``until`` has passed.
    """
    if until is None:
        return lambda: math.inf
    if not isinstance(until, (datetime, clock_time)):
        raise TypeError(f"{name} takes a datetime or a time, not {shown(until)}")
    if isinstance(until, clock_time):
        until = datetime.combine(datetime.now(until.tzinfo), until)
    end = until.astimezone(UTC)

    def left() -> float:
        return (end - datetime.now(UTC)).total_seconds()

    if left() <= 0:
        now = datetime.now(until.tzinfo)
        raise ValueError(f"{name} has passed: {until:%Y-%m-%d %H:%M:%S}; it is {now:%H:%M:%S}")
    return left


_TRADE = RECORDS["Trade"]  # whose identity is that of a fill within a day


class _OrderUpdateFields(NamedTuple):
    orders: OrderBook | None
    changes: tuple[OrderChange, ...]
    missed: TradingDataError | None
    at: datetime


class _TradeUpdateFields(NamedTuple):
    trades: TradeBook | None
    fills: tuple[Trade, ...]
    missed: TradingDataError | None
    at: datetime


def _without_book(update: OrderUpdate | TradeUpdate) -> TradingDataError:
    assert update.missed is not None
    # Each access would otherwise extend the traceback and keep more frames alive.
    return update.missed.with_traceback(None)


def _text(update: OrderUpdate | TradeUpdate) -> str:
    book, news, missed, at = update
    what, kind = update._fields[:2]
    zone = None if book is None else book._rows.zone
    local = at.astimezone(zone).isoformat(timespec="seconds").partition("T")[2]
    parts = [
        f"{at:%H:%M:%S}Z" if zone is None else local,
        f"{what} unknown" if book is None else f"{len(book):,} {what}",
        f"{len(news):,} {kind}",
        *([f"missed: {type(missed).__name__}"] if missed is not None else []),
    ]
    return f"<{type(update).__name__} {', '.join(parts)}>"


class OrderUpdate(_OrderUpdateFields):
    """The result of one poll of the order book.

    Attributes:
        orders: The current orders; after a miss, those of the last good response. Raises the error
            of the miss if there was no good response yet: that is not an empty book.
        changes: The changes since the previous update, each an ``OrderChange``.
        missed: The error of a failed poll that may succeed later; ``None`` after a good response.
        at: When the response arrived or the poll failed, in UTC (aware).
    """

    __slots__ = ()

    @property
    def orders(self) -> OrderBook:
        """The current book; see the class."""
        if self[0] is None:
            raise _without_book(self)
        return self[0]

    __repr__ = _text


class TradeUpdate(_TradeUpdateFields):
    """The result of one poll of the trade book.

    Attributes:
        trades: The current trade book; after a miss, that of the last good response. Raises the
            error of the miss if there was no good response yet.
        fills: The trades not reported before; they own their storage.
        missed: The error of a failed poll that may succeed later; ``None`` after a good response.
        at: When the response arrived or the poll failed, in UTC (aware).
    """

    __slots__ = ()

    @property
    def trades(self) -> TradeBook:
        """The current book; see the class."""
        if self[0] is None:
            raise _without_book(self)
        return self[0]

    __repr__ = _text


def _checked(previous: Any, kind: type[AnyBook]) -> AnyBook | None:
    if previous is not None and not isinstance(previous, kind):
        raise TypeError(f"previous= takes type {kind.__name__}, not {type(previous).__name__}")
    return previous


def _at(book: OrderBook | TradeBook) -> datetime:
    at = None if book.response is None else book.response.received_at
    return datetime.now(UTC) if at is None else at


class OrderState:
    """The orders after each successful poll."""

    def __init__(self, ignore: Iterable[str], previous: OrderBook | None) -> None:
        self._ignore = checked_ignore(ignore)
        self._orders = _checked(previous, OrderBook)

    def missed(self, error: TradingDataError) -> OrderUpdate:
        """Returns the update for a failed poll."""
        return OrderUpdate(self._orders, (), error, datetime.now(UTC))

    def received(self, response: OrderBook) -> OrderUpdate:
        """Returns the update for a successful poll."""
        known = OrderBook() if self._orders is None else self._orders
        changes = changes_of(response._rows, known._rows, self._ignore)
        self._orders = response
        return OrderUpdate(response, changes, None, _at(response))


class TradeState:
    """The trade book after each successful poll, and the fills reported so far."""

    def __init__(self, previous: TradeBook | None) -> None:
        self._trades = _checked(previous, TradeBook)
        self._reported: set[tuple[Any, ...]] = set()
        if previous is not None:
            self._unreported(previous)

    def missed(self, error: TradingDataError) -> TradeUpdate:
        """Returns the update for a failed poll."""
        return TradeUpdate(self._trades, (), error, datetime.now(UTC))

    def received(self, response: TradeBook) -> TradeUpdate:
        """Returns the update for a successful poll."""
        before, self._trades = self._trades, response
        if response == before:  # compared in C++, far cheaper than building keys below
            return TradeUpdate(response, (), None, _at(response))
        fills = tuple(copies(response._rows, self._unreported(response)))
        return TradeUpdate(response, fills, None, _at(response))

    def _unreported(self, trades: TradeBook) -> list[int]:
        """Returns the rows of fills not reported before, and marks them as reported."""
        column = trades._rows.column
        days = map(_day_of, *map(column, _TRADE["event_times"]))  # numbers restart daily
        keys = zip(days, *map(column, _TRADE["identity"]), strict=True)
        unnumbered: Counter[tuple[Any, ...]] = Counter()
        rows = []
        for row, key in enumerate(keys):
            if key[1] is None or key[1] == "":  # no trade number: every occurrence is a fill
                unnumbered[key] += 1
                key = (*key, unnumbered[key])
            if key not in self._reported:
                self._reported.add(key)
                rows.append(row)
        return rows


def _day_of(traded: datetime | None, ordered: datetime | None) -> date | None:
    moment = ordered if traded is None else traded
    return None if moment is None else moment.date()
