"""The public class ``Archive``: validates arguments and delegates to the modules beside it."""

from __future__ import annotations

import os
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, cast

from .._util import validate
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
from .writer import Writer

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

    Only its owner may read the file. Threads and programs can share it: one writes at a time, while
    the others read the last committed state. No connection remains open between calls, so an
    archive needs no closing, can be pickled and survives a fork. Checksums verify every read, so a
    damaged file raises an error and never returns a book with fewer rows.

    Args:
        path: The file. While it is in use, SQLite keeps ``-wal`` and ``-shm`` files beside it.
        tz: The time zone that determines the day of an empty response. It is fixed when the file is
            created.
        keep_personal_data: Whether to store and return account numbers (PAN) instead of masking
            them.
        create: Whether to create the archive if the file does not exist or is empty.
        timeout: Seconds to wait while another program writes.

    Raises:
        ArchiveError: The file cannot be used; every other call may raise it too.

    Example:
        >>> archive = td.Archive("books.sqlite")
        >>> archive.fetch(client)
        >>> archive.trades("2026-11-16", "2026-11-20").to_pandas()
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
        self._path = os.path.abspath(validate.path("path", path))
        zone = zone_from(tz)
        name = zone_as_text(zone)
        if zone is None or name is None:
            raise TypeError("tz must be the name of a zone, as 'Asia/Kolkata', or a tzinfo")
        self._zone = zone
        self._keep = flag("keep_personal_data", keep_personal_data)
        self._writer = Writer(self._path, zone, self._keep, seconds("timeout", timeout))
        self._checked: object = None  # the version of the file that was checked completely
        database.prepare(self._path, name, self._writer.timeout, create=flag("create", create))

    # -- writing --

    def fetch(self, client: Client, *, timeout: float | None = None) -> fetch_log.Fetched:
        """Fetches the order book and the trade book, and stores each in one transaction.

        Both are fetched even if one fails; the failure is logged (see `fetches`), and the first
        error is raised afterwards. When this returns, the books are on the disk. They are stored
        under ``client.account``.

        Args:
            client: The client to fetch with.
            timeout: Seconds for each of the two calls; the client's own timeout if None.

        Returns:
            The log entries of both books.

        Raises:
            ArchiveError: The file cannot be written, which is checked before any request, or a
                response could not be stored; ``error.book`` is then that book, so that it can be
                saved elsewhere.
            ConfigurationError: The client has no account label although all accounts in the archive
                have one, so records might be duplicated.
            TradingDataError: A request failed.
        """
        return fetch_books(self._writer, client, timeout)

    async def fetch_async(
        self, client: AsyncClient, *, timeout: float | None = None
    ) -> fetch_log.Fetched:
        """Same as `fetch` for an ``AsyncClient``, without blocking the event loop."""
        return await fetch_books_async(self._writer, client, timeout)

    def add(
        self, book: AnyBook, *, account: str | None = None, at: datetime | None = None
    ) -> fetch_log.ArchiveFetch:
        """Adds a book, such as one from ``load`` or ``from_json``.

        Books may be added in any order and more than once. A book that is not one complete response
        (a slice, a concatenation or a constructed one) adds its rows, but does not count as a fetch
        of its day.

        Args:
            book: A ``TradeBook`` or an ``OrderBook``.
            account: The label of its account, if its response has none; ``""`` for no label.
            at: When it was received, an aware time, if its response has no time. Without either,
                its rows never replace those of a response with a time.

        Returns:
            The log entry. Adding a response again changes nothing and returns the existing entry
            with ``new`` and ``changed`` 0.

        Raises:
            TypeError: The book is neither of the two, or ``at`` is not a time.
            ValueError: ``at`` has no time zone, or the account is unknown while the archive has
                labelled accounts: without a label, records may be duplicated.
            ArchiveError: The book could not be stored.
        """
        account, at = ingest.origin_of(book, account, at, self._writer.known_accounts)
        return self._writer.file(book, account, "add", at)

    # -- reading --

    def trades(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> TradeBook:
        """Returns the trades of some days in their newest state, ordered by day and time.

        Every weekday from ``start`` to ``end`` must have been fetched, for every account unless
        ``account`` names one; see `missing`. Without ``start``, the days begin with the first one
        in the archive; without both, everything in the archive is returned.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
            missing_ok: Whether days that were never fetched issue a ``DataWarning`` instead of
                raising.

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
        """Returns the orders of some days in their newest state; arguments as for `trades`."""
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
        """Returns all known states of an order, each with the time when it was first seen.

        If several records have this number (legs, days, accounts), their states follow each other.
        ``row_no`` and ``ref_ltp`` change while an order does not, so they do not count as changes.

        The first call verifies the entire file, which takes about 10 seconds per million records.

        Args:
            order_no: The order's number.
            account: The label of one account, ``""`` for the one without a label; all if None.

        Returns:
            The states; empty if the archive has no such order.
        """
        number, label = text("order_no", order_no), _label(account)
        with self._reading_anything() as connection:
            return read_history(connection, self._zone, number, label, keep=self._keep)

    @contextmanager
    def _reading_anything(self) -> Iterator[sqlite3.Connection]:
        """Opens the file for reading; verifies all of it once for each version of the file."""
        version = database.file_version(self._path)
        with database.reading(self._path) as connection:
            if version != self._checked:
                checksums.check_all(connection)
                fetch_log.read_all(connection, self._zone)
                self._checked = version
            yield connection

    def fetches(self, *, account: str | None = None) -> list[fetch_log.ArchiveFetch]:
        """Returns the log of all responses and failures, in the order in which they were written.

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

    def missing(
        self,
        start: Day,
        end: Day,
        *,
        holidays: Iterable[Day] = (),
        account: str | None = None,
        after: time | str | None = None,
    ) -> list[coverage.MissingDay]:
        """Returns the weekdays (inclusive) on which a book was not fetched.

        A complete response covers the day on which it was received; before 06:00, only if it is
        empty or has rows of that day. A trade book also covers the days of its rows. An order book
        covers only the last of them, because orders of earlier days are carried over. A fetched day
        without trades or orders is not missing.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day.
            holidays: Days other than weekends on which the exchanges were closed.
            account: The label of one account, ``""`` for the one without a label; every account in
                the log if None.
            after: A time of day in the archive's time zone, such as "15:30": responses received
                earlier do not count for that day, because they may be incomplete.
        """
        if None in (start, end):
            raise TypeError("start and end must be days: None would select thousands of years")
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
        """Runs an SQL query over the views ``trades`` and ``orders``.

        A view has one row for each record in its newest state: ``account``, ``day``, ``seen_at``
        (UTC), every field with its type, and ``json``, the record as it was sent. Use
        ``json_extract(json, '$.name')`` for undocumented fields. Times and dates are text. The
        file's tables can be queried too. Account numbers are masked as in the books, also in the
        table ``states``. Ctrl-C interrupts a long query.

        Days that the query selects (by ``day =``, ``IN``, ``BETWEEN``, ``<`` or ``>``) must have
        been fetched, as for `trades`.

        The first call verifies the entire file, which takes about 10 seconds per million records.

        Args:
            query: One read-only statement.
            parameters: Values for its placeholders, ``?`` or ``:name``.
            missing_ok: Whether days may be missing, as for `trades`.

        Raises:
            ArchiveError: The query would write, days were never fetched, or the file is damaged.
            sqlite3.Error: SQLite rejects the query.
        """
        lenient = flag("missing_ok", missing_ok)
        statement = text("query", query)
        with self._reading_anything() as connection:
            gaps = missing_from(connection, statement, parameters)
            coverage.report(self._path, gaps, missing_ok=lenient, stacklevel=2)
            return run(connection, self._path, statement, parameters, personal=self._keep)

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
        ``extra``, the unknown fields as JSON text. A fetched day without rows has a file too. Each
        file is replaced atomically, so readers see either the old one or the new one.

        Args:
            folder: The folder to write to; created if it does not exist.
            start: The first day; ``start``, ``end`` and ``missing_ok`` are as in `trades`.
            end: The last day (inclusive).
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
            place, bar = validate.path("folder", folder), flag("progress", progress)
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
        """Does nothing, because no connection remains open between calls."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Archive {self._path}, time zone {zone_as_text(self._zone)}>"


def _label(account: str | None) -> str | None:
    """Validates a label. A label of another type would match nothing, as on an empty day."""
    return None if account is None else text("account", account)
