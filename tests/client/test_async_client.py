"""AsyncClient on its loop: cancelled in each phase, many in flight, closed, and off the loop."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

import service as s
import tradingdata as td
from calls import TOKEN, good_book, served, wait_until, within
from service import Authority, Service

pytestmark = pytest.mark.sanitize

Run = Callable[[td.AsyncClient], Awaitable[Any]]


def on_loop(url: str, run: Run, **options: Any) -> Any:
    """What `run` returns for a client on a new event loop."""

    async def main() -> Any:
        async with td.AsyncClient(url, **{"access_token": TOKEN, **options}) as client:
            return await run(client)

    return asyncio.run(main())


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


PHASES: dict[str, Callable[[Authority], AbstractContextManager[Any]]] = {
    "connect": lambda ca: s.black_hole(),
    "TLS": lambda ca: Service(tls=ca.good(), on_connect=s.stall()),
    "first byte": lambda ca: served(then=s.stall()),
    "body": lambda ca: served(then=s.stall_mid_body()),
    "back-off": lambda ca: served(then=s.retry_after("20")),
}
phases = pytest.mark.parametrize("phase", PHASES)


def enter(stack: ExitStack, phase: str, ca: Authority) -> tuple[str, Service | None]:
    """The URL of something that keeps a call in that phase, and the service if it is one."""
    place = stack.enter_context(PHASES[phase](ca))
    if isinstance(place, Service):
        return place.base_url, place
    return f"http://127.0.0.1:{place}", None


@phases
def test_a_cancelled_call_ends_at_once_and_closes_its_connection(phase: str, ca: Authority) -> None:
    async def run(client: td.AsyncClient) -> None:
        task = asyncio.create_task(client.trade_book())
        await asyncio.sleep(0.15)
        with within(0.05):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        if service is not None and phase != "back-off":
            await asyncio.to_thread(service.wait_for_open, 0)

    with ExitStack() as stack:
        url, service = enter(stack, phase, ca)
        on_loop(url, run, ca_file=ca.pem_file, timeout=60, connect_timeout=60)


@pytest.mark.parametrize("count", [16, 150])
def test_many_calls_are_in_flight_at_once(service: Service, count: int) -> None:
    gate = threading.Event()
    service.script(then=s.hold(gate, good_book()))

    async def run(client: td.AsyncClient) -> list[int]:
        calls = [asyncio.create_task(client.trade_book()) for _ in range(count)]
        await asyncio.to_thread(service.wait_for_requests, min(count, 100))
        gate.set()
        return [len(book) for book in await asyncio.gather(*calls)]

    assert on_loop(service.base_url, run) == [3] * count


def test_one_client_on_one_loop_after_the_other(service: Service) -> None:
    service.script(then=good_book())
    client = td.AsyncClient(service.base_url, access_token=TOKEN)

    async def call() -> int:
        return len(await client.trade_book())

    before = threads()
    assert [asyncio.run(call()) for _ in range(10)] == [3] * 10
    # The service has a thread a connection, which ends a little behind it.
    service.wait_for_open(1)
    wait_until(lambda: threads() - before <= 2)
    asyncio.run(client.aclose())


def test_aclose_ends_what_is_under_way_and_is_final(service: Service) -> None:
    service.script(then=s.stall())

    async def run(client: td.AsyncClient) -> None:
        calls = [asyncio.create_task(client.trade_book()) for _ in range(3)]
        await asyncio.to_thread(service.wait_for_requests, 3)
        with within(0.1):
            await client.aclose()
            ends = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(end) for end in ends} == {td.ClientClosedError}
        assert len({id(end) for end in ends}) == 3, "each call has an error, a traceback of its own"
        await client.aclose()
        assert client.closed
        assert repr(client).endswith("closed>")
        with pytest.raises(td.ClientClosedError, match="make a new one"):
            await client.trade_book()
        with pytest.raises(td.ClientClosedError):
            await client.search("x").all()

    on_loop(service.base_url, run)
    service.wait_for_open(0)


def test_aclose_from_another_loop_reaches_the_calls_of_this_one(service: Service) -> None:
    service.script(then=s.stall())

    async def run(client: td.AsyncClient) -> None:
        call = asyncio.create_task(client.trade_book())
        await asyncio.to_thread(service.wait_for_requests, 1)
        await asyncio.to_thread(lambda: asyncio.run(client.aclose()))
        with within(0.1), pytest.raises(td.ClientClosedError):
            await call

    on_loop(service.base_url, run)
    service.wait_for_open(0)


def test_clients_that_are_dropped_leave_no_thread_and_no_connection(service: Service) -> None:
    service.script(then=good_book())

    async def call() -> None:
        await td.AsyncClient(service.base_url, access_token=TOKEN).trade_book()

    async def run() -> None:
        await call()
        gc.collect()
        await asyncio.sleep(0)
        before = threads()
        for _ in range(5):
            await call()
        gc.collect()
        await asyncio.to_thread(service.wait_for_open, 0)
        wait_until(lambda: threads() <= before + 1)

    asyncio.run(run())


def test_a_loop_closed_with_calls_in_flight(service: Service) -> None:
    service.script(then=s.stall())
    client = td.AsyncClient(service.base_url, access_token=TOKEN)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)
    task = loop.create_task(client.trade_book())
    loop.run_until_complete(asyncio.sleep(0.1))
    service.wait_for_requests(1)
    loop.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    del task
    gc.collect()
    service.script(then=good_book())

    async def again() -> int:
        return len(await client.trade_book())

    assert asyncio.run(again()) == 3
    asyncio.run(client.aclose())
    service.wait_for_open(0)


def test_a_book_is_decoded_off_the_event_loop(service: Service) -> None:
    """The loop runs on while a big book is decoded: it never halts for half that work.

    The process's CPU time is the measure, because other processes cannot lengthen it.
    """
    body = s.as_json(s.envelope(list(s.trades(1)) * 40_000))
    service.script(then=s.reply(200, body))
    started = time.process_time()
    td.TradeBook.from_json(body)
    decoding = time.process_time() - started

    async def longest_halt(client: td.AsyncClient) -> float:
        call = asyncio.create_task(client.trade_book())
        longest, last = 0.0, time.process_time()
        while not call.done():
            await asyncio.sleep(0)
            now = time.process_time()
            longest, last = max(longest, now - last), now
        assert len(await call) == 40_000
        return longest

    halts = [on_loop(service.base_url, longest_halt) for _ in range(4)]
    assert min(halts) < decoding / 2, f"{halts} while decoding took {decoding}"
