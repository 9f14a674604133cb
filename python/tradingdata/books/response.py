"""Metadata and content of the response from which a book was decoded."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from .._core import Slice, _Fetched

    # Rows, status, attempts, elapsed, received at: microseconds since 1970 as the core has it
    _Facts = tuple["Slice | _Body", int | None, int, float, int | datetime | None]


class _Body(NamedTuple):
    """The body of a restored response, which has no rows."""

    body: bytes
    masked: bool


def _restore(content: bytes, masked: bool, facts: dict[str, Any]) -> Response:
    return Response(_Body(content, masked), **facts)


class Response:
    """One complete response of the service; immutable.

    Attributes:
        content: The body, byte for byte, except that account numbers are masked if ``masked``.
        status_code: The HTTP status; ``None`` for a body that was not received over HTTP.
        account: The client's label for the account, or ``None``.
        attempts: Number of requests sent; 0 for a body that was not received over HTTP.
        elapsed: Seconds from the call to the end of the response.
        received_at: When it was received, in UTC (aware), or ``None`` if unknown.
        sha256: SHA-256 digest of ``content``, in hex.
        masked: Whether personal values in ``content`` are masked.
    """

    __slots__ = ("__weakref__", "_facts", "account")

    _facts: _Facts
    account: str | None

    def __init__(
        self,
        rows: Slice | _Body,
        *,
        status_code: int | None = None,
        account: str | None = None,
        attempts: int = 0,
        elapsed: float = 0.0,
        received_at: datetime | None = None,
    ) -> None:
        _set_facts(self, (rows, status_code, attempts, elapsed, received_at))
        _set_account(self, account)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a response cannot be changed ({name!r})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a response cannot be changed ({name!r})")

    @property
    def content(self) -> bytes:
        """The body, byte for byte, except that account numbers are masked if ``masked``."""
        return self._facts[0].body or b""

    @property
    def masked(self) -> bool:
        """Whether personal values in ``content`` are masked."""
        masked: bool = self._facts[0].masked
        return masked

    @property
    def status_code(self) -> int | None:
        """The HTTP status; ``None`` for a body that was not received over HTTP."""
        return self._facts[1]

    @property
    def attempts(self) -> int:
        """Number of requests sent; 0 for a body that was not received over HTTP."""
        return self._facts[2]

    @property
    def elapsed(self) -> float:
        """Seconds from the call to the end of the response."""
        return self._facts[3]

    @property
    def received_at(self) -> datetime | None:
        """When it was received, in UTC (aware), or ``None`` if unknown."""
        when = self._facts[4]
        if not isinstance(when, int):
            return when
        from datetime import datetime, timedelta

        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=when)

    @property
    def sha256(self) -> str:
        """SHA-256 digest of ``content``, in hex."""
        import hashlib

        return hashlib.sha256(self.content).hexdigest()

    def facts(self) -> dict[str, Any]:
        """Returns everything except the content, by name."""
        return {
            "status_code": self.status_code,
            "account": self.account,
            "attempts": self.attempts,
            "elapsed": self.elapsed,
            "received_at": self.received_at,
        }

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.facts() == other.facts() and self.content == other.content

    def __hash__(self) -> int:
        return hash(tuple(self.facts().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.content, self.masked, self.facts())

    def __repr__(self) -> str:
        size = len(self.content)
        status = "offline" if self.status_code is None else self.status_code
        account = f" account={self.account!r}" if self.account else ""
        return f"<Response {status}{account} {size:,} bytes, {self.attempts} attempts>"


# A response refuses assignment, so its slots are set through their descriptors.
_set_facts = Response.__dict__["_facts"].__set__
_set_account = Response.__dict__["account"].__set__


def response_of(fetched: _Fetched, account: str | None) -> Response:
    """Returns the response for a result of the core; values are converted when they are read."""
    response = object.__new__(Response)
    _set_facts(response, fetched)
    _set_account(response, account)
    return response
