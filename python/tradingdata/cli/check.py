"""`tradingdata check`, with advice for each problem."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING

from tradingdata._util.plans import Result
from tradingdata.display.text import counted, group, printable
from tradingdata.errors import TradingDataError

from .errors import Code, code_of, for_a_terminal
from .options import Connection, command, received
from .terminal import console

if TYPE_CHECKING:
    from tradingdata.client.client import Client

_WIDTH = len("settings")
_STYLES = {"ok": "green", "FAIL": "bold red"}


@command(
    "check",
    """
tradingdata check
tradingdata check --profile desk1
tradingdata check && python strategy.py
""",
)
def check(connection: Connection) -> int:
    """Check settings, network and token.

    Prints a line each for settings, search and token. A line that fails says what to do, and the
    exit code is that of the first one. Makes a search and fetches the order book.
    """
    with connection.client(token=False) as client:
        account = f", account {client.account}" if client.account else ""
        codes = [
            _step("settings", lambda: f"{client.base_url}{account}"),
            _step("search", lambda: _searched(client)),
            _step("token", lambda: _accepted(client)),
        ]
    return next(filter(None, codes), Code.OK)


def _step(name: str, work: Callable[[], str]) -> Code:
    """Prints what a step returns, or why it failed and what to do; returns its exit code."""
    state, code = "ok", Code.OK
    try:
        text = work()
    except (TradingDataError, OSError) as error:
        state, code, text = "FAIL", code_of(error), for_a_terminal(error)
    before, text, screen = f"{state:<4}  {name:<{_WIDTH}}  ", printable(text), console()
    if screen.is_terminal:
        lines = wrap(text, max(20, screen.width - len(before)), break_long_words=False)
        text = f"\n{' ' * len(before)}".join(lines)
    from rich.text import Text

    line = Text(before + text)
    line.stylize(_STYLES[state], 0, len(state))
    screen.print(line, soft_wrap=True)
    sys.stdout.flush()
    return code


def _searched(client: Client) -> str:
    took, _ = _timed(lambda: client.search("INFY").first(1))
    return f"response in {group(took, 1)} ms, without a token"


def _accepted(client: Client) -> str:
    took, orders = _timed(lambda: received(client.order_book))
    return f"accepted: {counted(len(orders), 'order')} today, in {group(took, 1)} ms"


def _timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """Returns the milliseconds that a call takes, and its result."""
    started = time.perf_counter()
    result = call()
    return (time.perf_counter() - started) * 1000, result
