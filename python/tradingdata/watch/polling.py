"""The polling loops of ``watch_orders`` and ``watch_trades``, sync and async.

The loops only poll and sleep: ``state`` computes the updates and ``schedule`` the times.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..errors import TradingDataError
from .schedule import Grid

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

    Response = TypeVar("Response")
    Taken = TypeVar("Taken", contravariant=True)
    Update = TypeVar("Update", covariant=True)

    class State(Protocol[Taken, Update]):
        """The known state of a book; computes updates from responses and failures."""

        def received(self, response: Taken) -> Update:
            """Returns the update for a successful poll."""

        def missed(self, error: TradingDataError) -> Update:
            """Returns the update for a failed poll."""


_FOR_EVER = partial(float, "inf")


def watch(
    poll: Callable[[], Response],
    state: State[Response, Update],
    interval: float,
    left: Callable[[], float] = _FOR_EVER,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Generator[Update, None, None]:
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
        missed = None
        try:
            response = poll()
        except TradingDataError as error:
            missed = _require_retryable(error)
        grid.ended(clock(), missed)
        yield state.received(response) if missed is None else state.missed(missed)
        due = grid.next(now := clock(), now + left())
        if due is None:
            return
        while (wait := due - clock()) > 0:
            sleep(wait)


async def watch_async(
    poll: Callable[[], Awaitable[Response]],
    state: State[Response, Update],
    interval: float,
    left: Callable[[], float] = _FOR_EVER,
    *,
    clock: Callable[[], float] | None = None,
    sleep: Callable[[float], Awaitable[object]] | None = None,
) -> AsyncGenerator[Update, None]:
    """Async variant of ``watch``, on the loop's clock."""
    import asyncio

    clock = asyncio.get_running_loop().time if clock is None else clock
    sleep = asyncio.sleep if sleep is None else sleep
    grid = Grid(interval, clock())
    while True:
        missed = None
        try:
            response = await poll()
        except TradingDataError as error:
            missed = _require_retryable(error)
        grid.ended(clock(), missed)
        yield state.received(response) if missed is None else state.missed(missed)
        due = grid.next(now := clock(), now + left())
        if due is None:
            return
        while (wait := due - clock()) > 0:
            await sleep(wait)


def _require_retryable(error: TradingDataError) -> TradingDataError:
    """Returns a retryable error without its traceback; raises any other.

    A list of updates would otherwise keep the frames of every failed poll alive.
    """
    if not error.retryable:
        raise error
    return error.with_traceback(None)
