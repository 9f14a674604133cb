"""The log of requests that the sandbox received, for tests to inspect."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import overload

_KEPT = 1000


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the sandbox received, and its outcome.

    Attributes:
        at: Market time of the request.
        method: HTTP method.
        path: Path without the query.
        query: Query parameters; the last value of a repeated one.
        endpoint: ``"trade_book"``, ``"order_book"``, ``"search"``, or None for another path.
        account: Label of the account whose token was sent, or None.
        token_sent: Whether the request had an Authorization header.
        status: HTTP status of the response, or None if none was sent.
        fault: Kind of the fault applied, or None.
    """

    at: datetime
    method: str
    path: str
    query: Mapping[str, str]
    endpoint: str | None
    account: str | None
    token_sent: bool
    status: int | None
    fault: str | None


class RequestLog(Sequence[Request]):
    """The last 1,000 requests, the oldest first, and the number of all requests by endpoint."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Request] = deque(maxlen=_KEPT)
        self._counts: Counter[str] = Counter()

    def add(self, request: Request) -> None:
        """Adds a request; called before its response is sent.

        Args:
            request: The request and its outcome.
        """
        with self._lock:
            self._kept.append(request)
            self._counts[request.endpoint or "other"] += 1

    def clear(self) -> None:
        """Removes all requests and resets the counts."""
        with self._lock:
            self._kept.clear()
            self._counts.clear()

    @property
    def counts(self) -> Counter[str]:
        """Number of requests since the start by endpoint; "other" counts unknown paths."""
        with self._lock:
            return self._counts.copy()

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Request: ...
    @overload
    def __getitem__(self, index: slice) -> list[Request]: ...
    def __getitem__(self, index: int | slice) -> Request | list[Request]:
        return self._copy()[index]

    def __iter__(self) -> Iterator[Request]:
        return iter(self._copy())

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {count}" for name, count in sorted(self.counts.items()))
        return f"<RequestLog {counts or 'empty'}>"

    def _copy(self) -> list[Request]:
        with self._lock:
            return list(self._kept)
