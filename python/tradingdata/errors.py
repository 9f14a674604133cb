"""The errors, as a tree.

Each is picklable, says in one line what to do, and carries what is known of the call::

    TradingDataError
    +- ConfigurationError (also ValueError)   before any request
    |  +- ClientClosedError                   the client was closed
    +- TransportError                         no complete answer
    |  +- ConnectError                        no connection
    |  +- TLSError                            no trusted connection
    |  +- DeadlineError (also TimeoutError)   not in time
    |  +- CallCancelledError                  given up, e.g. because the client was closed
    +- StatusError                            an HTTP status other than 200
    |  +- BadRequestError                     400, 405, 422
    |  +- AuthenticationError                 401, 403
    |  +- NotFoundError                       404
    |  +- RateLimitError                      429 (.retry_after)
    |  +- ServerError                         5xx
    +- ServiceError                           HTTP 200, and it says no (.service_message)
    +- BooksDisagreeError                     orders and trades do not agree (.books)
    +- DecodeError                            HTTP 200, and the body is not as documented
    +- PaginationError                        a search that cannot be read to its end
    +- StockNotFoundError (also LookupError)  no stock of that symbol, code or ISIN (.nearest)
    +- ArchiveError                           an archive's file cannot be used (.file, .book)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


class TradingDataError(Exception):
    """The root of all that this package raises of its own.

    Attributes:
        status_code: the HTTP status, or ``None`` where there was no answer.
        account: the client's label for the account, where it has one.
        attempts: requests that were sent for this call.
        elapsed: seconds that the call took, over all attempts and waits.
        retryable: whether the same call may succeed later, unchanged.
        body: the head of the answer, with account numbers masked; ``""`` where there was none.
        page: of a search: the page that failed, to go on from with ``start_page=``.
        received: of a search: the stocks that came before it.
    """

    def __init__(
        self,
        message: str = "",
        *,
        status_code: int | None = None,
        account: str | None = None,
        attempts: int = 0,
        elapsed: float = 0.0,
        retryable: bool = False,
        body: str = "",
        service_message: str = "",
        retry_after: float | None = None,
        offset: int | None = None,
        path: str | None = None,
        page: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.account = account
        self.attempts = attempts
        self.elapsed = elapsed
        self.retryable = retryable
        self.body = body
        self.service_message = service_message
        self.retry_after = retry_after
        self.offset = offset
        self.path = path
        self.page = page
        self.received: Any = None  # a StockList, which this module lies below


class ConfigurationError(TradingDataError, ValueError):
    """What was asked cannot be sent: no token, a bad URL, a token that cannot be a header."""


class ClientClosedError(ConfigurationError):
    """The client was closed; make a new one."""


class TransportError(TradingDataError):
    """No complete answer arrived."""


class ConnectError(TransportError):
    """No connection: refused, unreachable, or a host name that does not resolve."""


class TLSError(TransportError):
    """No trusted connection: the certificate or the handshake failed. Never tried again."""


class DeadlineError(TransportError, TimeoutError):
    """The call did not end within its ``timeout``, which covers all attempts and waits."""


class CallCancelledError(TransportError):
    """The call was given up before it ended, e.g. because the client was closed meanwhile."""


class StatusError(TradingDataError):
    """The service answered with an HTTP status other than 200.

    Attributes:
        service_message: the message of its error envelope, where it sent one.
    """


class BadRequestError(StatusError):
    """400, 405 or 422: the service does not take this request."""


class AuthenticationError(StatusError):
    """401 or 403: the token is missing, expired, or not allowed to do this."""


class NotFoundError(StatusError):
    """404: nothing is there; mostly a wrong base URL."""


class RateLimitError(StatusError):
    """429: too many requests.

    Attributes:
        retry_after: seconds that the service asks to wait, or ``None`` where it did not say.
    """


class ServerError(StatusError):
    """5xx: the service failed, also after the retries."""


class ServiceError(TradingDataError):
    """HTTP 200, and the envelope's ``status`` is not success.

    Attributes:
        service_message: the envelope's message.
    """


class BooksDisagreeError(TradingDataError):
    """``books()`` asked again, and the orders and the trades still did not agree.

    Attributes:
        books: the last of both, ``(orders, trades)``.
        differences: the orders on which they disagree, as ``reconcile`` tells them.
    """

    books: Any = None
    differences: Any = None


class DecodeError(TradingDataError):
    """HTTP 200, and the body is not what the service documents.

    Attributes:
        offset: the byte at which the body stops to make sense.
        path: the JSON path of the value there, e.g. ``$.data[3].quantity``.
    """


class PaginationError(TradingDataError):
    """The pages of a search cannot be read to their end without losing rows.

    Attributes:
        page: the page to go on from (``start_page=``).
        received: the stocks that came before.
    """


class StockNotFoundError(TradingDataError, LookupError):
    """No stock has exactly that NSE symbol, BSE code or ISIN.

    Attributes:
        nearest: Names of stocks that the search did find.
        received: Of ``stock([...])``: the stocks of the other identifiers.
    """

    nearest: Sequence[str] = ()


class ArchiveError(TradingDataError):
    """An archive cannot be used, is damaged, or lacks days; its file is unchanged.

    ``retryable`` is True where another program has locked the file.

    Attributes:
        file: The path of the archive.
        book: A response that could not be filed, to be saved elsewhere, or ``None``.
        missing: The days that were asked for and never fetched, as ``Archive.missing`` lists them.
    """

    def __init__(
        self, message: str = "", *, file: str = "", retryable: bool = False, **details: Any
    ) -> None:
        super().__init__(message, retryable=retryable, **details)
        self.file = file
        self.book: Any = None
        self.missing: tuple[Any, ...] = ()


class DataWarning(UserWarning):
    """Values of an answer were lost or missing; ``book.issues`` lists them."""
