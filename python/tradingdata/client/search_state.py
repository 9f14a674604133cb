"""One pass over the pages of a search: what becomes of each page, of an error, and of the end."""

from __future__ import annotations

import sys
import time
import warnings
from collections import namedtuple

from ..books.book import StockList, concat
from ..books.response import response_of
from ..errors import DataWarning, DeadlineError, PaginationError, TradingDataError
from .call_log import log_end, log_retry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NamedTuple

    from .. import _core
    from .base import ClientBase

    class _Counts(NamedTuple):
        pages: int
        items: int
        duplicates: int
        requests: int
        ended: str | None
        doubtful: bool
else:
    _Counts = namedtuple("SearchStats", "pages items duplicates requests ended doubtful")

DOUBT = (
    "the search ended with a full page of rows that had all come before; a service that limits "
    "what can be reached looks the same, so there may be more stocks"
)


class SearchStats(_Counts):
    """What the latest pass over a search has done so far.

    Attributes:
        pages: pages handed on.
        items: stocks handed on.
        duplicates: rows dropped since an identical one stood on an earlier page.
        requests: pages asked for; an attempt that was tried again counts once.
        ended: why it ended (``"empty page"``, ``"repeated page"``, ``"max_items"``, ``"error"``),
            or ``None`` while there may be more.
        doubtful: whether it ended with a repeated page that was as long as the first: all there is,
            unless the service gives fewer rows than asked and ignores ``page``, or counts pages up
            to some number only. A DataWarning says so too.
    """

    __slots__ = ()


class SearchPass:
    """How far one pass has come, and what its pages are made into."""

    def __init__(
        self,
        client: ClientBase[Any, Any],
        run: _core.Search | _core.SearchRun,
        on_page: Callable[[StockList], object] | None,
        until: float | None,
    ) -> None:
        self._client = client
        self._run = run
        self._on_page = on_page
        self._until = until
        self._state = run.state()
        self._received: list[StockList] = []
        self.page: int = self._state["page"]  # the first that was not handed on whole
        self.current = self.page
        self.on_retry = log_retry("Stock", client.account, client._on_retry)

    @property
    def page_size(self) -> int:
        """The ``limit`` that is sent."""
        size: int = self._state["page_size"]
        return size

    @property
    def stats(self) -> SearchStats:
        """What was done so far."""
        return SearchStats(*(self._state[name] for name in SearchStats._fields))

    def bound_time(self) -> None:
        """Leaves the next page the rest of the time that all pages have together."""
        if self._until is None:
            return
        left = self._until - time.monotonic()
        if left <= 0:
            raise DeadlineError("the time was up before the search had come to its end")
        self._run.set_timeout(left)

    def page_of(self, found: tuple[Any, ...]) -> StockList:
        """The page as the core found it, without the rows that it says came before."""
        self._state = self._run.state()
        table, status, _, elapsed, _, number, rows, _ = found
        self.page = self.current = number
        account = self._client.account
        log_end("Stock", account, elapsed, status=status)
        response = response_of(found[:5], account)
        page = StockList._received(table, response, stacklevel=_levels_of_ours())
        if len(rows) != len(page):
            page = page._part(table.take(rows))
        return page

    def tell(self, page: StockList) -> object:
        """Shows ``on_page`` the page; what it returns."""
        return None if self._on_page is None else self._on_page(page)

    def hand_on(self, page: StockList) -> None:
        """The page is the reader's now."""
        self._received.append(page)
        self.page = self._state["page"]

    def failed(self, error: TradingDataError) -> TradingDataError:
        """The error, with what came before it and where to go on."""
        self._state = self._run.state()
        error.account = self._client.account
        error.received = concat([StockList(), *self._received])
        if error.page is None:
            error.page = self.page
        if self._received and not isinstance(error, PaginationError):
            error.add_note(
                f"the {len(error.received):,} stocks before it are in the error's .received; go on "
                f"with start_page={error.page}, page_size={self.page_size}"
            )
        log_end("Stock", self._client.account, error.elapsed, error=error)
        return error

    def ended(self) -> None:
        """Warns where that may not have been all."""
        self._state = self._run.state()
        if self._state["doubtful"]:
            warnings.warn(DOUBT, DataWarning, stacklevel=_levels_of_ours())


def _levels_of_ours() -> int:
    """The ``stacklevel`` for the caller of this, by which a warning points to the user's line."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name != package and not name.startswith(f"{package}."):
            break
        level, frame = level + 1, frame.f_back
    return level
