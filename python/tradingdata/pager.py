"""A search over all its pages, for both clients."""

from __future__ import annotations

from collections import namedtuple

from . import _core
from .books import StockList, concat
from .call_log import log_end, log_retry
from .checks import count, seconds, text
from .errors import TradingDataError
from .progress import page_bar
from .response import response_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from typing import Any, NamedTuple

    from .aio import AsyncClient
    from .client import Client
    from .records import Stock

    class _Counts(NamedTuple):
        pages: int
        items: int
        duplicates: int
        requests: int
        ended: str | None
else:
    _Counts = namedtuple("SearchStats", "pages items duplicates requests ended")

DEFAULT_PAGE_SIZE = 100


class SearchStats(_Counts):
    """What the latest pass over a search has done so far.

    Attributes:
        pages: pages handed on.
        items: stocks handed on.
        duplicates: rows dropped since an identical one stood on an earlier page.
        requests: pages asked for.
        ended: why it ended (``"empty page"``, ``"repeated page"``, ``"max_items"``, ``"error"``),
            or ``None`` while there may be more.
    """

    __slots__ = ()


class _Pager:
    """What the two pagers share: the question, and how far the latest pass has come."""

    def __init__(
        self,
        client: Client | AsyncClient,
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
        self._progress = progress
        self._on_page = on_page
        self._options: tuple[Any, ...] = (
            DEFAULT_PAGE_SIZE if page_size is None else count("page_size", page_size),
            count("start_page", start_page),
            None if max_items is None else count("max_items", max_items, least=0),
            count("prefetch", prefetch),
            None if timeout is None else seconds("timeout", timeout),
        )
        # A question that cannot be sent is told now, not at the first page.
        self._state = self._begin(_core.SearchRun).state()

    def _begin(self, kind: Callable[..., Any]) -> Any:
        return kind(self._client._core, self._query, *self._options)

    @property
    def query(self) -> str:
        """What is searched for."""
        return self._query

    @property
    def page(self) -> int:
        """The page to go on from, as ``start_page=`` of a new search."""
        page: int = self._state["page"]
        return page

    @property
    def stats(self) -> SearchStats:
        """What the latest pass has done so far."""
        return SearchStats(*(self._state[name] for name in SearchStats._fields))

    def __repr__(self) -> str:
        stats = self.stats
        if not stats.requests:
            return f"<{type(self).__name__} {self._query!r}, not begun>"
        end = f", ended: {stats.ended}" if stats.ended else f", next page {self.page}"
        return f"<{type(self).__name__} {self._query!r}: {stats.items} stocks so far{end}>"

    def _page_of(self, found: tuple[Any, ...]) -> StockList:
        table, status, attempts, elapsed, received_at, _, rows, _ = found
        account = self._client.account
        log_end("Stock", account, elapsed, status=status)
        response = response_of(table, status, attempts, elapsed, received_at, account=account)
        page = StockList._received(table, response, stacklevel=4)
        if len(rows) != len(page):
            page = page._part(table.take(rows))
        if self._on_page is not None:
            self._on_page(page)
        return page

    def _explained(self, error: TradingDataError, received: list[StockList]) -> TradingDataError:
        error.account = self._client.account
        error.received = concat(received) if received else StockList()
        log_end("Stock", self._client.account, error.elapsed, error=error)
        return error

    def _retry_hook(self) -> Callable[[int, str, float], None]:
        return log_retry("Stock", self._client.account, self._client._on_retry)


class SearchPager(_Pager):
    """The stocks of a search: an iterable that fetches page after page, ahead of its reader.

    Each ``iter()`` starts afresh. The service tells neither the total nor the greatest page size,
    so an empty page ends the search, and one that brings nothing new. A row that is identical to an
    earlier one is dropped and counted. An error says the ``page`` to go on from and carries the
    stocks ``received`` before it. What a service that moves rows between pages never sends on any
    page cannot be noticed.
    """

    def __iter__(self) -> Iterator[Stock]:
        for page in self.pages():
            yield from page

    def pages(self) -> Iterator[StockList]:
        """The pages, one after the other, without rows that stood on an earlier one."""
        run = self._begin(_core.Search)
        received: list[StockList] = []
        bar = page_bar(self._query, enabled=self._progress)
        try:
            while True:
                try:
                    found = run.next(self._retry_hook())
                except TradingDataError as error:
                    self._state = run.state()
                    raise self._explained(error, received) from None
                self._state = run.state()
                if found is None:
                    return
                page = self._page_of(found)
                received.append(page)
                bar.update(len(page))
                yield page
        finally:
            run.close()
            bar.close()

    def all(self) -> StockList:
        """All stocks of the search."""
        return concat([StockList(), *self.pages()])

    def first(self, n: int) -> StockList:
        """The first ``n`` stocks; no page is fetched that is not needed for them."""
        pages: list[StockList] = [StockList()]
        wanted = count("n", n, least=0)
        for page in self.pages() if wanted else ():
            pages.append(page[:wanted])
            wanted -= len(pages[-1])
            if not wanted:
                break
        return concat(pages)


class AsyncSearchPager(_Pager):
    """The stocks of a search, for ``async for``; see ``SearchPager``."""

    async def __aiter__(self) -> AsyncIterator[Stock]:
        async for page in self.pages():
            for stock in page:
                yield stock

    async def pages(self) -> AsyncIterator[StockList]:
        """The pages, one after the other, without rows that stood on an earlier one."""
        from .search_task import next_page

        run = self._begin(_core.SearchRun)
        received: list[StockList] = []
        flights: dict[int, Any] = {}
        bar = page_bar(self._query, enabled=self._progress)
        try:
            while True:
                try:
                    found = await next_page(self._client._port(), run, flights, self._retry_hook())
                except TradingDataError as error:
                    self._state = run.state()
                    raise self._explained(error, received) from None
                self._state = run.state()
                if found is None:
                    return
                page = self._page_of(found)
                received.append(page)
                bar.update(len(page))
                yield page
        finally:
            for flight in flights.values():
                flight.cancel()
            bar.close()

    async def all(self) -> StockList:
        """All stocks of the search."""
        return concat([StockList(), *[page async for page in self.pages()]])

    async def first(self, n: int) -> StockList:
        """The first ``n`` stocks; no page is fetched that is not needed for them."""
        from contextlib import aclosing

        pages: list[StockList] = [StockList()]
        wanted = count("n", n, least=0)
        if wanted:
            async with aclosing(self.pages()) as found:
                async for page in found:
                    pages.append(page[:wanted])
                    wanted -= len(pages[-1])
                    if not wanted:
                        break
        return concat(pages)
