"""The archive as its user sees it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from .._util.time_zones import zone_as_text, zone_named
from .._util.validate import flag, seconds, text
from . import coverage, database
from . import fetch_log as log
from . import ingest as filing
from .days import days_of
from .fetch import fetch_books, fetch_books_async
from .history import read_history
from .query import run
from .read import read_book
from .record_key import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import time, tzinfo
    from typing import Self

    from .. import AsyncClient, Client
    from ..books.book import OrderBook, TradeBook
    from .days import Day
    from .history import OrderState
    from .query import QueryResult
    from .record_key import AnyBook


class Archive:
    """Books of any days and accounts in one SQLite file, which is made where there is none.

    Args:
        path: the file; ``-wal`` and ``-shm`` files stand beside it while it is in use.
        tz: the zone whose clock gives an empty answer its day; a file keeps to its first one.
        keep_personal_data: whether account numbers (PAN) are kept, where a book has them, and
            shown; they are masked otherwise.
        create: whether to make the file where there is none.
        timeout: seconds to wait while another program writes.

    Only its user may read the file. It may be used by several threads and programs at once: one
    writes, all others read what was written before. Nothing stays open between calls, so an archive
    needs no closing, may be pickled, and lives on after a fork. Calls raise ArchiveError where the
    file cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tz: str | tzinfo = "Asia/Kolkata",
        keep_personal_data: bool = False,
        create: bool = True,
        timeout: float = 10.0,
    ) -> None:
        self._path = os.path.abspath(os.fsdecode(path))
        self._zone = zone_named(tz) if isinstance(tz, str) else tz
        self._keep = flag("keep_personal_data", keep_personal_data)
        self._timeout = seconds("timeout", timeout)
        zone = zone_as_text(self._zone)
        if zone is None:
            raise TypeError("tz is the name of a zone, as 'Asia/Kolkata', or a tzinfo, not None")
        database.prepare(self._path, zone, self._timeout, create=flag("create", create))

    # -- writing --

    def fetch(self, client: Client, *, timeout: float | None = None) -> log.Fetched:
        """Asks for the order book and the trade book, and keeps each answer in one transaction.

        Both are asked for even if one fails; then the first error is raised, and what failed is in
        the log (``fetches``). What was kept when this returns is on the disk. The books are filed
        under ``client.account``. ``timeout`` in seconds is for each of the calls.

        Raises what the client's calls raise; before anything is asked, ArchiveError where the file
        cannot be written, and ConfigurationError for a client without an account in an archive
        where all are labelled, since its records may be there already; ArchiveError where an answer
        could not be kept: it is ``error.book`` then, to be saved elsewhere.
        """
        return fetch_books(self, client, timeout)

    async def fetch_async(
        self, client: AsyncClient, *, timeout: float | None = None
    ) -> log.Fetched:
        """The same as ``fetch``, for an ``AsyncClient``; the event loop goes on meanwhile."""
        return await fetch_books_async(self, client, timeout)

    def add(
        self, book: AnyBook, *, account: str | None = None, at: datetime | None = None
    ) -> log.ArchiveFetch:
        """Keeps a saved book: one that ``load`` or ``from_json`` made, or a part of one.

        Books may be added in any order, and again: an answer that the archive has changes nothing.
        A book that is no whole answer (a slice, a union, one made by hand) adds its rows, but does
        not count as its day's fetch.

        Args:
            book: a ``TradeBook`` or an ``OrderBook``.
            account: the label of its account, where its response does not say; ``""`` for none.
            at: when it was received, an aware time, where its response does not say. Without
                either, its rows never replace what a dated answer said.

        Raises TypeError for what is neither book, and ValueError for one of an unknown account, in
        an archive that has labelled ones: filed under no label, its records would stand beside
        themselves.
        """
        name_of(book)
        response = book.response
        if account is None:
            account = response.account if response is not None else None
        if account is None and any(known for known in self.accounts):
            raise ValueError(
                "the book does not say whose it is, and this archive has labelled accounts "
                f"({', '.join(filter(None, self.accounts))}): pass account=, '' for none"
            )
        if at is None:
            at = response.received_at if response is not None else None
        elif not isinstance(at, datetime):
            raise TypeError(f"at is an aware time (with a zone), not {at!r}")
        elif at.tzinfo is None:
            raise ValueError(f"at is an aware time (with a zone), not {at!r}")
        return self._file(book, account, "add", at)

    def _file(
        self, book: AnyBook, account: str | None, source: str, received: datetime | None
    ) -> log.ArchiveFetch:
        kept = book if self._keep else filing.masked(book)
        label = text("account", account or "")
        sight = filing.Sight(kept, label, source, received, self._now())
        with database.writing(self._path, self._timeout) as connection:
            number = filing.file(connection, sight, self._zone)
            entry = log.read(connection, self._zone, number)
        return entry

    def _log_failure(self, book: str, account: str | None, error: Exception) -> None:
        now = log.instant(self._now())
        entry = log.Entry(
            book=book,
            account=text("account", account or ""),
            source="fetch",
            at=now,
            filed_at=now,
            whole=False,
            error=type(error).__name__,
            message=str(error),
        )
        with database.writing(self._path, self._timeout) as connection:
            log.write(connection, entry)

    def _now(self) -> datetime:
        return datetime.now(UTC)

    # -- reading --

    def trades(
        self, start: Day | None = None, end: Day | None = None, *, account: str | None = None
    ) -> TradeBook:
        """The trades of these days, as they were last seen, by day and time.

        ``start`` and ``end`` are dates or text such as "2026-11-20", both among the days; a start
        alone is that day, neither is all days. ``account`` is a label, ``""`` for none; otherwise
        all accounts. An empty book may mean that nobody fetched: see ``missing``.
        """
        return cast("TradeBook", self._read("trades", start, end, account))

    def orders(
        self, start: Day | None = None, end: Day | None = None, *, account: str | None = None
    ) -> OrderBook:
        """The orders of these days, as they were last seen, by day and time; see ``trades``."""
        return cast("OrderBook", self._read("orders", start, end, account))

    def _read(self, name: str, start: Day | None, end: Day | None, account: str | None) -> AnyBook:
        days = days_of(start, end)
        label = _label(account)
        with database.reading(self._path) as connection:
            return read_book(connection, name, days, label, keep=self._keep)

    def history(self, order_no: str, *, account: str | None = None) -> list[OrderState]:
        """The states in which the archive saw an order, each from the time it was first seen.

        Where several records have that number (legs, days, accounts), one after the other. That
        ``row_no`` or ``ref_ltp`` moved makes no state. Empty where the archive has no such order.
        """
        number, label = text("order_no", order_no), _label(account)
        with database.reading(self._path) as connection:
            return read_history(connection, self._zone, number, label, keep=self._keep)

    def fetches(self, *, account: str | None = None) -> list[log.ArchiveFetch]:
        """The log: every answer and every failure, in the order in which they were written."""
        label = _label(account)
        with database.reading(self._path) as connection:
            return log.read_all(connection, self._zone, label)

    @property
    def accounts(self) -> tuple[str | None, ...]:
        """The labels that the log has; ``None`` stands for fetches without one."""
        with database.reading(self._path) as connection:
            return log.read_accounts(connection)

    def missing(
        self,
        start: Day,
        end: Day,
        *,
        holidays: Iterable[Day] = (),
        account: str | None = None,
        after: time | str | None = None,
    ) -> list[coverage.MissingDay]:
        """The days, Monday to Friday, of which nobody fetched a book, both ends among them.

        A day is fetched where a whole answer had rows of that day, or was empty on that day; where
        an order book had rows of several days, the last of them is, since of those before it has
        only what outlasted them. So a day without business is not missing, and a failed fetch does
        not count. With ``after``, a time of day such as "15:30", only answers that came at that
        time of that day or later do: those before may have missed what followed.

        Args:
            start: the first day, a date or text such as "2026-11-20".
            end: the last day.
            holidays: days, besides weekends, on which the exchanges were closed.
            account: a label; otherwise every account that the log has.
            after: a time of day by the archive's clock.
        """
        return coverage.missing_days(
            self.fetches(account=account),
            days_of(start, end),
            holidays,
            [account or None] if account is not None else self.accounts or [None],
            coverage.time_of(after),
        )

    def sql(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> QueryResult:
        """The result of a query, over the views ``trades`` and ``orders`` and the file's tables.

        A view has a row for each record as it was last seen: ``account``, ``day``, ``seen_at``
        (UTC), every field in its type, and ``json``, the record as it was sent, for fields that the
        service's document does not know: ``json_extract(json, '$.name')``. Times and dates are
        text. Account numbers are masked as in the books, in the table ``states`` too. Values go in
        as ``?`` or ``:name`` and ``parameters``. Ctrl-C ends a long query.

        Raises sqlite3.Error where SQLite does not take the query, ArchiveError where it would
        write.
        """
        return run(self._path, query, parameters, personal=self._keep)

    def export(
        self,
        folder: str | os.PathLike[str],
        start: Day | None = None,
        end: Day | None = None,
    ) -> list[str]:
        """Writes Parquet files by day: ``trades/day=2026-11-20/trades.parquet``, orders alike.

        Every file has the same columns, whatever the data: ``account``, the record's fields, and
        ``extra``, the unknown fields as JSON text. A day that was fetched and had no rows has a
        file too. Each file is written beside its place, flushed and moved into it, so a reader sees
        an old one or a new one. Returns the paths. ``start`` and ``end`` are those of ``trades``.

        Raises ImportError without pyarrow.
        """
        from .export import export

        with database.reading(self._path) as connection:
            return export(connection, os.fsdecode(folder), days_of(start, end), keep=self._keep)

    # -- the archive itself --

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    @property
    def tz(self) -> tzinfo:
        """The zone whose clock gives an empty answer its day."""
        return self._zone

    def close(self) -> None:
        """Does nothing: between calls there is nothing open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Archive {self._path}, days by the clock of {zone_as_text(self._zone)}>"


def _label(account: str | None) -> str | None:
    """A label to look for, checked: one of another type would find nothing, like an empty day."""
    return None if account is None else text("account", account)
