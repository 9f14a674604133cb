"""Watches as objects: several of them, slow readers, cancelled waits, threads and days."""

from __future__ import annotations

import asyncio
import math
import sys
import threading
import time
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN
from service import Service, book_reply, hold, html_reply, orders
from signalling import interrupted
from tradingdata.watch.polling import Rules, Watch
from tradingdata.watch.updates import KnownOrders, KnownTrades
from watch.watching import (
    Clock,
    Polls,
    order_book,
    some_orders,
    some_trades,
    trade_book,
    watched,
)

ROWS = orders(5, order_no=str)


def test_one_watch_serves_one_loop() -> None:
    def poll() -> td.OrderBook:
        with pytest.raises(RuntimeError, match="waiting in another thread: use one for each"):
            next(watch)
        return order_book([])

    watch = watched(poll, KnownOrders((), None), Clock())
    assert len(next(watch).orders) == len(next(watch).orders) == 0


def test_one_async_watch_serves_one_task() -> None:
    async def poll() -> td.OrderBook:
        with pytest.raises(RuntimeError, match="already waiting in another task"):
            await anext(watch)
        return order_book([])

    rules = Rules(5.0, lambda: math.inf, lambda: False)
    watch: td.types.AsyncWatch[Any] = td.types.AsyncWatch(poll, KnownOrders((), None), rules)
    update: Any = asyncio.run(anext(watch))
    assert len(update.orders) == 0


def test_a_watch_closed_by_another_thread_ends_its_loop(service: Service) -> None:
    service.script(then=book_reply(ROWS))
    with td.Client(service.base_url, access_token=TOKEN) as client:
        watch = client.watch_orders(60)
        seen = threading.Event()

        def read() -> None:
            for _ in watch:
                seen.set()

        thread = threading.Thread(target=read)
        thread.start()
        assert seen.wait(10)
        watch.close()
        thread.join(5)
        assert not thread.is_alive()
        assert repr(watch) == "<Watch, ended>"
        assert repr(client.watch_orders(60)) == "<Watch, every 60 s>"


def test_a_watch_closed_during_its_request_ends_the_loop_of_another_task(service: Service) -> None:
    """The task goes on after its loop: it is not cancelled."""
    gate = threading.Event()
    service.script(book_reply(ROWS), then=hold(gate, book_reply(ROWS)))

    async def run() -> list[int]:
        async with td.AsyncClient(service.base_url, access_token=TOKEN) as client:
            watch = client.watch_orders(0.01)
            sizes = []

            async def read() -> None:
                async for update in watch:
                    sizes.append(len(update.orders))
                sizes.append(-1)

            reader = asyncio.create_task(read())
            while len(service.requests) < 2:
                await asyncio.sleep(0.01)
            await watch.aclose()
            await asyncio.wait_for(asyncio.gather(reader, return_exceptions=True), 10)
            gate.set()
            assert not reader.cancelled()
            return sizes

    assert asyncio.run(run()) == [5, -1]


def test_a_watch_closed_before_it_confirms_a_loss_makes_no_further_request() -> None:
    def lossy() -> td.OrderBook:
        watch.close()
        return order_book(some_orders(2))

    clock = Clock()
    polls = Polls([order_book(some_orders(3)), lossy], clock, confirms=False)
    watch = watched(polls, KnownOrders((), None), clock)
    assert len(list(watch)) == 1
    assert len(polls.at) == 2


def test_a_token_that_expires_on_the_way_is_renewed(service: Service) -> None:
    """A refused poll asks the function once; a token as text is replaced while the watch runs."""
    tokens = iter(["one-0123456789", "two-0123456789", "three-0123456789"])
    service.script(book_reply(ROWS), html_reply(401), then=book_reply(ROWS))
    with td.Client(service.base_url, access_token=lambda: next(tokens)) as client:
        updates = [update for _, update in zip(range(3), client.watch_orders(0.01), strict=False)]
    assert [update.misses for update in updates] == [0, 0, 0]
    service.script(book_reply(ROWS), html_reply(401), then=book_reply(ROWS))
    with td.Client(service.base_url, access_token=TOKEN) as client:
        watch = client.watch_orders(0.01)
        assert [next(watch).misses for _ in range(2)] == [0, 1]
        client.access_token = "another-0123456789"
        assert next(watch).misses == 0


@pytest.mark.parametrize("kind", ["fills", "changes"])
def test_an_interrupt_anywhere_loses_no_update(kind: str) -> None:
    """Ctrl-C after the records are known, and before the reader has the update."""
    code = {
        function.__code__
        for owner in {*Watch.__mro__[1:], *KnownOrders.__mro__, *KnownTrades.__mro__}
        for function in vars(owner).values()
        if hasattr(function, "__code__")
    }
    interrupts, nth = 1, -1
    while interrupts:
        nth, interrupts, clock, found = nth + 1, 0, Clock(), []
        books: list[Any] = [trade_book(some_trades(count)) for count in (1, 2, 3)]
        state: KnownOrders | KnownTrades = KnownTrades(books[0])
        if kind == "changes":
            books = [order_book(some_orders(count)) for count in (1, 2, 3)]
            state = KnownOrders((), books[0])
        watch = watched(iter(books[1:] + books[2:] * 2).__next__, state, clock)
        before = sys.gettrace()
        sys.settrace(interrupted(nth, code))
        try:
            for _ in range(3):
                try:
                    found.append(len(getattr(next(watch), kind)))
                except KeyboardInterrupt:
                    interrupts += 1
        finally:
            sys.settrace(before)
        assert sum(found) == 2, f"interrupted at step {nth}"
    assert nth > 50


def test_an_interrupt_as_the_turn_begins_leaves_the_watch_usable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Turn:
        lock = threading.Lock()
        release = lock.release

        def acquire(self, *, blocking: bool) -> bool:
            is_acquired = self.lock.acquire(blocking=blocking)
            if interrupts:
                raise interrupts.pop()
            return is_acquired

    interrupts = [KeyboardInterrupt()]
    clock = Clock()
    watch = watched(Polls([order_book(some_orders(2))], clock), KnownOrders((), None), clock)
    monkeypatch.setattr(watch, "_turn", Turn())
    with pytest.raises(KeyboardInterrupt):
        next(watch)
    assert len(next(watch).orders) == 2


def test_a_closed_client_ends_a_long_wait_at_once(service: Service) -> None:
    service.script(then=book_reply(ROWS))
    client = td.Client(service.base_url, access_token=TOKEN)
    watch = client.watch_orders(600)
    next(watch)
    threading.Timer(0.2, client.close).start()
    begun = time.monotonic()
    with pytest.raises(td.ClientClosedError):
        next(watch)
    assert time.monotonic() - begun < 30  # the clock is looked at every second
