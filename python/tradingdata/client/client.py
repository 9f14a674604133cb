"""The synchronous client: calls, token refresh, polling loops and paging for one account.

Options and display are in ``base``; transport, retries and decoding are in the C++ core.
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from .. import _core
from .._util.plans import run
from .._util.stopping import pause
from ..books.book import OrderBook, TradeBook
from ..watch.polling import Watch
from .base import Book, ClientBase, wait_for
from .lookup import lookup
from .search import SearchPager
from .tokens import TokenSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from ..table.rows import Stock
    from ..watch.updates import OrderUpdate, TradeUpdate
    from .snapshot import Books

    AnyToken = str | Callable[[], str]
    OrderUpdates = Watch[OrderUpdate]
    TradeUpdates = Watch[TradeUpdate]

# Threads still waiting for a response must neither delay interpreter exit nor be killed inside C++.
atexit.register(_core.end_all_calls, 2.0)


class Client(ClientBase["AnyToken", TokenSource, SearchPager, "OrderUpdates", "TradeUpdates"]):
    """Synchronous client for the books and the stock search of one account.

    Thread-safe, and usable on both sides of a fork. ``with`` closes the client, but is optional. A
    client cannot be copied or pickled, because a copy would carry the token along.

    Example:
        >>> client = td.Client("https://api.example.com", access_token=token)
        >>> frame = client.trade_book().to_pandas()
    """

    _token_source = TokenSource
    _pager = SearchPager
    _watch = Watch

    # -- the service --

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

        return run(snapshot(self, timeout, pause, lambda work, *args: work(*args)))

    def stock(self, identifier: str, *, timeout: float | None = None) -> Stock:
        """Returns the stock with exactly this NSE symbol, BSE code or ISIN, ignoring case.

        Searches for the identifier and reads at most 20 pages of hits. The first page with an exact
        match decides; a symbol takes precedence over a code, and a code over an ISIN. The service
        does not document that a search finds stocks by ISIN.

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

    def close(self) -> None:
        """Closes the connections; calls waiting in other threads end with ``ClientClosedError``.

        Safe to call more than once.
        """
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- how a call is made --

    def _book(self, kind: type[Book], timeout: float | None) -> Book:
        return self._received(kind, run(self._response(kind._record, timeout)))

    def _send(self, what: str, seconds: float) -> tuple[Any, ...]:
        port = _core.LocalPort(self._core)
        try:
            port.submit_book(what, seconds, self._account or "")
            return wait_for(port, self._retry_hook(what))
        except BaseException:
            port.close()  # a traceback would keep it, and with it what is in flight
            raise
