"""Fetches books of accounts and has them stored as they arrive."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..accounts import Accounts, accounts_error, side_by_side
from ..books.issues import warnings_kept
from ..display import counted
from ..errors import ArchiveError, ConfigurationError, TradingDataError
from .ingest import ArchiveFetch, Received

# The order book comes first, because the service clears it after the session.
CALLS = {"orders": "order_book", "trades": "trade_book"}
_BATCH, _PATIENCE = 400, 2.0  # responses, and seconds after which what has arrived is stored


class Fetched(NamedTuple):
    """The log entries that `Archive.fetch` wrote for one account.

    Attributes:
        orders: Entry of the order book.
        trades: Entry of the trade book.
    """

    orders: ArchiveFetch
    trades: ArchiveFetch

    def __repr__(self) -> str:
        return f"<Fetched: {self.orders.summary()}; {self.trades.summary()}>"


class FetchedByLabel(dict[str, Fetched]):
    """The entries of several accounts, which a prompt shows in one line."""

    def __repr__(self) -> str:
        rows = sum(entry.rows for fetched in self.values() for entry in fetched)
        return f"<Fetched by label: {counted(len(self), 'account')}, {counted(rows, 'row')}>"


class Arrivals:
    """Stores what arrives of accounts, in one commit if all arrive soon.

    Args:
        store: What stores responses and failures, and returns their entries.
        remarks: What users are warned of when everything is stored.
    """

    def __init__(
        self, store: Callable[[Sequence[Received]], list[ArchiveFetch]], remarks: list[str]
    ) -> None:
        self._store, self._remarks = store, remarks
        self._lock, self._turn = threading.Lock(), threading.Lock()
        self._pending: list[Received] = []
        self._timer: threading.Timer | None = None
        self.entries: dict[tuple[str, str], ArchiveFetch] = {}
        self.errors: dict[str, Exception] = {}  # the first of each account
        self.failure: ArchiveError | None = None

    def fetch(self, client: Any, timeout: float | None) -> None:
        """Fetches both books of a client, even if one fails, and has them stored."""
        received = []
        account = client.account or ""
        try:
            for name, call in CALLS.items():
                book, failure = None, None
                try:
                    # A warning that is an error must not cost the response.
                    with warnings_kept(self._remarks):
                        book = getattr(client, call)(timeout=timeout)
                except ConfigurationError as error:  # nothing was requested
                    self.fail(account, error)
                    continue
                except (TypeError, ValueError):
                    raise
                except Exception as error:
                    failure = error
                    self.fail(account, error)
                response = None if book is None else book.response
                # The sandbox's clock is that of its books, also for a failure.
                at = response.received_at if response else getattr(failure, "_received_at", None)
                at = at or datetime.now(UTC)
                received.append(Received(name, account, "fetch", at, book, failure))
        finally:
            self._put(received)

    def fetch_all(self, accounts: Accounts, timeout: float | None) -> None:
        """Fetches the books of accounts side by side."""

        def both(label: str) -> None:
            try:
                with accounts._client(label) as client:
                    self.fetch(client, timeout)
            except TradingDataError as error:  # the account has no client
                self.fail(label, error)

        work = side_by_side(both, accounts.labels, accounts._concurrency, accounts._progress)
        with closing(work) as done:
            for _ in done:
                pass

    def fail(self, account: str, error: Exception) -> None:
        """Keeps the error of an account."""
        if isinstance(error, TradingDataError):
            error.account = error.account or account or None
        if (first := self.errors.setdefault(account, error)) is not error:
            first.add_note(f"and another book failed too: {error}")

    def _put(self, received: Sequence[Received]) -> None:
        with self._lock:
            self._pending += received
            is_full = len(self._pending) >= _BATCH
            if self._timer is None and not is_full:
                self._timer = threading.Timer(_PATIENCE, self.flush)
                self._timer.daemon = True
                self._timer.start()
        if is_full:
            self.flush()

    def flush(self) -> None:
        """Stores what has arrived."""
        with self._turn:
            with self._lock:
                pending, self._pending = self._pending, []
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = None
            try:
                entries = self._store(pending) if pending else []
            except KeyboardInterrupt:  # what has arrived is stored all the same
                self._store(pending)
                raise
            except ArchiveError as error:
                if self.failure is not None:
                    error.books = (*self.failure.books, *error.books)
                self.failure = error
                return
            for arrival, entry in zip(pending, entries, strict=True):
                self.entries[arrival.account, arrival.name] = entry

    def entries_of(self, labels: Sequence[str], *, several: bool) -> dict[str, Fetched]:
        """Returns the entries by label; raises what failed.

        Of several accounts, the ``received`` of the AccountsError are the entries of the others.
        """
        errors = {label: self.errors[label] for label in labels if label in self.errors}
        if self.failure is not None:
            for error in errors.values():
                self.failure.add_note(f"and another book failed too: {error}")
                if not self.failure.books:
                    error.add_note(f"and the archive could not log it: {self.failure}")
                    raise error from None
            raise self.failure
        if errors and not several:
            raise errors[labels[0]]
        entries = FetchedByLabel(
            (label, Fetched(*(self.entries[label, name] for name in CALLS)))
            for label in labels
            if label not in errors
        )
        if errors:
            raise accounts_error(errors, entries)
        return entries
