"""Joins the pages of a search into one list without losing a row silently.

``Paging`` has the rules: it says which page it needs next, is given what the service returned for
it, and decides what is kept and where the list ends. It performs no I/O and has no clock.
``SearchPass`` sends the requests, some of them ahead of its reader, and hands over the pages in
order; it is a plan (see ``plans``), written once for both clients.

The service documents neither its largest page nor how a list ends, so only rows decide.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._util.declarations import kinds_of
from .._util.warn import warn_user
from ..books.book import StockList, concat
from ..books.response import Response
from ..display.text import counted
from ..errors import (
    CallCancelledError,
    ConfigurationError,
    DataWarning,
    DeadlineError,
    DecodeError,
    PaginationError,
    TradingDataError,
)
from .calls import pump
from .lookup import KINDS

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future

    from .._util.plans import Plan
    from ..table.rows import Stock
    from .calls import Calls

DEFAULT_SIZE = 100  # of a page, the wire's `limit`
SERVICE_SIZE = 10  # the service's own default
MOST_PREFETCH = 100
LAST_PAGE = 2**53  # to start with
_MOST_STALE = 2  # pages in a row without a new stock, after which a search ends
_MOST_EMPTY = 3  # empty responses in a row, after which a search ends: twice a page, then the next
_WRONG_SIZE = (400, 422)
_PAST_END = (204, 400, 404, 422)
_UNPACKED = 3200  # stocks of the latest pages, which an error's `received` has as they are

_FIELDS = list(kinds_of("Stock"))

_SMALLER = "read again with a smaller `page_size`"

# Why a result may be incomplete, and what to do.
DOUBTS = {
    "repeated page": (
        "the search ended with a page of rows that were all on earlier pages; the service may "
        "limit how many rows can be reached",
        "narrow the query",
    ),
    "short page": ("a page was shorter than requested although more rows followed", _SMALLER),
    "empty page": ("a page was empty although more rows followed", "read again"),
    "refused size": (
        "the service returned a shorter page than requested, then rejected that page size",
        _SMALLER,
    ),
    "moved rows": ("stocks came again on later pages because the list was changing", "read again"),
}

# What a request returned: a table of stocks and facts of the response, or its error.
Outcome = tuple[Any, ...] | TradingDataError


class PageRequest(NamedTuple):
    """The ``page`` and the ``limit`` of a request."""

    page: int
    limit: int


class Page(NamedTuple):
    """A page to yield: what its request returned, and the positions of the rows to keep."""

    number: int
    received: tuple[Any, ...]
    rows: list[int]
    following: int  # the page to resume from after it


class RowKeys(NamedTuple):
    """A row as it is compared with the rows of other pages, which need not be kept for that."""

    stock: int  # a hash of what identifies the stock
    content: bytes  # a digest of every value, unknown fields included
    has_code: bool


def row_keys(rows: _core.Slice) -> list[RowKeys]:
    """Returns the keys of rows, in their order.

    A stock is identified by its codes or, if it has none, by its documented texts: values that
    change with each response must not make a known stock a new one.
    """
    from hashlib import blake2b

    keys = []
    codes = zip(rows.column("co_code"), *map(rows.column, KINDS), strict=True)
    contents = rows.export_json(_FIELDS, extra=True, lines=True).splitlines()
    for row, (code, content) in enumerate(zip(codes, contents, strict=True)):
        known: tuple[object, ...] = code
        if not any(code):
            known = tuple(value for value in rows[row]._asdict().values() if type(value) is str)
        digest = blake2b(content, digest_size=16).digest()
        keys.append(RowKeys(hash(known), digest, code[0] is not None))
    return keys


class Paging:
    """The rules of one pass over the pages of a search.

    Attributes:
        limit: The ``limit`` of the pages that are read.
        due: The request that everything else waits for.
        ready: Pages that are evaluated, in order, for the reader to take.
        full_run: Number of full pages in a row, up to the latest: as many requests may be sent.
        ended: Why there are no more pages, or None while there may be more.
        error: The error that ended the search.
        doubt: Why there may be rows that were not read, a key of ``DOUBTS``; else None.
        duplicates: Number of rows dropped.
    """

    def __init__(self, page_size: int | None, start_page: int, max_items: int | None) -> None:
        self.limit = DEFAULT_SIZE if page_size is None else page_size
        self.ready: list[Page] = []
        self.duplicates = self.full_run = self._first_rows = 0
        self.ended: str | None = "max_items" if max_items == 0 else None
        self.doubt: str | None = None
        self.error: TradingDataError | None = None
        self._rest = max_items
        self._is_torn = False
        self._rules = self._pages(start_page, may_shrink=page_size is None)
        self.due = next(self._rules)

    @property
    def warning(self) -> DataWarning | None:
        """Why rows may be missing, and what to do."""
        doubt = DOUBTS.get(self.doubt or "")
        return doubt and DataWarning(f"{doubt[0]}, so there may be more stocks: {doubt[1]}")

    def wants(self, pages: int) -> bool:
        """Whether this many pages after the latest are likely to have a row that is wanted."""
        return self._rest is None or pages * self._first_rows < self._rest

    def receive(self, outcome: Outcome) -> None:
        """Evaluates what the request that is ``due`` returned."""
        if self._is_torn:
            raise CallCancelledError("reading a page was interrupted: start the search again")
        self._is_torn = True  # until the outcome is evaluated completely
        try:
            self.due = self._rules.send(outcome)
        except StopIteration as end:
            self.ended = end.value
        except TradingDataError as error:
            self.ended, self.error = "error", error
        self._is_torn = False

    def _pages(self, start: int, *, may_shrink: bool) -> Generator[PageRequest, Outcome, str]:
        """Yields one request after the other, is sent its outcome, and returns why it ended."""
        requested = self.limit  # of the first request that was not refused
        contents: set[bytes] = set()  # of the rows accepted so far
        stocks: set[int] = set()
        last_page: list[bytes] = []  # the contents of the latest page
        last_was_full = True  # as far as is known
        stale_run = empty_run = 0  # pages without a new stock, and without a row, up to the latest
        read = 0  # pages with rows that were kept
        number = start
        while True:
            outcome = yield PageRequest(number, self.limit)
            if isinstance(outcome, TradingDataError):
                refused = outcome.status_code in _WRONG_SIZE
                # Only page 1 starts at the same row whatever the page size.
                if refused and may_shrink and start == number == 1 and self.limit != SERVICE_SIZE:
                    self.limit = requested = SERVICE_SIZE
                    continue
                if refused and number == start + 1 and self.limit < requested:
                    # Either there is no page 2, or the service rejects the length of page 1.
                    probe = yield PageRequest(1, self.limit)
                    if not isinstance(probe, TradingDataError):
                        break
                    if probe.status_code in _WRONG_SIZE:
                        self._suspect("refused size")
                        self.limit = requested
                        continue
                    outcome = probe
                after_end = not last_was_full or empty_run > 0
                is_past_end = outcome.status_code == 404 or (
                    after_end and _means_no_such_page(outcome)
                )
                if not (contents and is_past_end):
                    raise outcome
            if isinstance(outcome, TradingDataError) or not len(outcome[0]):
                # After a page that was shorter than requested, it is the second sign of the end.
                # Otherwise it is the only one, and may be an error of the service: it is requested
                # again, and then the page behind it.
                empty_run += 1
                is_page_1 = not contents and start == 1
                if is_page_1 or not last_was_full or empty_run == _MOST_EMPTY:
                    break
                if empty_run == _MOST_EMPTY - 1:
                    number += 1
                continue

            keys = row_keys(outcome[0])
            known = [key.stock in stocks for key in keys]
            identical = [key.content in contents for key in keys]
            repeats_page_1 = number == start + 1 and len(keys) >= self._first_rows
            if contents and all(known) and repeats_page_1 and self._first_rows >= requested:
                raise _stuck(number)
            if all(identical):
                self.duplicates += len(keys)
                # A service without further rows may return its last page, a short one, once more.
                is_last_page = [key.content for key in keys] == last_page
                is_short = len(keys) < self._first_rows and self.limit == requested
                if not (is_last_page and is_short):
                    self._suspect("repeated page")
                return "repeated page"
            if any(known) or any(identical):
                self._suspect("moved rows")
            if empty_run == _MOST_EMPTY - 1:
                self._suspect("empty page")
            if contents and len(last_page) < max(self._first_rows, self.limit):
                self._suspect("short page")

            last_was_full = len(keys) >= self.limit
            if not contents:
                self._first_rows = len(keys)
                # A page of this size starts at the same row whether the service counts its offset
                # in pages as long as requested or as long as returned.
                if start == 1:
                    self.limit = min(self.limit, self._first_rows)
            self.full_run = self.full_run + 1 if len(keys) >= self.limit else 0
            last_page = [key.content for key in keys]
            contents.update(last_page)
            stocks.update(key.stock for key in keys)
            kept = [row for row, key in enumerate(keys) if not (key.has_code and identical[row])]
            self.duplicates += len(keys) - len(kept)
            if self._accept(number, outcome, kept):
                return "max_items"
            # A service that ignores `page`, with values that change, would never end.
            stale_run = stale_run + 1 if all(known) else 0
            if stale_run == _MOST_STALE:
                return "repeated page"
            read, number, empty_run = read + 1, number + 1, 0
        if read == 1:
            self.limit = requested  # page 1 has all rows, and shows no shorter pages
        return "empty page"

    def _accept(self, number: int, received: tuple[Any, ...], kept: list[int]) -> bool:
        """Makes a page ready. Returns whether that was the last row that is wanted."""
        following, is_last = number + 1, False
        if self._rest is not None:
            is_last = len(kept) >= self._rest
            following -= len(kept) > self._rest
            del kept[self._rest :]
            self._rest -= len(kept)
        self.ready.append(Page(number, received, kept, following))
        return is_last

    def _suspect(self, reason: str) -> None:
        self.doubt = self.doubt or reason


def _means_no_such_page(error: TradingDataError) -> bool:
    """Whether a service may respond in this way to a page past its last one."""
    if isinstance(error, DecodeError):
        return error.body.strip() == "{}"
    return error.status_code in _PAST_END


def _stuck(page: int) -> PaginationError:
    return PaginationError(
        f"page {page} of the search repeats the rows of page {page - 1}, so the service seems to "
        "ignore `page` and later rows cannot be read: narrow the query, or pass a larger "
        "`page_size`",
        page=page,
    )


class LocalPages:
    """The requests of one pass of a ``Client``, carried on the thread that waits."""

    def __init__(self, calls: Calls) -> None:
        self._port = _core.LocalPort(calls.core)
        self._on_retry = calls.retry_hook("Stock")
        self._ended: list[tuple[int, _core.Outcome]] = []

    def submit(self, query: str, request: PageRequest, timeout: float, *, ahead: bool) -> int:
        """Sends a request and returns its flight."""
        return self._port.submit_search(query, *request, timeout, ahead)

    def has_ended(self, flight: int) -> bool:
        """Whether the outcome of a flight is known."""
        return flight in dict(self._ended)

    def result(self, flight: int) -> tuple[Any, ...]:
        """Returns the result of a flight that has ended, once, or raises its error."""
        outcome = dict(self._ended)[flight]
        self._ended = [ended for ended in self._ended if ended[0] != flight]
        return outcome.result()

    def wait(self, flight: int) -> None:
        """Waits until a call has ended, or for a slice."""
        pump(self._port, self._ended, self._on_retry)

    def poll(self) -> None:
        """Moves on what is in flight."""
        pump(self._port, self._ended, self._on_retry, 0.0)

    def close(self) -> None:
        """Cancels all requests in flight.

        While another thread waits for them, this does nothing: that thread closes what it uses.
        """
        with suppress(ConfigurationError):
            self._port.close()


class LoopPages:
    """The requests of one pass of an ``AsyncClient``, carried by the worker of its event loop."""

    def __init__(self, calls: Any) -> None:
        self._ports = calls.ports
        self._on_retry = calls.retry_hook("Stock")
        self._loop: AbstractEventLoop | None = None
        self._flights: list[Future[_core.Outcome]] = []

    def submit(
        self, query: str, request: PageRequest, timeout: float, *, ahead: bool
    ) -> Future[_core.Outcome]:
        """Sends a request and returns its flight."""
        from asyncio import get_running_loop

        self._loop = get_running_loop()
        port = self._ports.of(self._loop)
        call = port.worker.submit_search(query, *request, timeout, ahead)
        flight: Future[_core.Outcome] = port.watch(call, self._on_retry)
        self._flights = [flight, *(other for other in self._flights if not other.done())]
        return flight

    def has_ended(self, flight: Future[_core.Outcome]) -> bool:
        """Whether the outcome of a flight is known."""
        return flight.done()

    def result(self, flight: Future[_core.Outcome]) -> tuple[Any, ...]:
        """Returns the result of a flight that has ended, or raises its error."""
        return flight.result().result()

    async def wait(self, flight: Future[_core.Outcome]) -> None:
        """Waits until a flight has ended. Cancelling this leaves it in flight."""
        from asyncio import wait

        await wait([flight])

    def poll(self) -> None:
        """The worker moves them on by itself."""

    def close(self) -> None:
        """Cancels all requests in flight, from any thread."""
        if self._loop is None:
            return
        from asyncio import _get_running_loop

        if self._loop is _get_running_loop():
            return self._cancel()
        with suppress(RuntimeError):  # the loop has been closed meanwhile
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        for flight in self._flights:
            flight.cancel()


class Sent(NamedTuple):
    """A request in flight."""

    flight: Any
    half_time: float  # when half of its time has passed, by time.monotonic
    ahead: bool  # for a page after the one that is read next


class SearchPass:
    """One pass over a search, for one reader at a time.

    Whatever interrupts it (an error, Ctrl-C, a cancelled task), the next call goes on where it was,
    or raises the error of the page again: an interruption never looks like the end. For that, a
    page stays in ``paging.ready`` until one statement hands it over.

    Attributes:
        paging: The rules.
        page: The first page not yet yielded completely.
        pages: Number of pages yielded.
        items: Number of their rows.
        requests: Number of requests sent.
    """

    def __init__(
        self,
        calls: Calls,
        query: str,
        paging: Paging,
        port: LocalPages | LoopPages,
        prefetch: int,
        timeout: float | None,
        until: float | None,
        bar: Any,
    ) -> None:
        self._calls = calls
        self._query = query
        self.paging = paging
        self._port: Any = port
        self._prefetch = prefetch
        self._timeout = timeout
        self._until = until
        self._bar = bar
        self.page = self._following = self._latest = paging.due.page
        self.pages = self.items = self.requests = 0
        self._in_flight: dict[PageRequest, Sent] = {}
        self._received: dict[int, StockList | bytes] = {}  # by page; old ones are packed
        self._unread: StockList | None = None  # the latest page, until it is read row by row
        self._rows: Iterator[Stock] = iter(())  # of the page that is read row by row
        self._warned = self._closed = False
        self._turn: dict[str, object] = {}  # identifies the reader that is waiting, if any

    def next_page(self) -> Plan[StockList | None]:
        """The plan of the next page; returns None at the end."""
        turn = object()
        try:
            if self._turn.setdefault("reader", turn) is not turn:
                raise ConfigurationError(
                    "another thread or task is reading this search: iterate once for each of them"
                )
            if not (yield from self._is_ready()):
                self.close()
                self._turn = {}
                return None
            page, *rest = self.paging.ready
            stocks, number, following = self._stocks_of(page), page.number, page.following
            pages, items = self.pages + 1, self.items + len(stocks)
            # One statement without a call, so that no interrupt comes between.
            self.paging.ready, self._received[number], self._unread, self._latest, self._turn = (
                rest, stocks, stocks, number, {}
            )  # fmt: skip
            self.page, self._following, self.pages, self.items = following, following, pages, items
        except BaseException:
            if self._turn.get("reader") is turn:
                self._turn = {}
            raise
        return stocks

    def next_row(self) -> Plan[Stock | None]:
        """The plan of the next stock; returns None at the end."""
        while not self._closed:
            for row in self._rows:  # an interrupt could come between next() and the return
                return row
            if self._unread is None:
                self.page = self._following
                if (yield from self.next_page()) is None:
                    return None
            self.page = self._latest
            self._rows, self._unread = iter(self._unread or ()), None
        return None

    def close(self) -> None:
        """Cancels the requests in flight; there are no more pages."""
        self._closed = True
        self._port.close()
        self._bar.close()
        self._received.clear()

    def _is_ready(self) -> Plan[bool]:
        """Waits until a page is ready; returns whether there is one."""
        waiting_since = time.monotonic()
        paging = self.paging
        try:
            while not (self._closed or self._evaluate(waiting_since) or paging.ended):
                self._send()
                if not self._closed:
                    yield self._port.wait(self._in_flight[paging.due].flight)
            if not paging.ready and paging.error is not None:
                raise copy(paging.error)  # its traceback would refer to this pass
        except TradingDataError as error:
            if self._closed:  # meanwhile, by another thread
                return False
            raise self._failed(error) from None
        if paging.ended:
            self._port.close()  # what is still in flight is not needed
        elif self._prefetch:
            with suppress(TradingDataError, MemoryError):  # must not cost the page that is ready
                self._send(taking=1)
                self._port.poll()
        if (warning := paging.warning) is not None and not self._warned:
            self._warned = True
            warn_user(warning)  # may be an error: the next call goes on
        return bool(paging.ready) and not self._closed

    def _evaluate(self, waiting_since: float) -> bool:
        """Evaluates what has arrived, page by page; returns whether a page is ready."""
        paging = self.paging
        while not paging.ended:
            sent = self._in_flight.get(paging.due)
            if sent is None or not self._port.has_ended(sent.flight):
                break
            request = paging.due
            del self._in_flight[request]
            try:
                outcome: Outcome = self._port.result(sent.flight)
            except TradingDataError as error:
                # It is requested again if it failed for a reason of ours: the requests before it
                # left no room for it under the rate limit, or its time passed while nobody waited.
                is_ours = sent.half_time < waiting_since or (sent.ahead and error.attempts == 0)
                if error.passing and is_ours:
                    break
                error.args = (f"page {request.page}: {error}",)
                outcome = error.with_traceback(None)
            paging.receive(outcome)
        return bool(paging.ready)

    def _send(self, taking: int = 0) -> None:
        """Sends the request that is due, and those ahead of it that full pages promise."""
        paging = self.paging
        room = max(self._prefetch, 1) - (len(paging.ready) - taking)
        for ahead in range(min(room, max(paging.full_run, 1))):
            request = paging.due._replace(page=paging.due.page + ahead)
            if request in self._in_flight or not paging.wants(ahead):
                continue
            timeout = self._time_left()
            flight = self._port.submit(self._query, request, timeout, ahead=ahead > 0)
            self._in_flight[request] = Sent(flight, time.monotonic() + timeout / 2, ahead > 0)
            self.requests += 1

    def _time_left(self) -> float:
        """Seconds for the next page."""
        seconds: float = self._calls.budget(self._timeout)
        if self._until is None:
            return seconds
        left = self._until - time.monotonic()
        if left <= 0:
            raise DeadlineError(
                "the deadline passed before the search ended: pass a longer `timeout`"
            )
        return min(left, seconds)

    def _stocks_of(self, page: Page) -> StockList:
        table, status, _, elapsed, *_ = page.received
        self._calls.log_end("Stock", elapsed, status)
        response = Response(table, self._calls.account, *page.received[1:])
        stocks = StockList._received(table, response)
        if len(page.rows) != len(stocks):
            stocks = stocks._part(table.take(page.rows))
        # Only long searches get here: an error's `received` has the old pages, too.
        number = page.number - max(_UNPACKED // self.paging.limit, 1)
        old = self._received.get(number)
        if isinstance(old, StockList):
            self._received[number] = _packed(old)
        self._bar.update(len(stocks))
        return stocks

    def _failed(self, error: TradingDataError) -> TradingDataError:
        """Adds to an error the stocks received before it, and where to resume."""
        if error.received is not None:  # raised before
            return error
        error.account = self._calls.account
        error.received = concat([StockList(), *map(_unpacked, self._received.values())])
        if error.page is None:
            error.page = self._following
        if self._received and not isinstance(error, PaginationError):
            error.page_size = self.paging.limit
            error.add_note(
                f"`error.received` has the {counted(len(error.received), 'stock')} before it; "
                f"resume with start_page={error.page}, page_size={error.page_size}"
            )
        self._calls.log_end("Stock", error.elapsed, error)
        if self.paging.ended:
            self._port.close()
            self._bar.close()
        return error


def _packed(stocks: StockList) -> bytes:
    import pickle
    import zlib

    return zlib.compress(pickle.dumps(stocks._rows), 1)


def _unpacked(stocks: StockList | bytes) -> StockList:
    import pickle
    import zlib

    if isinstance(stocks, StockList):
        return stocks
    return StockList()._part(pickle.loads(zlib.decompress(stocks)))
