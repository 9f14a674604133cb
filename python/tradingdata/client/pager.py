"""A search over all its pages, for both clients."""

from __future__ import annotations

import time

from .. import _core
from .._util.validate import count, flag, hook, seconds, text
from ..books.book import StockList, concat
from ..errors import PaginationError, TradingDataError
from .progress_bar import page_bar, require_bar
from .search_state import SearchPass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator
    from typing import Any

    from ..books.records import Stock
    from .asyncio_bridge import LoopPorts
    from .base import ClientBase
    from .search_state import SearchStats

MOST_PASSES = 5
LONGEST_SHOWN = 60  # characters of a query


class _Pager:
    """What the two pagers share: the question, and how far the latest pass has come."""

    def __init__(
        self,
        client: ClientBase[Any, Any],
        query: str,
        *,
        page_size: int | None,
        start_page: int,
        max_items: int | None,
        prefetch: int,
        progress: bool,
        on_page: Callable[[StockList], object] | None,
        timeout: float | None,
    ) -> None:
        self._client = client
        self._query = text("query", query)
        self._page_size = None if page_size is None else count("page_size", page_size)
        self._start_page = count("start_page", start_page)
        self._max_items = None if max_items is None else count("max_items", max_items, least=0)
        self._prefetch = count("prefetch", prefetch, least=0)
        self._timeout = None if timeout is None else seconds("timeout", timeout)
        self._progress = flag("progress", progress)
        self._on_page = hook("on_page", on_page)
        if self._progress:
            require_bar()
        # A question that cannot be sent is told now, not at the first page.
        self._begin(_core.SearchRun)

    def _begin(
        self, kind: Callable[..., Any], most: int | None = None, within: float | None = None
    ) -> tuple[Any, SearchPass]:
        """A new pass of ``most`` stocks, which takes ``within`` seconds in all."""
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
        self._pass = SearchPass(self._client, run, self._on_page, until)
        return run, self._pass

    @property
    def query(self) -> str:
        """What is searched for."""
        return self._query

    @property
    def page(self) -> int:
        """The first page that was not handed on whole, to go on from with ``start_page=``."""
        return self._pass.page

    @property
    def page_size(self) -> int:
        """The ``limit`` that is sent; 10 from when the service has refused the default of 100."""
        return self._pass.page_size

    @property
    def stats(self) -> SearchStats:
        """What the latest pass has done so far."""
        return self._pass.stats

    def _shown(self) -> str:
        whole = len(self._query) <= LONGEST_SHOWN
        return repr(self._query if whole else self._query[: LONGEST_SHOWN - 1] + "…")

    def __repr__(self) -> str:
        stats = self.stats
        if not stats.requests:
            return f"<{type(self).__name__} {self._shown()}, not begun>"
        end = f", ended: {stats.ended}" if stats.ended else f", next page {self.page}"
        return f"<{type(self).__name__} {self._shown()}: {stats.items} stocks so far{end}>"


class SearchPager(_Pager):
    """The stocks of a search: an iterable that fetches page after page, ahead of its reader.

    Each ``iter()`` starts afresh. The service tells neither the total nor the greatest page size,
    so an empty page ends the search, and one that brings nothing new. A row that is identical to an
    earlier one is dropped and counted. An error says the ``page`` to go on from and carries the
    stocks ``received`` before it. Where the service repeats page 1 for ever, that is a
    PaginationError. What a service that moves rows between pages never sends on any page cannot be
    noticed in one pass; ``all(confirm=True)`` makes several.
    """

    def __iter__(self) -> Generator[Stock, None, None]:
        run, progress = self._begin(_core.Search)
        for page in self._walk(run, progress):
            behind, progress.page = progress.page, progress.current
            yield from page
            progress.page = behind

    def pages(self) -> Generator[StockList, None, None]:
        """The pages, one after the other, without rows that stood on an earlier one."""
        yield from self._walk(*self._begin(_core.Search))

    def _pages_within(self, budget: float) -> Generator[StockList, None, None]:
        yield from self._walk(*self._begin(_core.Search, within=budget))

    def _walk(self, run: Any, progress: SearchPass) -> Generator[StockList, None, None]:
        bar = page_bar(self._shown(), enabled=self._progress)
        try:
            while True:
                try:
                    progress.bound_time()
                    found = run.next(progress.on_retry)
                except TradingDataError as error:
                    raise progress.failed(error) from None
                if found is None:
                    break
                page = progress.page_of(found)
                progress.tell(page)
                progress.hand_on(page)
                bar.update(len(page))
                yield page
            progress.ended()
        finally:
            run.close()
            bar.close()

    def all(self, *, confirm: bool = False) -> StockList:
        """All stocks of the search.

        ``confirm=True`` reads them again until two passes in a row bring the same stocks, since a
        pass during which rows move between pages can miss some; five passes without that raise
        PaginationError.
        """
        found = concat([StockList(), *self.pages()])
        for _ in range(MOST_PASSES - 1) if confirm else ():
            again = concat([StockList(), *self.pages()])
            if _companies(again) == _companies(found):
                return again
            found = again
        return _unconfirmed(found) if confirm else found

    def first(self, n: int) -> StockList:
        """The first ``n`` stocks; no page is asked for that is not needed for them."""
        most = count("n", n, least=0)
        return concat([StockList(), *self._walk(*self._begin(_core.Search, most))])


class AsyncSearchPager(_Pager):
    """The stocks of a search, for ``async for``; see ``SearchPager``.

    ``on_page`` may be an async function. A task that is cancelled gives its pages up at once; to
    leave a loop early and know that nothing is under way, close it
    (``contextlib.aclosing(search.pages())``).
    """

    def __init__(
        self, client: ClientBase[Any, Any], ports: LoopPorts, query: str, **options: Any
    ) -> None:
        self._ports = ports
        super().__init__(client, query, **options)

    async def __aiter__(self) -> AsyncGenerator[Stock, None]:
        from contextlib import aclosing

        run, progress = self._begin(_core.SearchRun)
        async with aclosing(self._walk(run, progress)) as pages:
            async for page in pages:
                behind, progress.page = progress.page, progress.current
                for stock in page:
                    yield stock
                progress.page = behind

    def pages(self) -> AsyncGenerator[StockList, None]:
        """The pages, one after the other, without rows that stood on an earlier one."""
        return self._walk()

    def _pages_within(self, budget: float) -> AsyncGenerator[StockList, None]:
        return self._walk(*self._begin(_core.SearchRun, within=budget))

    async def _walk(
        self, run: Any = None, progress: SearchPass | None = None
    ) -> AsyncGenerator[StockList, None]:
        from asyncio import get_running_loop
        from collections.abc import Awaitable

        from .async_pages import PagesInFlight

        if run is None or progress is None:
            run, progress = self._begin(_core.SearchRun)
        bar = page_bar(self._shown(), enabled=self._progress)
        flights: PagesInFlight | None = None
        try:
            while True:
                try:
                    progress.bound_time()
                    if flights is None:
                        port = self._ports.of(get_running_loop())
                        flights = PagesInFlight(port, run, progress.on_retry, self._prefetch > 0)
                    found = await flights.next()
                except TradingDataError as error:
                    raise progress.failed(error) from None
                if found is None:
                    break
                page = progress.page_of(found)
                told = progress.tell(page)
                if isinstance(told, Awaitable):
                    await told
                progress.hand_on(page)
                bar.update(len(page))
                yield page
            progress.ended()
        finally:
            if flights is not None:
                flights.close()
            bar.close()

    async def all(self, *, confirm: bool = False) -> StockList:
        """All stocks of the search; see ``SearchPager.all``."""
        found = await self._read()
        for _ in range(MOST_PASSES - 1) if confirm else ():
            again = await self._read()
            if _companies(again) == _companies(found):
                return again
            found = again
        return _unconfirmed(found) if confirm else found

    async def first(self, n: int) -> StockList:
        """The first ``n`` stocks; no page is asked for that is not needed for them."""
        return await self._read(count("n", n, least=0))

    async def _read(self, most: int | None = None) -> StockList:
        walk = self._walk(*self._begin(_core.SearchRun, most))
        return concat([StockList(), *[page async for page in walk]])


def _companies(stocks: StockList) -> set[object]:
    """Which companies a pass has brought, at whatever prices; a row without a code is itself."""
    codes = stocks.to_dict(["co_code"])["co_code"]
    return {row if code is None else code for row, code in zip(stocks, codes, strict=True)}


def _unconfirmed(found: StockList) -> StockList:
    error = PaginationError(
        f"{MOST_PASSES} passes over the search brought different stocks each time: rows move while "
        "they are read; the latest pass is in .received"
    )
    error.received = found
    raise error
