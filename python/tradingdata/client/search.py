"""The iterables that ``search`` returns, sync and async; pages are requested as they are read.

The core decides which page to request next and where the list ends.
"""

from __future__ import annotations

import time
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._util import plans
from .._util.optional_imports import progress_bar, require_bar
from .._util.validate import count, flag, seconds, words
from .._util.warn import warn_user
from ..books.book import StockList, concat
from ..books.response import Response
from ..errors import DataWarning, DeadlineError, PaginationError, TradingDataError
from .base import wait_for
from .lookup import StockLookup, cut

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import AsyncGenerator, Callable, Generator

    from .._util.plans import Plan
    from ..table.rows import Stock
    from .base import AnyClient


_SMALLER = "read again with a smaller `page_size`"

# Why a result may be incomplete, and what to do, by the core's name for the reason.
DOUBTS = {
    "repeated page": (
        "the search ended with a page of rows that were all on earlier pages; the service may "
        "limit how many rows can be reached",
        "narrow the query",
    ),
    "short page": ("a page was shorter than requested although more rows followed", _SMALLER),
    "refused size": (
        "the service returned a shorter page than requested, then rejected that page size",
        _SMALLER,
    ),
    "changed rows": ("stocks came again with other values while the list was read", "read again"),
}


class SearchStats(NamedTuple):
    """Counts of the latest pass over a search.

    Attributes:
        pages: Pages yielded.
        items: Stocks yielded.
        duplicates: Rows dropped because an identical one was on an earlier page.
        requests: Pages requested. A retried request counts once.
        ended: Why it ended (``"empty page"``, ``"repeated page"``, ``"max_items"``, ``"error"``),
            or ``None`` while there may be more. A 404 after the last page counts as an empty page.
        doubtful: Whether the pages contradict each other, so that rows may be missing. A
            ``DataWarning`` gives the reason.
    """

    pages: int
    items: int
    duplicates: int
    requests: int
    ended: str | None
    doubtful: bool


class SearchPass:
    """The progress of one pass, and the conversion of its pages."""

    def __init__(self, client: AnyClient, run: _core.Search, until: float | None) -> None:
        self.client: Any = client
        self.run: Any = run
        self._until = until
        self.state = run.state()
        self._received: list[StockList] = []
        self._warned = False
        self.page: int = self.state["page"]  # the first that was not yielded completely
        self.current = self.page
        self.on_retry = client._retry_hook("Stock")

    @property
    def doubt(self) -> DataWarning | None:
        """Why rows may be missing, and what to do."""
        found = DOUBTS.get(self.state["doubt"])
        return found and DataWarning(f"{found[0]}, so there may be more stocks: {found[1]}")

    def next_page(self, wait: Callable[[], Any]) -> Plan[StockList | None]:
        """The plan of the next page, which is about to be yielded; returns None at the end.

        Duplicates that the core found are dropped. ``wait`` returns what the core received.
        """
        try:
            self._bound_time()
            found: tuple[Any, ...] | None = yield wait()
        except TradingDataError as error:
            raise self._failed(error) from None
        self.state = self.run.state()
        if self.doubt is not None and not self._warned:
            self._warned = True
            warn_user(self.doubt)
        if found is None:
            return None
        table, status, _, elapsed, _, number, rows, _ = found
        self.page = self.current = number
        self.client._log_end("Stock", elapsed, status)
        page = StockList._received(table, Response(table, self.client.account, *found[1:5]))
        if len(rows) != len(page):
            page = page._part(table.take(rows))
        self._received.append(page)
        self.page = self.state["page"]
        return page

    def _bound_time(self) -> None:
        """Limits the next page to the time left for all pages."""
        if self._until is None:
            return
        left = self._until - time.monotonic()
        if left <= 0:
            raise DeadlineError(
                "the deadline passed before the search ended: pass a longer `timeout`"
            )
        self.run.set_timeout(left)

    def _failed(self, error: TradingDataError) -> TradingDataError:
        """Adds to an error the stocks received before it, and where to resume."""
        self.state = self.run.state()
        error.account = self.client.account
        error.received = concat([StockList(), *self._received])
        if error.page is None:
            error.page = self.page
        if self._received and not isinstance(error, PaginationError):
            error.page_size = self.state["page_size"]
            error.add_note(
                f"the {len(error.received):,} stocks before it are in the error's .received; "
                f"resume with start_page={error.page}, page_size={error.page_size}"
            )
        self.client._log_end("Stock", error.elapsed, error)
        return error


class PagesInFlight:
    """The requests of one pass, on its event loop; to be closed when the pass ends."""

    def __init__(self, progress: SearchPass, *, prefetches: bool) -> None:
        self._pass = progress
        self._port: Any = None
        self._prefetches = prefetches
        self._flights: dict[int, Future[_core.Outcome]] = {}

    async def next(self) -> tuple[Any, ...] | None:
        """Returns the next page, or None at the end."""
        from asyncio import FIRST_COMPLETED, get_running_loop, wait

        run = self._pass.run
        if self._port is None:
            self._port = self._pass.client._ports.of(get_running_loop())
        while True:
            found: tuple[Any, ...] | None = run.take()
            if found is None and run.done:
                return None
            if found is None or self._prefetches:
                for call in run.submit(self._port.worker):
                    self._flights[call] = self._port.watch(call, self._pass.on_retry)
            for call in run.surplus():
                self._cancel(self._flights.pop(call))
            if found is not None:
                return found
            arrived, _ = await wait(self._flights.values(), return_when=FIRST_COMPLETED)
            for call in [call for call, flight in self._flights.items() if flight in arrived]:
                run.deliver(self._flights.pop(call).result())

    def close(self) -> None:
        """Cancels all requests in flight."""
        for flight in self._flights.values():
            self._cancel(flight)
        self._flights.clear()

    @staticmethod
    def _cancel(flight: Future[_core.Outcome]) -> None:
        # Retrieve the exception: asyncio would log that it was never retrieved.
        if not flight.cancel() and not flight.cancelled():
            flight.exception()


class _Pager:
    """Base of both pagers: the query and the latest pass."""

    def __init__(
        self,
        client: AnyClient,
        query: str,
        page_size: int | None,
        start_page: int,
        max_items: int | None,
        prefetch: int,
        progress: bool,
        timeout: float | None,
    ) -> None:
        self._client: Any = client
        self._query = words("query", query)
        size = None if page_size is None else count("page_size", page_size)
        self._asked = self._query, size, count("start_page", start_page)
        self._max_items = None if max_items is None else count("max_items", max_items, least=0)
        self._prefetch = count("prefetch", prefetch, least=0)
        self._timeout = None if timeout is None else seconds("timeout", timeout)
        self._progress = flag("progress", progress)
        if self._progress:
            require_bar()
        # A query that cannot be sent raises here rather than at the first page.
        self._begin()

    def _begin(self, most: int | None = None, within: float | None = None) -> SearchPass:
        """Starts a pass of at most ``most`` stocks and ``within`` seconds."""
        caps = [cap for cap in (most, self._max_items) if cap is not None]
        limits = min(caps, default=None), self._prefetch, self._timeout
        run = _core.Search(self._client._core, *self._asked, *limits)
        until = None if within is None else time.monotonic() + within
        self._pass = SearchPass(self._client, run, until)
        return self._pass

    @property
    def page(self) -> int:
        """The first page not yet yielded completely, to resume from with ``start_page=``.

        Counted from 1, in pages of ``page_size`` rows.
        """
        return self._pass.page

    @property
    def page_size(self) -> int:
        """The page size in use (the wire's ``limit``).

        Smaller than requested if the service returns shorter pages, and 10 if it rejects the
        default of 100.
        """
        size: int = self._pass.state["page_size"]
        return size

    @property
    def stats(self) -> SearchStats:
        """The counts of the latest pass so far."""
        return SearchStats(*(self._pass.state[name] for name in SearchStats._fields))

    def _bar(self) -> Any:
        return progress_bar(f"search {cut(self._query)}", "stocks", enabled=self._progress)

    def __repr__(self) -> str:
        stats = self.stats
        if not stats.requests:
            return f"<{type(self).__name__} {cut(self._query)}, not started>"
        end = f", ended: {stats.ended}" if stats.ended else f", next page {self.page}"
        return f"<{type(self).__name__} {cut(self._query)}: {stats.items} stocks so far{end}>"


class SearchPager(_Pager):
    """The stocks of a search: an iterable that requests pages ahead of its reader.

    Each ``iter()`` starts a new pass. The service reports neither the total nor its maximum page
    size, so the list ends at an empty page or at a page without new rows. A row identical to an
    earlier one is dropped and counted. If pages contradict each other, ``stats.doubtful`` is set
    and a ``DataWarning`` gives the reason; if the service repeats page 1, ``PaginationError`` is
    raised. Errors carry the ``page`` to resume from and the stocks ``received`` before it. A
    pass cannot detect a row that moves from an unread page to one already read.

    Example:
        >>> for stock in client.search("tata"):
        ...     print(stock.nsesymbol, stock.mcap)
    """

    def __iter__(self) -> Generator[Stock, None, None]:
        progress = self._begin()
        for page in self._walk(progress):
            behind, progress.page = progress.page, progress.current
            yield from page
            progress.page = behind

    def pages(self) -> Generator[StockList, None, None]:
        """Yields the search page by page.

        Yields:
            A ``StockList`` for each page, without rows that were on an earlier page.
        """
        yield from self._walk(self._begin())

    def _find(self, lookup: StockLookup, budget: float) -> Stock | None:
        """Returns the stock that the lookup finds on a page, within a number of seconds."""
        pages = self._walk(self._begin(within=budget))
        return next(filter(None, map(lookup.find, pages)), None)

    def _walk(self, progress: SearchPass) -> Generator[StockList, None, None]:
        bar = self._bar()
        wait = partial(wait_for, progress.run, progress.on_retry)
        try:
            while (page := plans.run(progress.next_page(wait))) is not None:
                bar.update(len(page))
                yield page
        finally:
            progress.run.close()
            bar.close()

    def all(self) -> StockList:
        """Returns all stocks of the search.

        Returns:
            All stocks, without duplicates.

        Raises:
            PaginationError: The service ignores ``page``.
            TradingDataError: A page failed; ``received`` has the stocks before it.
        """
        return self._read()

    def first(self, n: int) -> StockList:
        """Returns the first stocks of the search, requesting only the pages needed for them.

        Args:
            n: Maximum number of stocks.

        Returns:
            At most ``n`` stocks.
        """
        return self._read(count("n", n, least=0))

    def _read(self, most: int | None = None) -> StockList:
        return concat([StockList(), *self._walk(self._begin(most))])


class AsyncSearchPager(_Pager):
    """The stocks of a search, for ``async for``; see ``SearchPager``.

    Cancelling the task cancels its requests at once. Wrap the iterator in
    ``contextlib.aclosing(search.pages())`` to cancel requests in flight when the loop ends early.
    """

    async def __aiter__(self) -> AsyncGenerator[Stock, None]:
        progress = self._begin()
        async with aclosing(self._walk(progress)) as pages:
            async for page in pages:
                behind, progress.page = progress.page, progress.current
                for stock in page:
                    yield stock
                progress.page = behind

    def pages(self) -> AsyncGenerator[StockList, None]:
        """Yields the search page by page; see ``SearchPager.pages``."""
        return self._walk(self._begin())

    async def _find(self, lookup: StockLookup, budget: float) -> Stock | None:
        async with aclosing(self._walk(self._begin(within=budget))) as pages:
            async for page in pages:
                if (found := lookup.find(page)) is not None:
                    return found
        return None

    async def _walk(self, progress: SearchPass) -> AsyncGenerator[StockList, None]:
        bar = self._bar()
        flights = PagesInFlight(progress, prefetches=self._prefetch > 0)
        try:
            while (page := await plans.run_async(progress.next_page(flights.next))) is not None:
                bar.update(len(page))
                yield page
        finally:
            flights.close()
            bar.close()

    async def all(self) -> StockList:
        """Returns all stocks of the search; see ``SearchPager.all``."""
        return await self._read()

    async def first(self, n: int) -> StockList:
        """Returns the first ``n`` stocks of the search; see ``SearchPager.first``."""
        return await self._read(count("n", n, least=0))

    async def _read(self, most: int | None = None) -> StockList:
        walk = self._walk(self._begin(most))
        return concat([StockList(), *[page async for page in walk]])
