"""The asyncio client: the methods of ``Client``, awaited.

Requests run on one worker thread per event loop; see ``asyncio_bridge``.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, overload

from .._util.plans import run_async
from ..books.book import UNCOUNTED, OrderBook, StockList, TradeBook
from ..errors import ClientClosedError
from .async_tokens import AsyncTokenSource
from .asyncio_bridge import LoopPorts
from .base import Book, ClientBase
from .pager import AsyncSearchPager

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
    from datetime import datetime
    from datetime import time as clock_time
    from typing import Any, Self

    from ..books.records import Stock
    from ..watch.state import OrdersWhere, TradesWhere
    from ..watch.updates import OrderUpdate, TradeUpdate
    from .snapshot import Books

    AnyToken = str | Callable[[], str] | Callable[[], Awaitable[str]]


class AsyncClient(ClientBase["AnyToken", AsyncTokenSource]):
    """Asyncio client for the books and the stock search of one account.

    Takes the arguments of ``Client`` and has its methods, awaited; ``access_token`` may also be an
    async function. Responses are received and decoded off the event loop. Cancelling a call aborts
    its request at once. One client may serve several event loops, each with its own connections.

    Example:
        >>> async with td.AsyncClient(url, access_token=token) as client:
        ...     trades = await client.trade_book()
    """

    _token_source = AsyncTokenSource

    def _opened(self) -> None:
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
        return await run_async(self._snapshot(timeout, asyncio.sleep))

    def search(
        self,
        query: str,
        *,
        page_size: int | None = None,
        start_page: int = 1,
        max_items: int | None = None,
        prefetch: int = 1,
        progress: bool = False,
        on_page: Callable[[StockList], object] | None = None,
        timeout: float | None = None,
    ) -> AsyncSearchPager:
        """Searches stocks by name, symbol or code, for ``async for``; see ``Client.search``."""
        return AsyncSearchPager(
            self,
            query,
            page_size=page_size,
            start_page=start_page,
            max_items=max_items,
            prefetch=prefetch,
            progress=progress,
            on_page=on_page,
            timeout=timeout,
        )

    @overload
    async def stock(self, identifier: str, *, timeout: float | None = None) -> Stock: ...  # type: ignore[overload-overlap]
    @overload
    async def stock(
        self, identifier: Iterable[str], *, timeout: float | None = None
    ) -> StockList: ...

    async def stock(
        self, identifier: str | Iterable[str], *, timeout: float | None = None
    ) -> Stock | StockList:
        """Returns the stock with this NSE symbol, BSE code or ISIN; see ``Client.stock``."""
        return await run_async(self._lookup(identifier, timeout))

    # -- the books as they change --

    def watch_orders(
        self,
        interval: float = 5.0,
        *,
        ignore: Iterable[str] = UNCOUNTED,
        previous: OrderBook | None = None,
        where: OrdersWhere = None,
        until: datetime | clock_time | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[OrderUpdate, None]:
        """Yields an ``OrderUpdate`` for each poll; see ``Client.watch_orders``."""
        from ..watch.polling import watch_async
        from ..watch.state import OrderState

        state = OrderState(ignore, previous, where)
        return self._watch(watch_async, OrderBook, state, interval, until, timeout)

    def watch_trades(
        self,
        interval: float = 5.0,
        *,
        previous: TradeBook | None = None,
        where: TradesWhere = None,
        until: datetime | clock_time | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[TradeUpdate, None]:
        """Yields a ``TradeUpdate`` for each poll; see ``Client.watch_trades``."""
        from ..watch.polling import watch_async
        from ..watch.state import TradeState

        state = TradeState(previous, where)
        return self._watch(watch_async, TradeBook, state, interval, until, timeout)

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
        return port.result(port.worker.submit_book(what, seconds), self._retry_hook(what))
