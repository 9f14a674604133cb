"""When a watch polls: on the grid of a steady clock, once at a time, slower when asked to be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import tradingdata as td
from service import as_json, envelope
from systems import posix
from tradingdata.watch import Grid, OrderState, watch, watch_async
from watching import (
    Clock,
    Polls,
    order_book,
    some_orders,
    until_over,
)

EMPTY = order_book([])


def times(
    *responses: Any, interval: float = 5.0, reader: Callable[[Clock], object] = id
) -> list[float]:
    """When the polls begin, in seconds after the first; `reader` is what the loop's body does."""
    clock = Clock()
    polls = Polls(responses, clock)
    state = OrderState((), None)
    for _ in until_over(watch(polls, state, interval, clock=clock, sleep=clock.sleep)):
        reader(clock)
    return [at - polls.at[0] for at in polls.at]


def taking(clock_seconds: float, response: Any, clocks: list[Clock]) -> Callable[[], Any]:
    def respond() -> Any:
        clocks[0].sleep(clock_seconds)
        return response

    return respond


def polled(*durations: float, interval: float = 5.0) -> list[float]:
    """When polls begin that take so long each."""
    clock = Clock()
    polls = Polls([taking(seconds, EMPTY, [clock]) for seconds in durations], clock)
    for _ in until_over(
        watch(polls, OrderState((), None), interval, clock=clock, sleep=clock.sleep)
    ):
        pass
    return [at - polls.at[0] for at in polls.at]


def limited(retry_after: float | None) -> td.RateLimitError:
    return td.RateLimitError("slow down", retryable=True, retry_after=retry_after)


def test_polls_keep_to_the_grid_whatever_they_take() -> None:
    assert polled(0.0, 1.0, 4.9, 0.3) == [0, 5, 10, 15, 20]


def test_a_poll_that_takes_longer_leaves_ticks_out_and_overlaps_none() -> None:
    assert polled(5.0, 12.0, 0.1) == [0, 10, 25, 30]


def test_a_slow_reader_does_not_shift_the_grid() -> None:
    assert times(*[EMPTY] * 3, reader=lambda clock: clock.sleep(7)) == [0, 10, 20, 30]


def test_ten_thousand_polls_do_not_drift() -> None:
    at = times(*[EMPTY] * 10_000, interval=0.1)
    assert at == pytest.approx([i * 0.1 for i in range(10_001)], abs=1e-6)


def test_a_refusal_with_retry_after_waits_as_asked_and_stays_on_the_grid() -> None:
    assert times(limited(12.0), limited(2.0), EMPTY) == [0, 15, 20, 25]


def test_a_refusal_without_one_waits_twice_as_long_each_time_up_to_a_minute() -> None:
    assert times(*[limited(None)] * 5, EMPTY, limited(None)) == [0, 10, 30, 70, 130, 190, 195, 205]
    assert times(limited(None), interval=90.0) == [0, 90]


def test_another_failure_does_not_slow_down() -> None:
    down = td.ServerError("down", retryable=True)
    assert times(down, down, EMPTY) == [0, 5, 10, 15]


def test_no_tick_comes_twice_where_the_clock_is_a_hair_behind_it() -> None:
    grid = Grid(0.1, 0.0)
    due = grid.next(0.0)
    assert due is not None
    for _ in range(1000):
        grid.ended(due - 1e-12, None)
        following = grid.next(due - 1e-12)
        assert following is not None
        assert following - due == pytest.approx(0.1)
        due = following


def test_the_async_watch_keeps_the_same_pace() -> None:
    async def polls_at() -> list[float]:
        clock = Clock()
        polls = Polls([EMPTY, limited(12.0), EMPTY], clock)

        async def poll() -> td.OrderBook:
            clock.now += 1.0
            book: td.OrderBook = polls()
            return book

        async def sleep(seconds: float) -> None:
            clock.sleep(seconds)

        updates = watch_async(poll, OrderState((), None), 5.0, clock=clock, sleep=sleep)
        seen = [update.missed is None async for update in until_over_async(updates)]
        assert seen == [True, False, True]
        return polls.at

    first, *others = asyncio.run(polls_at())
    assert [at - first for at in others] == [5.0, 20.0, 25.0]


async def until_over_async(updates: Any) -> Any:
    from watching import Over

    try:
        async for update in updates:
            yield update
    except Over:
        return


def test_a_bad_interval_is_refused_at_the_call() -> None:
    client = td.Client("http://127.0.0.1:1", access_token="t")
    with pytest.raises(
        td.ConfigurationError, match="interval must be a positive number of seconds"
    ):
        client.watch_orders(0)
    with pytest.raises(TypeError, match="interval must be a number of seconds, not '5'"):
        client.watch_trades("5")  # type: ignore[arg-type]
    with pytest.raises(td.ConfigurationError, match="timeout must be a positive number"):
        client.watch_trades(timeout=-1)


def test_ten_thousand_polls_grow_with_the_changes_and_not_with_the_polls() -> None:
    """Every poll's body differs in what ticks; every hundredth brings a change."""
    count, clock = 30, Clock()
    records = some_orders(count, row_no=987654321, ref_ltp=987654321)

    def bodies(polls: int) -> Any:
        for poll in range(polls):
            if poll % 100 == 0:
                records[poll // 100 % count]["status"] = f"number {poll // 100}"
                body = as_json(envelope(records))
            yield body.replace(b"987654321", str(poll).encode())

    page: int = posix("resource").getpagesize()

    def resident() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * page

    kept: list[td.types.OrderChange] = []
    polls = Polls(bodies(10_000), clock, td.OrderBook.from_json)
    state = OrderState(("row_no", "ref_ltp"), None)
    early = 0
    for number, update in enumerate(
        until_over(watch(polls, state, 0.5, clock=clock, sleep=clock.sleep))
    ):
        kept.extend(update.changes)
        if number == 1000:
            early = resident()
    grown = resident() - early
    assert len(kept) == count + 99
    assert grown < 9 * 2**20  # 9,000 polls of 42 kB each would be 360 MB
