"""The iterables that ``search`` returns, sync and async; pages are requested as they are read."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar

from .._util import waiting
from .._util.optional_imports import require_bar
from .._util.validate import NoNewAttributes, NotCopied, count
from .._util.waiting import Plan
from ..books.book import StockList, concat
from ..display import counted
from ..errors import ClientClosedError, DataWarning
from ..table.rows import Stock
from .calls import BaseClient
from .paging import DEFAULT_SIZE, SearchOptions, SearchPass, short_repr

Item = TypeVar("Item")

KEYWORDS = {
    "td.Archive for earlier days; the service has the current one": "day date start end",
    "interval=": "every seconds",
    "page_size= for the size of a page, max_items= for a number of stocks": "limit",
    "page_size=": "per_page size",
    "start_page=": "page offset",
    "max_items=": "n max top",
}
"""What to use in place of keywords that people try."""


class SearchStats(NamedTuple):
    """Counts of the latest pass over a search.

    Attributes:
        pages: Pages yielded.
        items: Stocks yielded.
        duplicates: Rows dropped because an identical one was on an earlier page.
        requests: Pages requested. A retried request counts once.
        ended: Why it ended (``"empty page"``, ``"repeated page"``, ``"max_items"``, ``"error"``),
            or ``None`` while there may be more. What a service responds behind its last page, such
            as 404, counts as an empty page.
        doubtful: Whether the pages contradict each other, so that rows may be missing. A
            ``DataWarning`` gives the reason.
    """

    pages: int
    items: int
    duplicates: int
    requests: int
    ended: str | None
    doubtful: bool


Step = Callable[[], Plan[Item | None]]


class _Reader(NotCopied, Generic[Item]):
    """The stocks or the pages of one pass. Dropping it cancels what is in flight."""

    _not_copied = "iterate over the search once more"

    def __init__(self, search_pass: SearchPass, step: Step[Item]) -> None:
        self._pass = search_pass
        self._step = step

    def __del__(self) -> None:
        self._pass.close()


class SearchIterator(_Reader[Item], Iterator[Item]):
    """The stocks or the pages of one pass. Closing or dropping it cancels what is in flight."""

    def __next__(self) -> Item:
        step = self._step
        del self  # a traceback must not keep it: dropping it cancels what is in flight
        item = waiting.run(step())
        if item is None:
            raise StopIteration
        return item

    def close(self) -> None:
        """Cancels the requests in flight and ends the iteration."""
        self._pass.close()


class AsyncSearchIterator(_Reader[Item], AsyncIterator[Item]):
    """The same for ``async for``."""

    def __anext__(self) -> Awaitable[Item]:
        return _item_of(self._step)

    async def aclose(self) -> None:
        """Cancels the requests in flight and ends the iteration."""
        self._pass.close()


async def _item_of(step: Step[Item]) -> Item:
    item = await waiting.run_async(step())
    if item is None:
        raise StopAsyncIteration
    return item


class _Pager(NoNewAttributes, NotCopied):
    """Base of both pagers: the query and the latest pass."""

    _not_copied = "make another one with client.search()"

    def __init__(self, client: BaseClient[Any], options: SearchOptions) -> None:
        self._options = options = options.checked()
        if options.progress:
            require_bar()
        if client.closed:
            raise ClientClosedError("the client is closed: make a new one")
        self._client = client
        self._latest: SearchPass | None = None

    def _begin(self, most: int | None = None, within: float = math.inf) -> SearchPass:
        """Starts a pass of at most ``most`` stocks and ``within`` seconds."""
        caps = [cap for cap in (most, self._options.max_items) if cap is not None]
        options = self._options._replace(max_items=min(caps, default=None))
        self._latest = begun = SearchPass(self._client, options, within)
        return begun  # not the latest, if another thread has begun its own

    def _read(self, most: int | None = None) -> Plan[StockList]:
        """The plan of all stocks of a pass."""
        reader = self._begin(most)
        pages = [StockList()]
        try:
            while (page := (yield from reader.next_page())) is not None:
                pages.append(page)
        finally:
            reader.close()
        return concat(pages)

    @property
    def page(self) -> int:
        """The first page not yet yielded completely, to resume from with ``start_page=``.

        Counted from 1, in pages of ``page_size`` rows.
        """
        return self._options.start_page if self._latest is None else self._latest.page

    @property
    def page_size(self) -> int:
        """The page size in use (the wire's ``limit``).

        Smaller than requested if the service returns shorter pages, and 10 if it rejects the
        default of 100.
        """
        size = self._options.page_size or DEFAULT_SIZE
        return size if self._latest is None else self._latest.paging.limit

    @property
    def stats(self) -> SearchStats:
        """The counts of the latest pass so far."""
        if (latest := self._latest) is None:
            return SearchStats(0, 0, 0, 0, None, False)
        paging = latest.paging
        counts = latest.pages, latest.items, paging.duplicates, latest.requests
        return SearchStats(*counts, paging.ended, paging.doubt is not None)

    @property
    def _warning(self) -> DataWarning | None:
        return None if self._latest is None else self._latest.paging.warning

    def __getitem__(self, index: object) -> NoReturn:
        raise TypeError(self._not_read("a search is not a list"))

    def __len__(self) -> NoReturn:
        raise TypeError(self._not_read("the service does not say how many stocks there are"))

    def __bool__(self) -> bool:
        return True

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name: str) -> object:
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            raise AttributeError(self._not_read(f"a search has no {name!r}"), name=name, obj=self)

    def _not_assignable(self, name: str) -> str:
        return f"a search cannot be changed ({name}): pass its options to client.search()"

    def _not_read(self, what: str) -> str:
        """Returns the message for a search that is used like the list of its stocks."""
        waits = "await " if type(self) is AsyncSearchPager else ""
        return f"{what}: read its stocks with {waits}search.all() or {waits}search.first(n)"

    def __repr__(self) -> str:
        stats = self.stats
        search = f"<{type(self).__name__} {short_repr(self._options.query)}"
        if not stats.requests:
            return f"{search}, not started>"
        end = f"ended: {stats.ended}" if stats.ended else f"next page {self.page}"
        return f"{search}: {counted(stats.items, 'stock')} so far, {end}>"


class SearchPager(_Pager):
    """The stocks of a search: an iterable that requests pages ahead of its reader.

    Each ``iter()`` starts a new pass. The service reports neither the total nor its maximum page
    size, so the list ends at an empty page or at a page without new rows. A row identical to an
    earlier one is dropped and counted. If pages contradict each other, ``stats.doubtful`` is set
    and a ``DataWarning`` gives the reason; if the service repeats page 1, ``PaginationError`` is
    raised. Errors carry the ``page`` to resume from and the stocks ``received`` before it. A
    pass cannot detect a row that moves from an unread page to one already read.

    After an interruption, such as Ctrl-C, the next ``next()`` goes on; after the error of a page
    it raises that error again. Leaving the loop or ``close()`` cancels the requests in flight.

    Example:
        >>> for stock in client.search("tata"):
        ...     print(stock.nsesymbol, stock.mcap)
    """

    def __iter__(self) -> SearchIterator[Stock]:
        begun = self._begin()
        return SearchIterator(begun, begun.next_row)

    def pages(self) -> SearchIterator[StockList]:
        """Returns an iterator of the search page by page.

        Yields:
            A ``StockList`` for each page, without rows that were on an earlier page.

        Raises:
            TradingDataError: As ``all``, after the pages before the failure.
        """
        begun = self._begin()
        return SearchIterator(begun, begun.next_page)

    def all(self) -> StockList:
        """Returns all stocks of the search.

        Returns:
            All stocks, without duplicates.

        Raises:
            PaginationError: The service ignores ``page``.
            TradingDataError: A page failed; ``received`` has the stocks before it.
        """
        return waiting.run(self._read())

    def first(self, n: int) -> StockList:
        """Returns the first stocks of the search, requesting only the pages needed for them.

        Args:
            n: Maximum number of stocks.

        Returns:
            At most ``n`` stocks.

        Raises:
            ConfigurationError: ``n`` is negative.
            TradingDataError: As ``all``.
        """
        return waiting.run(self._read(count("n", n, least=0)))


class AsyncSearchPager(_Pager):
    """The stocks of a search, for ``async for``; see ``SearchPager``.

    Cancelling the task or leaving the loop cancels its requests at once. An iterator that you keep
    goes on: if ``wait_for(anext(pages), 1)`` times out, the next ``anext`` waits for the same page.
    """

    def __aiter__(self) -> AsyncSearchIterator[Stock]:
        begun = self._begin()
        return AsyncSearchIterator(begun, begun.next_row)

    def pages(self) -> AsyncSearchIterator[StockList]:
        """Returns an iterator of the search page by page; see ``SearchPager.pages``."""
        begun = self._begin()
        return AsyncSearchIterator(begun, begun.next_page)

    async def all(self) -> StockList:
        """Returns all stocks of the search; see ``SearchPager.all``."""
        return await waiting.run_async(self._read())

    async def first(self, n: int) -> StockList:
        """Returns the first ``n`` stocks of the search; see ``SearchPager.first``."""
        return await waiting.run_async(self._read(count("n", n, least=0)))
