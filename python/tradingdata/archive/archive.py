"""The archive as its user sees it; the work is done by the modules beside this one."""

from __future__ import annotations

import os
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from .._util.time_zones import zone_as_text, zone_from
from .._util.validate import flag, seconds, text
from . import checksums, coverage, database, fetch_log, ingest
from .days import days_of
from .fetch import fetch_books, fetch_books_async
from .history import read_history
from .query import run
from .query_days import missing_from
from .read import book_of, read_rows
from .record_key import BOOKS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from datetime import time, tzinfo
    from typing import Self

    from ..books.book import OrderBook, TradeBook
    from ..client.async_client import AsyncClient
    from ..client.client import Client
    from .days import Day
    from .history import OrderState
    from .query import Parameters, QueryResult
    from .record_key import AnyBook


class Archive:
    """Order books and trade books of any days and accounts in one SQLite file.

    Only its user may read the file. Threads and programs can share it: one writes at a time, the
    others read what was committed before. Nothing stays open between calls, so an archive needs no
    closing, can be pickled, and survives a fork. Every read is checked against checksums, so a
    damaged file is an error and never a book with fewer rows.

    Args:
        path: The file; ``-wal`` and ``-shm`` files are beside it while it is in use.
        tz: The time zone that determines the day of an empty response. It is fixed when the file is
            created.
        keep_personal_data: Whether account numbers (PAN) are kept, where a book has them, and
            shown; they are masked otherwise.
        create: Whether to create the archive where the file does not exist or is empty.
        timeout: Seconds to wait while another program writes.

    Raises:
        ArchiveError: The file cannot be used; every other call may raise it too.
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
        zone = zone_from(tz)
        name = zone_as_text(zone)
        if zone is None or name is None:
            raise TypeError("tz must be the name of a zone, as 'Asia/Kolkata', or a tzinfo")
        self._zone = zone
        self._keep = flag("keep_personal_data", keep_personal_data)
        self._timeout = seconds("timeout", timeout)
        self._checked: object = None  # the version of the file that was checked completely
        database.prepare(self._path, name, self._timeout, create=flag("create", create))

    # -- writing --

    def fetch(self, client: Client, *, timeout: float | None = None) -> fetch_log.Fetched:
        """Fetches the order book and the trade book, and files each in one transaction.

        Both are fetched even if one fails; then the first error is raised, and the failure is in
        the log (`fetches`). What was filed when this returns is on the disk. The books are filed
        under ``client.account``.

        Args:
            client: The client to fetch with.
            timeout: Seconds for each of the two calls; the client's own timeout if None.

        Returns:
            The log entries of both books.

        Raises:
            ArchiveError: The file cannot be written, which is checked before any request, or a
                response could not be filed; ``error.book`` is then that book, to be saved
                elsewhere.
            ConfigurationError: The client has no account label, and all accounts in the archive
                have one: its records might be there already.
            TradingDataError: What the client's calls raise.
        """
        return fetch_books(self, client, timeout)

    async def fetch_async(
        self, client: AsyncClient, *, timeout: float | None = None
    ) -> fetch_log.Fetched:
        """Does the same as `fetch` for an ``AsyncClient``, without blocking the event loop."""
        return await fetch_books_async(self, client, timeout)

    def add(
        self, book: AnyBook, *, account: str | None = None, at: datetime | None = None
    ) -> fetch_log.ArchiveFetch:
        """Files a book that was saved, such as one from ``load`` or ``from_json``.

        Books may be added in any order, and more than once. A book that is not one complete
        response (a slice, a concatenation, one that was constructed) adds its rows, but does not
        count as a fetch of its day.

        Args:
            book: A ``TradeBook`` or an ``OrderBook``.
            account: The label of its account, where its response does not say; ``""`` for none.
            at: When it was received, an aware time, where its response does not say. Without
                either, its rows never replace those of a response with a time.

        Returns:
            The log entry. For a response that the archive has already, nothing changes, and the
            entry is the one it has, with ``new`` and ``changed`` 0.

        Raises:
            TypeError: The book is neither of the two, or ``at`` is not a time.
            ValueError: ``at`` has no time zone, or the account is unknown while the archive has
                labelled accounts: without a label, records may be duplicated.
            ArchiveError: The book could not be filed.
        """
        account, at = ingest.origin_of(book, account, at, self._known_accounts)
        return self._file(book, account, "add", at)

    def _file(
        self, book: AnyBook, account: str | None, source: str, received: datetime | None
    ) -> fetch_log.ArchiveFetch:
        kept = book if self._keep else ingest.masked(book)
        label = text("account", account or "")
        sight = ingest.Sight(kept, label, source, received, datetime.now(UTC))
        with database.writing(self._path, self._timeout) as connection:
            return ingest.file(connection, sight, self._zone)

    def _log_failure(self, book: str, account: str | None, error: Exception) -> None:
        label = text("account", account or "")
        with database.writing(self._path, self._timeout) as connection:
            fetch_log.write_failure(connection, book, label, error, datetime.now(UTC))

    # -- reading --

    def trades(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> TradeBook:
        """Returns the trades of some days in their newest state, by day and time.

        Every weekday from ``start`` to ``end`` must have been fetched, for every account unless
        ``account`` names one; `missing` says what counts. Without ``start``, the days begin with
        the first one in the archive; without both, all that it has is returned.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
            missing_ok: Whether days that were never fetched are a ``DataWarning`` instead of an
                error.

        Raises:
            ArchiveError: Days were never fetched (``error.missing`` lists them), or the file is
                damaged.
            ValueError: ``end`` is before ``start``, or a text is not a day.
        """
        return cast("TradeBook", self._read("trades", start, end, account, missing_ok))

    def orders(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> OrderBook:
        """Returns the orders of some days in their newest state, by day and time; see `trades`."""
        return cast("OrderBook", self._read("orders", start, end, account, missing_ok))

    def _read(
        self,
        name: str,
        start: Day | None,
        end: Day | None,
        account: str | None,
        missing_ok: bool,
    ) -> AnyBook:
        days, label, lenient = days_of(start, end), _label(account), flag("missing_ok", missing_ok)
        with database.reading(self._path) as connection:
            gaps = coverage.unfetched_days(connection, [name], days, label)
            coverage.report(self._path, gaps, missing_ok=lenient, stacklevel=3)
            rows = (json for _, json in read_rows(connection, name, days, label))
            book: AnyBook = book_of(name, rows, keep=self._keep, stacklevel=3)
        return book

    def history(self, order_no: str, *, account: str | None = None) -> list[OrderState]:
        """Returns the states in which the archive saw an order, each from when it was first seen.

        Where several records have that number (legs, days, accounts), they follow each other.
        ``row_no`` and ``ref_ltp`` change while an order does not, so they make no new state.

        The first call checks all of the file: about 10 seconds per million records.

        Args:
            order_no: The order's number.
            account: The label of one account, ``""`` for the one without a label; all if None.

        Returns:
            The states; none where the archive has no such order.
        """
        number, label = text("order_no", order_no), _label(account)
        with self._reading_anything() as connection:
            return read_history(connection, self._zone, number, label, keep=self._keep)

    @contextmanager
    def _reading_anything(self) -> Iterator[sqlite3.Connection]:
        """Opens the file for reading after a check of all of it, once for each version of it."""
        version = database.file_version(self._path)
        with database.reading(self._path) as connection:
            if version != self._checked:
                checksums.check_all(connection)
                fetch_log.read_all(connection, self._zone)
                self._checked = version
            yield connection

    def fetches(self, *, account: str | None = None) -> list[fetch_log.ArchiveFetch]:
        """Returns the log: every response and every failure, in the order of writing.

        Args:
            account: The label of one account, ``""`` for the one without a label; all if None.
        """
        label = _label(account)
        with database.reading(self._path) as connection:
            entries = fetch_log.read_all(connection, self._zone)
        return [entry for entry in entries if label is None or (entry.account or "") == label]

    @property
    def accounts(self) -> tuple[str | None, ...]:
        """The account labels in the log; ``None`` is for fetches without one."""
        labels = {entry.account for entry in self.fetches()}
        return tuple(sorted(labels, key=lambda label: label or ""))

    def _known_accounts(self) -> tuple[str | None, ...]:
        with database.reading(self._path) as connection:
            return fetch_log.read_accounts(connection)

    def missing(
        self,
        start: Day,
        end: Day,
        *,
        holidays: Iterable[Day] = (),
        account: str | None = None,
        after: time | str | None = None,
    ) -> list[coverage.MissingDay]:
        """Returns the weekdays, from start to end, on which a book was not fetched.

        A complete response covers the day on which it was received, from 06:00 on in any case and
        before that unless all its rows are of earlier days. A trade book also covers the days of
        its rows, and an order book the last of them, since orders of other days are those that
        outlasted their day. A day without business is therefore not missing.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day.
            holidays: Days, besides weekends, on which the exchanges were closed.
            account: The label of one account, ``""`` for the one without a label; every account in
                the log if None.
            after: A time of day in the archive's time zone, such as "15:30": responses received
                earlier do not count for that day, since they may lack what followed.
        """
        label = _label(account)
        entries = self.fetches(account=label)
        labels = {entry.account for entry in entries} or {label or None}
        return coverage.missing_days(
            entries,
            days_of(start, end),
            holidays,
            sorted(labels, key=lambda label: label or ""),
            coverage.time_of(after),
        )

    def sql(
        self, query: str, parameters: Parameters = (), *, missing_ok: bool = False
    ) -> QueryResult:
        """Returns the result of an SQL query over the views ``trades`` and ``orders``.

        A view has a row for each record in its newest state: ``account``, ``day``, ``seen_at``
        (UTC), every field with its type, and ``json``, the record as it was sent, for fields that
        the service does not document: ``json_extract(json, '$.name')``. Times and dates are text.
        The file's tables can be queried too. Account numbers are masked as in the books, in the
        table ``states`` as well. Ctrl-C ends a long query.

        Days that the query selects (by ``day =``, ``IN``, ``BETWEEN``, ``<`` or ``>``) and that
        were never fetched are an error, as for `trades`.

        The first call checks all of the file: about 10 seconds per million records.

        Args:
            query: One statement that only reads.
            parameters: The values of its ``?`` or ``:name``.
            missing_ok: Whether days may be missing, as for `trades`.

        Raises:
            ArchiveError: The query would write, days were never fetched, or the file is damaged.
            sqlite3.Error: SQLite rejects the query.
        """
        lenient = flag("missing_ok", missing_ok)
        with self._reading_anything() as connection:
            gaps = missing_from(connection, query, parameters)
            coverage.report(self._path, gaps, missing_ok=lenient, stacklevel=2)
            return run(connection, self._path, query, parameters, personal=self._keep)

    def export(
        self,
        folder: str | os.PathLike[str],
        start: Day | None = None,
        end: Day | None = None,
        *,
        missing_ok: bool = False,
        progress: bool = False,
    ) -> list[str]:
        """Writes Parquet files by day, such as ``trades/day=2026-11-20/trades.parquet``.

        Every file has the same columns, whatever the data: ``account``, the record's fields, and
        ``extra``, the unknown fields as JSON text. A day that was fetched and had no rows has a
        file too. Each file is written elsewhere, flushed and then moved into its place, so a reader
        sees either the old one or the new one.

        Args:
            folder: The folder to write to; it is created where it does not exist.
            start: The first day; ``start``, ``end`` and ``missing_ok`` are those of `trades`.
            end: The last day.
            missing_ok: Whether days may be missing.
            progress: Whether to show a progress bar (tqdm).

        Returns:
            The paths of the files.

        Raises:
            ArchiveError: Days were never fetched, or the file is damaged.
            ImportError: pyarrow is not installed, or tqdm for ``progress``.
        """
        from .export import export

        days, lenient = days_of(start, end), flag("missing_ok", missing_ok)
        with database.reading(self._path) as connection:
            gaps = coverage.unfetched_days(connection, sorted(BOOKS), days)
            coverage.report(self._path, gaps, missing_ok=lenient, stacklevel=2)
            place, bar = os.fsdecode(folder), flag("progress", progress)
            return export(connection, place, days, keep=self._keep, progress=bar)

    # -- the archive itself --

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._path

    @property
    def tz(self) -> tzinfo:
        """The time zone that determines the day of an empty response."""
        return self._zone

    def close(self) -> None:
        """Does nothing, since nothing is open between calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Archive {self._path}, time zone {zone_as_text(self._zone)}>"


def _label(account: str | None) -> str | None:
    """Checks a label: one of another type would find nothing, which looks like an empty day."""
    return None if account is None else text("account", account)
