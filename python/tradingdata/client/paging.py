"""Joins the pages of a search into one list without losing a row silently.

A reader may be interrupted between any two steps, so each decision is stored before the next step:
reading on continues from what is stored, and needs no account of what was interrupted.

``Paging`` has the rules, one generator that is sent what the service returned for the page that is
due. It performs no I/O and has no clock. ``SearchPass`` sends the requests, some of them ahead of
its reader, and yields the pages in order; it is a plan (see ``waiting``) for both clients.

The service documents neither its largest page nor how a list ends, so only rows decide.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from .._util.declarations import kinds_of
from .._util.optional_imports import progress_bar
from .._util.validate import count, flag, seconds, words
from ..books.book import StockList, concat
from ..books.response import Received, Response
from ..display import counted
from ..errors import (
    CallCancelledError,
    ConfigurationError,
    DataWarning,
    DeadlineError,
    DecodeError,
    PaginationError,
    TradingDataError,
    warn_user,
)
from .calls import BaseClient

if TYPE_CHECKING:
    from .._core import Slice
    from .._util.waiting import Plan
    from ..table.rows import Stock

_TAKES = "a company name, an NSE symbol or a BSE code"
DEFAULT_SIZE = 100  # of a page, the wire's `limit`
SERVICE_SIZE = 10  # the service's own default
MOST_PREFETCH = 100
LAST_PAGE = 2**53  # to start with
_MOST_STALE = 2  # pages in a row without a new stock, after which a search ends
_MOST_EMPTY = 3  # empty responses in a row, after which a search ends: twice a page, then the next
_WRONG_SIZE = (400, 422)
_PAST_END = (204, 400, 422)  # behind a page that may be the last; 404 is behind any
_FIELDS = list(kinds_of("Stock"))
_LONGEST_SHOWN = 60  # characters of a query or an identifier in a message
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")

# The fields that identify a stock, in order of precedence.
KINDS = {"nsesymbol": "NSE symbol", "bsecode": "BSE code", "isin": "ISIN"}

_MORE = "so there may be more stocks:"
_SMALLER = f"{_MORE} read again with a smaller `page_size`"

# Why a result may be incomplete, and what to do.
DOUBTS = {
    "repeated page": "the search ended with a page of rows that were all on earlier pages; the "
    f"service may limit how many rows can be reached, {_MORE} narrow the query",
    "short page": f"a page was shorter than requested although more rows followed, {_SMALLER}",
    "empty page": f"a page was empty although more rows followed, {_MORE} read again",
    "refused size": "the service returned a shorter page than requested, then rejected that page "
    f"size, {_SMALLER}",
    "moved rows": "stocks came again on later pages because the list was changing, "
    f"{_MORE} read again",
}

# What a request returned: a table of stocks and facts of the response, or its error.
Outcome = Received | TradingDataError


class PageRequest(NamedTuple):
    """The ``page`` and the ``limit`` of a request."""

    page: int
    limit: int


class Page(NamedTuple):
    """A page to yield: what its request returned, and the positions of the rows to keep."""

    number: int
    received: Received
    rows: list[int]
    following: int  # the page to resume from after it


class RowKeys(NamedTuple):
    """A row as it is compared with the rows of other pages, which need not be kept for that."""

    stock: int  # a hash of what identifies the stock
    content: bytes  # a digest of every value, unknown fields included
    has_code: bool


def row_keys(rows: Slice) -> list[RowKeys]:
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
        page: The page that is evaluated and was not yielded yet.
        is_full: Whether the latest page was full, so that there may be more behind it.
        ended: Why there are no more pages, or None while there may be more.
        error: The error that ended the search.
        doubt: Why there may be rows that were not read, a key of ``DOUBTS``; else None.
        duplicates: Number of rows dropped.
    """

    def __init__(self, page_size: int | None, start_page: int, max_items: int | None) -> None:
        self.limit = DEFAULT_SIZE if page_size is None else page_size
        self.page: Page | None = None
        self.is_full = False
        self.duplicates = self._first_rows = 0
        self.ended: str | None = "max_items" if max_items == 0 else None
        self.doubt: str | None = None
        self.error: TradingDataError | None = None
        self._rest = sys.maxsize if max_items is None else max_items
        self._rules = self._pages(start_page, may_shrink=page_size is None)
        next(self._rules)

    @property
    def warning(self) -> DataWarning | None:
        """Why rows may be missing, and what to do."""
        return None if self.doubt is None else DataWarning(DOUBTS[self.doubt])

    def wants(self, pages: int) -> bool:
        """Whether this many pages after the latest are likely to have a row that is wanted."""
        return pages * self._first_rows < self._rest

    def receive(self, outcome: Outcome) -> None:
        """Evaluates what the request that is ``due`` returned."""
        try:
            self._rules.send(outcome)
        except StopIteration as end:
            if end.value is None:  # an interrupt in the rules has ended them
                raise CallCancelledError(
                    "reading a page was interrupted: start the search again"
                ) from None
            self.ended = end.value
        except TradingDataError as error:
            self.ended, self.error = "error", error

    def _pages(self, start: int, *, may_shrink: bool) -> Generator[None, Outcome, str]:
        """Makes one request after the other due, is sent its outcome, and returns why it ended."""
        requested = self.limit  # of the first request that was not refused
        contents: set[bytes] = set()  # of the rows accepted so far
        stocks: set[int] = set()
        last_page: list[bytes] = []  # the contents of the latest page
        last_was_full = True  # as far as is known
        stale_run = empty_run = 0  # pages without a new stock, and without a row, up to the latest
        number = start
        while True:
            self.due = PageRequest(number, self.limit)
            outcome = yield
            if isinstance(outcome, TradingDataError):
                refused = outcome.status_code in _WRONG_SIZE
                # Only page 1 starts at the same row whatever the page size.
                if refused and may_shrink and start == number == 1 and self.limit != SERVICE_SIZE:
                    self.limit = requested = SERVICE_SIZE
                    continue
                if refused and number == start + 1 and self.limit < requested:
                    # Either there is no page 2, or the service rejects the length of page 1.
                    self.due = PageRequest(1, self.limit)
                    probe = yield
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
            self.is_full = len(keys) >= self.limit
            last_page = [key.content for key in keys]
            contents.update(last_page)
            stocks.update(key.stock for key in keys)
            kept = [row for row, key in enumerate(keys) if not (key.has_code and identical[row])]
            self.duplicates += len(keys) - len(kept)
            following = number + (len(kept) <= self._rest)
            del kept[self._rest :]
            self._rest -= len(kept)
            self.page = Page(number, outcome, kept, following)
            if not self._rest:
                return "max_items"
            # A service that ignores `page`, with values that change, would never end.
            stale_run = stale_run + 1 if all(known) else 0
            if stale_run == _MOST_STALE:
                return "repeated page"
            number, empty_run = number + 1, 0
        if number == start + 1:
            self.limit = requested  # page 1 has all rows, and shows no shorter pages
        return "empty page"

    def _suspect(self, reason: str) -> None:
        self.doubt = self.doubt or reason


def _means_no_such_page(error: TradingDataError) -> bool:
    """Whether a service may respond in this way to a page past its last one."""
    is_empty = isinstance(error, DecodeError) and error.body.strip() == "{}"
    return is_empty or error.status_code in _PAST_END


def _stuck(page: int) -> PaginationError:
    return PaginationError(
        f"page {page} of the search repeats the rows of page {page - 1}, so the service seems to "
        "ignore `page` and later rows cannot be read: narrow the query, or pass a larger "
        "`page_size`",
        page=page,
    )


def as_listed(text: str) -> str:
    """Returns text as the exchanges write names: without accents, full width and extra spaces."""
    plain = _ACCENTS.sub("", normalize("NFKD", text))
    return " ".join(normalize("NFKC", plain).split())


def short_repr(text: str) -> str:
    """Returns the repr of a query or an identifier, shortened for a message."""
    fits = len(text) <= _LONGEST_SHOWN
    return repr(text if fits else text[: _LONGEST_SHOWN - 3] + "...")


class SearchOptions(NamedTuple):
    """The arguments of ``search``."""

    query: str
    page_size: int | None = None
    start_page: int = 1
    max_items: int | None = None
    prefetch: int = 1
    progress: bool = False
    timeout: float | None = None

    def checked(self) -> SearchOptions:
        """Returns the options with valid values; raises an error that names the option."""
        query = as_listed(words("query", self.query, takes=_TAKES))
        if "\0" in query:
            raise ConfigurationError("query contains a NUL character: remove it")
        return SearchOptions(
            query,
            None if self.page_size is None else count("page_size", self.page_size),
            count("start_page", self.start_page, most=LAST_PAGE),
            None if self.max_items is None else count("max_items", self.max_items, least=0),
            count("prefetch", self.prefetch, least=0, most=MOST_PREFETCH),
            flag("progress", self.progress),
            None if self.timeout is None else seconds("timeout", self.timeout),
        )


class Sent(NamedTuple):
    """A request in flight."""

    flight: Any  # what the client's flights know it by
    half_time: float  # when half of its time has passed, by time.monotonic
    ahead: bool  # for a page after the one that is read next


class SearchPass:
    """One pass over a search, for one reader at a time.

    Whatever interrupts it (an error, Ctrl-C, a cancelled task), the next call goes on where it was,
    or raises the error of the page again: an interruption never looks like the end. For that, a
    page stays in ``paging.page`` until statements without a call yield it.

    Attributes:
        paging: The rules.
        page: The first page not yet yielded completely.
        pages: Number of pages yielded.
        items: Number of their rows.
        requests: Number of requests sent.
    """

    def __init__(
        self, client: BaseClient[Any], options: SearchOptions, within: float = math.inf
    ) -> None:
        self._client = client
        self._options = options
        self._until = time.monotonic() + within
        self._flights = client._flights("Stock")
        self.paging = Paging(options.page_size, options.start_page, options.max_items)
        title = f"search {short_repr(options.query)}"
        self._bar = progress_bar(title, "stocks", enabled=options.progress)
        self.page = self._following = options.start_page
        self.pages = self.items = self.requests = 0
        self._in_flight: dict[PageRequest, Sent] = {}
        self._received: dict[int, StockList] = {}  # the pages yielded, for an error
        self._rows: Iterator[Stock] = iter(())  # of the latest page, for a reader of rows
        self._warned = self._closed = False
        self._turn: dict[str, object] = {}  # identifies the reader that is waiting, if any

    def next_page(self, *, by_row: bool = False) -> Plan[StockList | None]:
        """The plan of the next page; returns None at the end."""
        turn = object()
        try:
            if self._turn.setdefault("reader", turn) is not turn:
                raise ConfigurationError(
                    "another thread or task is reading this search: iterate once for each of them"
                )
            page = yield from self._evaluated()
            if page is None:
                self.close()
                self._turn = {}
                return None
            stocks = self._stocks_of(page)
            rows, items = iter(stocks), self.items + len(stocks)
            kept = stocks._taken(list(range(len(stocks))))  # without the response
            # No interrupt comes between these, since they call nothing.
            self.paging.page, self._received[page.number], self._rows = None, kept, rows
            self.pages, self.items, self._following = self.pages + 1, items, page.following
            self.page, self._turn = page.number if by_row else page.following, {}
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
            self.page = self._following
            yield from self.next_page(by_row=True)
        return None

    def close(self) -> None:
        """Cancels the requests in flight; there are no more pages."""
        self._closed = True
        self._flights.close()
        self._bar.close()
        self._received.clear()

    def _evaluated(self) -> Plan[Page | None]:
        """Waits until a page is evaluated; returns None at the end."""
        waiting_since = time.monotonic()
        paging = self.paging
        try:
            while not (self._closed or paging.page or paging.ended):
                sent = self._in_flight.get(paging.due)
                if sent is None:
                    self._send()
                elif self._flights.has_ended(sent.flight):
                    self._receive(sent, waiting_since)
                else:
                    yield self._flights.wait(sent.flight)
            if paging.page is None and paging.error is not None:
                raise copy(paging.error)  # its traceback would refer to this pass
        except TradingDataError as error:
            if self._closed:  # meanwhile, by another thread
                return None
            raise self._failed(error) from None
        if paging.ended:
            self._flights.close()  # what is still in flight is not needed
        elif self._options.prefetch:
            with suppress(TradingDataError, MemoryError):  # must not cost the page that is ready
                self._send()
                self._flights.poll()
        if (warning := paging.warning) is not None and not self._warned:
            self._warned = True
            warn_user(warning)  # may be an error: the next call goes on
        return None if self._closed else paging.page

    def _receive(self, sent: Sent, waiting_since: float) -> None:
        """Evaluates what the request that is due returned."""
        request = self.paging.due
        del self._in_flight[request]
        try:
            received = self._flights.result(sent.flight)
        except TradingDataError as error:
            # It is requested again if it failed for a reason of ours: the requests before it left
            # no room for it under the rate limit, or its time passed while nobody waited.
            is_ours = sent.half_time < waiting_since or (sent.ahead and error.attempts == 0)
            if error.passing and is_ours:
                return
            error.args = (f"page {request.page}: {error}",)
            self.paging.receive(error.with_traceback(None))
        else:
            _, status, _, elapsed, *_ = received
            self._client._log_end("Stock", elapsed, status)
            self.paging.receive(received)

    def _send(self) -> None:
        """Sends the request that is due and, behind a full page, those ahead of it."""
        paging = self.paging
        for ahead in range(max(self._options.prefetch, 1) if paging.is_full else 1):
            request = paging.due._replace(page=paging.due.page + ahead)
            if request in self._in_flight or not paging.wants(ahead):
                continue
            timeout = self._time_left()
            flight = self._flights.search(self._options.query, *request, timeout, ahead=ahead > 0)
            self._in_flight[request] = Sent(flight, time.monotonic() + timeout / 2, ahead > 0)
            self.requests += 1

    def _time_left(self) -> float:
        """Seconds for the next page."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise DeadlineError(
                "the deadline passed before the search ended: pass a longer `timeout`"
            )
        return min(left, self._client._budget(self._options.timeout))

    def _stocks_of(self, page: Page) -> StockList:
        table, *_ = page.received
        response = Response(table, self._client.account, *page.received[1:])
        stocks = StockList._received(table, response)
        if len(page.rows) != len(stocks):
            stocks = stocks._taken(page.rows)
        self._bar.update(len(stocks))
        return stocks

    def _failed(self, error: TradingDataError) -> TradingDataError:
        """Adds to an error the stocks received before it, and where to resume."""
        error.account = self._client.account
        error.received = concat([StockList(), *self._received.values()])
        if error.page is None:
            error.page = self._following
        if self._received and not isinstance(error, PaginationError):
            error.page_size = self.paging.limit
            error.add_note(
                f"`error.received` has the {counted(len(error.received), 'stock')} before it; "
                f"resume with start_page={error.page}, page_size={error.page_size}"
            )
        self._client._log_end("Stock", error.elapsed, error)
        if self.paging.ended:
            self._flights.close()
            self._bar.close()
        return error
