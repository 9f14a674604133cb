"""Between a worker and an event loop: one worker thread per loop, one future per submitted call.

The bridge does not know what a call requests; retries, deadlines and decoding happen in the worker.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING

from .. import _core
from ..errors import ClientClosedError

if TYPE_CHECKING:
    from ..books.response import Received
    from .options import RetryHook


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
            outcomes: dict[int, _core.Outcome] = {}
            retries = self.worker.wait(0, outcomes)
        except Exception as error:
            self._fail_all(error)
            raise
        self._settle(retries, outcomes)

    def _relay(self) -> None:
        worker = self.worker
        while not self.closed:
            try:
                outcomes: dict[int, _core.Outcome] = {}
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
        self, retries: list[tuple[int, int, str, float]], outcomes: dict[int, _core.Outcome]
    ) -> None:
        for call, attempt, reason, delay in retries:
            if call not in self._waiting:
                continue
            future, on_retry = self._waiting[call]
            try:
                on_retry(attempt, reason, delay)
            except Exception as error:
                fail(future, error)
        for call, outcome in outcomes.items():
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
        self._ports: dict[asyncio.AbstractEventLoop, LoopPort] = {}

    def of(self, loop: asyncio.AbstractEventLoop) -> LoopPort:
        """Returns the loop's port, creating one if it has none or after a fork."""
        port = self._ports.get(loop)
        if port is None or port.closed or port.process != os.getpid():
            self._close([other for other in list(self._ports) if other.is_closed()], None)
            port = self._ports[loop] = LoopPort(loop, self._core)
        return port

    def close(self, error: Exception | None) -> None:
        """Closes all ports."""
        self._close(list(self._ports), error)

    def _close(self, loops: list[asyncio.AbstractEventLoop], error: Exception | None) -> None:
        for loop in loops:
            if (port := self._ports.pop(loop, None)) is not None:  # else another thread closes it
                port.close(error)


class LoopFlights:
    """Requests in flight, carried by the worker of the event loop that awaits them."""

    def __init__(self, ports: LoopPorts, on_retry: RetryHook) -> None:
        self._ports = ports
        self._on_retry = on_retry
        self._loop: asyncio.AbstractEventLoop | None = None
        self._flights: list[asyncio.Future[_core.Outcome]] = []

    def search(
        self, query: str, page: int, limit: int, timeout: float, *, ahead: bool
    ) -> asyncio.Future[_core.Outcome]:
        """Requests a page of a search and returns its flight."""
        self._loop = asyncio.get_running_loop()
        port = self._ports.of(self._loop)
        call = port.worker.submit_search(query, page, limit, timeout, ahead)
        flight = port.watch(call, self._on_retry)
        self._flights = [flight, *(other for other in self._flights if not other.done())]
        return flight

    def has_ended(self, flight: asyncio.Future[_core.Outcome]) -> bool:
        """Whether the outcome of a flight is known."""
        return flight.done()

    def result(self, flight: asyncio.Future[_core.Outcome]) -> Received:
        """Returns the result of a flight that has ended, or raises its error."""
        return flight.result().result()

    async def wait(self, flight: asyncio.Future[_core.Outcome]) -> None:
        """Waits until a flight has ended. Cancelling this leaves it in flight."""
        await asyncio.wait([flight])

    def poll(self) -> None:
        """The worker moves them on by itself."""

    def close(self) -> None:
        """Cancels all requests in flight, from any thread."""
        if self._loop is None:
            return
        if self._loop is asyncio._get_running_loop():
            return self._cancel()
        with suppress(RuntimeError):  # the loop has been closed meanwhile
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        for flight in self._flights:
            flight.cancel()
