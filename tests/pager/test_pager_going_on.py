"""Whatever interrupts a search, its iterator goes on or raises again, and never just ends."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import tradingdata as td
from searching import codes, listing, pages_asked
from service import Service, hold, html_reply, pages, reply, stall, stocks

ROWS = stocks(25)


@pytest.fixture
def client(service: Service) -> Any:
    with td.Client(service.base_url) as client:
        yield client


def rest_of(iterator: Any) -> list[Any]:
    return [stock.co_code for page in iterator for stock in page]


async def awaited(iterator: Any) -> list[Any]:
    return [stock.co_code async for page in iterator for stock in page]


class TestErrors:
    """An error of a page is raised again; any other costs no page."""

    @pytest.mark.parametrize("way", ["pages", "__iter__"])
    @pytest.mark.parametrize("prefetch", [0, 4])
    def test_an_error_of_a_page_is_raised_again(
        self, service: Service, client: td.Client, way: str, prefetch: int
    ) -> None:
        service.choose(pages(ROWS, faults={3: [html_reply()]}))
        search = client.search("x", page_size=5, prefetch=prefetch)
        iterator = getattr(search, way)()
        errors: list[td.DecodeError] = []
        while len(errors) < 3:
            try:
                next(iterator)
            except td.DecodeError as failure:
                errors.append(failure)
        assert {(str(error), error.page) for error in errors} == {(str(errors[0]), search.page)}
        assert search.page == 3
        for error in errors:
            assert error.received is not None
            assert codes(error.received.to_dicts()) == codes(ROWS)[:10]

    def test_an_error_of_on_retry_costs_no_page(self, service: Service) -> None:
        service.choose(pages(ROWS, faults={2: [reply(503)], 4: [reply(503)]}))

        def refuse(retry: td.types.Retry) -> None:
            raise ArithmeticError(retry.call)

        with td.Client(service.base_url, on_retry=refuse) as client:
            reader = client.search("x", page_size=5, prefetch=0).pages()
            found: list[Any] = []
            refused = 0
            while len(found) < 25:
                try:
                    found += codes(next(reader).to_dicts())
                except ArithmeticError:
                    refused += 1
        assert (found, refused) == (codes(ROWS), 2)

    def test_a_warning_that_is_an_error_costs_no_page(
        self, service: Service, client: td.Client
    ) -> None:
        service.choose(listing(ROWS[:5], ROWS[3:8]))
        reader = client.search("x", page_size=5).pages()
        assert codes(next(reader).to_dicts()) == codes(ROWS)[:5]
        with pytest.raises(td.DataWarning):
            next(reader)
        assert codes(next(reader).to_dicts()) == codes(ROWS)[5:8]


class InterruptAt:
    """A profile function: raises at one of the points where Python runs signal handlers.

    They are the entry of a function and the return of one that is written in C.
    """

    def __init__(self, number: int) -> None:
        self.number = self.left = number
        self.place = ""

    def __call__(self, frame: FrameType, event: str, function: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event not in {"call", "c_return"} or path.parts[-3:-1] != ("tradingdata", "client"):
            return
        if function is sys.setprofile or frame.f_code.co_name == "__del__":
            return
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            self.place = f"{path.name}:{frame.f_lineno}"
            raise KeyboardInterrupt


def read_through(reader: Iterator[Any], found: list[Any], point: InterruptAt) -> None:
    """Reads to the end, and goes on after the interrupt."""
    while True:
        sys.setprofile(point if point.left > 0 else None)
        try:
            item = next(reader, None)
        except KeyboardInterrupt:
            continue
        finally:
            sys.setprofile(None)
        if item is None:
            return
        found.append(item)


class TestInterruptions:
    """The next call goes on."""

    @pytest.fixture
    def gate(self, service: Service) -> Any:
        """Page 3 comes when the gate is opened."""
        opened = threading.Event()
        choice = pages(ROWS)

        def choose(request: Any) -> Any:
            behaviour = choice(request)
            held = dict(request.query)["page"] == "3" and not opened.is_set()
            return hold(opened, behaviour) if held else behaviour

        service.choose(choose)
        yield opened
        opened.set()

    @pytest.mark.parametrize("prefetch", [0, 1, 4])
    def test_a_timeout_of_anext(
        self, service: Service, gate: threading.Event, prefetch: int
    ) -> None:
        async def main() -> None:
            async with td.AsyncClient(service.base_url) as client:
                reader = client.search("x", page_size=5, prefetch=prefetch).pages()
                first = [await anext(reader) for _ in range(2)]
                for _ in range(3):
                    with pytest.raises(TimeoutError):
                        await asyncio.wait_for(anext(reader), 0.03)
                gate.set()
                found = [stock.co_code for page in first for stock in page]
                assert found + await awaited(reader) == codes(ROWS)

        asyncio.run(main())
        assert pages_asked(service).count(3) == 1, "the request goes on"

    @pytest.mark.parametrize("way", ["pages", "__iter__"])
    def test_an_interrupt_wherever_python_handles_signals_loses_no_row(
        self, service: Service, client: td.Client, way: str
    ) -> None:
        """A page, or a row, that was taken and not yet returned was lost without an error."""
        service.choose(pages(ROWS[:6]))
        point, torn = InterruptAt(0), 0
        while not point.left:
            point = InterruptAt(point.number + 1)
            reader = getattr(client.search("x", page_size=3, prefetch=1), way)()
            found: list[Any] = []
            try:
                read_through(reader, found, point)
            except td.CallCancelledError:
                torn += 1
            else:
                rows = found if way == "__iter__" else [stock for page in found for stock in page]
                assert [stock.co_code for stock in rows] == codes(ROWS[:6]), point.place
        assert torn < point.number

    def test_another_thread_that_reads_it(
        self, service: Service, client: td.Client, gate: threading.Event
    ) -> None:
        reader = client.search("x", page_size=5, prefetch=0).pages()
        found = rest_of([next(reader), next(reader)])
        third: list[Any] = []
        other = threading.Thread(target=lambda: third.extend(next(reader)))
        other.start()
        service.wait_for_requests(3)
        with pytest.raises(td.ConfigurationError, match="another thread or task is reading"):
            next(reader)
        gate.set()
        other.join()
        found += [stock.co_code for stock in third] + rest_of(reader)
        assert sorted(found) == codes(ROWS)


class TestEnds:
    def test_an_iterator_that_ended_or_was_closed_stays_so(
        self, service: Service, client: td.Client
    ) -> None:
        service.choose(pages(ROWS))
        search = client.search("x", page_size=10)
        whole, part = search.pages(), search.pages()
        assert rest_of(whole) == codes(ROWS)
        next(part)
        part.close()
        part.close()
        for reader in (whole, part):
            for _ in range(2):
                assert next(reader, None) is None

    def test_an_iterator_of_rows_that_was_closed_within_a_page_ends(
        self, service: Service, client: td.Client
    ) -> None:
        """The rows of its page that were not read came nevertheless (F164)."""
        service.choose(pages(ROWS))
        rows = iter(client.search("x", page_size=10))
        next(rows)
        rows.close()
        assert [*rows] == []

        async def main() -> list[td.Stock]:
            async with td.AsyncClient(service.base_url) as client:
                rows = aiter(client.search("x", page_size=10))
                await anext(rows)
                await rows.aclose()
                return [stock async for stock in rows]

        assert asyncio.run(main()) == []

    def test_a_page_that_timed_out_while_nobody_waited_is_requested_again(
        self, service: Service, client: td.Client
    ) -> None:
        service.choose(pages(ROWS, faults={2: [stall()]}))
        reader = client.search("x", page_size=10, timeout=0.4).pages()
        found = rest_of([next(reader)])
        time.sleep(0.6)
        assert found + rest_of(reader) == codes(ROWS)
        assert pages_asked(service).count(2) == 2

    def test_prefetched_pages_leave_the_page_in_turn_its_share_of_the_rate_limit(
        self, service: Service
    ) -> None:
        service.choose(pages(stocks(60)))
        limit = td.RateLimit(per_second=10, burst=1)
        with td.Client(service.base_url, rate_limit=limit, timeout=0.5) as client:
            found = client.search("x", page_size=5, prefetch=12).all()
        assert codes(found.to_dicts()) == codes(stocks(60))

    def test_the_page_in_turn_without_room_under_it_is_an_error(self, service: Service) -> None:
        service.choose(pages(ROWS))
        limit = td.RateLimit(per_second=0.1, burst=1)
        client = td.Client(service.base_url, rate_limit=limit, timeout=0.5)
        with pytest.raises(td.TradingDataError) as caught:
            client.search("x", page_size=5, prefetch=0).all()
        assert (caught.value.page, caught.value.attempts) == (2, 0)

    def test_prefetched_pages_without_room_under_it_are_not_sent_again_and_again(
        self, service: Service
    ) -> None:
        """They were, as fast as a processor can, until the page in turn came."""
        service.choose(pages(ROWS))
        limit = td.RateLimit(per_second=2, burst=2)
        with td.Client(service.base_url, rate_limit=limit, timeout=0.8) as client:
            search = client.search("x", page_size=5, prefetch=4)
            found = search.first(20)
            assert search.stats.requests <= 4 + 4 * 4
        assert codes(found.to_dicts()) == codes(ROWS)[:20]
