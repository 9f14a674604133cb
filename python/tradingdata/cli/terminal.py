"""What a command says: on standard output if it is a terminal, in remarks and errors, by its code.

There is an exit code for each kind of error, so that scripts can distinguish them.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from enum import IntEnum
from errno import EPIPE
from shutil import get_terminal_size
from typing import TYPE_CHECKING, TextIO

from tradingdata import errors as known
from tradingdata._core import printable
from tradingdata._util.waiting import Result
from tradingdata.display import folded, for_output

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


class Screen:
    """A terminal; with colours unless ``NO_COLOR`` is set."""

    def __init__(self, file: TextIO, size: tuple[int, int] | None = None) -> None:
        self.file = file
        self.width, self.height = size or get_terminal_size()
        self._has_colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def paint(self, text: str, style: str) -> str:
        """Returns text in a style."""
        is_plain = not (style and text and self._has_colours)
        return text if is_plain else f"\x1b[{_STYLES[style]}m{text}\x1b[0m"

    def fit(self, text: str) -> list[str]:
        """Returns text in lines that fit, but does not break addresses and paths."""
        return folded(text, self.width)

    def show(self, lines: Sequence[str], style: str = "") -> None:
        """Writes lines."""
        import click  # which translates styles for Windows

        for line in lines:
            text = for_output(self.paint(line, style), self.file)
            click.echo(text, self.file, color=True)


def screen() -> Screen | None:
    """Returns standard output if it is a terminal, else None."""
    return Screen(sys.stdout) if sys.stdout.isatty() else None


def remark(text: str, style: str = "dim") -> None:
    """Writes a line to standard error, which is not part of the data, if it can be written."""
    text = printable(text)
    with suppress(OSError):
        if sys.stderr.isatty():
            terminal = Screen(sys.stderr)
            terminal.show(terminal.fit(text), style)
        else:
            sys.stderr.write(text + "\n")


def problem(text: str) -> None:
    """Writes an error as one line, red on a terminal."""
    remark("error: " + " ".join(text.split()), "red")


def write_out(data: bytes) -> None:
    """Writes all data to standard output, of which unbuffered Python may accept only a part."""
    sys.stdout.flush()
    left = memoryview(data)
    while left:
        left = left[sys.stdout.buffer.write(left) :]
    sys.stdout.buffer.flush()


def end_with_the_reader() -> None:
    """Raises BrokenPipeError if standard output is a pipe that nobody reads any more."""
    import select

    events: list[tuple[int, int]] = []
    with suppress(AttributeError, ValueError, OSError):  # on Windows; if it is no file
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        events = poll.poll(0)
    if any(event & select.POLLERR for _, event in events):
        raise BrokenPipeError(EPIPE, "nobody reads the output")


class UsageError(Exception):
    """Invalid options or arguments; the message says what is valid."""


class DataError(Exception):
    """Rows that cannot be counted; the message says why."""


class Code(IntEnum):
    """The exit codes of the command line, each with its meaning and the errors that end with it."""

    meaning: str
    errors: tuple[type[BaseException], ...]

    def __new__(cls, value: int, meaning: str, *errors: type[BaseException]) -> Self:
        """Creates a code."""
        code = int.__new__(cls, value)
        code._value_, code.meaning, code.errors = value, meaning, errors
        return code

    OK = 0, "success; a book may still be empty"
    BUG = 1, "unexpected error; --debug shows the traceback", BaseException
    USAGE = 2, "wrong command, option or argument", UsageError
    CONFIGURATION = (
        3,
        "missing address, token, profile or library",
        known.ConfigurationError,
        ImportError,
    )
    AUTHENTICATION = 4, "the service refused the token", known.AuthenticationError
    TRANSPORT = 5, "no complete response: connection, TLS or deadline", known.TransportError
    SERVICE = 6, "the service responded with an error", known.StatusError, known.ServiceError
    DATA = (
        7,
        "a response that is not what the service documents, or unusable trades",
        known.DecodeError,
        known.PaginationError,
        DataError,
    )
    NOT_FOUND = 8, "no stock of that symbol, code or ISIN", known.StockNotFoundError
    FILE = 9, "a file that exists or is unusable; a day not archived", known.ArchiveError, OSError
    ISSUES = 10, "with --strict: the result has issues, which standard error lists"
    INTERRUPTED = 130, "interrupted by Ctrl-C", KeyboardInterrupt
    BROKEN_PIPE = 141, "the output pipe was closed, as head does"


def code_of(error: BaseException) -> Code:
    """Returns the exit code of an error: that of its class, or else of the nearest base."""
    return next(code for kind in type(error).__mro__ for code in Code if kind in code.errors)


_IN_PYTHON = re.compile("`(client|error)[.]")  # in notes
# Python arguments that messages name, and the options that replace them on the command line.
_OPTIONS = {
    "`overwrite=True`": "--force",
    "`missing_ok`": "--missing-ok",
    "use a profile": "use a profile (--profile)",
}


def for_a_terminal(error: BaseException) -> str:
    """Returns an error as one line with its notes, except on how to go on in Python."""
    notes = [note for note in getattr(error, "__notes__", ()) if not _IN_PYTHON.search(note)]
    text = " ".join("; ".join([str(error), *notes]).split())
    for word, option in _OPTIONS.items():
        text = text.replace(word, option)
    return text


def fitting(work: Callable[[], Result]) -> Result:
    """Returns the result of a function that raises these errors for what the user passed."""
    try:
        return work()
    except (OverflowError, ValueError) as error:
        raise UsageError(str(error)) from None
