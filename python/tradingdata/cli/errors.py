"""Exit codes: one for each kind of error, so that scripts can distinguish them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from tradingdata.errors import (
    ArchiveError,
    AuthenticationError,
    ConfigurationError,
    DecodeError,
    PaginationError,
    ServiceError,
    StatusError,
    StockNotFoundError,
    TradingDataError,
    TransportError,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


class UsageError(Exception):
    """Invalid options or arguments; the message says what is valid."""


class DataError(Exception):
    """Rows that cannot be counted; the message says why."""


class Code(IntEnum):
    """The exit codes of the command line."""

    OK = 0
    BUG = 1
    USAGE = 2
    CONFIGURATION = 3
    AUTHENTICATION = 4
    TRANSPORT = 5
    SERVICE = 6
    DATA = 7
    NOT_FOUND = 8
    FILE = 9
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS = {
    Code.OK: "success; a book may still be empty",
    Code.BUG: "unexpected error; --debug shows the traceback",
    Code.USAGE: "wrong command, option or argument",
    Code.CONFIGURATION: "missing address, token, profile or library",
    Code.AUTHENTICATION: "the service refused the token",
    Code.TRANSPORT: "no complete response: connection, TLS or deadline",
    Code.SERVICE: "the service responded with an error",
    Code.DATA: "a response that is not what the service documents",
    Code.NOT_FOUND: "no stock of that symbol, code or ISIN",
    Code.FILE: "a file that exists or is unusable; a day not archived",
    Code.INTERRUPTED: "interrupted by Ctrl-C",
    Code.BROKEN_PIPE: "the output pipe was closed, as head does",
}

# The first matching class decides.
_CODES: tuple[tuple[type[BaseException], Code], ...] = (
    (UsageError, Code.USAGE),
    (ArchiveError, Code.FILE),
    (ConfigurationError, Code.CONFIGURATION),
    (AuthenticationError, Code.AUTHENTICATION),
    (TransportError, Code.TRANSPORT),
    (StatusError, Code.SERVICE),
    (ServiceError, Code.SERVICE),
    (DecodeError, Code.DATA),
    (DataError, Code.DATA),
    (PaginationError, Code.DATA),
    (StockNotFoundError, Code.NOT_FOUND),
    (ImportError, Code.CONFIGURATION),
    (OSError, Code.FILE),
    (KeyboardInterrupt, Code.INTERRUPTED),
)


def code_of(error: BaseException) -> Code:
    """Returns the exit code of an error."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Code.BUG)


def for_a_terminal(error: BaseException) -> str:
    """Returns an error as one line; where to resume a search is in options, not arguments."""
    notes: Sequence[str] = getattr(error, "__notes__", ())
    if isinstance(error, TradingDataError) and error.page_size is not None:
        notes = [f"resume with --start-page {error.page} --page-size {error.page_size}"]
    return " ".join("; ".join([str(error), *notes]).split())
