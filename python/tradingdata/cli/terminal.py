"""Writes data to standard output, remarks and errors to standard error, and reports of checks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.text import Text

from tradingdata.display.text import printable
from tradingdata.errors import TradingDataError

from .errors import Code, code_of, for_a_terminal


def _console(**options: Any) -> Console:
    return Console(highlight=False, markup=False, emoji=False, **options)


def screen() -> Console | None:
    """Returns a console if standard output is a terminal, else None."""
    return _console() if sys.stdout.isatty() else None


def remark(text: str, style: str = "dim") -> None:
    """Writes a line to standard error, which is not part of the data."""
    console = _console(stderr=True)
    with console.capture() as line:
        console.print(printable(text), style=style, soft_wrap=not watched())
    sys.stderr.write(line.get())  # which a live table replaces, to write above itself


def problem(text: str) -> None:
    """Writes an error as one line, red on a terminal."""
    remark("error: " + " ".join(text.split()), "red")


def watched() -> bool:
    """Returns whether standard error is a terminal."""
    return sys.stderr.isatty()


def write_out(data: bytes) -> None:
    """Writes all data to standard output, of which unbuffered Python may accept only a part."""
    sys.stdout.flush()
    left = memoryview(data)
    while left:
        left = left[sys.stdout.buffer.write(left) :]
    sys.stdout.buffer.flush()


_STYLES = {"ok": "green", "FAIL": "bold red"}


class Report:
    """The steps of a check, a line each, and the exit code of the first that failed."""

    def __init__(self, width: int) -> None:
        self.code = Code.OK
        self._width = width  # of the names
        self._console = _console()

    def step(self, name: str, work: Callable[[], str]) -> bool:
        """Runs a step, whose line has what it returns, or why it failed and what to do.

        Returns whether it succeeded.
        """
        state, failed = "ok", Code.OK
        try:
            text = work()
        except (TradingDataError, OSError) as error:
            state, failed, text = "FAIL", code_of(error), for_a_terminal(error)
        self.code = self.code or failed
        before, text = f"{state:<4}  {name:<{self._width}}  ", printable(text)
        if self._console.is_terminal:
            lines = wrap(text, max(20, self._console.width - len(before)), break_long_words=False)
            text = f"\n{' ' * len(before)}".join(lines)
        line = Text(before + text)
        line.stylize(_STYLES[state], 0, len(state))
        self._console.print(line, soft_wrap=True)
        sys.stdout.flush()
        return not failed
