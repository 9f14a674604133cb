"""Writes data to standard output, remarks and errors to standard error, and reports of checks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    _console(stderr=True).print(printable(text), style=style, soft_wrap=not watched())


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


_STYLES = {"ok": "green", "warn": "yellow", "FAIL": "bold red", "skip": "dim"}


class Stop(Exception):
    """A step failed that the following steps depend on."""


class Report:
    """The steps in order, and the resulting exit code."""

    def __init__(self, names: Sequence[str]) -> None:
        self._left = list(names)
        self._width = max(map(len, names))
        self._console = _console()
        self._name = ""
        self._counts = dict.fromkeys(_STYLES, 0)
        self._code = Code.OK

    @contextmanager
    def step(self, name: str, advice: str = "", *, go_on: bool = False) -> Iterator[None]:
        """Runs a step; if it raises, its line says why and what to do.

        Raises Stop then, unless the following steps do not depend on it (``go_on``).
        """
        self._name = name
        try:
            yield
        except (TradingDataError, OSError) as error:
            if name not in self._left:  # already reported: writing that line has failed
                raise
            why = for_a_terminal(error)
            if not isinstance(error, TradingDataError):
                why = f"{error.strerror or error}: {advice}"
            self._line("FAIL", name, why)
            code = code_of(error) if isinstance(error, TradingDataError) else Code.TRANSPORT
            self._code = self._code or code
            if not go_on:
                raise Stop from None

    def ok(self, text: str) -> None:
        """Reports that the step succeeded."""
        self._line("ok", self._name, text)

    def warn(self, text: str) -> None:
        """Reports a problem that need not make calls fail."""
        self._line("warn", self._name, text)

    def skip(self, name: str, why: str) -> None:
        """Reports that the step does not apply."""
        self._line("skip", name, why)

    def skip_rest(self) -> None:
        """Reports all remaining steps as not tried."""
        for name in list(self._left):
            self.skip(name, "not tried")

    def end(self) -> Code:
        """Writes a summary; returns the exit code of the first step that failed."""
        failed, warned = self._counts["FAIL"], self._counts["warn"]
        if failed:
            self._write(f"{failed} failed", "bold red")
        else:
            note = f", {warned} to look at" if warned else ""
            self._write(f"ready{note}", "yellow" if warned else "bold green")
        return self._code

    def _line(self, state: str, name: str, text: str) -> None:
        self._counts[state] += 1
        self._left.remove(name)
        before = f"{state:<4}  {name:<{self._width}}  "
        text = printable(text)
        if self._console.is_terminal:
            lines = wrap(text, max(20, self._console.width - len(before)), break_long_words=False)
            text = f"\n{' ' * len(before)}".join(lines)
        self._write(before + text, _STYLES[state], len(state))

    def _write(self, text: str, style: str, styled: int | None = None) -> None:
        line = Text(text)
        line.stylize(style, 0, styled)
        self._console.print(line, soft_wrap=True)
        sys.stdout.flush()
