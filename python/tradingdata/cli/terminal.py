"""Writes data to standard output, and remarks and errors to standard error."""

from __future__ import annotations

import sys
from contextlib import suppress
from io import StringIO
from typing import TYPE_CHECKING, Any

from tradingdata.display.text import printable

if TYPE_CHECKING:
    from rich.console import Console


def console(**options: Any) -> Console:
    """Returns a console that shows text as it is."""
    from rich.console import Console  # takes 50 ms, and most output is no terminal's

    return Console(highlight=False, markup=False, emoji=False, **options)


def screen() -> Console | None:
    """Returns a console if standard output is a terminal, else None."""
    return console() if sys.stdout.isatty() else None


def remark(text: str, style: str = "dim") -> None:
    """Writes a line to standard error, which is not part of the data, if it can be written."""
    line = printable(text) + "\n"
    if watched():
        written = StringIO()  # because rich ends the program where it cannot write
        console(file=written, force_terminal=True).print(printable(text), style=style)
        line = written.getvalue()
    with suppress(OSError):
        sys.stderr.write(line)  # which a live table replaces, to write above itself


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
