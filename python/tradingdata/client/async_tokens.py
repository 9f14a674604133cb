"""Access tokens for AsyncClient: the function may be async, and its callers sit in many loops."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import Future
from contextlib import asynccontextmanager
from inspect import isawaitable

from .tokens import Held, Source, is_async, late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any


class AsyncTokenSource(Source):
    """As ``TokenSource``; an async function runs in the calling task, a plain one on a thread."""

    _takes_async = True

    # The process and the task whose turn it is to call the function; done when that has ended. In a
    # forked child nobody ends a turn of the parent's.
    _turn: tuple[int, Future[None]] | None = None

    async def ready(self, deadline: float) -> int:
        """As ``TokenSource.ready``, with a deadline on the running loop's clock."""
        if not self._core.has_token:
            async with self._asking_alone(deadline):
                if not self._core.has_token:
                    self._take(Held(await self._asked(self._function_or_fail())))
        return self._generation

    async def refresh(self, generation: int, deadline: float) -> bool:
        """As ``TokenSource.refresh``, with a deadline on the running loop's clock."""
        if self._generation != generation:
            return True
        if self._function is None:
            return False
        async with self._asking_alone(deadline):
            if self._generation != generation:
                return True
            return self._take(Held(await self._asked(self._function)))

    @asynccontextmanager
    async def _asking_alone(self, deadline: float) -> AsyncIterator[None]:
        """One task at a time, of whatever loop; what takes beyond the deadline is given up."""
        self._refuse_reentry()
        mine: Future[None] = Future()
        try:
            async with asyncio.timeout_at(deadline):
                while (other := self._take_turn(mine)) is not None:
                    # Shielded: a waiter that is cancelled must not end the other's turn.
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

    async def _asked(self, function: Callable[[], Any]) -> object:
        with self._as_asking():
            answer = function() if is_async(function) else await asyncio.to_thread(function)
            return await answer if isawaitable(answer) else answer
