"""The iterables that ``search`` returns, sync and async; pages are requested as they are read.

The core decides which page to request next and where the list ends.
"""

from __future__ import annotations

import time
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _core
from .._util import plans
from .._util.optional_imports import progress_bar, require_bar
from .._util.validate import count, flag, seconds, words
from ..books.book import StockList, concat
from ..errors import PaginationError
from ..table.export import TableExport
from .base import wait_for
from .lookup import StockLookup, cut
from .search_pass import PagesInFlight, SearchPass, SearchStats, of_all, of_all_async

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Sequence

    from .._util.plans import Plan
    from ..table.rows import Stock
    from ..table.selection import Selection
    from .base import AnyClient


MOST_PASSES = 5


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
        self._page_size = None if page_size is None else count("page_size", page_size)
        self._start_page = count("start_page", start_page)
        self._max_items = None if max_items is None else count("max_items", max_items, least=0)
        self._prefetch = count("prefetch", prefetch, least=0)
        self._timeout = None if timeout is None else seconds("timeout", timeout)
        self._progress = flag("progress", progress)
        if self._progress:
            require_bar()
        # A query that cannot be sent raises here rather than at the first page.
        self._begin(_core.SearchRun)

    def _begin(
        self, kind: Callable[..., Any], most: int | None = None, within: float | None = None
    ) -> tuple[Any, SearchPass]:
        """Starts a pass of at most ``most`` stocks and ``within`` seconds."""
        caps = [cap for cap in (most, self._max_items) if cap is not None]
        run = kind(
            self._client._core,
            self._query,
            self._page_size,
            self._start_page,
            min(caps, default=None),
            self._prefetch,
            self._timeout,
        )
        until = None if within is None else time.monotonic() + within
        self._pass = SearchPass(self._client, run, until)
        return run, self._pass

    @property
    def query(self) -> str:
        """The search text."""
        return self._query

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

    def _all(self, confirm: bool) -> Plan[StockList]:
        pager: Any = self
        found: StockList = yield pager._read()
        for _ in range(MOST_PASSES - 1) if confirm else ():
            again: StockList = yield pager._read()
            if _companies(again) == _companies(found):
                return again
            found = again
        if not confirm:
            return found
        error = PaginationError(
            f"{MOST_PASSES} passes over the search returned different stocks each time, so rows "
            "seem to move between pages: use the latest pass in `.received`, or try again later"
        )
        error.received = found
        raise error

    def __repr__(self) -> str:
        stats = self.stats
        if not stats.requests:
            return f"<{type(self).__name__} {cut(self._query)}, not started>"
        end = f", ended: {stats.ended}" if stats.ended else f", next page {self.page}"
        return f"<{type(self).__name__} {cut(self._query)}: {stats.items} stocks so far{end}>"


class SearchPager(_Pager, TableExport):
    """The stocks of a search: an iterable that requests pages ahead of its reader.

    Each ``iter()`` starts a new pass. The service reports neither the total nor its maximum page
    size, so the list ends at an empty page or at a page without new rows. A row identical to an
    earlier one is dropped and counted. If pages contradict each other, ``stats.doubtful`` is set
    and a ``DataWarning`` gives the reason; if the service repeats page 1, ``PaginationError`` is
    raised. Errors carry the ``page`` to resume from and the stocks ``received`` before it. A
    single pass cannot detect a row that moves from an unread page to one already read;
    ``all(confirm=True)`` makes several passes.

    Exports such as ``to_pandas`` read all pages first; invalid names of columns raise before the
    first request.

    Example:
        >>> for stock in client.search("tata"):
        ...     print(stock.nsesymbol, stock.mcap)
    """

    def __iter__(self) -> Generator[Stock, None, None]:
        run, progress = self._begin(_core.Search)
        for page in self._walk(run, progress):
            behind, progress.page = progress.page, progress.current
            yield from page
            progress.page = behind

    def pages(self) -> Generator[StockList, None, None]:
        """Yields the search page by page.

        Yields:
            A ``StockList`` for each page, without rows that were on an earlier page.
        """
        yield from self._walk(*self._begin(_core.Search))

    def _find(self, lookup: StockLookup, budget: float) -> Stock | None:
        """Returns the stock that the lookup finds on a page, within a number of seconds."""
        pages = self._walk(*self._begin(_core.Search, within=budget))
        return next(filter(None, map(lookup.find, pages)), None)

    def _walk(self, run: Any, progress: SearchPass) -> Generator[StockList, None, None]:
        bar = self._bar()
        wait = partial(wait_for, run, progress.on_retry)
        try:
            while (page := plans.run(progress.next_page(wait))) is not None:
                bar.update(len(page))
                yield page
        finally:
            run.close()
            bar.close()

    def all(self, *, confirm: bool = False) -> StockList:
        """Returns all stocks of the search.

        Args:
            confirm: Whether to repeat the search until two consecutive passes return the same
                companies. A single pass can miss rows that move between pages meanwhile.

        Returns:
            All stocks, without duplicates.

        Raises:
            PaginationError: The service ignores ``page``, or five passes all differed.
            TradingDataError: A page failed; ``received`` has the stocks before it.
        """
        return plans.run(self._all(confirm))

    def first(self, n: int) -> StockList:
        """Returns the first stocks of the search, requesting only the pages needed for them.

        Args:
            n: Maximum number of stocks.

        Returns:
            At most ``n`` stocks.
        """
        return self._read(count("n", n, least=0))

    def _read(self, most: int | None = None) -> StockList:
        return concat([StockList(), *self._walk(*self._begin(_core.Search, most))])

    def _selection(self, columns: Sequence[str] | None = None, **options: Any) -> Selection:
        return self.all()._selection(columns, **options)


for _name in vars(TableExport):
    if _name.startswith("to_"):
        setattr(SearchPager, _name, of_all(getattr(StockList, _name)))


class AsyncSearchPager(_Pager):
    """The stocks of a search, for ``async for``; see ``SearchPager``.

    Cancelling the task cancels its requests at once. Wrap the iterator in
    ``contextlib.aclosing(search.pages())`` to cancel requests in flight when the loop ends early.
    """

    async def __aiter__(self) -> AsyncGenerator[Stock, None]:
        run, progress = self._begin(_core.SearchRun)
        async with aclosing(self._walk(run, progress)) as pages:
            async for page in pages:
                behind, progress.page = progress.page, progress.current
                for stock in page:
                    yield stock
                progress.page = behind

    def pages(self) -> AsyncGenerator[StockList, None]:
        """Yields the search page by page; see ``SearchPager.pages``."""
        return self._walk(*self._begin(_core.SearchRun))

    async def _find(self, lookup: StockLookup, budget: float) -> Stock | None:
        async with aclosing(self._walk(*self._begin(_core.SearchRun, within=budget))) as pages:
            async for page in pages:
                if (found := lookup.find(page)) is not None:
                    return found
        return None

    async def _walk(self, run: Any, progress: SearchPass) -> AsyncGenerator[StockList, None]:
        bar = self._bar()
        flights = PagesInFlight(self._client, run, progress.on_retry, self._prefetch > 0)
        try:
            while (page := await plans.run_async(progress.next_page(flights.next))) is not None:
                bar.update(len(page))
                yield page
        finally:
            flights.close()
            bar.close()

    async def all(self, *, confirm: bool = False) -> StockList:
        """Returns all stocks of the search; see ``SearchPager.all``."""
        return await plans.run_async(self._all(confirm))

    async def first(self, n: int) -> StockList:
        """Returns the first ``n`` stocks of the search; see ``SearchPager.first``."""
        return await self._read(count("n", n, least=0))

    async def _read(self, most: int | None = None) -> StockList:
        walk = self._walk(*self._begin(_core.SearchRun, most))
        return concat([StockList(), *[page async for page in walk]])

    to_pandas = of_all_async(StockList.to_pandas)
    to_polars = of_all_async(StockList.to_polars)
    to_arrow = of_all_async(StockList.to_arrow)
    to_dicts = of_all_async(StockList.to_dicts)
    to_dict = of_all_async(StockList.to_dict)
    to_json = of_all_async(StockList.to_json)
    to_csv = of_all_async(StockList.to_csv)
    to_parquet = of_all_async(StockList.to_parquet)
    to_excel = of_all_async(StockList.to_excel)


def _companies(stocks: StockList) -> set[object]:
    """Returns the companies of a pass, ignoring prices; a row without a code is its own key."""
    codes = stocks.to_dict(["co_code"])["co_code"]
    return {row if code is None else code for row, code in zip(stocks, codes, strict=True)}
