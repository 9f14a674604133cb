"""What the sandbox was asked, for a test to look at."""

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
    """A request and what became of it.

    `at` is market time; `endpoint` is "trade_book", "order_book", "search" or None for another
    path; `account` is the label whose token was sent; `fault` is the kind of fault that it met; and
    `status` is the HTTP status of the answer, None where none was sent.
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
    """The last 1,000 requests, the oldest first, and `counts` of all by endpoint."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Request] = deque(maxlen=_KEPT)
        self._counts: Counter[str] = Counter()

    def add(self, request: Request) -> None:
        """Notes a request; called before its answer is sent."""
        with self._lock:
            self._kept.append(request)
            self._counts[request.endpoint or "other"] += 1

    def clear(self) -> None:
        """Forgets all requests."""
        with self._lock:
            self._kept.clear()
            self._counts.clear()

    @property
    def counts(self) -> Counter[str]:
        """How many requests came since the start, by endpoint; "other" counts unknown paths."""
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
