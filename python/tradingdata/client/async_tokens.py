"""Access tokens of ``AsyncClient``: async token functions, single-flight across event loops."""

from __future__ import annotations

import asyncio
import os
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

    async def ready(self, deadline: float) -> int:
        """Same as ``TokenSource.ready``, with a deadline on the running loop's clock."""
        if not self._core.has_token:
            async with self._exclusive(deadline):
                if not self._core.has_token:
                    self._take(Held(await self._fetch(self._function_or_fail())))
        return self._generation

    async def refresh(self, generation: int, deadline: float) -> bool:
        """Same as ``TokenSource.refresh``, with a deadline on the running loop's clock."""
        if self._generation != generation:
            return True
        if self._function is None:
            return False
        async with self._exclusive(deadline):
            if self._generation != generation:
                return True
            return self._take(Held(await self._fetch(self._function)))

    @asynccontextmanager
    async def _exclusive(self, deadline: float) -> AsyncIterator[None]:
        """Admits one task at a time, from any loop; raises DeadlineError at the deadline."""
        self._refuse_reentry()
        mine: Future[None] = Future()
        try:
            async with asyncio.timeout_at(deadline):
                while (other := self._take_turn(mine)) is not None:
                    # Shielded: cancelling a waiting task must not complete the running call.
                    await asyncio.shield(asyncio.wrap_future(other))
                try:
                    yield
                finally:
                    self._turn = None
                    mine.set_result(None)
        except TimeoutError:
            raise late() from None

    def _take_turn(self, mine: Future[None]) -> Future[None] | None:
        with self._changing:
            if self._turn is not None and self._turn[0] == os.getpid():
                return self._turn[1]
            self._turn = (os.getpid(), mine)
            return None

    async def _fetch(self, function: Callable[[], Any]) -> object:
        with self._inside_function():
            result = function() if is_async(function) else await asyncio.to_thread(function)
            return await result if isawaitable(result) else result
