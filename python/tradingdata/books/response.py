"""Metadata and content of the response from which a book was decoded."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple, Self

from .._core import Slice
from .._util.declarations import Reduced, reduced
from ..display import counted

Facts = dict[str, Any]
"""What is known of a response or of a book, by name, as files and pickles have it."""

Received = tuple[Slice, int, int, float, datetime, datetime | None]
"""A table of what was decoded, and facts of its response: those that ``Response`` takes."""


class _Body(NamedTuple):
    """The body of a restored response, which has no rows."""

    body: bytes
    masked: bool


class Response:
    """One complete response of the service; immutable.

    Attributes:
        content: The body, byte for byte, except that account numbers are masked if ``masked``.
        status_code: The HTTP status; ``None`` for a body that was not received over HTTP.
        account: The client's label for the account, or ``None``.
        attempts: Number of requests sent; 0 for a body that was not received over HTTP.
        elapsed: Seconds from the call to the end of the response.
        received_at: When it was received, in UTC (aware), or ``None`` if unknown.
        served_at: When it was sent by the clock of the service (its ``Date`` header), in UTC
            (aware), or ``None`` if it did not say.
        sha256: SHA-256 digest of ``content``, in hex.
        masked: Whether personal values in ``content`` are masked.
    """

    __slots__ = (
        "_rows account status_code attempts elapsed received_at served_at __weakref__".split()
    )

    _rows: Slice | _Body
    account: str | None
    status_code: int | None
    attempts: int
    elapsed: float
    received_at: datetime | None
    served_at: datetime | None

    def __new__(
        cls,
        rows: Slice | _Body,
        account: str | None = None,
        status_code: int | None = None,
        attempts: int = 0,
        elapsed: float = 0.0,
        received_at: datetime | None = None,
        served_at: datetime | None = None,
    ) -> Self:
        """Makes a response of decoded rows, or of a body, and its facts."""
        self = object.__new__(cls)
        given = rows, account, status_code, attempts, elapsed, received_at, served_at
        for name, value in zip(Response.__slots__, given, strict=False):  # without __weakref__
            object.__setattr__(self, name, value)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a response cannot be changed ({name!r})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a response cannot be changed ({name!r})")

    @property
    def content(self) -> bytes:
        """The body, byte for byte, except that account numbers are masked if ``masked``."""
        return self._rows.body or b""

    @property
    def masked(self) -> bool:
        """Whether personal values in ``content`` are masked."""
        return self._rows.masked

    @property
    def sha256(self) -> str:
        """SHA-256 digest of ``content``, in hex."""
        import hashlib

        return hashlib.sha256(self.content).hexdigest()

    def facts(self) -> Facts:
        """Returns everything except the content, by name."""
        return {name: getattr(self, name) for name in Response.__slots__[1:-1]}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.facts() == other.facts() and self.content == other.content

    def __hash__(self) -> int:
        return hash(tuple(self.facts().values()))

    def __reduce__(self) -> Reduced:
        return reduced("response", self.content, self.masked, self.facts())

    def __repr__(self) -> str:
        size = len(self.content)
        status = "offline" if self.status_code is None else self.status_code
        account = f" account={self.account!r}" if self.account else ""
        return f"<Response {status}{account} {size:,} bytes, {counted(self.attempts, 'attempt')}>"


def restored_response(content: bytes, masked: bool, facts: Facts) -> Response:
    """Restores a response from its pickle."""
    return Response(_Body(content, masked), **facts)
