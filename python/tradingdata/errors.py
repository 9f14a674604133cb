"""All errors and warnings of the package.

Every error is picklable, has a one-line message that says what happened and what to do, and carries
the details of the call that are known::

    TradingDataError
    +- ConfigurationError (also ValueError)   before any request
    |  +- ClientClosedError                   the client was closed
    +- TransportError                         no complete response
    |  +- ConnectError                        no connection
    |  +- TLSError                            no trusted connection
    |  +- DeadlineError (also TimeoutError)   the deadline passed
    |  +- CallCancelledError                  cancelled, e.g. because the client was closed
    +- StatusError                            an HTTP status other than 200
    |  +- BadRequestError                     400, 405, 422
    |  +- AuthenticationError                 401, 403
    |  +- NotFoundError                       404
    |  +- RateLimitError                      429, or 403 of a rate limit (.retry_after)
    |  +- ServerError                         5xx
    +- ServiceError                           HTTP 200, error envelope (.service_message)
    +- BooksDisagreeError                     orders and trades are inconsistent (.books)
    +- AccountsError                          some of many accounts failed (.errors, .received)
    +- DecodeError                            HTTP 200, malformed or undocumented body
    +- PaginationError                        a search that cannot be read to its end
    +- StockNotFoundError (also LookupError)  no stock with this symbol, code or ISIN (.nearest)
    +- ArchiveError                           an archive cannot be used (.file, .books)

What to do names the argument and the environment variable, for a script and a terminal alike.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from . import _core

__all__ = [
    "AccountsError",
    "ArchiveError",
    "AuthenticationError",
    "BadRequestError",
    "BooksDisagreeError",
    "CallCancelledError",
    "ClientClosedError",
    "ConfigurationError",
    "ConnectError",
    "DataWarning",
    "DeadlineError",
    "DecodeError",
    "NotFoundError",
    "PaginationError",
    "RateLimitError",
    "ServerError",
    "ServiceError",
    "StatusError",
    "StockNotFoundError",
    "TLSError",
    "TradingDataError",
    "TransportError",
]


class TradingDataError(Exception):
    """Base class of all errors that this package defines.

    Attributes:
        status_code: The HTTP status, or ``None`` without a response.
        account: The client's label for the account, or ``None``.
        attempts: Number of requests sent for this call.
        elapsed: Seconds that the call took, including all attempts and waits.
        retryable: Whether the same call may be tried again. The client does so itself, within its
            ``attempts`` and ``timeout``, before it raises.
        passing: Whether a later call may succeed: always where ``retryable``, and after a
            ``DeadlineError``. A loop that polls goes on while this is True.
        body: The beginning of the response body, with PANs masked; ``""`` without one.
        page: For a search, the page that failed, to resume from with ``start_page=``.
        page_size: For a search, its page size, with which to resume.
        received: For a search, the stocks received before that page; for many accounts, the book of
            those that succeeded.
    """

    status_code: int | None = None
    account: str | None = None
    attempts: int = 0
    elapsed: float = 0.0
    retryable: bool = False
    passing: bool = False
    body: str = ""
    service_message: str = ""
    retry_after: float | None = None
    _served_at: datetime | None = None  # by the response's date
    _received_at: datetime | None = None  # of the sandbox, whose clock is that of its books
    offset: int | None = None
    path: str | None = None
    page: int | None = None
    page_size: int | None = None
    received: Any = None  # a book; its module is in a layer above this one

    def __init__(self, message: str = "", **details: Any) -> None:
        super().__init__(message)
        for name, value in details.items():
            if hasattr(Exception, name) or not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no attribute {name!r}")
            setattr(self, name, value)
        if self.retryable:
            self.passing = True


class ConfigurationError(TradingDataError, ValueError):
    """Invalid options or arguments, detected before any request is sent."""


class ClientClosedError(ConfigurationError):
    """The client has been closed: create a new one."""


class TransportError(TradingDataError):
    """No complete response was received."""


class ConnectError(TransportError):
    """The connection failed: refused, unreachable, or the host name did not resolve."""


class TLSError(TransportError):
    """The certificate check or the TLS handshake failed. Never retried."""


class DeadlineError(TransportError, TimeoutError):
    """The call did not finish within its ``timeout``, which covers all attempts and waits."""


class CallCancelledError(TransportError):
    """The call was cancelled, for example because the client was closed meanwhile."""


class StatusError(TradingDataError):
    """The service returned an HTTP status other than 200.

    Attributes:
        service_message: The message of the error envelope, or ``""``.
    """


class BadRequestError(StatusError):
    """HTTP 400, 405 or 422: the service rejected the request."""


class AuthenticationError(StatusError):
    """HTTP 401 or 403: the token is missing, expired or lacks permission."""


class NotFoundError(StatusError):
    """HTTP 404: usually a wrong base URL."""


class RateLimitError(StatusError):
    """HTTP 429: too many requests. Also a 403 of a gateway that limits requests.

    A 403 is one if it has a ``Retry-After``, ``X-RateLimit-Remaining: 0``, ``CF-Mitigated:
    challenge`` or ``X-AMZN-WAF-Action``, or if its body says "rate limit", "too many requests" or
    "Just a moment" (the title of Cloudflare's challenge). It is retried; the token is not renewed.

    Attributes:
        retry_after: Seconds to wait as required by the service, or ``None`` if it did not say.
    """


class ServerError(StatusError):
    """HTTP 5xx: the service failed, even after the retries."""


class ServiceError(TradingDataError):
    """HTTP 200 with an envelope whose ``status`` is not ``success``.

    Attributes:
        service_message: The envelope's message.
    """


class BooksDisagreeError(TradingDataError):
    """The orders and the trades of ``books()`` were still inconsistent after its last request.

    Attributes:
        books: The latest pair, ``(orders, trades)``.
        differences: The orders on which they disagree, as ``reconcile`` reports them.
    """

    books: Any = None
    differences: Any = None


class DecodeError(TradingDataError):
    """HTTP 200 with a body that is malformed or not what the service documents.

    Attributes:
        offset: Byte offset of the first problem.
        path: JSON path of the value there, e.g. ``$.data[3].quantity``.
    """


class AccountsError(TradingDataError):
    """A call of ``Accounts`` failed for some accounts, or for all.

    ``retryable`` is True if each of the errors is.

    Attributes:
        errors: The errors by the label of the account.
        received: The book, or pair of books, of the accounts that succeeded.
    """

    errors: Mapping[str, Exception] = MappingProxyType({})


class PaginationError(TradingDataError):
    """The pages of a search cannot be read to the end without losing rows.

    Attributes:
        page: The page to resume from with ``start_page=``.
        received: The stocks received before it.
    """


class StockNotFoundError(TradingDataError, LookupError):
    """No single stock has exactly this NSE symbol, BSE code or ISIN.

    Attributes:
        nearest: Names of the first stocks that the search found.
    """

    nearest: Sequence[str] = ()


class ArchiveError(TradingDataError):
    """An archive cannot be used, is damaged, or lacks days.

    ``retryable`` is True if other programs were writing to it for too long.

    Attributes:
        file: The path of the archive, or of the damaged file.
        books: The books that could not be stored, so that they can be saved elsewhere.
        missing: The requested days that were never fetched, as ``Archive.missing`` lists them.
    """

    file: str = ""
    books: tuple[Any, ...] = ()
    missing: tuple[Any, ...] = ()


class DataWarning(UserWarning):
    """Values of a response were lost or missing, or rows may be; ``book.issues`` lists values."""


def warn_user(warning: Warning) -> None:
    """Issues a warning whose place is the line that called this package."""
    level, frame = 1, sys._getframe(1)
    own = __name__.partition(".")[0]
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != own:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level + 1)


# The core raises these classes. It is loaded once in a process, so a second copy of the package,
# imported after the first one was removed from sys.modules, takes the classes of the first.
sys.modules[__name__] = _core.errors_of(sys.modules[__name__])
