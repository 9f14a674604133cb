"""One call with either client, whatever it takes to make it: the tests of faults loop over both."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

import tradingdata as td
from service import Behaviour, Service, book_reply, trades
from starvation import starved, untimed

TOKEN = "canary-b1f0c2d9"
BOOK_PATH = "/api/v1/trade/book"
# Seconds that a deadline, a cancellation or an interrupt may take to come out: what is promised.
PROMISED = 0.1


def in_time(elapsed: float, seconds: float, *, at_least: float = 0.0, waited: float = 0.0) -> None:
    """Checks that something took `seconds`, and no longer than is promised.

    `waited` is what `starved()` grew by, which other processes caused.
    """
    assert elapsed >= at_least
    assert elapsed - waited <= seconds + PROMISED, (
        f"{elapsed:.3f} s (starved for {waited:.3f}) instead of {seconds} s"
    )


Call = Callable[..., Any]
Result = TypeVar("Result")


def good_book(rows: int = 3) -> Behaviour:
    return book_reply(trades(rows))


def sync_call(url: str, what: str = "trade_book", *arguments: Any, **options: Any) -> Any:
    """The result of one method of a new Client; a search is read to its end."""
    with td.Client(url, **{"access_token": TOKEN, **options}) as client:
        result = getattr(client, what)(*arguments)
        return result.all() if what == "search" else result


def async_call(url: str, what: str = "trade_book", *arguments: Any, **options: Any) -> Any:
    """The same with AsyncClient, on an event loop of its own."""

    async def run() -> Any:
        client = td.AsyncClient(url, **{"access_token": TOKEN, **options})
        try:
            result = getattr(client, what)(*arguments)
            return await (result.all() if what == "search" else result)
        finally:
            with untimed():
                await client.aclose()

    return asyncio.run(run())


both = pytest.mark.parametrize("call", [sync_call, async_call], ids=["sync", "async"])


def failure(
    url: str, *arguments: Any, call: Call = sync_call, **options: Any
) -> td.TradingDataError:
    """The error of a call that must fail; its message is one line that holds no token."""
    with pytest.raises(td.TradingDataError) as caught:
        call(url, *arguments, **options)
    error = caught.value
    assert "\n" not in str(error)
    assert TOKEN not in f"{error!r} {error.body} {error.service_message}"
    return error


@contextmanager
def within(seconds: float, *, at_least: float = 0.0) -> Iterator[None]:
    """Checks that the block takes so long, and no longer than is promised."""
    before = starved()
    started = time.monotonic()
    yield
    elapsed = time.monotonic() - started
    in_time(elapsed, seconds, at_least=at_least, waited=starved() - before)


def at_once(count: int, work: Callable[[int], Result]) -> list[Result]:
    """What `work` returns on each of `count` threads, which begin together."""
    with ThreadPoolExecutor(count, initializer=threading.Barrier(count).wait) as pool:
        return list(pool.map(work, range(count)))


def wait_until(holds: Callable[[], bool], patience: float = 100) -> None:
    """Waits for what comes a little later, such as the end of a thread."""
    until = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < until, "it did not come to hold"
        time.sleep(0.005)


def served(*behaviours: Behaviour, then: Behaviour | None = None, **options: Any) -> Service:
    """A service with a script for all paths, to be entered."""
    service = Service(**options)
    service.script(*behaviours, then=then)
    return service


def run_child(
    code: str,
    *arguments: str,
    environment: dict[str, str] | None = None,
    timeout: float = 280,  # only ends what hangs; a test may take 300 s
    within: Sequence[str] = (),
) -> str:
    """What a Python process of its own prints; its failure fails the test with what it said.

    `within` is a command that runs another one, such as in a namespace.
    """
    command = [
        *within,
        sys.executable,
        "-X",
        "dev",
        "-W",
        "error",
        "-c",
        PRELUDE + code,
        *arguments,
    ]
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


# A shell has what it runs in the background ignore Ctrl-C, and its children too.
PRELUDE = f"""
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.append({str(Path(__file__).parent)!r})
import tradingdata as td
from starvation import starved
TOKEN = {TOKEN!r}
"""
