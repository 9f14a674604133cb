"""The polling loops of ``watch_orders`` and ``watch_trades``, sync and async."""

from __future__ import annotations

import time

from ..errors import TradingDataError
from .schedule import Grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
    from typing import Protocol, TypeVar

    Response = TypeVar("Response")
    Taken = TypeVar("Taken", contravariant=True)
    Update = TypeVar("Update", covariant=True)

    class State(Protocol[Taken, Update]):
        """What is known of a book, and the updates that responses and failures lead to."""

        def received(self, response: Taken) -> Update:
            """The update of a good response."""

        def missed(self, error: TradingDataError) -> Update:
            """The update of a poll that failed."""


def watch(
    poll: Callable[[], Response],
    state: State[Response, Update],
    interval: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Generator[Update, None, None]:
    """Polls on the grid and yields an update each time; polls never overlap."""
    grid = Grid(interval, clock())
    while True:
        missed = None
        try:
            response = poll()
        except TradingDataError as error:
            missed = passing(error)
        grid.ended(clock(), missed)
        yield state.received(response) if missed is None else state.missed(missed)
        due = grid.next(clock())
        while (left := due - clock()) > 0:
            sleep(left)


async def watch_async(
    poll: Callable[[], Awaitable[Response]],
    state: State[Response, Update],
    interval: float,
    *,
    clock: Callable[[], float] | None = None,
    sleep: Callable[[float], Awaitable[object]] | None = None,
) -> AsyncGenerator[Update, None]:
    """Does the same on an event loop, by the loop's clock."""
    import asyncio

    clock = asyncio.get_running_loop().time if clock is None else clock
    sleep = asyncio.sleep if sleep is None else sleep
    grid = Grid(interval, clock())
    while True:
        missed = None
        try:
            response = await poll()
        except TradingDataError as error:
            missed = passing(error)
        grid.ended(clock(), missed)
        yield state.received(response) if missed is None else state.missed(missed)
        due = grid.next(clock())
        while (left := due - clock()) > 0:
            await sleep(left)


def passing(error: TradingDataError) -> TradingDataError:
    """Returns a retryable error without its traceback, and raises any other.

    The traceback would keep the frames of every poll alive in a list of updates.
    """
    if not error.retryable:
        raise error
    return error.with_traceback(None)
