"""The asyncio client: the methods of ``Client``, awaited.

Requests run on one worker thread per event loop, with one future for each submitted call. The
bridge does not know what a call requests; retries, deadlines and decoding happen in the worker.
Async functions of access tokens run in the calling task, others in a thread.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from copy import copy
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from .. import _core
from .._util.plans import run_async
from .._util.platform import ForkLock
from ..books.book import OrderBook, TradeBook
from ..errors import ClientClosedError
from ..watch.polling import AsyncWatch
from .base import Book, ClientBase
from .lookup import lookup
from .search import AsyncSearchPager
from .tokens import Held, Source, is_async, late

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from typing import Self

    from ..table.rows import Stock
    from ..watch.updates import OrderUpdate, TradeUpdate
    from .snapshot import Books

    RetryHook = Callable[[int, str, float], None]
    AnyToken = str | Callable[[], str] | Callable[[], Awaitable[str]]
    OrderUpdates = AsyncWatch[OrderUpdate]
    TradeUpdates = AsyncWatch[TradeUpdate]


class AsyncTokenSource(Source):
    """A ``TokenSource`` to await: async functions run in the calling task, others in a thread."""

    _takes_async = True

    # The process and the task that call the function now, and a future that completes when the call
    # ends. The process id matters: nothing in a forked child completes a call that the parent
    # began; and so does the task, which an interrupt may have ended anywhere.
    _turn: tuple[int, asyncio.Task[Any] | None, Future[None]] | None = None

    def __init__(self, core: _core.Client, token: Held) -> None:
        super().__init__(core, token)
        self._changing = ForkLock()

    async def _in_turn(
        self, is_new: Callable[[], bool], function: Callable[[], Any], deadline: float
    ) -> bool:
        mine: Future[None] = Future()
        async with _until(deadline):
            while (other := self._changing.holding(lambda: self._take_turn(mine))) is not None:
                # Shielded: cancelling a waiting task must not complete the running call.
                await asyncio.shield(asyncio.wrap_future(other))
        try:
            return is_new() or self._take(await self._fetch(function, deadline), function)
        finally:
            self._turn = None
            mine.set_result(None)

    def _take_turn(self, mine: Future[None]) -> Future[None] | None:
        if self._turn is not None:
            process, task, other = self._turn
            if process == os.getpid() and not (task is not None and task.done()):
                return other
        self._turn = (os.getpid(), asyncio.current_task(), mine)
        return None

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


class LoopPort:
    """One worker thread for one event loop, which wakes the loop through a file descriptor."""

    def __init__(self, loop: asyncio.AbstractEventLoop, core: _core.Client) -> None:
        self._worker: _core.Worker | None = _core.Worker(core)
        self.closed = False
        self._loop = loop
        self.process = os.getpid()
        self._waiting: dict[int, tuple[asyncio.Future[_core.Outcome], RetryHook]] = {}
        self._watches_descriptor = self._watch_descriptor()
        if not self._watches_descriptor:
            threading.Thread(target=self._relay, name="tradingdata-relay", daemon=True).start()

    def _watch_descriptor(self) -> bool:
        """Returns whether the loop can watch the worker's descriptor; on Windows none can."""
        descriptor = self.worker.notification_fd()
        if descriptor < 0:  # the platform has none that a selector loop could watch
            return False
        try:
            self._loop.add_reader(descriptor, self._take)
        except NotImplementedError:  # the Proactor loop
            return False
        return True

    @property
    def worker(self) -> _core.Worker:
        """The worker. Raises ClientClosedError after ``close``."""
        if self._worker is None:
            raise ClientClosedError("the client is closed: make a new one")
        return self._worker

    async def result(self, call: int, on_retry: RetryHook) -> tuple[Any, ...]:
        """Waits for the result of a submitted call; cancels the call if the caller leaves."""
        return (await self.watch(call, on_retry)).result()

    def watch(self, call: int, on_retry: RetryHook) -> asyncio.Future[_core.Outcome]:
        """Returns a future for the outcome; cancelling the future cancels the call."""
        future: asyncio.Future[_core.Outcome] = self._loop.create_future()
        self._waiting[call] = (future, on_retry)
        future.add_done_callback(lambda _: self._forget(call))
        return future

    def _forget(self, call: int) -> None:
        if self._waiting.pop(call, None) is not None and not self.closed:
            self.worker.cancel(call)

    def close(self, error: Exception | None) -> None:
        """Stops the worker, from any thread; waiting calls end with ``error`` if given.

        The worker closes its connections when it is destroyed, so no traceback or reference cycle
        may keep it alive.
        """
        if self.closed:
            return
        self.closed = True
        self.worker.close()
        # In a forked child the loop's selector still belongs to the parent: leave it alone.
        if os.getpid() != self.process or self._loop.is_closed():
            self._worker = None
        elif self._loop is asyncio._get_running_loop():
            self._leave(error)
        else:
            with suppress(RuntimeError):  # the loop has been closed meanwhile
                self._loop.call_soon_threadsafe(self._leave, error)

    def _leave(self, error: Exception | None) -> None:
        if self._watches_descriptor:
            self._loop.remove_reader(self.worker.notification_fd())
        self._worker = None
        waiting, self._waiting = self._waiting, {}
        for future, _ in waiting.values():
            if error is not None:  # one each: an exception that is raised keeps its traceback
                fail(future, copy(error))

    def _take(self) -> None:
        if self.closed:
            return
        try:
            outcomes: list[tuple[int, _core.Outcome]] = []
            retries = self.worker.wait(0, outcomes)
        except Exception as error:
            self._fail_all(error)
            raise
        self._settle(retries, outcomes)

    def _relay(self) -> None:
        worker = self.worker
        while not self.closed:
            try:
                outcomes: list[tuple[int, _core.Outcome]] = []
                retries = worker.wait(0.1, outcomes)
                if retries or outcomes:
                    self._loop.call_soon_threadsafe(self._settle, retries, outcomes)
            except Exception as error:
                try:
                    self._loop.call_soon_threadsafe(self._fail_all, error)
                except RuntimeError:  # the loop has been closed while calls were running
                    return

    def _fail_all(self, error: Exception) -> None:
        """Ends every call, because it is unknown which outcomes the failure lost."""
        for call in list(self._waiting):
            future, _ = self._waiting[call]
            fail(future, error)
            self._forget(call)

    def _settle(
        self, retries: list[tuple[int, int, str, float]], outcomes: list[tuple[int, _core.Outcome]]
    ) -> None:
        for call, attempt, reason, delay in retries:
            if call not in self._waiting:
                continue
            future, on_retry = self._waiting[call]
            try:
                on_retry(attempt, reason, delay)
            except Exception as error:
                fail(future, error)
        for call, outcome in outcomes:
            waiting = self._waiting.pop(call, None)
            if waiting is not None and not waiting[0].done():
                waiting[0].set_result(outcome)


def fail(future: asyncio.Future[_core.Outcome], error: Exception) -> None:
    """Ends a future with an error."""
    if not future.done():
        future.set_exception(error)
        future.exception()  # a prefetched page may never be awaited; asyncio would log its error


class LoopPorts:
    """The ports of one client, one for each event loop that uses it."""

    def __init__(self, core: _core.Client) -> None:
        self._core = core
        self._changing = ForkLock()
        self._ports: dict[asyncio.AbstractEventLoop, LoopPort] = {}

    def of(self, loop: asyncio.AbstractEventLoop) -> LoopPort:
        """Returns the loop's port, creating one if it has none or after a fork."""
        port = self._ports.get(loop)
        if port is None or port.closed or port.process != os.getpid():
            port, stale = self._changing.holding(lambda: self._renewed(loop))
            for other in stale:
                other.close(None)
        return port

    def _renewed(self, loop: asyncio.AbstractEventLoop) -> tuple[LoopPort, list[LoopPort]]:
        """Returns a new port for a loop, and those of loops that are closed."""
        stale = [self._ports.pop(other) for other in list(self._ports) if other.is_closed()]
        port = self._ports[loop] = LoopPort(loop, self._core)
        return port, stale

    def close(self, error: Exception | None) -> None:
        """Closes all ports."""
        for port in self._changing.holding(self._emptied):
            port.close(error)

    def _emptied(self) -> list[LoopPort]:
        ports = list(self._ports.values())
        self._ports.clear()
        return ports


class AsyncClient(
    ClientBase["AnyToken", AsyncTokenSource, AsyncSearchPager, "OrderUpdates", "TradeUpdates"]
):
    """Asyncio client for the books and the stock search of one account.

    Takes the arguments of ``Client`` and has its methods, awaited; ``access_token`` may also be an
    async function. Responses are received and decoded off the event loop. Cancelling a call aborts
    its request at once. One client may serve several event loops, each with its own connections.

    Example:
        >>> async with td.AsyncClient(url, access_token=token) as client:
        ...     trades = await client.trade_book()
    """

    _token_source = AsyncTokenSource
    _pager = AsyncSearchPager
    _watch = AsyncWatch

    def _open(self, token: Held, options: dict[str, Any]) -> None:
        super()._open(token, options)
        self._ports = LoopPorts(self._core)
        # A client that is garbage-collected without aclose() must not leave a thread running.
        weakref.finalize(self, self._ports.close, None).atexit = False

    # -- the service --

    async def trade_book(self, *, timeout: float | None = None) -> TradeBook:
        """Returns the account's executed trades; see ``Client.trade_book``."""
        return await self._book(TradeBook, timeout)

    async def order_book(self, *, timeout: float | None = None) -> OrderBook:
        """Returns the orders of the current day; see ``Client.order_book``."""
        return await self._book(OrderBook, timeout)

    async def books(self, *, timeout: float | None = None) -> Books:
        """Returns a consistent pair of order and trade book; see ``Client.books``."""
        from .snapshot import snapshot

        return await run_async(snapshot(self, timeout, asyncio.sleep, asyncio.to_thread))

    async def stock(self, identifier: str, *, timeout: float | None = None) -> Stock:
        """Returns the stock with this NSE symbol, BSE code or ISIN; see ``Client.stock``."""
        return await run_async(lookup(self, identifier, timeout))

    async def aclose(self) -> None:
        """Closes the connections; pending calls end with ``ClientClosedError``.

        Safe to call more than once.
        """
        self._core.close()
        self._ports.close(ClientClosedError("the client was closed while the call was under way"))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    # -- how a call is made --

    async def _book(self, kind: type[Book], timeout: float | None) -> Book:
        return self._received(kind, await run_async(self._response(kind._record, timeout)))

    def _send(self, what: str, seconds: float) -> Awaitable[tuple[Any, ...]]:
        port = self._ports.of(asyncio.get_running_loop())
        sent = port.worker.submit_book(what, seconds, self._account or "")
        return port.result(sent, self._retry_hook(what))
