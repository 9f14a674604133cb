"""Simulated services that page a list well or badly, and a reader of them without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

import tradingdata as td
from tradingdata import _core
from tradingdata._util import waiting
from tradingdata.client.paging import PageRequest, Paging, SearchOptions, SearchPass
from tradingdata.errors import BadRequestError, DecodeError, NotFoundError

MOST_REQUESTS = 1000  # of a search that ends
MOST_INSERTIONS = 5

PAST_END: dict[str, Callable[[], td.TradingDataError]] = {
    "400": lambda: BadRequestError("no such page", status_code=400),
    "404": lambda: NotFoundError("no such page", status_code=404),
    "422": lambda: BadRequestError("no such page", status_code=422),
    "204": lambda: DecodeError("no body", status_code=204),
    "{}": lambda: DecodeError("not an array", status_code=200, body="{}"),
}


@dataclass
class Listing:
    """A service with a list of `total` stocks; what it does wrong is given by the options.

    Attributes:
        total: Number of stocks.
        cap: Maximum number of rows on a page.
        offset_as_requested: Whether the offset counts pages of the `limit` requested; otherwise
            pages as long as returned.
        extra: Rows on each page beyond its limit.
        past_end: The response behind the last page: "empty" or a key of `PAST_END`.
        refuses: Whether page sizes that are no multiple of 10 are refused with 400.
        ignores_page: Whether every page is page 1.
        repeats_last: Whether the last page is returned for every later one.
        empty_page: A page that is empty although it has rows; 0 for none.
        empty_times: How many times that page is empty.
        short_page: A page that lacks half of its rows; 0 for none.
        inserted: Rows put in front of the list before each of the next few requests.
        shuffled: Whether the list is in another order for each request.
        changing: A field that differs in each response: "", "mcap" or an unknown field.
        coded: Whether stocks have codes.
        listings: Rows in a row with the same codes.
    """

    total: int
    cap: int = 1000
    offset_as_requested: bool = False
    extra: int = 0
    past_end: str = "empty"
    refuses: bool = False
    ignores_page: bool = False
    repeats_last: bool = False
    empty_page: int = 0
    empty_times: int = 1
    short_page: int = 0
    inserted: int = 0
    shuffled: bool = False
    changing: str = ""
    coded: bool = True
    listings: int = 1
    requests: list[PageRequest] = field(default_factory=list)

    def row(self, number: int) -> dict[str, Any]:
        """Row `number` of the list; those that are inserted in front are negative."""
        row: dict[str, Any] = {"displaytype": f"row {number}", "mcap": float(number)}
        if self.coded:
            row["co_code"] = number // self.listings
        if self.changing:
            row[self.changing] = 1e6 + len(self.requests)
            if self.changing != "mcap":
                row[self.changing] = f"as of {len(self.requests)}"
        return row

    def respond(self, request: PageRequest) -> list[dict[str, Any]]:
        """The rows of a page, or its error."""
        first = -self.inserted * min(len(self.requests), MOST_INSERTIONS)
        self.requests.append(request)
        assert len(self.requests) < MOST_REQUESTS, "the search does not end"
        page, limit = request
        if self.refuses and limit % 10:
            raise BadRequestError("limit must be a multiple of 10", status_code=400)
        size = min(limit, self.cap) + self.extra
        step = limit if self.offset_as_requested else size
        last = max(-(-(self.total - first) // step), 1)
        if self.ignores_page:
            page = 1
        elif self.repeats_last:
            page = min(page, last)
        elif page > last and self.past_end != "empty":
            raise PAST_END[self.past_end]()
        if page == self.empty_page and self.empty_times:
            self.empty_times -= 1
            return []
        start = first + (page - 1) * step
        stop = min(start + size, self.total)
        if page == self.short_page:
            stop = start + (stop - start + 1) // 2
        order = list(range(first, self.total))
        if self.shuffled:
            Random(len(self.requests)).shuffle(order)
        return [self.row(number) for number in order[start - first : max(stop - first, 0)]]


def numbers(rows: Any) -> list[int]:
    """Which rows of the list these are, by what never changes in them."""
    return [int(row.displaytype.split()[1]) for row in rows]


class ListingPort:
    """A port to a listing; responses arrive in a random order, and `wait` may be interrupted."""

    def __init__(self, listing: Listing, random: Random, interruptions: float = 0.0) -> None:
        self._listing = listing
        self._random = random
        self._interruptions = interruptions
        self._in_flight: list[tuple[int, PageRequest]] = []
        self._ended: dict[int, Callable[[], tuple[Any, ...]]] = {}
        self._calls = iter(range(10**9))

    def search(self, query: str, page: int, limit: int, timeout: float, *, ahead: bool) -> int:
        call = next(self._calls)
        self._in_flight.append((call, PageRequest(page, limit)))
        return call

    def has_ended(self, flight: int) -> bool:
        return flight in self._ended

    def result(self, flight: int) -> tuple[Any, ...]:
        return self._ended.pop(flight)()

    def wait(self, flight: int) -> None:
        assert any(flight == call for call, _ in self._in_flight), "it waits for nothing"
        self._step()

    def _step(self) -> None:
        if self._random.random() < self._interruptions:
            raise KeyboardInterrupt
        call, request = self._in_flight.pop(self._random.randrange(len(self._in_flight)))
        self._ended[call] = self._response(request)

    def _response(self, request: PageRequest) -> Callable[[], tuple[Any, ...]]:
        try:
            rows = self._listing.respond(request)
        except td.TradingDataError as error:
            return _raiser(error)
        table = _core.decode_list("Stock", json.dumps(rows).encode())
        return lambda: (table, 200, 1, 0.0, 0)

    def poll(self) -> None:
        if self._in_flight and self._random.random() < 0.3:
            with suppress(KeyboardInterrupt):
                self._step()

    def close(self) -> None:
        self._in_flight.clear()
        self._ended.clear()


def _raiser(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


@dataclass
class Outcome:
    """How a search ended, and with which rows."""

    numbers: list[int]
    paging: Paging
    page: int = 1  # to resume from
    error: td.TradingDataError | None = None

    @property
    def is_silent(self) -> bool:
        return self.error is None and self.paging.doubt is None


def steps(reader: SearchPass) -> Iterator[td.StockList]:
    """The pages of a pass, which goes on after each interruption."""
    while True:
        try:
            page = waiting.run(reader.next_page())
        except KeyboardInterrupt:
            continue
        if page is None:
            return
        yield page


def read(
    listing: Listing,
    page_size: int | None = None,
    *,
    start_page: int = 1,
    max_items: int | None = None,
    prefetch: int = 1,
    random: Random | None = None,
    interruptions: float = 0.0,
) -> Outcome:
    """Reads a listing to its end or its error, which is raised again by the next call."""
    port: Any = ListingPort(listing, random or Random(1), interruptions)
    client: Any = SimpleNamespace(
        account=None,
        _budget=lambda timeout: 30.0,
        _log_end=lambda *facts: None,
        _flights=lambda record: port,
    )
    options = SearchOptions("x", page_size, start_page, max_items, prefetch, False, None)
    reader = SearchPass(client, options)
    outcome = Outcome([], reader.paging)
    try:
        for page in steps(reader):
            outcome.numbers += numbers(page)
    except td.TradingDataError as error:
        outcome.error = error
        with pytest.raises(type(error), match=re.escape(str(error))):
            next(steps(reader), None)
    outcome.page = reader.page
    return outcome
