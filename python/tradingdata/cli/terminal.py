"""Writes text: data to standard output, remarks and errors to standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tradingdata.display.preview import printable

if TYPE_CHECKING:
    from rich.console import Console


def screen() -> Console | None:
    """Returns a console if standard output is a terminal, else None."""
    if not sys.stdout.isatty():
        return None
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False)


def remark(text: str, style: str = "dim") -> None:
    """Writes a line to standard error, which is not part of the data."""
    _to_stderr(text, style)


def problem(text: str) -> None:
    """Writes an error as one line, red on a terminal."""
    _to_stderr("error: " + " ".join(text.split()), "red")


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


def _to_stderr(text: str, style: str) -> None:
    line = printable(text)
    if not watched():
        print(line, file=sys.stderr)
        return
    from rich.console import Console

    Console(stderr=True, highlight=False, markup=False, emoji=False).print(line, style=style)
