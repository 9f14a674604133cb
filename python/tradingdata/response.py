"""The facts of the answer that a book was made from."""

from __future__ import annotations

from datetime import UTC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from ._core import Table


class Response:
    """One whole answer of the service, as it was kept.

    Attributes:
        content: the body, byte for byte; with ``masked``, account numbers in it are masked.
        status_code: the HTTP status; ``None`` for a body that did not come over HTTP.
        account: the client's label for the account, or ``None``.
        attempts: requests that were sent for it; 0 for a body that did not come over HTTP.
        elapsed: seconds from the call to the end of the answer.
        received_at: when it had arrived, in UTC (aware), or ``None`` where that is not known.
        sha256: of ``content``, in hex.
        masked: whether personal values in ``content`` are masked.
    """

    __slots__ = (
        "__weakref__",
        "_table",
        "account",
        "attempts",
        "elapsed",
        "received_at",
        "status_code",
    )

    def __init__(
        self,
        table: Table,
        *,
        status_code: int | None = None,
        account: str | None = None,
        attempts: int = 0,
        elapsed: float = 0.0,
        received_at: datetime | None = None,
    ) -> None:
        self._table = table
        self.status_code = status_code
        self.account = account
        self.attempts = attempts
        self.elapsed = elapsed
        self.received_at = received_at

    @property
    def content(self) -> bytes:
        """The body, byte for byte; with ``masked``, account numbers in it are masked."""
        body: bytes = self._table.body
        return body

    @property
    def masked(self) -> bool:
        """Whether personal values in ``content`` are masked."""
        masked: bool = self._table.masked
        return masked

    @property
    def sha256(self) -> str:
        """The digest of ``content``, in hex."""
        import hashlib

        return hashlib.sha256(self.content).hexdigest()

    def facts(self) -> dict[str, Any]:
        """All but the content, as plain values."""
        return {
            "status_code": self.status_code,
            "account": self.account,
            "attempts": self.attempts,
            "elapsed": self.elapsed,
            "received_at": self.received_at.isoformat() if self.received_at else None,
        }

    def __repr__(self) -> str:
        size = len(self.content)
        status = "offline" if self.status_code is None else self.status_code
        account = f" account={self.account!r}" if self.account else ""
        return f"<Response {status}{account} {size:,} bytes, {self.attempts} attempts>"


def response_of(
    table: Table,
    status_code: int,
    attempts: int,
    elapsed: float,
    received_at: int,
    *,
    account: str | None,
) -> Response:
    """The facts as the core gives them, with ``received_at`` in microseconds since 1970, UTC."""
    from datetime import datetime, timedelta

    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return Response(
        table,
        status_code=status_code,
        account=account,
        attempts=attempts,
        elapsed=elapsed,
        received_at=epoch + timedelta(microseconds=received_at),
    )
