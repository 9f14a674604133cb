"""A watch that calls functions: one for each change or fill, one when polls begin to fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable, Iterator
    from typing import Any

    from ..books.diff import OrderChange
    from ..books.records import Trade
    from ..errors import TradingDataError
    from .updates import OrderUpdate, TradeUpdate

    OnError = Callable[[TradingDataError], object]


@overload
def run_watch(
    updates: Iterable[OrderUpdate],
    on_change: Callable[[OrderChange], object],
    *,
    on_error: OnError | None = None,
    skip_first: bool = True,
) -> None: ...
@overload
def run_watch(
    updates: Iterable[TradeUpdate],
    on_change: Callable[[Trade], object],
    *,
    on_error: OnError | None = None,
    skip_first: bool = True,
) -> None: ...
def run_watch(
    updates: Iterable[Any],
    on_change: Callable[[Any], object],
    *,
    on_error: OnError | None = None,
    skip_first: bool = True,
) -> None:
    """Runs a watch to its end and calls ``on_change`` for each change or fill.

    Blocks; run it in a thread to do something else meanwhile. An exception of a callback, or an
    error that is not retryable, ends the watch and is raised.

    Args:
        updates: The updates of ``watch_orders`` or ``watch_trades``.
        on_change: Called with each ``OrderChange``, or with each ``Trade`` of a fill.
        on_error: Called with the error when a poll fails, and not again until one has succeeded.
        skip_first: Whether the contents of the first response are not reported. Pass False
            together with ``previous=`` of the watch.

    Example:
        >>> run_watch(client.watch_orders(where={"status": "Error"}), print)
    """
    calls = _Calls(on_error, on_change, skip_first)
    for update in updates:
        for callback, argument in calls.of(update):
            callback(argument)


@overload
async def run_watch_async(
    updates: AsyncIterable[OrderUpdate],
    on_change: Callable[[OrderChange], object],
    *,
    on_error: OnError | None = None,
    skip_first: bool = True,
) -> None: ...
@overload
async def run_watch_async(
    updates: AsyncIterable[TradeUpdate],
    on_change: Callable[[Trade], object],
    *,
    on_error: OnError | None = None,
    skip_first: bool = True,
) -> None: ...
async def run_watch_async(
    updates: AsyncIterable[Any],
    on_change: Callable[[Any], object],
    *,
    on_error: OnError | None = None,
    skip_first: bool = True,
) -> None:
    """Runs a watch of ``AsyncClient`` like ``run_watch``; a callback may be an async function.

    Args:
        updates: The updates of ``AsyncClient.watch_orders`` or ``watch_trades``.
        on_change: Called with each change or fill, and awaited if it returns an awaitable.
        on_error: Called when polls begin to fail, and awaited if it returns an awaitable.
        skip_first: Whether the contents of the first response are not reported.
    """
    from inspect import isawaitable

    calls = _Calls(on_error, on_change, skip_first)
    async for update in updates:
        for callback, argument in calls.of(update):
            result = callback(argument)
            if isawaitable(result):
                await result


class _Calls:
    """The calls that updates lead to."""

    def __init__(
        self, on_error: OnError | None, on_change: Callable[[Any], object], skip_first: bool
    ) -> None:
        self._on_error = on_error
        self._on_change = on_change
        self._skip = skip_first
        self._failing = False

    def of(
        self, update: OrderUpdate | TradeUpdate
    ) -> Iterator[tuple[Callable[[Any], object], Any]]:
        """Yields each callback with its argument."""
        if update.missed is not None:
            if not self._failing and self._on_error is not None:
                yield self._on_error, update.missed
            self._failing = True
            return
        self._failing = False
        news: tuple[Any, ...] = update[1]
        skipped, self._skip = self._skip, False
        for one in () if skipped else news:
            yield self._on_change, one
