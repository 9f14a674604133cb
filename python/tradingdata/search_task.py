"""A search on an event loop: pages in flight on the worker, awaited in order."""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import _core
    from .loop_port import LoopPort, RetryHook


async def next_page(
    port: LoopPort,
    run: _core.SearchRun,
    flights: dict[int, asyncio.Future[_core.Outcome]],
    on_retry: RetryHook,
) -> tuple[Any, ...] | None:
    """The next page, or None at the end; ``flights`` are the pages that are under way."""
    run.caller_waits()
    while True:
        found: tuple[Any, ...] | None = run.take()
        if found is None and run.done:
            return None
        for call in run.submit(port.worker):
            flights[call] = port.watch(call, on_retry)
        for call in run.surplus():
            flights.pop(call).cancel()
        if found is not None:
            return found
        arrived, _ = await asyncio.wait(flights.values(), return_when=asyncio.FIRST_COMPLETED)
        for call in [call for call, flight in flights.items() if flight in arrived]:
            run.deliver(flights.pop(call).result())
