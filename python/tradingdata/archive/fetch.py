"""Fetches both books into an archive, even if one fails, and logs every failure."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING

from ..errors import ArchiveError, ConfigurationError, TradingDataError
from . import database
from .fetch_log import ArchiveFetch, Fetched

if TYPE_CHECKING:
    from ..client.async_client import AsyncClient
    from ..client.client import Client
    from .record_key import AnyBook
    from .writer import Writer

# The order book comes first, because the service clears it after the session.
_CALLS = {"orders": "order_book", "trades": "trade_book"}


def fetch_books(writer: Writer, client: Client, timeout: float | None) -> Fetched:
    """Fetches both books of a client; see `Archive.fetch`."""
    if iscoroutinefunction(getattr(client, "trade_book", None)):
        raise TypeError("fetch takes a Client: with an AsyncClient, await archive.fetch_async()")
    _check(writer, client.account)
    outcomes = _Outcomes(writer, client.account)
    for name, call in _CALLS.items():
        try:
            book = getattr(client, call)(timeout=timeout)
        except Exception as error:
            outcomes.failed(name, error)
        else:
            outcomes.received(name, book)
    return outcomes.result()


async def fetch_books_async(writer: Writer, client: AsyncClient, timeout: float | None) -> Fetched:
    """Fetches both books of an asynchronous client; see `Archive.fetch_async`."""
    if not iscoroutinefunction(getattr(client, "trade_book", None)):
        raise TypeError("fetch_async takes an AsyncClient: with a Client, archive.fetch()")
    await asyncio.to_thread(_check, writer, client.account)
    outcomes = _Outcomes(writer, client.account)
    for name, call in _CALLS.items():
        try:
            book = await getattr(client, call)(timeout=timeout)
        except Exception as error:
            await asyncio.to_thread(outcomes.failed, name, error)
        else:
            await asyncio.to_thread(outcomes.received, name, book)
    return outcomes.result()


def _check(writer: Writer, account: str | None) -> None:
    """Raises, before any request, if the responses could not be stored correctly."""
    database.check_writable(writer.path)
    known = writer.known_accounts()
    if known and not account and None not in known:
        raise ConfigurationError(
            "the client has no account label, but all accounts in this archive have one "
            f"({', '.join(filter(None, known))})",
            hint="account_label",
        )


_NOTE = "and the other book failed too: {}"


def _fact(error: Exception) -> object:
    """Returns what happened without the advice, which the error that is raised gives."""
    return error.args[0] if isinstance(error, TradingDataError) else error


class _Outcomes:
    """The outcomes of the two calls."""

    def __init__(self, writer: Writer, account: str | None) -> None:
        self._writer = writer
        self._account = account
        self._entries: dict[str, ArchiveFetch] = {}
        self._errors: list[Exception] = []

    def received(self, name: str, book: AnyBook) -> None:
        """Stores a book; if that fails, the error carries the book."""
        received = book.response.received_at if book.response is not None else None
        try:
            self._entries[name] = self._writer.file(
                book, self._account, "fetch", received or datetime.now(UTC)
            )
        except ArchiveError as error:
            error.book = book
            error.account = self._account
            for other in self._errors:
                error.add_note(_NOTE.format(_fact(other)))
            raise

    def failed(self, name: str, error: Exception) -> None:
        """Logs a failure, which takes precedence over a failure to log it."""
        self._errors.append(error)
        try:
            self._writer.log_failure(name, self._account, error)
        except ArchiveError as unlogged:
            error.add_note(f"and the archive could not log it: {_fact(unlogged)}")

    def result(self) -> Fetched:
        """Returns the entries, or raises the first error."""
        if self._errors:
            first, *others = self._errors
            for other in others:
                first.add_note(_NOTE.format(_fact(other)))
            raise first
        return Fetched(**self._entries)
