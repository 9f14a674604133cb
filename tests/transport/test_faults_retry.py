"""When a call is tried again and how long that waits, and the deadline over it all."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, both, failure, good_book, served, within
from service import (
    Behaviour,
    Service,
    cut_content_length,
    pages,
    reply,
    reset,
    retry_after,
    stall,
    stocks,
)


@both
@pytest.mark.parametrize(
    "behaviour",
    [reply(503), retry_after("0"), reset, cut_content_length()],
    ids=["503", "Retry-After", "reset", "cut body"],
)
def test_the_deadline_is_over_all_attempts_and_waits(call: Any, behaviour: Behaviour) -> None:
    started = time.monotonic()
    with served(then=behaviour) as service, within(0.4):
        error = failure(service.base_url, call=call, attempts=1000, timeout=0.4)
    assert isinstance(error, td.TradingDataError)
    assert 0 < error.elapsed <= time.monotonic() - started


@both
def test_what_on_retry_raises_comes_out(call: Any) -> None:
    class Enough(Exception):
        pass

    def enough(retry: td.types.Retry) -> None:
        raise Enough(retry.reason)

    # The wait is so long that even a slow event loop ends the call before its next attempt.
    with served(then=retry_after("5", status=503)) as service:
        with pytest.raises(Enough, match="HTTP 503"):
            call(service.base_url, on_retry=enough)
        service.wait_for_open(0)
        assert len(service.requests) == 1


def test_one_rate_limit_paces_both_clients_and_every_kind_of_call(service: Service) -> None:
    """Shared, with a burst of 2: the k-th request goes no sooner than (k - 2) / 20 s."""
    service.script(then=good_book())
    service.choose(pages(stocks(1)), path="/api/v1/stocks")
    pace = td.RateLimit(20, burst=2)
    options: dict[str, Any] = {"access_token": TOKEN, "rate_limit": pace}

    async def run() -> None:
        with td.Client(service.base_url, **options) as client:
            async with td.AsyncClient(service.base_url, **options) as other:
                await asyncio.gather(
                    *(other.trade_book() for _ in range(3)),
                    *(asyncio.to_thread(client.trade_book) for _ in range(3)),
                    other.search("x").first(1),
                    asyncio.to_thread(client.search("x").first, 1),
                )
                with pytest.raises(td.DeadlineError, match="the rate limit delays the request"):
                    await asyncio.gather(*(other.trade_book(timeout=0.2) for _ in range(9)))

    started = time.monotonic()
    asyncio.run(run())
    times = sorted(request.at - started for request in service.requests)
    assert len(times) >= 8
    for k, at in enumerate(times, start=1):
        assert at >= (k - 2) / 20


def test_a_wall_clock_that_jumps_changes_no_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines are on the steady clock, in Python too."""
    monkeypatch.setattr(time, "time", lambda: 0.0)
    with served(then=stall()) as service, within(0.3, at_least=0.25):
        assert type(failure(service.base_url, timeout=0.3)) is td.DeadlineError
