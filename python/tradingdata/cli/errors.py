"""Exit codes: one for each kind of error, so that scripts can distinguish them."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

from tradingdata import errors as known
from tradingdata._util.waiting import Result

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


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
