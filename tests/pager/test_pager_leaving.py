"""Leaving a search early: by break, by closing, by an error, by cancelling. Nothing goes on."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

import tradingdata as td
from calls import at_once
from searching import codes, pages_asked
from service import Behaviour, Request, Service, delay, hold, json_reply, pages, reply, stocks

ROWS = stocks(100)
QUIET = 0.1  # seconds in which a request that should not be sent would be


@pytest.fixture
def gate(service: Service) -> Iterator[threading.Event]:
    """Pages 1 and 2 come at once; every later one when the gate is opened."""
    opened = threading.Event()
    choice = pages(ROWS)

    def choose(request: Request) -> Behaviour:
        behaviour = choice(request)
        return behaviour if int(dict(request.query)["page"]) <= 2 else hold(opened, behaviour)

    service.choose(choose)
    yield opened
    opened.set()


def in_flight(service: Service) -> None:
    """Waits until a page after the first two is requested, which never arrives."""
    service.wait_for_requests(3)


def nothing_goes_on(service: Service, prefetch: int) -> None:
    """Waits until no request is in flight; of several connections one may be idle and is kept."""
    service.wait_for_open(*((0,) if prefetch < 2 else (0, 1)))


def ended(reader: Iterator[td.StockList]) -> Callable[[], list[int]]:
    """Reads in a thread; what it returns waits for the end and returns the lengths of the pages."""
    lengths: list[int] = []
    thread = threading.Thread(target=lambda: lengths.extend(map(len, reader)), daemon=True)
    thread.start()

    def wait() -> list[int]:
        thread.join(20)
        assert not thread.is_alive()
        return lengths

    return wait


class TestSync:
    @pytest.fixture
    def client(self, service: Service) -> Iterator[td.Client]:
        with td.Client(service.base_url) as client:
            yield client

    def read_two_pages(self, client: td.Client, service: Service) -> Any:
        rows = client.search("x", page_size=5, prefetch=4).__iter__()
        for _ in range(10):
            next(rows)
        in_flight(service)
        return rows

    @pytest.mark.usefixtures("gate")
    @pytest.mark.parametrize("closes", [True, False], ids=["closed", "dropped"])
    def test_so_does_leaving_its_rows(
        self, client: td.Client, service: Service, closes: bool
    ) -> None:
        rows = self.read_two_pages(client, service)
        if closes:
            rows.close()
            nothing_goes_on(service, 4)
        del rows
        nothing_goes_on(service, 4)

    @pytest.mark.usefixtures("gate")
    def test_closing_it_in_another_thread_ends_a_reader_that_waits(
        self, client: td.Client, service: Service
    ) -> None:
        reader = client.search("x", page_size=5, prefetch=0).pages()
        ends = ended(reader)
        in_flight(service)
        reader.close()
        assert ends() == [5, 5]
        service.wait_for_open(0)

    def test_so_does_closing_it_in_on_retry(self, service: Service) -> None:
        service.choose(pages(ROWS, faults={3: [reply(503)] * 9}))
        with td.Client(service.base_url, on_retry=lambda _: reader.close()) as client:
            reader = client.search("x", page_size=5, prefetch=0).pages()
            assert ended(reader)() == [5, 5]
        assert pages_asked(service) == [1, 2, 3]

    def test_so_does_an_error_of_the_service(self, client: td.Client, service: Service) -> None:
        never = [hold(threading.Event(), json_reply([]))]
        late = [delay(0.2, json_reply({}))]  # when the requests behind it are in flight
        service.choose(pages(ROWS, faults={2: late, 3: never, 4: never, 5: never}))
        reader = client.search("x", page_size=5, prefetch=4).pages()
        assert len(next(reader)) == 5
        with pytest.raises(td.DecodeError) as caught:
            next(reader)
        assert caught.value.page == 2
        service.wait_for_open(0, 1)  # one that is idle is kept
        del reader

    def test_a_reader_that_waits_can_be_ended_by_closing_the_client(
        self, client: td.Client, service: Service, gate: threading.Event
    ) -> None:
        rows = self.read_two_pages(client, service)
        threading.Timer(0.05, client.close).start()
        with pytest.raises(td.ClientClosedError) as caught:
            next(rows)
        assert caught.value.page == 3
        assert codes((caught.value.received or td.StockList()).to_dicts()) == codes(ROWS)[:10]
        assert not gate.is_set()

    def test_passes_that_begin_at_once_share_nothing(
        self, client: td.Client, service: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A thread whose pass had the pages of another's ended as if the list were empty."""
        service.choose(pages(ROWS))
        search = client.search("x", page_size=7, prefetch=3)
        make, begin = client._flights, threading.Barrier(6)

        def meet(record: str) -> Any:
            begin.wait()
            return make(record)

        monkeypatch.setattr(client, "_flights", meet)
        counts = at_once(6, lambda number: len(search.first(10 * number + 3)))
        assert counts == [3, 13, 23, 33, 43, 53]


async def limited(limit: asyncio.Timeout, work: Awaitable[None]) -> None:
    async with limit:
        await work


def run(main: Any) -> Any:
    """Runs a coroutine in debug mode."""
    return asyncio.run(main, debug=True)


@pytest.fixture
def _no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No future or task is left that nobody looked at: asyncio tells of those in its log."""
    caplog.set_level(logging.WARNING, logger="asyncio")
    yield
    gc.collect()
    slow = "Executing <"  # debug mode times every step, and the machine may be busy
    assert [text for text in caplog.messages if slow not in text] == []


@pytest.mark.usefixtures("_no_complaints")
class TestAsync:
    @pytest.mark.usefixtures("gate")
    @pytest.mark.parametrize("prefetch", [0, 4])
    def test_closing_ends_a_reader_that_waits(self, service: Service, prefetch: int) -> None:
        async def main() -> None:
            async with td.AsyncClient(service.base_url) as client:
                reader = client.search("x", page_size=5, prefetch=prefetch).pages()
                assert [len(await anext(reader)) for _ in range(2)] == [5, 5]
                third = asyncio.ensure_future(anext(reader, None))
                await asyncio.to_thread(in_flight, service)
                await reader.aclose()
                assert await asyncio.wait_for(third, 20) is None
                await asyncio.to_thread(nothing_goes_on, service, prefetch)

        run(main())

    @pytest.mark.parametrize("how", ["cancel", "timeout"])
    def test_so_does_cancelling_and_the_client_goes_on(
        self, service: Service, gate: threading.Event, how: str
    ) -> None:
        async def main() -> None:
            async with td.AsyncClient(service.base_url) as client:
                search = client.search("x", page_size=5, prefetch=4)
                limit = asyncio.timeout(None)
                found: list[td.StockList] = []

                async def read() -> None:
                    async for page in search.pages():
                        found.append(page)
                        if len(found) == 2 and how == "timeout":
                            limit.reschedule(asyncio.get_running_loop().time() + QUIET / 2)

                if how == "cancel":
                    task = asyncio.create_task(read())
                    while search.page < 3:
                        await asyncio.sleep(0.001)
                    await asyncio.to_thread(in_flight, service)
                    task.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await task
                else:
                    search = client.search("x", page_size=5)
                    with pytest.raises(TimeoutError):
                        await limited(limit, read())
                await asyncio.to_thread(nothing_goes_on, service, 4 if how == "cancel" else 1)
                assert (len(found), search.page) == (2, 3)
                gate.set()
                rest = await client.search("x", page_size=5, start_page=search.page).all()
                assert codes(rest.to_dicts()) == codes(ROWS)[10:]

        run(main())

    @pytest.mark.usefixtures("gate")
    @pytest.mark.parametrize("prefetch", [1, 4])
    def test_aclose_during_a_page(self, service: Service, prefetch: int) -> None:
        async def main() -> None:
            client = td.AsyncClient(service.base_url)
            search = client.search("x", page_size=5, prefetch=prefetch)
            reading = asyncio.create_task(search.all())
            while search.page < 3:
                await asyncio.sleep(0.001)
            await asyncio.to_thread(in_flight, service)
            await client.aclose()
            with pytest.raises(td.ClientClosedError) as caught:
                await reading
            assert caught.value.page == search.page == 3
            received = caught.value.received or td.StockList()
            assert codes(received.to_dicts()) == codes(ROWS)[:10]
            await asyncio.to_thread(service.wait_for_open, 0)

        run(main())

    @pytest.mark.parametrize("prefetch", [0, 1, 4])
    def test_aclose_between_pages_costs_no_page(self, service: Service, prefetch: int) -> None:
        service.choose(pages(ROWS))

        async def main() -> None:
            client = td.AsyncClient(service.base_url)
            search = client.search("x", page_size=5, prefetch=prefetch)
            found: list[td.StockList] = []

            async def read() -> None:
                async for page in search.pages():
                    found.append(page)
                    if len(found) == 3:
                        await client.aclose()

            with pytest.raises(td.ClientClosedError) as caught:
                await read()
            assert caught.value.page == search.page == len(found) + 1
            assert caught.value.received == td.concat(found)

        run(main())
