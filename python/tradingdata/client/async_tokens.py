"""Access tokens of ``AsyncClient``: async token functions, single-flight across event loops."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import Future
from contextlib import asynccontextmanager
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from .tokens import Held, Source, is_async, late

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


class AsyncTokenSource(Source):
    """A ``TokenSource`` to await: async functions run in the calling task, others in a thread."""

    _takes_async = True

    # The process that calls the function now, and a future that completes when the call ends. The
    # process id matters: nothing in a forked child completes a call that the parent began.
    _turn: tuple[int, Future[None]] | None = None

    async def _begin(self, deadline: float) -> None:
        mine: Future[None] = Future()
        async with _until(deadline):
            while (other := self._take_turn(mine)) is not None:
                # Shielded: cancelling a waiting task must not complete the running call.
                await asyncio.shield(asyncio.wrap_future(other))

    def _take_turn(self, mine: Future[None]) -> Future[None] | None:
        with self._changing:
            if self._turn is not None and self._turn[0] == os.getpid():
                return self._turn[1]
            self._turn = (os.getpid(), mine)
            return None

    def _end(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn[1].set_result(None)

    async def _fetch(self, function: Callable[[], Any], deadline: float) -> Held:
        async with _until(deadline):
            with self._inside_function():
                result = function() if is_async(function) else await asyncio.to_thread(function)
                return Held(await result if isawaitable(result) else result)


@asynccontextmanager
async def _until(deadline: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(deadline - time.monotonic()):
            yield
    except TimeoutError:
        raise late() from None
