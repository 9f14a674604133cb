"""One token for many threads, tasks and loops: asked for once, and within each call's time."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import pytest

import tradingdata as td
from calls import good_book, within
from service import Service
from token_sources import AsyncSource, Source, accepting, tokens_sent


@pytest.mark.parametrize("first", [True, False], ids=["first token", "refusal"])
def test_f101_many_threads_ask_once(service: Service, first: bool) -> None:
    service.choose(accepting("token-1" if first else "token-2"))
    source = Source(seconds=0.1)
    with td.Client(service.base_url, access_token=source) as client:
        if not first:
            client.access_token = "stale"
            client.access_token = source
        lengths: list[int] = []
        threads = [
            threading.Thread(target=lambda: lengths.append(len(client.trade_book())))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert lengths == [3] * 8
    assert source.asked == (1 if first else 2)
    assert source.most_at_once == 1


@pytest.mark.parametrize("make", [Source, AsyncSource])
@pytest.mark.parametrize("first", [True, False], ids=["first token", "refusal"])
def test_f101_many_tasks_ask_once(service: Service, make: type[Source], first: bool) -> None:
    service.choose(accepting("token-1" if first else "token-2"))
    source = make(seconds=0.05)

    async def run() -> list[int]:
        async with td.AsyncClient(service.base_url, access_token=source) as client:
            books = await asyncio.gather(*(client.trade_book() for _ in range(8)))
            return [len(book) for book in books]

    assert asyncio.run(run()) == [3] * 8
    assert source.asked == (1 if first else 2)
    assert source.most_at_once == 1


def test_f101_tasks_of_several_loops_ask_once(service: Service) -> None:
    service.choose(accepting("token-2"))
    source = AsyncSource(seconds=0.1)
    client = td.AsyncClient(service.base_url, access_token=source)
    lengths: list[int] = []

    async def run() -> None:
        books = await asyncio.gather(*(client.trade_book() for _ in range(4)))
        lengths.extend(len(book) for book in books)

    threads = [threading.Thread(target=lambda: asyncio.run(run())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [3] * 12
    assert source.asked == 2
    assert source.most_at_once == 1
    asyncio.run(client.aclose())


def test_f101_a_slow_function_uses_up_the_call_s_time(service: Service) -> None:
    source = Source(seconds=0.3)
    with td.Client(service.base_url, access_token=source, timeout=0.2) as client:
        for _ in range(2):
            client.access_token = source
            with pytest.raises(td.DeadlineError, match="waiting for the access_token function"):
                client.trade_book()
    assert service.connections == []


def test_f101_who_waits_for_another_s_token_does_so_until_its_own_deadline(
    service: Service,
) -> None:
    service.script(then=good_book())
    entered, gate = threading.Event(), threading.Event()

    def source() -> str:
        entered.set()
        assert gate.wait(10)
        return "token"

    with td.Client(service.base_url, access_token=source) as client:
        leader = threading.Thread(target=client.trade_book)
        leader.start()
        entered.wait(10)
        with within(0.2, at_least=0.15), pytest.raises(td.DeadlineError):
            client.trade_book(timeout=0.2)
        gate.set()
        leader.join()
        assert len(service.requests) == 1


@pytest.mark.parametrize("make", [Source, AsyncSource])
def test_f101_a_slow_function_is_given_up_at_the_deadline_by_asyncio(
    make: type[Source], service: Service
) -> None:
    source = make(seconds=0.5)

    async def run() -> None:
        async with td.AsyncClient(service.base_url, access_token=source) as client:
            with within(0.2, at_least=0.15), pytest.raises(td.DeadlineError):
                await client.trade_book(timeout=0.2)

    asyncio.run(run())
    assert service.connections == []


def test_f116_a_cancelled_leader_lets_the_next_one_ask(service: Service) -> None:
    service.script(then=good_book())
    source = AsyncSource(seconds=0.2)

    async def run() -> None:
        async with td.AsyncClient(service.base_url, access_token=source) as client:
            leader, follower = (asyncio.create_task(client.trade_book()) for _ in range(2))
            await asyncio.sleep(0.05)
            leader.cancel()
            assert len(await follower) == 3
            assert leader.cancelled()

    asyncio.run(run())
    assert source.asked == 2


async def awaited_token() -> str:
    return "token-1"


@pytest.mark.parametrize(
    "function",
    [awaited_token, partial(awaited_token), lambda: awaited_token(), AsyncSource()],
    ids=["async def", "partial", "lambda", "object"],
)
def test_an_async_function_is_for_the_async_client(service: Service, function: Any) -> None:
    service.script(then=good_book())

    async def run() -> int:
        async with td.AsyncClient(service.base_url, access_token=function) as client:
            return len(await client.trade_book())

    assert asyncio.run(run()) == 3
    with pytest.raises((td.ConfigurationError, td.AuthenticationError)) as caught:
        td.Client(service.base_url, access_token=function).trade_book()
    assert "async function" in str(caught.value) or "returned coroutine" in str(caught.value)
    assert tokens_sent(service) == ["token-1"]
