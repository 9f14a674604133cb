"""The pager against services that do whatever the generator thinks of: nothing is lost in silence,
nothing comes twice, nothing goes on for ever.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

import tradingdata as td
from searching import ENVELOPE, Reading, codes
from service import (
    Behaviour,
    Choice,
    Connection,
    Record,
    Request,
    Service,
    html_reply,
    json_reply,
    pages,
    reply,
    stocks,
)

ROWS = stocks(40)
EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass
class Desk:
    """A service and both clients, kept for all examples of a module."""

    service: Service
    sync: td.Client
    asynchronous: td.AsyncClient
    runner: asyncio.Runner
    searches: int = 0
    requests: int = 0

    @property
    def query(self) -> str:
        return f"search {self.searches}"

    def serve(self, choice: Choice) -> None:
        """Sets the responses of the next searches; earlier requests may still arrive."""
        self.searches += 1
        self.requests = 0
        query = self.query

        def choose(request: Request) -> Behaviour:
            if dict(request.query)["query"] != query:
                return json_reply([])
            self.requests += 1
            return choice(request)

        self.service.choose(choose)

    def read(self, kind: str, **options: Any) -> Reading:
        """Reads a search with a client of that kind."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if kind == "sync":
                reading = Reading(self.sync.search(self.query, **options))
                self._read(reading)
            else:
                reading = Reading(self.asynchronous.search(self.query, **options))
                self.runner.run(self._aread(reading))
        reading.warnings = [str(warning.message) for warning in caught]
        return reading

    @staticmethod
    def _read(reading: Reading) -> None:
        try:
            for page in reading.pager.pages():
                reading.pages.append(page)
        except td.TradingDataError as error:
            reading.error = error

    @staticmethod
    async def _aread(reading: Reading) -> None:
        try:
            async for page in reading.pager.pages():
                reading.pages.append(page)
        except td.TradingDataError as error:
            reading.error = error


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with Service() as service, asyncio.Runner() as runner:
        client = td.Client(service.base_url, attempts=1)
        other = td.AsyncClient(service.base_url, attempts=1)
        yield Desk(service, client, other, runner)
        client.close()
        runner.run(other.aclose())


both = pytest.mark.parametrize("kind", ["sync", "async"])
sizes = st.integers(1, 9)
prefetches = st.sampled_from([0, 1, 2, 3, 8])
totals = st.integers(0, len(ROWS))
FAULTS: dict[str, Behaviour] = {
    "html": html_reply(),
    "error envelope": json_reply(ENVELOPE),
    "gone": reply(410),
    "server error": html_reply(503),
    "object": json_reply({"data": []}),
    "cut": reply(200, b'[{"co_code": 1'),
    "bad request": reply(400),
}


def check_order(reading: Reading, rows: list[Record]) -> None:
    """No row twice, and in the listing's order."""
    found = reading.codes
    assert len(set(found)) == len(found)
    positions = [codes(rows).index(code) for code in found]
    assert positions == sorted(positions)


def check_error(reading: Reading) -> None:
    """An error carries all that came before it, and the page to go on from."""
    error = reading.failure
    assert error.received is not None
    assert list(error.received) == reading.rows
    assert error.page == reading.pager.page == len(reading.pages) + 1
    assert reading.pager.stats.ended == "error"


def bound(pages_there: int, start: int = 1) -> int:
    """Requests that a list of `pages_there` pages may cost.

    Each page once, one that is empty, perhaps twice, and as many in vain as pages were full.
    """
    return 2 * pages_there + 2 + (start > 1)


@both
@given(
    total=totals,
    size=sizes,
    most=st.none() | sizes,
    prefetch=prefetches,
    start=st.integers(1, 4),
    as_requested=st.booleans(),
)
@EXAMPLES
def test_a_listing_that_does_not_change_is_read_completely(
    desk: Desk,
    kind: str,
    total: int,
    size: int,
    most: int | None,
    prefetch: int,
    start: int,
    as_requested: bool,
) -> None:
    """Whatever its length, and whether and how it caps the page size (F75, F123)."""
    rows = ROWS[:total]
    real = min(size, most or size)
    desk.serve(pages(rows, most=most, offset_as_requested=as_requested))
    size = real if start > 1 else size  # a search that resumes receives the size in use
    reading = desk.read(kind, page_size=size, prefetch=prefetch, start_page=start)
    left = rows[(start - 1) * real :]
    assert reading.codes == codes(left)
    assert reading.error is None
    assert reading.pager.stats.ended == "empty page"
    assert reading.warnings == []
    assert desk.requests <= bound(-(-len(left) // real), start)


@both
@given(total=totals, size=sizes, most=st.none() | sizes, prefetch=prefetches)
@EXAMPLES
def test_a_service_that_ignores_page_ends_in_an_error_or_in_doubt(
    desk: Desk, kind: str, total: int, size: int, most: int | None, prefetch: int
) -> None:
    """F74; what can be reached is page 1."""
    rows = ROWS[:total]
    desk.serve(pages(rows, most=most, ignore_page=True))
    reading = desk.read(kind, page_size=size, prefetch=prefetch)
    reachable = rows[: min(size, most or size)]
    assert reading.codes == codes(reachable)
    full = len(reachable) >= size
    event(f"full page 1: {full}")
    if not reachable:
        assert reading.pager.stats.ended == "empty page"
    elif full:
        assert isinstance(reading.error, td.PaginationError)
        check_error(reading)
    else:
        assert reading.pager.stats.doubtful
        assert any("there may be more stocks" in text for text in reading.warnings)
    assert desk.requests <= 3


@both
@given(
    total=totals, size=sizes, most=st.none() | sizes, prefetch=prefetches, shift=st.integers(-9, 9)
)
@EXAMPLES
def test_rows_that_shift_come_once_each(
    desk: Desk, kind: str, total: int, size: int, most: int | None, prefetch: int, shift: int
) -> None:
    """F76: all that the service sent and the reader had to be given, no more and no less."""
    rows = ROWS[:total]
    choice = Recorded(pages(rows, most=most, shift=shift))
    desk.serve(choice)
    reading = desk.read(kind, page_size=size, prefetch=prefetch)
    assert len(set(reading.codes)) == len(reading.codes)
    read_to = reading.pager.page if reading.error else reading.pager.page + 1
    sent = choice.rows_before(read_to)
    assert set(reading.codes) == sent
    if reading.error:
        assert isinstance(reading.error, td.PaginationError)
        check_error(reading)
    elif shift >= 0 and prefetch == 0 and not reading.pager.stats.doubtful:
        # Rows only move towards pages that are still to come, so that none can be missed.
        assert reading.codes == codes(rows)
    assert desk.requests <= 2 * total + 2


@both
@given(
    total=totals,
    size=sizes,
    prefetch=prefetches,
    name=st.sampled_from(sorted(FAULTS)),
    page=st.integers(1, 6),
)
@EXAMPLES
def test_a_page_that_fails_is_reported_and_can_be_resumed(
    desk: Desk, kind: str, total: int, size: int, prefetch: int, name: str, page: int
) -> None:
    """F77: the rows before it, the error, and from `error.page` on all the rest."""
    rows = ROWS[:total]
    desk.serve(pages(rows, faults={page: [FAULTS[name]] * 3}))
    reading = desk.read(kind, page_size=size, prefetch=prefetch)
    last = total // size + (total % size > 0)
    if page > last + 1:
        assert reading.error is None
        assert reading.codes == codes(rows)
        return
    event(f"{name} on a page with rows: {page <= last}")
    assert reading.codes == codes(rows)[: (page - 1) * size]
    check_error(reading)
    assert desk.requests <= 2 * page + 2
    desk.serve(pages(rows))
    rest = desk.read(kind, page_size=size, prefetch=prefetch, start_page=reading.failure.page)
    assert reading.codes + rest.codes == codes(rows)


@dataclass
class Recorded:
    """A service's choice, and which rows it sent on which page."""

    choice: Any
    sent: dict[int, list[Record]] = field(default_factory=dict)

    def __call__(self, request: Request) -> Behaviour:
        page = int(dict(request.query)["page"])

        def behave(connection: Any) -> None:
            behaviour: Behaviour = self.choice(request)
            kept = self.sent.setdefault(page, [])
            behaviour(cast("Connection", Eavesdropper(connection, kept)))

        return behave

    def rows_before(self, page: int) -> set[object]:
        return {row["co_code"] for at, rows in self.sent.items() if at < page for row in rows}


@dataclass
class Eavesdropper:
    """A connection that keeps the rows it sends."""

    connection: Any
    rows: list[Record]

    def send(self, data: bytes) -> None:
        import json

        self.rows[:] = json.loads(data.partition(b"\r\n\r\n")[2])
        self.connection.send(data)


blocks = st.lists(
    st.lists(st.integers(0, 11).map(lambda at: ROWS[at]), max_size=5), min_size=0, max_size=12
)


@both
@given(responses=blocks, size=st.integers(1, 5), prefetch=prefetches, dear=st.integers(0, 2**12))
@EXAMPLES
def test_any_sequence_of_pages_loses_nothing_and_ends(
    desk: Desk, kind: str, responses: list[list[Record]], size: int, prefetch: int, dear: int
) -> None:
    """Any pages at all: repeats, gaps, other lengths, the same code at another price, no code."""
    variants: list[list[Record]] = []
    for number, rows in enumerate(responses):
        odd = bool(dear >> number & 1)
        variants.append([{**row, "mcap": 1.0} if odd else row for row in rows])

    def choose(request: Request) -> Behaviour:
        page = int(dict(request.query)["page"])
        return json_reply(variants[page - 1] if page <= len(variants) else [])

    desk.serve(choose)
    reading = desk.read(kind, page_size=size, prefetch=prefetch)
    key = [(stock.co_code, stock.mcap) for stock in reading.rows]
    came = [{(row["co_code"], row["mcap"]) for row in page} for page in variants]
    handed = [{(stock.co_code, stock.mcap) for stock in page} for page in reading.pages]
    for number, page in enumerate(handed):
        before = set().union(*came[:number])
        assert page == came[number] - before  # new rows all of them, old ones none
    assert set(key) == set().union(*came[: len(handed)])
    stats = reading.pager.stats
    behind = len(handed)
    if reading.error is not None:
        assert isinstance(reading.error, td.PaginationError)
        check_error(reading)
    elif stats.ended == "empty page":
        assert behind == len(variants) or not variants[behind]
    else:
        assert stats.ended == "repeated page"
        known = [{code for code, _ in page} for page in came]  # at whatever price
        assert known[behind] <= set().union(*known[:behind])
        if len(variants[behind]) >= len(variants[0]):
            assert stats.doubtful
    assert desk.requests <= bound(behind) + 1


@both
@given(
    total=totals,
    size=sizes,
    prefetch=prefetches,
    most=st.integers(0, 45),
    wanted=st.integers(0, 45),
)
@EXAMPLES
def test_a_cap_gives_the_first_rows_and_asks_for_no_more_pages(
    desk: Desk, kind: str, total: int, size: int, prefetch: int, most: int, wanted: int
) -> None:
    assume(total > 0)
    rows = ROWS[:total]
    desk.serve(pages(rows))
    reading = desk.read(kind, page_size=size, prefetch=prefetch, max_items=most)
    assert reading.codes == codes(rows)[:most]
    if most <= total:
        assert desk.requests == -(-most // size)
    whole_pages = len([page for page in reading.pages if len(page) == size])
    assert reading.pager.page <= whole_pages + 1 + (most >= total)
    desk.serve(pages(rows))
    search = desk.sync.search(desk.query, page_size=size, prefetch=prefetch, max_items=most)
    assert codes(search.first(wanted).to_dicts()) == codes(rows)[: min(most, wanted)]
    if min(most, wanted) <= total:
        assert desk.requests == -(-min(most, wanted) // size)
