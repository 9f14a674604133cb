"""The synchronous client."""

from __future__ import annotations

import atexit
import time
from typing import TYPE_CHECKING, overload

from .. import _core
from .._util.validate import seconds
from ..books.book import UNCOUNTED, OrderBook, StockList, TradeBook
from ..errors import StockNotFoundError, TradingDataError
from .base import Book, ClientBase
from .call_log import log_end
from .options import check_open
from .pager import SearchPager
from .tokens import REFUSALS, TokenSource, late

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from types import TracebackType
    from typing import Any, Self

    from ..books.records import Stock
    from ..watch.updates import OrderUpdate, TradeUpdate
    from .snapshot import Books

# Threads that wait for an answer must not hold up the end of the process, nor be cut off in C++.
atexit.register(_core.end_all_calls, 2.0)


class Client(ClientBase["str | Callable[[], str]", TokenSource]):
    """The service's books and its stock search, for one account.

    Args:
        base_url: where the service is, e.g. ``https://api.example.com``; else the environment
            variable ``TRADINGDATA_BASE_URL``. Plain http is taken for loopback only.
        access_token: the bearer token, or a function that returns it and is asked again when the
            service refuses the one it has (see ``token_file``); else ``TRADINGDATA_ACCESS_TOKEN``.
            Without one, ``search`` works and the books raise ConfigurationError.
        account: a label of your own, never sent; it stands on responses and errors.
        timeout: seconds that a call may take, over all attempts and the waits between them.
        connect_timeout: seconds that one attempt may take to connect.
        attempts: requests that a call may send before its error is raised.
        rate_limit: a ``RateLimit``, which several clients may share.
        proxy: URL of an HTTP or SOCKS proxy, ``""`` for none; ``None`` asks the environment. It is
            never used for loopback.
        trust_env: whether the environment's proxies and CA files count.
        ca_file: a PEM file of the roots to trust; else ``SSL_CERT_FILE``, ``CURL_CA_BUNDLE``,
            ``REQUESTS_CA_BUNDLE``, the system's, certifi's.
        max_body: bytes of an unpacked answer above which it is refused; 256 MiB.
        strict: whether a value that is lost or missing is an error instead of a warning.
        keep_personal_data: whether account numbers (PAN) are kept; they are masked otherwise.
        on_retry: called with a ``Retry`` before each wait for another attempt.

    A client may be used by many threads, and on both sides of a fork. ``with`` closes it, and need
    not be used. It cannot be copied or pickled, since a copy would carry the token along. Raises
    ConfigurationError for options that cannot work, and TypeError for those of another type.
    """

    _token_source = TokenSource

    # -- the service --

    def trade_book(self, *, timeout: float | None = None) -> TradeBook:
        """The account's executed trades (service: "Trade book"), in the service's order.

        ``timeout`` in seconds replaces the client's for this call. Warns with DataWarning of values
        that were lost. Raises ConfigurationError without a token, AuthenticationError where it is
        refused, and else the TradingDataError that says what happened: no failure looks like an
        empty book, so an empty one means that the service said there are no trades.
        """
        return self._book(TradeBook, timeout)

    def order_book(self, *, timeout: float | None = None) -> OrderBook:
        """The orders of the current day (service: "Order book"), in the service's order.

        The service clears them after the session. Arguments, warnings and errors are those of
        ``trade_book``.
        """
        return self._book(OrderBook, timeout)

    def books(self, *, timeout: float | None = None) -> Books:
        """Orders and trades that belong together: ``orders, trades = client.books()``.

        Trades and orders are asked for, and whichever is behind again, after pauses of 0.1 to 1
        seconds, 6 times at the most, until they agree: for every order of the order book's days,
        ``traded_qty`` summed over its legs is the ``quantity`` summed over its trades. Prices are
        for ``reconcile`` to compare. Trades of orders of other days do not count; so none does
        where the order book is empty, as the service leaves it after the session.

        ``timeout`` in seconds, the client's unless given, is for all of it. Raises what
        ``trade_book`` raises, and BooksDisagreeError, with both books and the orders on which they
        differ, where they do not come to agree.
        """
        from .snapshot import Together

        budget = self._budget(timeout)
        asking = Together(budget, self._account)
        for step in asking:
            time.sleep(step.wait)
            asking.take(self._book(step.kind, step.time_left))
        return asking.books

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
    ) -> SearchPager:
        """Searches stocks by name, NSE symbol or BSE code (service: "Search stock").

        Sends nothing until the result is read: an iterable of ``Stock`` with ``pages()``,
        ``first(n)`` and ``all()``. The token is never sent.

        Args:
            query: Company name, NSE symbol or BSE code.
            page_size: The ``limit`` of page 1: 100 unless given, and the service's own 10 where it
                refuses that. A given size is never replaced. If the service gives fewer rows, later
                pages are requested in that size.
            start_page: The page to begin with, counted from 1 in pages as long as the service
                gives.
            max_items: Maximum number of stocks.
            prefetch: Maximum number of pages requested ahead of the reader, up to 100. No more are
                in flight than full pages came in a row, so short searches stay cheap. With 0 a page
                is requested when it is wanted.
            progress: Whether to show a progress bar (tqdm).
            on_page: Called with each page, a ``StockList``, before its rows are yielded.
            timeout: Seconds for each page; replaces the client's.

        Raises:
            ConfigurationError: At once, for a blank query or numbers out of range.
            TradingDataError: While the result is read, for the page that failed, with ``page`` and
                ``received`` set.
        """
        return SearchPager(
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
    def stock(self, identifier: str, *, timeout: float | None = None) -> Stock: ...  # type: ignore[overload-overlap]
    @overload
    def stock(self, identifier: Iterable[str], *, timeout: float | None = None) -> StockList: ...

    def stock(
        self, identifier: str | Iterable[str], *, timeout: float | None = None
    ) -> Stock | StockList:
        """Returns the stock of exactly that NSE symbol, BSE code or ISIN; case does not count.

        The service searches by name, symbol and code; that it finds a stock by its ISIN is not
        documented. Its hits are read page by page, at most 20, and the first page with an exact
        match decides: where the text is the symbol of one stock and the code of another, the symbol
        takes precedence.

        Args:
            identifier: A symbol, a code or an ISIN; or several, looked up one after the other,
                whose stocks are returned as a ``StockList`` in their order.
            timeout: Seconds for all pages of one identifier; replaces the client's.

        Raises:
            StockNotFoundError: There is no such stock, or several companies have that very symbol,
                code or ISIN: then ``search`` and choose. ``nearest`` has names; of several
                identifiers, ``received`` has the stocks that were found.
        """
        from .stock_lookup import StockLookup, StockLookups

        if not isinstance(identifier, str):
            lookups = StockLookups(identifier)
            for one in lookups:
                try:
                    lookups.add(one, self.stock(one, timeout=timeout))
                except StockNotFoundError as error:
                    lookups.add_error(one, error)
            return lookups.result()
        lookup = StockLookup(identifier, self._account)
        budget = self._budget(timeout)
        for page in self.search(lookup.wanted, prefetch=0)._pages_within(budget):
            if (found := lookup.look_at(page)) is not None:
                return found
        raise lookup.not_found()

    # -- the books as they change --

    def watch_orders(
        self,
        interval: float = 5.0,
        *,
        ignore: Iterable[str] = UNCOUNTED,
        previous: OrderBook | None = None,
        timeout: float | None = None,
    ) -> Generator[OrderUpdate, None, None]:
        """Polls the order book and yields an ``OrderUpdate`` for each poll.

        Level triggered: after each good poll the orders are those of the response, and no change
        is reported twice. A failure that may pass yields an update with ``missed``; any other
        raises. An order whose ``last_updated_time`` goes back is held in its known state until
        three responses in a row agree on the older one. All orders of the first response are new.
        Ctrl-C between polls takes effect at once.

        Args:
            interval: Seconds from poll to poll, on a steady clock. Polls never overlap: steps that
                pass while one is in flight, or while the loop's body runs, are skipped. After a 429
                the next poll waits for as long as the service requires, or for twice as long as
                before, up to a minute.
            ignore: Fields that do not count as a change; time stamps never do.
            previous: The orders known before. Orders equal to these are not reported.
            timeout: Seconds for each poll including its retries; replaces the client's.

        Yields:
            An ``OrderUpdate`` for each poll, until the loop ends.
        """
        from ..watch.polling import watch
        from ..watch.state import OrderState

        poll = self._poll(OrderBook, timeout)
        return watch(poll, OrderState(ignore, previous), seconds("interval", interval))

    def watch_trades(
        self,
        interval: float = 5.0,
        *,
        previous: TradeBook | None = None,
        timeout: float | None = None,
    ) -> Generator[TradeUpdate, None, None]:
        """Polls the trade book and yields a ``TradeUpdate`` for each poll, with each fill once.

        A fill is identified by its day, exchange, segment, ``trade_no`` and ``order_no``: numbers
        of two exchanges or days may collide, and both sides of a trade with oneself have the same
        number. Of rows without a number, as many are reported as one response contains.

        Args:
            interval: As in ``watch_orders``.
            previous: The trades known before; they are not reported.
            timeout: As in ``watch_orders``.

        Yields:
            A ``TradeUpdate`` for each poll, until the loop ends.
        """
        from ..watch.polling import watch
        from ..watch.state import TradeState

        poll = self._poll(TradeBook, timeout)
        return watch(poll, TradeState(previous), seconds("interval", interval))

    def close(self) -> None:
        """Closes the connections; calls that wait elsewhere end with an error. Twice is once."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # -- how a call is made --

    def _book(self, kind: type[Book], timeout: float | None) -> Book:
        what = kind._record
        deadline = time.monotonic() + self._budget(timeout)
        refused = False
        try:
            check_open(self._core)
            generation = self._tokens.ready(deadline)
            try:
                answer = self._answer(what, deadline)
            except REFUSALS:
                if not self._tokens.refresh(generation, deadline):
                    raise
                refused = True
            if refused:
                answer = self._answer(what, deadline)
        except TradingDataError as error:
            error.account = self._account
            raise
        return self._received(kind, answer)

    def _answer(self, what: str, deadline: float) -> tuple[Any, ...]:
        """One call with the token of the moment, and its line in the log."""
        started = time.monotonic()
        try:
            if started >= deadline:
                raise late()
            answer = self._core.book(what, deadline - started, self._retry_hook(what))
        except TradingDataError as error:
            log_end(what, self._account, time.monotonic() - started, error=error)
            raise
        log_end(what, self._account, time.monotonic() - started, status=answer[1])
        return answer

    def _poll(self, kind: type[Book], timeout: float | None) -> Callable[[], Book]:
        """Returns the call that a watch repeats; validates ``timeout`` before the first one."""
        from functools import partial

        return partial(self._book, kind, None if timeout is None else seconds("timeout", timeout))
