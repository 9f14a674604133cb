"""State of one pass over the pages of a search: counts, warnings and the context of errors."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from ..books.book import StockList, concat
from ..books.response import response_of
from ..errors import DataWarning, DeadlineError, PaginationError, TradingDataError
from .call_log import log_end, log_retry

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import _core
    from .base import ClientBase

# Why a result may be incomplete, and the hint, by the core's name for the reason.
DOUBTS = {
    "repeated page": (
        "the search ended with a full page of rows that were all on earlier pages; the service may "
        "limit how many rows can be reached",
        "confirm",
    ),
    "short page": (
        "a page was shorter than requested although more rows followed",
        "smaller_pages",
    ),
    "rows behind": (
        "an empty page ended the search although rows follow it",
        "smaller_pages",
    ),
    "unchecked end": (
        "an empty page ended the search, and the request that checks the next page failed",
        "confirm",
    ),
    "refused size": (
        "the service returned a shorter page than requested, then rejected that page size",
        "smaller_pages",
    ),
}


class SearchStats(NamedTuple):
    """Counts of the latest pass over a search.

    Attributes:
        pages: Pages yielded.
        items: Stocks yielded.
        duplicates: Rows dropped because an identical one was on an earlier page.
        requests: Pages requested, including those that check where the list ends. A retried request
            counts once.
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
        self._warned = False
        self.page: int = self._state["page"]  # the first that was not yielded completely
        self.current = self.page
        self.on_retry = log_retry("Stock", client.account, client._on_retry)

    @property
    def page_size(self) -> int:
        """The page size in use (the wire's ``limit``)."""
        size: int = self._state["page_size"]
        return size

    @property
    def stats(self) -> SearchStats:
        """The counts so far."""
        return SearchStats(*(self._state[name] for name in SearchStats._fields))

    @property
    def doubt(self) -> DataWarning | None:
        """Why rows may be missing, and what to do."""
        found = DOUBTS.get(self._state["doubt"])
        if found is None:
            return None
        return DataWarning(f"{found[0]}, so there may be more stocks", hint=found[1])

    def bound_time(self) -> None:
        """Limits the next page to the time left for all pages."""
        if self._until is None:
            return
        left = self._until - time.monotonic()
        if left <= 0:
            raise DeadlineError("the deadline passed before the search ended", hint="timeout")
        self._run.set_timeout(left)

    def page_of(self, found: tuple[Any, ...]) -> StockList:
        """Converts a page of the core, dropping the duplicates that the core found."""
        self._update()
        table, status, _, elapsed, _, number, rows, _ = found
        self.page = self.current = number
        account = self._client.account
        log_end("Stock", account, elapsed, status=status)
        response = response_of(found[:5], account)
        page = StockList._received(table, response, stacklevel=_levels_of_ours())
        if len(rows) != len(page):
            page = page._part(table.take(rows))
        return page

    def notify(self, page: StockList) -> object:
        """Calls ``on_page`` with the page, and returns its result."""
        return None if self._on_page is None else self._on_page(page)

    def yielded(self, page: StockList) -> None:
        """Records that this page is about to be yielded."""
        self._received.append(page)
        self.page = self._state["page"]

    def failed(self, error: TradingDataError) -> TradingDataError:
        """Adds to an error the stocks received before it, and where to resume."""
        self._state = self._run.state()
        error.account = self._client.account
        error.received = concat([StockList(), *self._received])
        if error.page is None:
            error.page = self.page
        if self._received and not isinstance(error, PaginationError):
            error.page_size = self.page_size
            error.add_note(
                f"the {len(error.received):,} stocks before it are in the error's .received; "
                f"resume with start_page={error.page}, page_size={self.page_size}"
            )
        log_end("Stock", self._client.account, error.elapsed, error=error)
        return error

    def ended(self) -> None:
        """Updates the counts at the end of the pass."""
        self._update()

    def _update(self) -> None:
        self._state = self._run.state()
        doubt = self.doubt
        if doubt is not None and not self._warned:
            self._warned = True
            warnings.warn(doubt, stacklevel=_levels_of_ours())


def _levels_of_ours() -> int:
    """Returns the ``stacklevel`` that makes a warning point to the user's line."""
    package = __name__.partition(".")[0]
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name != package and not name.startswith(f"{package}."):
            break
        level, frame = level + 1, frame.f_back
    return level
