"""One pass over a search: its requests are sent through a port, and their outcomes taken from it.

Which page to request next, and where the list ends, is decided in ``paging``. The pass is a plan
(see ``plans``), written once for both clients; its requests are carried on the caller's thread or
by the worker of an event loop.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._util.warn import warn_user
from ..books.book import StockList, concat
from ..books.response import Response
from ..display.text import counted
from ..errors import (
    CallCancelledError,
    ConfigurationError,
    DeadlineError,
    PaginationError,
    TradingDataError,
)
from .calls import pump

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Future
    from collections.abc import Callable, Iterable

    from .._util.plans import Plan
    from ..table.rows import Stock
    from .calls import Calls
    from .paging import Page, PageRequest, Paging

    Arrival = tuple[int, Callable[[], tuple[Any, ...]]]  # a call, and its result or error


_UNPACKED = 3200  # stocks


class LocalPages:
    """The requests of one pass of a ``Client``, carried on the thread that waits."""

    def __init__(self, calls: Calls) -> None:
        self._port = _core.LocalPort(calls.core)
        self._on_retry = calls.retry_hook("Stock")
        self._outcomes: list[tuple[int, _core.Outcome]] = []

    def submit(self, query: str, request: PageRequest, timeout: float, *, ahead: bool) -> int:
        """Sends a request and returns the number of its call."""
        return self._port.submit_search(query, *request, timeout, ahead)

    def wait(self) -> None:
        """Waits until a call has ended, or for a slice."""
        pump(self._port, self._outcomes, self._on_retry)

    def poll(self) -> None:
        """Moves on what is in flight."""
        pump(self._port, self._outcomes, self._on_retry, 0.0)

    def arrived(self) -> Arrival | None:
        """Returns a call that has ended, with the function that returns its result or raises."""
        if not self._outcomes:
            return None
        call, outcome = self._outcomes.pop(0)
        return call, outcome.result

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
        self._flights: dict[int, Future[_core.Outcome]] = {}

    def submit(self, query: str, request: PageRequest, timeout: float, *, ahead: bool) -> int:
        """Sends a request and returns the number of its call."""
        from asyncio import get_running_loop

        self._loop = get_running_loop()
        port = self._ports.of(self._loop)
        call: int = port.worker.submit_search(query, *request, timeout, ahead)
        self._flights[call] = port.watch(call, self._on_retry)
        return call

    async def wait(self) -> None:
        """Waits until a call has ended. Cancelling this leaves the calls in flight."""
        from asyncio import FIRST_COMPLETED, sleep, wait

        if flights := list(self._flights.values()):
            await wait(flights, return_when=FIRST_COMPLETED)
        else:  # another thread has closed them
            await sleep(0)

    def poll(self) -> None:
        """The worker moves them on by itself."""

    def arrived(self) -> Arrival | None:
        """Returns a call that has ended, with the function that returns its result or raises."""
        ended = next((call for call, flight in self._flights.items() if flight.done()), None)
        if ended is None:
            return None
        flight = self._flights.pop(ended)
        return ended, lambda: flight.result().result()

    def close(self) -> None:
        """Cancels all requests in flight, from any thread."""
        if not self._flights or self._loop is None:
            return
        from asyncio import _get_running_loop

        flights, self._flights = self._flights, {}
        if self._loop is _get_running_loop():
            return _cancel(flights.values())
        with suppress(RuntimeError):  # the loop has been closed meanwhile
            self._loop.call_soon_threadsafe(_cancel, flights.values())


def _cancel(flights: Iterable[Future[_core.Outcome]]) -> None:
    for flight in flights:
        flight.cancel()


class Sent(NamedTuple):
    """A request in flight."""

    request: PageRequest
    half_time: float  # when half of its time has passed, by time.monotonic
    ahead: bool  # for a page after the one that is read next


class SearchPass:
    """One pass over a search, for one reader at a time.

    Whatever interrupts it (an error, Ctrl-C, a cancelled task), the next call goes on where it was,
    or raises the error of the page again: an interruption never looks like the end.
    """

    def __init__(
        self,
        calls: Calls,
        query: str,
        paging: Paging,
        pages: LocalPages | LoopPages,
        timeout: float | None,
        until: float | None,
        bar: Any,
    ) -> None:
        self._calls = calls
        self._query = query
        self.paging = paging
        self._port: Any = pages
        self._timeout = timeout
        self._until = until
        self._bar = bar
        self._in_flight: dict[int, Sent] = {}
        self._received: dict[int, StockList | bytes] = {}  # by page; old ones are packed
        self._unread: StockList | None = None  # the latest page, until it is read row by row
        self._rows: Iterator[Stock] = iter(())  # of the page that is read row by row
        self._warned = self._closed = self._is_torn = False
        self._is_crowded = False  # no room ahead of the reader until it has taken a page
        self._turn: dict[str, object] = {}  # identifies the reader that is waiting, if any
        self.page = paging.page  # the first that was not yielded completely

    # -- what the iterators call --

    def next_page(self) -> Plan[StockList | None]:
        """The plan of the next page; returns None at the end."""
        turn = object()
        try:
            if self._turn.setdefault("reader", turn) is not turn:
                raise ConfigurationError(
                    "another thread or task is reading this search: iterate once for each of them"
                )
            page = yield from self._next_page()
            if page is None:
                self.close()
                self._turn = {}
            else:
                number, following = self._last_number, self.paging.page
                # One statement without a call, so that no interrupt comes between.
                self._received[number], self._unread, self.page, self.paging.taken, self._turn = (
                    page, page, following, None, {}
                )  # fmt: skip
        except BaseException:
            if self._turn.get("reader") is turn:
                self._turn = {}
            raise
        return page

    def next_row(self) -> Plan[Stock | None]:
        """The plan of the next stock; returns None at the end."""
        while True:
            for row in self._rows:  # an interrupt could come between next() and the return
                return row
            if self._unread is None:
                self.page = self.paging.page
                page = yield from self.next_page()
                if page is None:
                    return None
            self.page = self._last_number
            self._rows, self._unread = iter(self._unread or ()), None

    def close(self) -> None:
        """Cancels the requests in flight; there are no more pages."""
        self._closed = True
        self._port.close()
        self._bar.close()
        self._in_flight.clear()
        self._received.clear()

    # -- requests and responses --

    def _next_page(self) -> Plan[StockList | None]:
        if self._closed:
            return None
        waiting_since = time.monotonic()
        try:
            while True:
                self._evaluate(waiting_since)
                if self._closed:
                    return None
                if (taken := self.paging.take()) is not None:
                    self._is_crowded = False
                    self._prefetch()
                    break
                if self.paging.ended:
                    break
                self._send()
                if not self._closed:
                    yield self._port.wait()
        except TradingDataError as error:
            if self._closed:  # meanwhile, by another thread
                return None
            raise self._failed(error) from None
        if self.paging.ended:
            self._port.close()  # what is still in flight is not needed
        warning = self.paging.warning
        if warning is not None and not self._warned:
            self._warned = True
            warn_user(warning)
        if taken is None or self._closed:
            return None
        return self._yielded(taken)  # may warn, and warnings may be errors

    def _send(self) -> None:
        while (request := self.paging.next_request()) is not None:
            ahead = request != self.paging.due
            if ahead and self._is_crowded:
                break
            timeout = self._time_left()
            # It is in flight already if an interrupt came before `sent`.
            if all(request != sent.request for sent in self._in_flight.values()):
                call = self._port.submit(self._query, request, timeout, ahead=ahead)
                self._in_flight[call] = Sent(request, time.monotonic() + timeout / 2, ahead)
            self.paging.sent(request)

    def _prefetch(self) -> None:
        """Requests pages ahead of the reader; an error must not cost the page that it waits for."""
        if self.paging.prefetch and not self.paging.ended:
            with suppress(TradingDataError, MemoryError):
                self._send()
                self._port.poll()

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

    def _evaluate(self, waiting_since: float) -> None:
        if self._is_torn:
            raise CallCancelledError("reading a page was interrupted: start the search again")
        self._is_torn = True  # until what has arrived is evaluated completely
        while (arrival := self._port.arrived()) is not None:
            call, result = arrival
            sent = self._in_flight.pop(call, None)
            if sent is not None and not self.paging.ended:
                self._evaluate_page(sent, result, waiting_since)
        self._is_torn = False

    def _evaluate_page(
        self, sent: Sent, result: Callable[[], tuple[Any, ...]], waiting_since: float
    ) -> None:
        received: tuple[Any, ...] | TradingDataError
        try:
            received = result()
        except TradingDataError as error:
            if _had_no_chance(sent, error, waiting_since):
                # Sent again at once, it would fail for the same reason.
                self._is_crowded = self._is_crowded or sent.ahead
                return self.paging.forget(sent.request)
            error.args = (f"page {sent.request.page}: {error}",)
            received = error.with_traceback(None)
        self.paging.receive(sent.request, received)

    def _yielded(self, page: Page) -> StockList:
        table, status, _, elapsed, *_ = page.received
        self._calls.log_end("Stock", elapsed, status)
        stocks = StockList._received(
            table, Response(table, self._calls.account, *page.received[1:])
        )
        if len(page.rows) != len(stocks):
            stocks = stocks._part(table.take(page.rows))
        self._last_number = page.number
        # Only long searches get here. Packed, the old pages are still there for an error's
        # `received`.
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
            error.page = self.paging.page
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


def _had_no_chance(sent: Sent, error: TradingDataError, waiting_since: float) -> bool:
    """Whether a page failed for a reason of ours, so that it is requested again in its turn.

    The requests before it left no room for it under the rate limit, or its time passed while nobody
    waited.
    """
    ours = sent.half_time < waiting_since or (sent.ahead and error.attempts == 0)
    return error.passing and ours
