"""One pass over the pages of a search: counts, warnings, context of errors, requests in flight.

Also the exports of a search: the methods of ``StockList`` after reading all pages. Invalid
arguments raise before the first request: an empty list is exported first, to no file.
"""

from __future__ import annotations

import time
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, Protocol, TypeVar

from .. import _core
from .._util.files import target_of
from .._util.warn import warn_user
from ..books.book import StockList, concat
from ..books.response import Response
from ..errors import DataWarning, DeadlineError, PaginationError, TradingDataError

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Coroutine

    from .._util.plans import Plan
    from .base import AnyClient

    Options = ParamSpec("Options")
    Result = TypeVar("Result")

    class _AsyncReadable(Protocol):
        async def all(self) -> StockList: ...


_SMALLER = "read again with a smaller `page_size`"

# Why a result may be incomplete, and what to do, by the core's name for the reason.
DOUBTS = {
    "repeated page": (
        "the search ended with a page of rows that were all on earlier pages; the service may "
        "limit how many rows can be reached",
        "read again with `all(confirm=True)`, or narrow the query",
    ),
    "short page": (
        "a page was shorter than requested although more rows followed",
        _SMALLER,
    ),
    "refused size": (
        "the service returned a shorter page than requested, then rejected that page size",
        _SMALLER,
    ),
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

    def __init__(
        self,
        client: AnyClient,
        run: _core.Search | _core.SearchRun,
        until: float | None,
    ) -> None:
        self._client = client
        self._run = run
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
        if found is None:
            return None
        return DataWarning(f"{found[0]}, so there may be more stocks: {found[1]}")

    def next_page(self, wait: Callable[[], Any]) -> Plan[StockList | None]:
        """The plan of the next page, which is about to be yielded; returns None at the end.

        Duplicates that the core found are dropped. ``wait`` returns what the core received.
        """
        try:
            self._bound_time()
            found: tuple[Any, ...] | None = yield wait()
        except TradingDataError as error:
            raise self._failed(error) from None
        self.state = self._run.state()
        if self.doubt is not None and not self._warned:
            self._warned = True
            warn_user(self.doubt)
        if found is None:
            return None
        table, status, _, elapsed, _, number, rows, _ = found
        self.page = self.current = number
        self._client._log_end("Stock", elapsed, status)
        page = StockList._received(table, Response(table, self._client.account, *found[1:5]))
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
        self._run.set_timeout(left)

    def _failed(self, error: TradingDataError) -> TradingDataError:
        """Adds to an error the stocks received before it, and where to resume."""
        self.state = self._run.state()
        error.account = self._client.account
        error.received = concat([StockList(), *self._received])
        if error.page is None:
            error.page = self.page
        if self._received and not isinstance(error, PaginationError):
            error.page_size = self.state["page_size"]
            error.add_note(
                f"the {len(error.received):,} stocks before it are in the error's .received; "
                f"resume with start_page={error.page}, page_size={error.page_size}"
            )
        self._client._log_end("Stock", error.elapsed, error)
        return error


class PagesInFlight:
    """The requests of one pass, on its event loop; to be closed when the pass ends."""

    def __init__(
        self,
        client: AnyClient,
        run: _core.SearchRun,
        on_retry: Callable[[int, str, float], None],
        prefetches: bool,
    ) -> None:
        self._client: Any = client
        self._port: Any = None
        self._run = run
        self._on_retry = on_retry
        self._prefetches = prefetches
        self._flights: dict[int, Future[_core.Outcome]] = {}

    async def next(self) -> tuple[Any, ...] | None:
        """Returns the next page, or None at the end."""
        from asyncio import FIRST_COMPLETED, get_running_loop, wait

        if self._port is None:
            self._port = self._client._ports.of(get_running_loop())
        while True:
            found: tuple[Any, ...] | None = self._run.take()
            if found is None and self._run.done:
                return None
            if found is None or self._prefetches:
                self._send()
            for call in self._run.surplus():
                self._cancel(self._flights.pop(call))
            if found is not None:
                return found
            arrived, _ = await wait(self._flights.values(), return_when=FIRST_COMPLETED)
            for call in [call for call, flight in self._flights.items() if flight in arrived]:
                self._run.deliver(self._flights.pop(call).result())

    def _send(self) -> None:
        for call in self._run.submit(self._port.worker):
            self._flights[call] = self._port.watch(call, self._on_retry)

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


def of_all(export: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the method of a pager that exports all stocks of its search."""

    @wraps(export)
    def run(pager: Any, /, *args: Any, **kwargs: Any) -> Any:
        _check_arguments(export, args, kwargs)
        return export(pager.all(), *args, **kwargs)

    return run


def of_all_async(
    export: Callable[Concatenate[StockList, Options], Result],
) -> Callable[Concatenate[_AsyncReadable, Options], Coroutine[Any, Any, Result]]:
    """Returns the method of an async pager that exports all stocks of its search."""

    @wraps(export)
    async def run(
        pager: _AsyncReadable, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Result:
        _check_arguments(export, args, kwargs)
        return export(await pager.all(), *args, **kwargs)

    run.__doc__ = (
        f"Reads all pages of the search and exports them; see ``StockList.{export.__name__}``.\n\n"
        "Invalid arguments raise before the first request."
    )
    return run


def _check_arguments(export: Callable[..., object], args: Any, kwargs: Any) -> None:
    from inspect import signature

    given = signature(export).bind(StockList(), *args, **kwargs).arguments
    stocks = given.pop("self")
    path = given.pop("path", None)
    if path is None:
        export(stocks, **given)
        return
    target_of(path, overwrite=given.pop("overwrite", False))
    if export.__name__ in ("to_csv", "to_json"):
        export(stocks, **given)
    else:
        stocks._selection(given.get("columns"), extra=given.get("extra", False))
