"""`tradingdata check`, with advice for each problem, and `tradingdata versions`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

import typer

from tradingdata._util.optional_imports import show_versions
from tradingdata.display.text import group

from .options import Connection, command, received
from .terminal import Report

if TYPE_CHECKING:
    from tradingdata.client.client import Client

_CALLS = 3


@command(
    "check",
    """
tradingdata check
tradingdata check --profile desk1
tradingdata check && python strategy.py
""",
)
def check(connection: Connection) -> None:
    """Check settings, network and token.

    Prints a line for each of settings, search, token and latency. A line that fails says what to
    do, and the exit code is that of the first failure. Searches once and fetches the order book
    four times.
    """
    report = Report(width=len("settings"))
    with connection.client(token=False) as client:
        account = f", account {client.account}" if client.account else ""
        report.step("settings", lambda: f"{client.base_url}{account}")
        report.step("search", lambda: _searched(client))
        if report.step("token", lambda: _accepted(client)):
            report.step("latency", lambda: _latency(client))
    raise typer.Exit(report.code)


def _searched(client: Client) -> str:
    took = _timed(lambda: client.search("INFY").first(1))
    return f"response in {group(took, 1)} ms, without a token"


def _accepted(client: Client) -> str:
    return f"accepted: {group(len(received(client.order_book)))} orders today"


def _latency(client: Client) -> str:
    times = [_timed(lambda: received(client.order_book)) for _ in range(_CALLS)]
    return f"order book in {group(median(times), 1)} ms, the median of {_CALLS} calls"


def _timed(call: Callable[[], object]) -> float:
    """Returns the milliseconds that a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


@command("versions", "tradingdata versions")
def versions() -> None:
    """Show the installed versions."""
    show_versions(sys.stdout)
