"""Both clients: ``Client``, and ``AsyncClient`` with the same methods, awaited.

What they share is in ``calls``; transport, retries and decoding are in the C++ core.
"""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Awaitable, Callable, Iterable
from datetime import datetime
from datetime import time as clock_time
from operator import call
from typing import TYPE_CHECKING, Any, Self

from .. import _core
from .._util.validate import keywords, method_keywords
from .._util.waiting import pause, run, run_async
from ..books.book import UNCOUNTED, AnyBook, Books, OrderBook, TradeBook
from ..books.response import Received
from ..errors import ClientClosedError
from ..table.rows import Stock
from ..watch.polling import AsyncWatch, Watch
from ..watch.updates import KnownOrders, KnownTrades, OrderUpdate, TradeUpdate
from .calls import BaseClient, LocalFlights
from .lookup import lookup
from .paging import SearchOptions
from .search import KEYWORDS, AsyncSearchPager, SearchPager
from .tokens import AsyncTokenSource, Held, TokenSource

if TYPE_CHECKING:
    from .bridge import LoopFlights

Token = str | Callable[[], str]
AsyncToken = Token | Callable[[], Awaitable[str]]
# Threads still waiting for a response must neither delay interpreter exit nor be killed inside C++.
atexit.register(_core.end_all_calls, 2.0)


@method_keywords(KEYWORDS)
class Client(BaseClient["Token"]):
    """Synchronous client for the books and the stock search of one account.

    Thread-safe, and usable on both sides of a fork. ``with`` closes the client, but is optional. A
    client cannot be copied or pickled, because a copy would carry the token along.

    Example:
        >>> client = td.Client("https://api.example.com", access_token=token)
        >>> frame = client.trade_book().to_pandas()
    """

    _token_source = TokenSource

    def trade_book(self, *, timeout: float | None = None) -> TradeBook:
        """Returns the account's executed trades (service: "Trade book"), in the service's order.

        An empty book means that the service reported no trades: a failure always raises. Values
        that do not fit their documented type issue a ``DataWarning`` if they were lost.

        Args:
            timeout: Seconds for this call; replaces the client's.

        Returns:
            A ``TradeBook`` with one row for each trade.

        Raises:
            ConfigurationError: The client has no token.
            AuthenticationError: The service refused the token (HTTP 401 or 403).
            TradingDataError: Any other failure; its subclasses name the cause.
        """
        return self._book(TradeBook, timeout)

    def order_book(self, *, timeout: float | None = None) -> OrderBook:
        """Returns the orders of the current day (service: "Order book"), in the service's order.

        The service clears the order book after the session. Warnings and errors are those of
        ``trade_book``.

        Args:
            timeout: Seconds for this call; replaces the client's.

        Returns:
            An ``OrderBook`` with one row for each leg of each order.
        """
        return self._book(OrderBook, timeout)

    def books(self, *, timeout: float | None = None) -> Books:
        """Returns a consistent pair of books: ``orders, trades = client.books()``.

        The books come from two requests, and fills may arrive in between. This method requests
        both, then repeats the request for whichever book is behind, at most 6 times with pauses of
        0.1 to 1 seconds, until they agree. They agree if, for every order of the order book's days,
        ``traded_qty`` summed over its legs equals ``quantity`` summed over its trades; an order of
        an earlier day may have more, since the trade book need not have its earlier fills. Prices
        are not compared; use ``reconcile`` for that. Trades of orders of other days are ignored, so
        any trade book agrees with an empty order book, such as the service returns after the
        session.

        Args:
            timeout: Seconds for all requests and pauses together; defaults to the client's.

        Returns:
            ``(orders, trades)``, a ``Books``.

        Raises:
            BooksDisagreeError: The books still differ after the last request or when the time is
                up. It has both books and the orders on which they differ.
            TradingDataError: As in ``trade_book``.
        """
        from .snapshot import snapshot

        return run(snapshot(self, timeout, pause, call))

    def stock(self, identifier: str, *, timeout: float | None = None) -> Stock:
        """Returns the stock with exactly this NSE symbol, BSE code or ISIN, ignoring case.

        Searches for the identifier and reads at most 20 pages of hits. The first page with an exact
        match decides; a symbol takes precedence over a code, and a code over an ISIN. The service
        does not document that a search finds stocks by ISIN. Width, accents and spaces are those of
        the exchanges, as in ``search``.

        Args:
            identifier: A symbol, code or ISIN.
            timeout: Seconds for all pages; replaces the client's.

        Returns:
            A ``Stock``.

        Raises:
            StockNotFoundError: No stock matches, or several companies do: use ``search`` and
                choose. ``nearest`` has the names of the first stocks found.
        """
        return run(lookup(self, identifier, timeout))

    def search(
        self,
        query: str,
        *,
        page_size: int | None = None,
        start_page: int = 1,
        max_items: int | None = None,
        prefetch: int = 1,
        progress: bool = False,
        timeout: float | None = None,
    ) -> SearchPager:
        """Searches stocks by name, NSE symbol or BSE code (service: "Search stock").

        No request is sent until the result is iterated or one of its methods is called. The token
        is never sent.

        Args:
            query: Company name, NSE symbol or BSE code. It is sent as the exchanges write names:
                without accents on Latin letters, full-width letters and repeated spaces.
            page_size: Page size (the wire's ``limit``). Defaults to 100, and to the service's own
                default of 10 if it rejects 100; an explicit size is never replaced. If the service
                returns shorter pages, later pages are requested in that shorter size.
            start_page: First page to read, counted from 1 in pages of the size that the service
                returns.
            max_items: Maximum number of stocks.
            prefetch: Number of pages requested ahead of the reader after a full page, up to 100.
                With 0, a page is requested only when the reader reaches it.
            progress: Whether to show a progress bar (tqdm).
            timeout: Seconds for each page; replaces the client's.

        Returns:
            An iterable of ``Stock`` with ``pages()``, ``first(n)`` and ``all()``.

        Raises:
            ConfigurationError: The query is blank or a number is out of range.

        Errors of a page are raised while the result is read, with ``page`` and ``received`` set.
        """
        arguments = query, page_size, start_page, max_items, prefetch, progress, timeout
        return SearchPager(self, SearchOptions(*arguments))

    def watch_orders(
        self,
        interval: float = 5.0,
        *,
        ignore: Iterable[str] = UNCOUNTED,
        previous: OrderBook | None = None,
        until: datetime | clock_time | str | None = None,
        timeout: float | None = None,
    ) -> Watch[OrderUpdate]:
        """Polls the order book and yields an ``OrderUpdate`` for each poll.

        Level-triggered: after each successful poll, ``orders`` matches the response, and no change
        is reported twice. All orders of the first response are new; an order that was absent and
        comes back is not. A book that lost orders is requested once more before they count as gone.
        A failed poll yields an update with ``missed``, and the watch goes on, whatever the failure.
        Ctrl-C between polls takes effect at once.

        Args:
            interval: Seconds between polls, on a clock that includes the time of a suspended
                computer. Polls never overlap: ticks that pass during a poll or the body of the loop
                are skipped. After a refusal (429, 401, 403, an error in a 200, or any response with
                ``Retry-After``) the next poll waits as long as the service requires, or twice as
                long as before, at most 75 seconds.
            ignore: Fields that do not count as a change; timestamps never do.
            previous: The orders known so far. Orders equal to these are not reported.
            until: When to end: a time of today or a datetime, also as ISO text such as "15:30", on
                this computer's clock unless it has a time zone. The last poll is at that time. None
                for no end.
            timeout: Seconds for each poll including its retries; replaces the client's.

        Returns:
            An iterator with an ``OrderUpdate`` for each poll.

        Raises:
            AuthenticationError: While iterating: the service refused the token in three polls in a
                row. The same watch goes on if it is asked for the next update.
            ClientClosedError: While iterating: the client was closed.
        """
        state = KnownOrders(ignore, previous)
        return Watch(*self._watching(OrderBook, state, interval, until, timeout))

    def watch_trades(
        self,
        interval: float = 5.0,
        *,
        previous: TradeBook | None = None,
        until: datetime | clock_time | str | None = None,
        timeout: float | None = None,
    ) -> Watch[TradeUpdate]:
        """Polls the trade book and yields a ``TradeUpdate`` for each poll, with each fill once.

        A fill is identified by its client, day, exchange, segment, ``trade_no`` and ``order_no``:
        trade numbers may repeat across exchanges and days, and both sides of a self-trade have the
        same one. It stays the same fill if a time or another of these values arrives later. Trades
        without a number are counted: each occurrence beyond those already reported is a new fill.
        A fill whose quantity, price or side changes is a change, ``"corrected"``, and so is one
        that is no longer in the book, ``"busted"``.

        Args:
            interval: Seconds between polls, as in ``watch_orders``.
            previous: The trades known so far; they are not reported.
            until: When to end, as in ``watch_orders``.
            timeout: Seconds for each poll including its retries; replaces the client's.

        Returns:
            An iterator with a ``TradeUpdate`` for each poll; see ``watch_orders``.

        Raises:
            AuthenticationError: As in ``watch_orders``.
            ClientClosedError: As in ``watch_orders``.
        """
        state = KnownTrades(previous)
        return Watch(*self._watching(TradeBook, state, interval, until, timeout))

    def close(self) -> None:
        """Closes the connections; calls waiting in other threads end with ``ClientClosedError``.

        Safe to call more than once.
        """
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _book(self, kind: type[AnyBook], timeout: float | None) -> AnyBook:
        return self._received(kind, run(self._response(kind._record, timeout)))

    def _flights(self, record: str) -> LocalFlights:
        return LocalFlights(self._core, self._retry_hook(record))

    def _send(self, record: str, seconds: float) -> Received:
        flights = self._flights(record)
        try:
            sent = flights.port.submit_book(record, seconds, self._account or "")
            while not flights.has_ended(sent):
                flights.wait(sent)
            return flights.result(sent)
        except BaseException:
            flights.close()  # a traceback would keep it, and with it what is in flight
            raise


class AsyncClient(BaseClient["AsyncToken"]):
    """Asyncio client for the books and the stock search of one account.

    Takes the arguments of ``Client`` and has its methods, awaited; ``access_token`` may also be an
    async function. Responses are received and decoded off the event loop. Cancelling a call aborts
    its request at once. One client may serve several event loops, each with its own connections.

    Example:
        >>> async with td.AsyncClient(url, access_token=token) as client:
        ...     trades = await client.trade_book()
    """

    _token_source = AsyncTokenSource

    def _open(self, token: Held, options: dict[str, Any]) -> None:
        from .bridge import LoopPorts

        super()._open(token, options)
        self._ports = LoopPorts(self._core)
        # A client that is garbage-collected without aclose() must not leave a thread running.
        weakref.finalize(self, self._ports.close, None).atexit = False

    async def trade_book(self, *, timeout: float | None = None) -> TradeBook:
        """Returns the account's executed trades; see ``Client.trade_book``."""
        return await self._book(TradeBook, timeout)

    async def order_book(self, *, timeout: float | None = None) -> OrderBook:
        """Returns the orders of the current day; see ``Client.order_book``."""
        return await self._book(OrderBook, timeout)

    async def books(self, *, timeout: float | None = None) -> Books:
        """Returns a consistent pair of order and trade book; see ``Client.books``."""
        from asyncio import sleep, to_thread

        from .snapshot import snapshot

        return await run_async(snapshot(self, timeout, sleep, to_thread))

    async def stock(self, identifier: str, *, timeout: float | None = None) -> Stock:
        """Returns the stock with this NSE symbol, BSE code or ISIN; see ``Client.stock``."""
        return await run_async(lookup(self, identifier, timeout))

    @keywords(KEYWORDS)
    def search(
        self,
        query: str,
        *,
        page_size: int | None = None,
        start_page: int = 1,
        max_items: int | None = None,
        prefetch: int = 1,
        progress: bool = False,
        timeout: float | None = None,
    ) -> AsyncSearchPager:
        """Returns the stocks of a search, for ``async for``; see ``Client.search``."""
        arguments = query, page_size, start_page, max_items, prefetch, progress, timeout
        return AsyncSearchPager(self, SearchOptions(*arguments))

    def watch_orders(
        self,
        interval: float = 5.0,
        *,
        ignore: Iterable[str] = UNCOUNTED,
        previous: OrderBook | None = None,
        until: datetime | clock_time | str | None = None,
        timeout: float | None = None,
    ) -> AsyncWatch[OrderUpdate]:
        """Returns the updates of the order book; see ``Client.watch_orders``."""
        state = KnownOrders(ignore, previous)
        return AsyncWatch(*self._watching(OrderBook, state, interval, until, timeout))

    def watch_trades(
        self,
        interval: float = 5.0,
        *,
        previous: TradeBook | None = None,
        until: datetime | clock_time | str | None = None,
        timeout: float | None = None,
    ) -> AsyncWatch[TradeUpdate]:
        """Returns the updates of the trade book; see ``Client.watch_trades``."""
        state = KnownTrades(previous)
        return AsyncWatch(*self._watching(TradeBook, state, interval, until, timeout))

    async def aclose(self) -> None:
        """Closes the connections; pending calls end with ``ClientClosedError``.

        Safe to call more than once.
        """
        self._core.close()
        self._ports.close(
            ClientClosedError("the client was closed while the call was under way: make a new one")
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    async def _book(self, kind: type[AnyBook], timeout: float | None) -> AnyBook:
        return self._received(kind, await run_async(self._response(kind._record, timeout)))

    def _flights(self, record: str) -> LoopFlights:
        from .bridge import LoopFlights

        return LoopFlights(self._ports, self._retry_hook(record))

    async def _send(self, record: str, seconds: float) -> Received:
        from asyncio import get_running_loop

        port = self._ports.of(get_running_loop())
        sent = port.worker.submit_book(record, seconds, self._account or "")
        return (await port.watch(sent, self._retry_hook(record))).result()
