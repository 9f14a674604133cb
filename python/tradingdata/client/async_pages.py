"""Page requests of an async search: several in flight on the worker, delivered in page order."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import _core
    from .asyncio_bridge import LoopPort, RetryHook


class PagesInFlight:
    """The requests of one pass, on its event loop; to be closed when the pass ends."""

    def __init__(
        self, port: LoopPort, run: _core.SearchRun, on_retry: RetryHook, prefetches: bool
    ) -> None:
        self._port = port
        self._run = run
        self._on_retry = on_retry
        self._prefetches = prefetches
        self._flights: dict[int, asyncio.Future[_core.Outcome]] = {}

    async def next(self) -> tuple[Any, ...] | None:
        """Returns the next page, or None at the end."""
        while True:
            found: tuple[Any, ...] | None = self._run.take()
            if found is None and self._run.done:
                return None
            if found is None or self._prefetches:
                self._send()
            for call in self._run.surplus():
                self._cancel(self._flights.pop(call))
            if found is not None:
                return found
            arrived, _ = await asyncio.wait(
                self._flights.values(), return_when=asyncio.FIRST_COMPLETED
            )
            for call in [call for call, flight in self._flights.items() if flight in arrived]:
                self._run.deliver(self._flights.pop(call).result())

    def _send(self) -> None:
        for call in self._run.submit(self._port.worker):
            self._flights[call] = self._port.watch(call, self._on_retry)

    def close(self) -> None:
        """Cancels all requests in flight."""
        for flight in self._flights.values():
            self._cancel(flight)
        self._flights.clear()

    @staticmethod
    def _cancel(flight: asyncio.Future[_core.Outcome]) -> None:
        # Retrieve the exception: asyncio would log that it was never retrieved.
        if not flight.cancel() and not flight.cancelled():
            flight.exception()
