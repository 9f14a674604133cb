"""Books polled for changes: the loops of ``watch_orders`` and ``watch_trades``, sync and async."""

from __future__ import annotations

import time

from ..errors import TradingDataError
from .schedule import Grid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
    from typing import Protocol, TypeVar

    Answer = TypeVar("Answer")
    Taken = TypeVar("Taken", contravariant=True)
    Update = TypeVar("Update", covariant=True)

    class State(Protocol[Taken, Update]):
        """What is known, and what an answer or a failure adds to it."""

        def answered(self, answer: Taken) -> Update:
            """The update of a good answer."""

        def missed(self, error: TradingDataError) -> Update:
            """The update of a poll that failed."""


def watch(
    poll: Callable[[], Answer],
    state: State[Answer, Update],
    interval: float,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> Generator[Update, None, None]:
    """Polls on the grid for as long as it is read; each poll ends before the next begins."""
    grid = Grid(interval, clock())
    while True:
        missed = None
        try:
            answer = poll()
        except TradingDataError as error:
            missed = passing(error)
        grid.ended(clock(), missed)
        yield state.answered(answer) if missed is None else state.missed(missed)
        due = grid.next(clock())
        while (left := due - clock()) > 0:
            sleep(left)


async def watch_async(
    poll: Callable[[], Awaitable[Answer]],
    state: State[Answer, Update],
    interval: float,
    *,
    clock: Callable[[], float] | None = None,
    sleep: Callable[[float], Awaitable[object]] | None = None,
) -> AsyncGenerator[Update, None]:
    """The same for an event loop, on the loop's clock."""
    import asyncio

    clock = asyncio.get_running_loop().time if clock is None else clock
    sleep = asyncio.sleep if sleep is None else sleep
    grid = Grid(interval, clock())
    while True:
        missed = None
        try:
            answer = await poll()
        except TradingDataError as error:
            missed = passing(error)
        grid.ended(clock(), missed)
        yield state.answered(answer) if missed is None else state.missed(missed)
        due = grid.next(clock())
        while (left := due - clock()) > 0:
            await sleep(left)


def passing(error: TradingDataError) -> TradingDataError:
    """An error that may pass, as a miss; any other is raised.

    Its traceback is dropped: who keeps every update would keep every poll's frames with it.
    """
    if not error.retryable:
        raise error
    return error.with_traceback(None)
