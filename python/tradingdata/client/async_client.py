"""The asyncio client: the methods of ``Client``, awaited.

Requests run on one worker thread per event loop; see ``asyncio_bridge``.
"""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from typing import TYPE_CHECKING, overload

from ..books.book import UNCOUNTED, OrderBook, StockList, TradeBook
from ..errors import ClientClosedError, StockNotFoundError, TradingDataError
from .async_tokens import AsyncTokenSource
from .asyncio_bridge import LoopPorts
from .base import Book, ClientBase
from .call_log import log_end
from .options import check_open
from .pager import AsyncSearchPager
from .tokens import REFUSALS, late

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
        from .snapshot import Snapshot

        budget = self._budget(timeout)
        snapshot = Snapshot(budget, self._account)
        for step in snapshot:
            await asyncio.sleep(step.wait)
            snapshot.take(await self._book(step.kind, step.time_left))
        return snapshot.books

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
            self._ports,
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
        from .stock_lookup import StockLookup, StockLookups

        if not isinstance(identifier, str):
            lookups = StockLookups(identifier)
            for one in lookups:
                try:
                    lookups.add(one, await self.stock(one, timeout=timeout))
                except StockNotFoundError as error:
                    lookups.add_error(one, error)
            return lookups.result()
        lookup = StockLookup(identifier, self._account)
        budget = self._budget(timeout)
        pages = self.search(lookup.wanted, prefetch=0)._pages_within(budget)
        async with contextlib.aclosing(pages):
            async for page in pages:
                if (found := lookup.find(page)) is not None:
                    return found
        raise lookup.not_found()

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
        what = kind._record
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._budget(timeout)
        refused = False
        try:
            check_open(self._core)
            generation = await self._tokens.ready(deadline)
            try:
                response = await self._request(what, deadline, loop)
            except REFUSALS:
                if not await self._tokens.refresh(generation, deadline):
                    raise
                refused = True
            if refused:
                response = await self._request(what, deadline, loop)
        except TradingDataError as error:
            error.account = self._account
            raise
        return self._received(kind, response)

    async def _request(
        self, what: str, deadline: float, loop: asyncio.AbstractEventLoop
    ) -> tuple[Any, ...]:
        """Makes one call with the current token and logs how it ended."""
        started = loop.time()
        try:
            if started >= deadline:
                raise late()
            port = self._ports.of(loop)
            call = port.worker.submit_book(what, deadline - started)
            response = (await port.outcome(call, self._retry_hook(what))).result()
        except TradingDataError as error:
            log_end(what, self._account, loop.time() - started, error=error)
            raise
        log_end(what, self._account, loop.time() - started, status=response[1])
        return response
