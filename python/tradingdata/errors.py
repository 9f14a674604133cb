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
    |  +- RateLimitError                      429 (.retry_after)
    |  +- ServerError                         5xx
    +- ServiceError                           HTTP 200, error envelope (.service_message)
    +- BooksDisagreeError                     orders and trades are inconsistent (.books)
    +- DecodeError                            HTTP 200, malformed or undocumented body
    +- PaginationError                        a search that cannot be read to its end
    +- StockNotFoundError (also LookupError)  no stock with this symbol, code or ISIN (.nearest)
    +- ArchiveError                           an archive file cannot be used (.file, .book)

What happened is worded where an error is raised. What to do depends on the reader: an error carries
only the code of its advice, ``hint``, for which `ADVICE` has the words of this library and the
command line has its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The advice of each hint. Names in braces are attributes of the error.
ADVICE = {
    "access_token": "pass access_token=, set TRADINGDATA_ACCESS_TOKEN, or assign "
    "client.access_token",
    "account_label": "create it with Client(account=...), otherwise records may be duplicated",
    "base_url": "check base_url",
    "ca_file": "pass the PEM file of the authorities that you trust as ca_file=",
    "clock": "check this machine's clock, or notify the service",
    "confirm": "read again with all(confirm=True), or narrow the query",
    "create_archive": "check the path, restore a backup, or create an archive with create=True",
    "duplicates": "keep one of each with td.TradeBook(dict.fromkeys(trades)) if they are equal",
    "fewer_requests": "make fewer requests, or pass rate_limit=",
    "locked": "try again later, or wait longer with Archive(path, timeout=...)",
    "max_body": "pass a larger max_body= if such a response is right",
    "missing_ok": "fetch or add them, choose other days, or pass missing_ok=True",
    "missing_value": "see trades.issues, then leave such rows out with td.TradeBook(t for t in "
    "trades if t.{name} is not None), or correct them",
    "network": "check base_url, DNS, the network and its firewall",
    "new_token": "assign a new one to client.access_token",
    "permissions": "check the account's permissions",
    "proxy": 'check proxy= or the environment\'s https_proxy, or pass proxy="" to connect directly',
    "query": "narrow the query, or pass a larger page_size=",
    "side_codes": "pass the codes of the service as buy= and sell=",
    "smaller_pages": "read again with a smaller page_size",
    "timeout": "make fewer requests, or pass a longer timeout=",
    "token_file": "check access_token_file, or the path of td.token_file()",
    "try_later": "try again later",
    "url_format": "pass an address like https://api.example.com",
}


def text_of(error: BaseException, advice: Mapping[str, str] = ADVICE) -> str:
    """Returns what happened and, if the error has a hint, what to do."""
    hint = getattr(error, "hint", None)
    if hint is None:
        return str(error)
    separator = "; " if ": " in error.args[0] else ": "
    return f"{error.args[0]}{separator}{advice[hint].format_map(vars(error))}"


class TradingDataError(Exception):
    """Base class of all errors that this package defines.

    Attributes:
        hint: The code of the advice, a key of ``ADVICE``, or ``None``. ``error.args[0]`` is the
            message without the advice.
        status_code: The HTTP status, or ``None`` without a response.
        account: The client's label for the account, or ``None``.
        attempts: Number of requests sent for this call.
        elapsed: Seconds that the call took, including all attempts and waits.
        retryable: Whether the same call may succeed later.
        body: The beginning of the response body, with account numbers masked; ``""`` without one.
        page: For a search, the page that failed, to resume from with ``start_page=``.
        page_size: For a search, its page size, with which to resume.
        received: For a search, the stocks received before that page.
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
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
        self.hint = hint
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
        self.page_size: int | None = None
        self.received: Any = None  # a StockList; its module is in a layer above this one

    def __str__(self) -> str:
        return super().__str__() if self.hint is None else text_of(self)


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
    """HTTP 429: too many requests.

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


class PaginationError(TradingDataError):
    """The pages of a search cannot be read to the end without losing rows.

    Attributes:
        page: The page to resume from with ``start_page=``.
        received: The stocks received before it.
    """


class StockNotFoundError(TradingDataError, LookupError):
    """No single stock has exactly this NSE symbol, BSE code or ISIN.

    Attributes:
        nearest: Names of the most similar stocks that the search found.
        received: For ``stock([...])``, the stocks of the other identifiers.
    """

    nearest: Sequence[str] = ()


class ArchiveError(TradingDataError):
    """An archive cannot be used, is damaged, or lacks days; its file is unchanged.

    ``retryable`` is True if another program has locked the file.

    Attributes:
        file: The path of the archive.
        book: The book that could not be added, so that it can be saved elsewhere, or ``None``.
        missing: The requested days that were never fetched, as ``Archive.missing`` lists them.
    """

    def __init__(
        self, message: str = "", *, file: str = "", retryable: bool = False, **details: Any
    ) -> None:
        super().__init__(message, retryable=retryable, **details)
        self.file = file
        self.book: Any = None
        self.missing: tuple[Any, ...] = ()


class DataWarning(UserWarning):
    """Values of a response were lost or missing, or rows may be; ``book.issues`` lists values.

    Attributes:
        hint: The code of the advice, as in ``TradingDataError``.
    """

    def __init__(self, message: str = "", *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        return super().__str__() if self.hint is None else text_of(self)
