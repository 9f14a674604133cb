"""Watches of a service that is there: in HTTP, in the sandbox, left in the middle, interrupted."""

from __future__ import annotations

import asyncio
import itertools
import threading
import warnings
import weakref
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, in_time, run_child, within
from service import (
    Service,
    book_reply,
    envelope,
    html_reply,
    json_reply,
    orders,
    redirect,
    stall,
)

UNCHANGED = orders(20, pan_no="ABCDE1234F", order_no=str)


Seen = list[Any]


def first_async(
    service: Service, call: str, count: int, seen: Seen | None = None, **options: Any
) -> Seen:
    """The first updates of an AsyncClient's watch."""
    updates = [] if seen is None else seen

    async def run() -> None:
        async with (
            td.AsyncClient(service.base_url, access_token=TOKEN, attempts=1) as client,
            getattr(client, call)(0.01, **options) as watch,
        ):
            while len(updates) < count:
                updates.append(await anext(watch))

    asyncio.run(run())
    return updates


def first_sync(
    service: Service, call: str, count: int, seen: Seen | None = None, **options: Any
) -> Seen:
    """The same of a Client's."""
    updates = [] if seen is None else seen
    with (
        td.Client(service.base_url, access_token=TOKEN, attempts=1) as client,
        getattr(client, call)(0.01, **options) as watch,
    ):
        while len(updates) < count:
            updates.append(next(watch))
    return updates


both = pytest.mark.parametrize("watched", [first_sync, first_async], ids=["sync", "async"])


@both
def test_an_unchanged_response_changes_nothing(watched: Any, service: Service) -> None:
    service.script(
        book_reply(UNCHANGED), book_reply(UNCHANGED), *[book_reply(UNCHANGED[:19])] * 3,
    )  # fmt: skip
    updates = watched(service, "watch_orders", 4)
    assert [len(update.changes) for update in updates] == [20, 0, 1, 0]
    assert len({update.at for update in updates}) == 4
    responses = [update.orders.response for update in updates]
    assert [update.at for update in updates] == [one.received_at for one in responses]
    assert responses[0].sha256 == responses[1].sha256 != responses[2].sha256
    assert b"ABCDE" not in responses[1].content


# What a proxy, a maintenance page or a limit of requests sends for a while.
PASSING = [
    html_reply(200), html_reply(403), html_reply(404), redirect(302, "https://example.com"),
    json_reply({}), json_reply(envelope(None, status="error", message="Too many requests")),
    html_reply(500),
]  # fmt: skip


@both
def test_one_bad_poll_is_a_miss_and_the_watch_goes_on(watched: Any, service: Service) -> None:
    good = book_reply(UNCHANGED)
    service.script(good, *itertools.chain(*((bad, good) for bad in PASSING)))
    updates = watched(service, "watch_orders", 1 + 2 * len(PASSING))
    assert [update.misses for update in updates] == [0, *[1, 0] * len(PASSING)]
    errors = [type(update.missed).__name__ for update in updates[1::2]]
    assert errors == [
        "DecodeError", "AuthenticationError", "NotFoundError", "StatusError", "DecodeError",
        "ServiceError", "ServerError",
    ]  # fmt: skip
    assert {update.changes for update in updates[1:]} == {()}


@both
def test_a_token_that_stays_refused_ends_the_watch(watched: Any, service: Service) -> None:
    service.script(book_reply(UNCHANGED), then=html_reply(401))
    updates: list[Any] = []
    with pytest.raises(td.AuthenticationError, match="pass a new `access_token`") as caught:
        watched(service, "watch_orders", 4, seen=updates)
    assert caught.value.__notes__ == [
        "refused in 3 polls in a row",
        "the same watch continues once `client.access_token` is assigned a new one",
    ]
    assert [update.misses for update in updates] == [0, 1, 2]


def test_a_warning_of_lost_values_points_to_the_loop(service: Service) -> None:
    service.script(then=book_reply([UNCHANGED[0] | {"price": "MKT"}]))
    with (
        td.Client(service.base_url, access_token=TOKEN) as client,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("default")
        for _, _ in zip(range(3), client.watch_orders(0.01), strict=False):
            pass
    assert [warning.filename for warning in caught] == [__file__]


def test_a_watch_that_is_left_leaves_nothing(service: Service) -> None:
    service.script(then=book_reply(UNCHANGED))
    client = td.Client(service.base_url, access_token=TOKEN)
    client.order_book()
    threads = threading.active_count()  # the service's for this connection among them
    updates = client.watch_orders(0.01)
    first = weakref.ref(next(updates).orders)
    updates.close()
    with pytest.raises(StopIteration):
        next(updates)
    assert threading.active_count() == threads
    assert first() is None
    client.close()


def test_a_cancelled_watch_ends_at_once_while_it_waits_and_while_it_polls(service: Service) -> None:
    service.script(book_reply(UNCHANGED), stall())

    async def run(interval: float, patience: float) -> None:
        async with td.AsyncClient(service.base_url, access_token=TOKEN) as client:

            async def read() -> None:
                async for _ in client.watch_orders(interval):
                    pass

            task = asyncio.create_task(read())
            await asyncio.sleep(patience)
            task.cancel()
            with within(0), pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run(60.0, 0.3))  # between two polls
    asyncio.run(run(60.0, 0.3))  # within one


def test_an_interrupt_between_two_polls_comes_out_within_100_ms(service: Service) -> None:
    service.script(then=book_reply(UNCHANGED))
    code = """
import threading
from signalling import send
client = td.Client(sys.argv[1], access_token=TOKEN)
sent = []
def interrupt():
    time.sleep(0.3)
    sent.append((time.monotonic(), starved()))
    send()
try:
    for update in client.watch_orders(60):
        threading.Thread(target=interrupt, daemon=True).start()
except KeyboardInterrupt:
    [(at, before)] = sent
    print(time.monotonic() - at, starved() - before)
print(len(client.order_book()))
"""
    latency, rows = run_child(code, service.base_url).splitlines()
    elapsed, waited = map(float, latency.split())
    in_time(elapsed, 0, waited=waited)
    assert rows == "20"
