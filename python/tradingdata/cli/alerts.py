"""Alerts of `tradingdata watch`: a bell, and commands that run on a change or an error."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from tradingdata.display.preview import printable

from .change_lines import change_objects, missed_object
from .options import switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from tradingdata.errors import TradingDataError
    from tradingdata.watch.updates import OrderUpdate

_LONGEST = 30.0  # seconds that a command may take


@dataclass(frozen=True, kw_only=True)
class AlertOptions:
    """Selection of alerts."""

    bell: Annotated[bool, switch("--bell", "Ring the terminal's bell on a change.")] = False
    on_change: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Shell command to run on changes; gets them as JSON lines on its standard input.",
        ),
    ] = None
    on_error: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="Shell command to run when polls begin to fail, or an error ends the watch.",
        ),
    ] = None


class Alerts:
    """Runs the selected alerts; the orders of the first response are not changes."""

    def __init__(self, options: AlertOptions, ring: Callable[[], object]) -> None:
        self._options = options
        self._ring = ring
        self._begun = False
        self._failing = False

    def after(self, update: OrderUpdate) -> str:
        """Runs the alerts of an update; returns the problem with them, or empty text."""
        if update.missed is not None:
            began, self._failing = not self._failing, True
            return self.failed(update.missed, update.at) if began else ""
        self._failing = False
        begun, self._begun = self._begun, True
        if not (begun and update.changes):
            return ""
        if self._options.bell:
            self._ring()
        return _run(
            "--on-change", self._options.on_change, change_objects(update.changes, update.at)
        )

    def failed(self, error: TradingDataError, at: datetime) -> str:
        """Runs the command for an error; returns the problem with it, or empty text."""
        return _run("--on-error", self._options.on_error, [missed_object(error, at)])


def ring_stderr() -> None:
    """Rings the bell through standard error, for use if standard output is not a terminal."""
    if sys.stderr.isatty():
        print("\a", end="", file=sys.stderr, flush=True)


def _run(option: str, command: str | None, lines: Iterable[str]) -> str:
    """Runs a command of the user; returns the problem with it, or empty text.

    Its output would disturb the table, so only the last line of a failing command is reported.
    """
    if command is None:
        return ""
    with tempfile.TemporaryFile() as output:
        try:
            code = subprocess.run(
                command,
                shell=True,  # a shell command that the user passed
                input="".join(line + "\n" for line in lines).encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=_LONGEST,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            return f"{option}: stopped after {_LONGEST:g} s"
        if code == 0:
            return ""
        output.seek(0)
        said = output.read().decode(errors="replace").strip().splitlines()
    return printable(": ".join([f"{option} failed with exit code {code}", *said[-1:]]))
