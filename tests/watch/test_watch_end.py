"""A watch with an end."""

from __future__ import annotations

import asyncio
import datetime as dt
import time

import pytest

import tradingdata as td
from systems import WINDOWS
from tradingdata.watch.polling import Schedule, time_left
from tradingdata.watch.updates import KnownOrders
from watch.watching import Clock, Polls, order_book, watched


@pytest.mark.parametrize(("end", "polls"), [(0.1, 2), (5, 2), (12, 4), (14.9, 4), (15, 4)])
def test_the_last_poll_is_at_the_end(end: float, polls: int) -> None:
    clock = Clock()
    made = Polls([order_book([])] * 10, clock)
    state = KnownOrders((), None)
    updates = list(watched(made, state, clock, left=lambda: 1000.0 + end - clock.now))
    assert len(updates) == len(made.at) == polls
    assert made.at[-1] - made.at[0] == pytest.approx(end)


def test_no_poll_is_made_at_the_end_against_what_the_service_asks() -> None:
    schedule = Schedule(5.0)
    schedule.begin(0.0, 12.0)
    schedule.ended(0.0, td.RateLimitError("slow down", retry_after=60.0))
    assert schedule.due(0.0, 12.0) is None


def test_an_interrupt_of_the_last_poll_does_not_skip_it() -> None:
    clock = Clock()
    polls = Polls([order_book([]), KeyboardInterrupt(), order_book([])], clock)
    watch = watched(polls, KnownOrders((), None), clock, left=lambda: 1003.0 - clock.now)
    next(watch)
    with pytest.raises(KeyboardInterrupt):
        next(watch)
    assert len(list(watch)) == 1
    assert len(polls.at) == 3


def test_an_end_is_a_time_of_today_or_a_moment() -> None:
    now = dt.datetime.now(dt.UTC)
    for until in (
        now + dt.timedelta(seconds=60),
        (now + dt.timedelta(seconds=60)).astimezone().replace(tzinfo=None),
    ):
        assert 58 < time_left(until)() <= 60
    assert time_left(None)() == float("inf")
    if now.time() < dt.time(23, 59):
        assert 0 < time_left(dt.time(23, 59, 59, tzinfo=dt.UTC))() < 86400
    for passed in (now, dt.datetime(2020, 1, 1), now.time().replace(tzinfo=dt.UTC)):
        with pytest.raises(ValueError, match="until= has passed: "):
            time_left(passed)
    assert 0 < time_left((now + dt.timedelta(seconds=60)).isoformat())() <= 60
    for odd in ("1530", "2026-11-20", "soon"):
        with pytest.raises(ValueError, match="until= takes a time such as '15:30'"):
            time_left(odd)
    with pytest.raises(TypeError, match="until= takes a time such as '15:30'"):
        time_left(1530)  # type: ignore[arg-type]


@pytest.mark.skipif(WINDOWS, reason="the zone is that of the registry")
@pytest.mark.parametrize(
    ("now", "until", "minutes"),
    [
        ("2026-10-25T01:10+02:00", "02:30", 80),  # summer time ends at 03:00, which is 02:00 again
        ("2026-10-25T02:10+02:00", "02:30", 20),
        ("2026-10-25T02:50+02:00", "02:30", 40),
        ("2026-10-25T02:10+01:00", "02:30", 20),
        ("2026-03-29T01:50+01:00", "03:10", 20),  # it begins at 02:00, which is 03:00
        ("2026-03-29T01:50+01:00", "02:30", 40),
    ],
)
def test_an_end_in_an_hour_that_clocks_repeat_or_skip_is_to_come(
    now: str, until: str, minutes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `--until` means on a computer outside India."""

    class Then(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Then:
            return cls.fromtimestamp(dt.datetime.fromisoformat(now).timestamp(), tz)

    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        patch.setattr("tradingdata.watch.polling.datetime", Then)
        assert time_left(until)() == minutes * 60
    time.tzset()


def test_both_clients_end_at_until() -> None:
    def soon() -> dt.datetime:
        return dt.datetime.now(dt.UTC) + dt.timedelta(seconds=0.3)

    async def run(service: td.sandbox.Service) -> list[int]:
        async with service.async_client() as client:
            return [len(one.trades) async for one in client.watch_trades(0.2, until=soon())]

    with td.sandbox.start(orders=10) as service:
        found = [len(update.orders) for update in service.client().watch_orders(0.2, until=soon())]
        assert found == [10] * len(found)
        assert 1 <= len(found) <= 3
        assert 1 <= len(asyncio.run(run(service))) <= 3
