"""When a watch polls: on the grid of a steady clock, once at a time, slower when asked to be."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import tradingdata as td
from service import as_json, envelope
from systems import posix
from tradingdata.watch.polling import Schedule
from tradingdata.watch.updates import KnownOrders
from watch.watching import Clock, Polls, order_book, some_orders, until_over, watched

EMPTY = order_book([])


def times(*responses: Any, interval: float = 5.0) -> list[float]:
    """When the polls begin, in seconds after the first."""
    clock = Clock()
    timed = [partial(one, clock) if callable(one) else one for one in responses]
    polls = Polls(timed, clock)
    list(until_over(watched(polls, KnownOrders((), None), clock, interval)))
    return [at - polls.at[0] for at in polls.at]


def limited(retry_after: float | None) -> td.RateLimitError:
    return td.RateLimitError("slow down", retryable=True, retry_after=retry_after)


DOWN = td.ServerError("down", retryable=True)


def late(seconds: float) -> Callable[[Clock], td.OrderBook]:
    """A response that takes so long."""

    def respond(clock: Clock) -> td.OrderBook:
        clock.sleep(seconds)
        return EMPTY

    return respond


@pytest.mark.parametrize(
    ("responses", "interval", "expected"),
    [
        ([late(0.0), late(1.0), late(4.9), late(0.3)], 5, [0, 5, 10, 15, 20]),
        ([late(5.0), late(12.0), late(0.1)], 5, [0, 10, 25, 30]),  # no two polls overlap
        ([DOWN, DOWN, EMPTY], 5, [0, 5, 10, 15]),
        ([limited(12.0), limited(2.0), EMPTY], 5, [0, 12, 17, 22]),
        ([*[limited(None)] * 5, EMPTY, limited(None)], 5, [0, 10, 30, 70, 130, 190, 195, 205]),
        ([limited(None)], 90, [0, 90]),
        ([td.ServiceError("too many requests"), EMPTY], 5, [0, 10, 15]),
        ([td.AuthenticationError("403"), EMPTY], 5, [0, 10, 15]),
        ([td.ServerError("maintenance", retry_after=10.0), EMPTY], 5, [0, 10, 15]),
    ],
)
def test_polls_keep_to_the_grid_and_wait_as_asked(
    responses: list[Any], interval: float, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of refusals without a time, each waits twice as long, up to a minute or the interval."""
    monkeypatch.setattr("tradingdata.watch.polling._JITTER", 0.0)
    assert times(*responses, interval=interval) == expected


def test_polls_do_not_drift() -> None:
    at = times(*[EMPTY] * 2_000, interval=0.1)
    assert at == pytest.approx([i * 0.1 for i in range(2_001)], abs=1e-6)


def test_a_wait_of_hours_is_a_miss_and_the_next_poll_comes_within_75_seconds() -> None:
    """A Retry-After of 16 hours."""
    first, second = times(limited(16 * 3600.0))
    assert 60 <= second - first <= 75


def test_watches_that_are_refused_together_do_not_poll_together_again() -> None:
    later = [times(limited(30.0), EMPTY)[1:] for _ in range(3)]
    assert len({at for polls in later for at in polls}) == 6
    assert all(30 <= first <= 37.5 for first, _ in later)


@pytest.mark.parametrize("end", [math.inf, 1100.0])
def test_after_a_suspend_the_next_poll_is_at_once(end: float) -> None:
    """Eight hours pass within one look at the clock; the pace is kept until the end."""
    clock = Clock()
    polls = Polls([EMPTY] * 3, clock)
    updates = watched(polls, KnownOrders((), None), clock, left=lambda: end - clock.now)
    next(updates)
    clock.after_next_sleep = 8 * 3600.0
    list(until_over(updates))
    late = [8 * 3600 + 1, *([8 * 3600 + 5, 8 * 3600 + 10] if end == math.inf else [])]
    assert [at - polls.at[0] for at in polls.at[1:]] == late


def test_no_tick_comes_twice_where_the_clock_is_a_hair_behind_it() -> None:
    schedule = Schedule(0.1)
    due = 0.0
    for _ in range(1000):
        schedule.begin(due, math.inf)
        following = schedule.due(due - 1e-12, math.inf)
        assert following is not None
        assert following - due == pytest.approx(0.1)
        due = following


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


def test_memory_grows_with_the_changes_and_not_with_the_polls() -> None:
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
    polls = Polls(bodies(3_000), clock, td.OrderBook.from_json)
    state = KnownOrders(("row_no", "ref_ltp"), None)
    early = 0
    for number, update in enumerate(until_over(watched(polls, state, clock, 0.5))):
        kept.extend(update.changes)
        if number == 1000:
            early = resident()
    grown = resident() - early
    assert len(kept) == count + 29
    assert grown < 9 * 2**20  # 2,000 polls of 42 kB each would be 84 MB
