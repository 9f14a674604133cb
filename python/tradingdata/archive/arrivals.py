"""Fetches the books of accounts, and stores what has arrived, whatever comes of the rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from inspect import iscoroutinefunction
from typing import Any, NamedTuple

from .._util.plans import Plan
from .._util.validate import shown
from ..accounts.fetch import accounts_error
from ..errors import ArchiveError, ConfigurationError, TradingDataError
from .ingest import ArchiveFetch, Received, warn_of

# The order book comes first, because the service clears it after the session.
_CALLS = {"orders": "order_book", "trades": "trade_book"}
_NOTE = "and another book failed too: {}"
_BATCH, _PATIENCE = 100, 2.0  # accounts, and seconds after which what has arrived is stored


class Fetched(NamedTuple):
    """The log entries that `Archive.fetch` wrote for one account.

    Attributes:
        orders: Entry of the order book.
        trades: Entry of the trade book.
    """

    orders: ArchiveFetch
    trades: ArchiveFetch


class Arrivals:
    """Stores what arrives of several accounts, in one commit if all arrive soon."""

    def __init__(
        self,
        store: Callable[[Sequence[Received], list[str]], list[ArchiveFetch]],
        *,
        several: bool,
    ) -> None:
        self._store, self._several = store, several
        self._lock = threading.Condition()
        self._pending: list[Received] = []
        self._failures: list[Received] = []
        self._entries: dict[tuple[str, str], ArchiveFetch] = {}
        self._closed = threading.Event()
        self._error: ArchiveError | None = None
        self._remarks: list[str] = []
        self._thread = threading.Thread(target=self._work, daemon=True)
        if several:
            self._thread.start()

    def put(self, received: Sequence[Received]) -> None:
        """Takes the books of an account."""
        with self._lock:
            self._pending += received
            self._lock.notify()

    def fail(self, received: Received) -> None:
        """Takes an error that is none of a call, which is not logged."""
        with self._lock:
            self._failures.append(received)

    def _work(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                self._lock.wait_for(lambda: self._closed.is_set() or bool(self._pending))
                until = time.monotonic() + _PATIENCE
                while not self._closed.is_set() and len(self._pending) < 2 * _BATCH:
                    if not self._lock.wait(max(until - time.monotonic(), 0.0)):
                        break
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, []
        if not pending:
            return
        try:
            entries = self._store(pending, self._remarks)
        except ArchiveError as error:
            if self._error is None:
                self._error = error
            else:
                self._error.books += error.books
        else:
            for each, entry in zip(pending, entries, strict=True):
                self._entries[each.account, each.name] = entry
        self._failures += [each for each in pending if each.error is not None]

    def close(self) -> None:
        """Stores the rest."""
        with self._lock:
            self._closed.set()
            self._lock.notify()
        if self._several:
            self._thread.join()
        self._flush()

    def __enter__(self) -> Arrivals:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def result(self, labels: Sequence[str]) -> Any:
        """Returns the entries of a single client, or those of several by label.

        Raises the error of a single client, or an AccountsError whose ``received`` are the entries
        of those that succeeded.
        """
        warn_of(self._remarks)
        failures = [each.error for each in self._failures if each.error is not None]
        if self._error is not None:
            for failure in failures:
                self._error.add_note(_NOTE.format(failure))
            if not self._error.books and failures:
                failures[0].add_note(f"and the archive could not log it: {self._error}")
                raise failures[0] from None
            raise self._error
        found: dict[str, Fetched] = {}
        errors: dict[str, Exception] = {}
        for label in labels:
            failed = [each.error for each in self._failures if each.account == label]
            if failed and failed[0] is not None:
                errors[label] = failed[0]
                for other in failed[1:]:
                    failed[0].add_note(_NOTE.format(other))
            else:
                found[label] = Fetched(*(self._entries[label, name] for name in _CALLS))
        if not self._several:
            for error in errors.values():
                raise error
            return found[labels[0]]
        if errors:
            raise accounts_error(errors, found)
        return found


def clients_of(given: Any, *, are_async: bool) -> list[Any]:
    """Returns the clients of an argument. Raises TypeError for anything else."""
    clients = list(given) if isinstance(given, Iterable) else [given]
    for each in clients:
        call = getattr(each, "trade_book", None)
        if not callable(call) or iscoroutinefunction(call) != are_async:
            raise TypeError(
                "fetch takes a Client or a list of them, and fetch_async an AsyncClient, not "
                f"{shown(each)}"
            )
    return clients


def labels_of(clients: Iterable[Any]) -> list[str]:
    """Returns the labels of the accounts of clients, "" for none."""
    return [client.account or "" for client in clients]


def both_books(client: Any, timeout: float | None, arrivals: Arrivals) -> Plan[None]:
    """Fetches both books of a client, even if one fails; stores what has arrived in any case."""
    received = []
    account = client.account or ""
    try:
        for name, call in _CALLS.items():
            book: Any = None
            at: datetime | None = None
            failure: Exception | None = None
            try:
                book = yield getattr(client, call)(timeout=timeout)
                at = book.response.received_at if book.response else None
            except ConfigurationError as error:  # nothing was requested
                arrivals.fail(Received(name, account, "fetch", None, error=error))
                continue
            except TradingDataError as error:
                failure = error
                error.account = error.account or client.account or None
            except (TypeError, ValueError):
                raise
            except Exception as error:
                failure = error
            received.append(
                Received(name, account, "fetch", at or datetime.now(UTC), book, failure)
            )
    finally:
        arrivals.put(received)
