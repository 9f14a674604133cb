"""The rules that join the pages of a search into one list without losing a row silently.

A state machine: it says which page to request next, takes responses in any order and returns pages
in order. It performs no I/O and has no clock. The service documents neither its largest page nor
how a list ends, so only rows decide.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from .._util.declarations import kinds_of
from ..errors import DataWarning, DecodeError, PaginationError, TradingDataError
from .lookup import KINDS

if TYPE_CHECKING:
    from .. import _core

DEFAULT_SIZE = 100  # of a page, the wire's `limit`
SERVICE_SIZE = 10  # the service's own default
MOST_PREFETCH = 100
LAST_PAGE = 2**53  # to start with
_MOST_STALE = 2  # pages in a row without a new stock, after which a search ends
_MOST_EMPTY = 3  # empty responses in a row, after which a search ends: twice a page, then the next
_WRONG_SIZE = (400, 422)
_PAST_END = (204, 400, 404, 422)

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


class PageRequest(NamedTuple):
    """The ``page`` and the ``limit`` of a request."""

    page: int
    limit: int


class Page(NamedTuple):
    """A page in its turn: what its request returned, and the positions of the rows to yield."""

    number: int
    received: tuple[Any, ...]
    rows: list[int]


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
    """One pass over the pages of a search.

    Attributes:
        limit: The ``limit`` of the pages that are read.
        prefetch: Maximum number of pages requested and not yet taken; with 0, none is ahead.
        due: The request that everything else waits for.
        page: Where to resume: the next page to take, counted in pages of ``limit`` rows.
        ended: Why there are no more pages, or None while there may be more.
        doubt: Why there may be rows that were not read, a key of ``DOUBTS``; else None.
        taken: The page taken last, until its reader has it and sets this to None.
        pages: Number of pages taken.
        items: Number of rows taken.
        duplicates: Number of rows dropped.
        requests: Number of requests sent.
    """

    def __init__(
        self, page_size: int | None, start_page: int, max_items: int | None, prefetch: int
    ) -> None:
        self.limit = DEFAULT_SIZE if page_size is None else page_size
        self._may_shrink = page_size is None
        self._requested = self.limit  # of the first request that was not refused
        self._start = self.page = start_page
        self.due = PageRequest(start_page, self.limit)
        self._max_items = max_items
        self.prefetch = prefetch
        self.ended = "max_items" if max_items == 0 else None
        self.doubt: str | None = None
        self.pages = self.items = self.duplicates = self.requests = 0
        # Requests sent and not yet evaluated, with what they returned.
        self._requests: dict[PageRequest, tuple[Any, ...] | TradingDataError | None] = {}
        self._ready: list[tuple[Page, int]] = []  # with the number of rows dropped
        self.taken: Page | None = None
        self._error: TradingDataError | None = None
        self._contents: set[bytes] = set()  # of the rows accepted so far
        self._stocks: set[int] = set()
        self._accepted = 0  # rows ready or taken
        self._first_rows = 0  # on the first page
        self._last_page: list[bytes] = []  # the contents of the latest page
        self._last_was_full = True  # as far as is known
        self._full_run = 0  # full pages in a row, up to the latest
        self._stale_run = 0  # pages in a row without a new stock, up to the latest
        self._empty_run = 0  # empty responses in a row, up to the latest
        self._is_probe = False  # what is due only shows whether the service accepts the page size
        self._cut = False  # max_items left rows of the last page behind

    @property
    def warning(self) -> DataWarning | None:
        """Why rows may be missing, and what to do."""
        doubt = DOUBTS.get(self.doubt or "")
        return doubt and DataWarning(f"{doubt[0]}, so there may be more stocks: {doubt[1]}")

    # -- requests --

    def next_request(self) -> PageRequest | None:
        """Returns the next request to send, if one is due now; ``sent`` records it."""
        if self.ended:
            return None
        request = self.due
        while request in self._requests:
            request = request._replace(page=request.page + 1)
        return request if self._has_room_for(request) else None

    def _has_room_for(self, request: PageRequest) -> bool:
        # After a short page there is probably nothing, so only one page is requested there. Each
        # full one in a row earns another, so that at the end no more requests are wasted than
        # there were pages.
        ahead = request.page - self.due.page
        if len(self._ready) + ahead >= max(self.prefetch, 1) or ahead >= max(self._full_run, 1):
            return False
        expected = self._accepted + ahead * self._first_rows
        return self._max_items is None or expected < self._max_items

    def sent(self, request: PageRequest) -> None:
        """Records that a request was sent."""
        self._requests[request] = None
        self.requests += 1

    def forget(self, request: PageRequest) -> None:
        """Records that a request must be sent again."""
        self._requests.pop(request, None)

    # -- responses --

    def receive(self, request: PageRequest, received: tuple[Any, ...] | TradingDataError) -> None:
        """Takes what a request returned, a table of stocks first, or its error."""
        self._requests[request] = received
        while not self.ended and (outcome := self._requests.get(self.due)) is not None:
            del self._requests[self.due]
            if isinstance(outcome, TradingDataError):
                self._fail(outcome)
            elif self._is_probe:
                self._finish("empty page")  # page 2 was refused because it does not exist
            elif not len(outcome[0]):
                self._read_nothing()
            else:
                self._read(outcome)

    def _is_page_1(self) -> bool:
        return not self._contents and self._start == 1

    def _is_second(self) -> bool:
        return bool(self._contents) and self.due.page == self._start + 1

    def _fail(self, error: TradingDataError) -> None:
        """Only page 1 starts at the same row whatever the page size."""
        refused = error.status_code in _WRONG_SIZE
        after_end = not self._last_was_full or self._empty_run > 0
        if refused and self._is_page_1() and self._may_shrink and self.limit != SERVICE_SIZE:
            self._requested = self.limit = SERVICE_SIZE
            self.due = PageRequest(1, self.limit)
        elif refused and self._is_probe:
            self._is_probe = False
            self._suspect("refused size")
            self.limit = self._requested
            self.due = PageRequest(2, self.limit)
        elif refused and self._is_second() and self.limit < self._requested:
            self._is_probe = True
            self.due = PageRequest(1, self.limit)
        elif self._contents and (
            error.status_code == 404 or (after_end and _means_no_such_page(error))
        ):
            self._read_nothing()
        else:
            self._stop(error)

    def _read_nothing(self) -> None:
        """Evaluates an empty page.

        After a page that was shorter than requested, it is the second sign of the end. Otherwise it
        is the only one, and may be an error of the service: it is requested again, and then the
        page behind it.
        """
        self._empty_run += 1
        if self._is_page_1() or not self._last_was_full or self._empty_run == _MOST_EMPTY:
            self._finish("empty page")
        elif self._empty_run == _MOST_EMPTY - 1:
            self.due = self.due._replace(page=self.due.page + 1)

    def _read(self, received: tuple[Any, ...]) -> None:
        keys = row_keys(received[0])
        known = [key.stock in self._stocks for key in keys]
        identical = [key.content in self._contents for key in keys]
        stale = all(known)
        repeats_page_1 = self._is_second() and len(keys) >= self._first_rows
        if stale and repeats_page_1 and self._first_rows >= self._requested:
            return self._stop(_stuck(self.due.page))
        if all(identical):
            self.duplicates += len(keys)
            # A service without further rows may return its last page, a short one, once more.
            is_last_page = [key.content for key in keys] == self._last_page
            is_short = len(keys) < self._first_rows and self.limit == self._requested
            if not (is_last_page and is_short):
                self._suspect("repeated page")
            return self._finish("repeated page")
        if any(known) or any(identical):
            self._suspect("moved rows")
        if self._empty_run == _MOST_EMPTY - 1:
            self._suspect("empty page")
        self._empty_run = 0
        if self._contents and len(self._last_page) < max(self._first_rows, self.limit):
            self._suspect("short page")
        dropped = [key.has_code and same for key, same in zip(keys, identical, strict=True)]
        self._accept(received, keys, [row for row, drop in enumerate(dropped) if not drop])
        self._stale_run = self._stale_run + 1 if stale else 0
        # A service that ignores `page`, with values that change, would repeat its rows for ever.
        if self._stale_run == _MOST_STALE and not self.ended:
            self._finish("repeated page")

    def _accept(self, received: tuple[Any, ...], keys: list[RowKeys], rows: list[int]) -> None:
        self._last_page = [key.content for key in keys]
        self._last_was_full = len(keys) >= self.limit
        if not self._contents:
            self._first_rows = len(keys)
            # A page of this size starts at the same row whether the service counts its offset in
            # pages as long as requested or as long as returned.
            if self._start == 1:
                self.limit = min(self.limit, self._first_rows)
        self._full_run = self._full_run + 1 if len(keys) >= self.limit else 0
        self._contents.update(self._last_page)
        self._stocks.update(key.stock for key in keys)
        dropped = len(keys) - len(rows)
        if self._max_items is not None and len(rows) >= (room := self._max_items - self._accepted):
            self._cut = len(rows) > room
            del rows[room:]
            self._finish("max_items")
        self._accepted += len(rows)
        self._ready.append((Page(self.due.page, received, rows), dropped))
        self.due = PageRequest(self.due.page + 1, self.limit)

    def _suspect(self, reason: str) -> None:
        self.doubt = self.doubt or reason

    def _stop(self, error: TradingDataError) -> None:
        self._error = error
        self._finish("error")

    def _finish(self, end: str) -> None:
        if end == "empty page" and self.pages + len(self._ready) == 1:
            self.limit = self._requested  # page 1 has all rows, and shows no shorter pages
        self.ended = end
        self._requests.clear()
        self._contents.clear()
        self._stocks.clear()

    # -- pages --

    def take(self) -> Page | None:
        """Returns the next page in order, or None if there is none yet, or no more.

        It is the same one until ``taken`` is set to None: an interrupt must not lose it.

        Raises:
            TradingDataError: The error of the page whose turn has come, each time.
        """
        if self.taken is not None:
            return self.taken
        if not self._ready:
            if self._error is not None:
                raise copy.copy(self._error)  # its traceback would refer to this pass
            return None
        (page, dropped), *ready = self._ready
        following = page.number + (0 if self._cut and not ready else 1)
        items = self.items + len(page.rows)
        # One statement without a call, so that no interrupt comes between.
        self._ready, self.taken, self.page, self.pages, self.items, self.duplicates = (
            ready, page, following, self.pages + 1, items, self.duplicates + dropped
        )  # fmt: skip
        return page


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
