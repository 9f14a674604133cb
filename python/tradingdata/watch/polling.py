"""The polling loops of ``watch_orders`` and ``watch_trades``, sync and async, and when they poll.

The loops only poll and sleep; ``state`` computes the updates.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from .._util.plans import run, run_async
from .._util.validate import shown
from ..errors import RateLimitError, TradingDataError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
    from datetime import datetime
    from datetime import time as clock_time

    from .._util.plans import Plan
    from .state import OrderState, OrderUpdate, TradeState, TradeUpdate

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
    from datetime import UTC, datetime, time

    if until is None:
        return lambda: math.inf
    if not isinstance(until, (datetime, time)):
        raise TypeError(f"{name} takes a datetime or a time, not {shown(until)}")
    if isinstance(until, time):
        until = datetime.combine(datetime.now(until.tzinfo), until)
    end = until.astimezone(UTC)

    def left() -> float:
        return (end - datetime.now(UTC)).total_seconds()

    if left() <= 0:
        now = datetime.now(until.tzinfo)
        raise ValueError(f"{name} has passed: {until:%Y-%m-%d %H:%M:%S}; it is {now:%H:%M:%S}")
    return left
