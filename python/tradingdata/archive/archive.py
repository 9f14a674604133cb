"""The public class ``Archive``: every call that a user makes of an archive."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, tzinfo
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, cast, overload

from .._util import validate
from .._util.optional_imports import Later
from .._util.time_zones import zone_as_text, zone_from, zone_of_text
from .._util.validate import flag, seconds, shown, text
from .._util.warn import warn_user
from ..accounts.fetch import Accounts
from ..books.book import OrderBook, TradeBook
from ..client.client import Client
from ..errors import DataWarning
from . import coverage, ingest
from .coverage import Clock, Day, Line, Log, MissingDay, Span, months_of, sessions_of, span_of
from .databases import cursor, explained
from .ingest import KINDS, ArchiveFetch, Fetched, Ingest, StoredBook
from .reader import OrderState, Reader, fetch_lines
from .store import BOOKS, Store, settled, store_of
from .views import Parameters, QueryResult

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = Later("duckdb")


class Archive:
    """Order books and trade books of any days and accounts in a folder of Parquet files.

    Every file is written once and never changed, so threads, processes and, through object storage
    or a shared disk, machines may write, read and compact at the same time. Any engine that reads
    Parquet can read the folder; of a local one, only its owner. An archive needs no closing and can
    be pickled.

    A trade belongs to the day of its ``exch_trade_time``. An order belongs to each day whose order
    book showed it, and has the state of that day. A response received before ``day_start`` belongs
    to the day before, by the service's clock if the local one differs by more than two minutes.

    Args:
        path: The folder, or an address such as ``s3://bucket/books`` (extra ``s3``).
        tz: The time zone of the days, fixed when the archive is created; ``Asia/Kolkata`` if None.
        day_start: When a day begins, fixed when the archive is created; ``06:00`` if None.
        calendar: The days on which the exchanges are open: the name of a calendar of
            exchange_calendars such as ``"XBOM"``, or an object with ``is_session(day)``. A name is
            kept when the archive is created. Weekdays if None and none was kept.
        holidays: Days on which the exchanges were closed, which are never missing.
        sessions: Days on which they were open although the calendar says otherwise, such as a
            Saturday.
        keep_personal_data: Whether to store and return account numbers (PAN) instead of masking
            them. It is fixed when the archive is created.
        create: Whether to create the archive if it does not exist.
        storage_options: Options of the object storage, as fsspec takes them; credentials are also
            read from the environment.

    Raises:
        ArchiveError: The folder cannot be used; every other call may raise it too.

    Example:
        >>> archive = td.Archive("books")
        >>> archive.fetch(client)
        >>> archive.trades("2026-11-16", "2026-11-20").to_pandas()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        tz: str | tzinfo | None = None,
        day_start: Clock = None,
        calendar: Any = None,
        holidays: Iterable[Day] = (),
        sessions: Iterable[Day] = (),
        keep_personal_data: bool = False,
        create: bool = True,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        place = text("path", validate.path("path", path))
        begins = None if day_start is None else validate.time_of_day("day_start", day_start)
        settings: dict[str, Any] = {
            "tz": zone_as_text(zone_from(tz)),
            "day_start": begins and begins.isoformat("minutes"),
            "calendar": calendar if isinstance(calendar, str) else None,
            "keep_personal_data": flag("keep_personal_data", keep_personal_data),
        }
        self._days = {}
        for name, days in {"holidays": holidays, "sessions": sessions}.items():
            if isinstance(days, str):
                raise TypeError(f"{name} is a list of days; use [{days!r}]")
            self._days[name] = {validate.day(name, day) for day in days}
        is_open = sessions_of(calendar)
        self._options, self._calendar = storage_options, calendar
        root = place if "://" in place else os.path.abspath(place)
        self._store = store_of(root, storage_options)
        with explained(root, "read"):
            known = settled(self._store, settings, create=flag("create", create))
        if calendar is None:
            is_open = sessions_of(known["calendar"])

        def is_session(day: date) -> bool:
            is_extra = day in self._days["sessions"]
            return day not in self._days["holidays"] and (is_extra or is_open(day))

        zone, begin = zone_of_text(known["tz"]), time.fromisoformat(known["day_start"])
        self._ingest = Ingest(self._store, zone, begin, keep_personal_data)
        self._reader = Reader(self._store, is_session, keep=keep_personal_data)

    def __reduce__(self) -> tuple[Any, ...]:
        options = {"calendar": self._calendar, "storage_options": self._options, "create": False}
        options |= {name: sorted(days) for name, days in self._days.items()}
        options["keep_personal_data"] = self._ingest.keep
        return _restored, (type(self), self.path, options)

    def __repr__(self) -> str:
        return f"<Archive {self.path}, time zone {zone_as_text(self.tz)}>"

    @property
    def path(self) -> str:
        """The folder or address."""
        return self._store.root

    @property
    def tz(self) -> tzinfo:
        """The time zone of the days."""
        return self._ingest.zone

    @property
    def accounts(self) -> tuple[str | None, ...]:
        """The account labels in the log; ``None`` is for fetches without one."""
        with self._reader.log(Span()) as log:
            return tuple(label or None for label in sorted(log.since))

    # -- writing --

    @overload
    def fetch(self, client: Client, *, timeout: float | None = None) -> Fetched: ...
    @overload
    def fetch(self, client: Accounts, *, timeout: float | None = None) -> dict[str, Fetched]: ...
    def fetch(
        self, client: Client | Accounts, *, timeout: float | None = None
    ) -> Fetched | dict[str, Fetched]:
        """Fetches the order book and the trade book, and stores both in one commit.

        Both are fetched even if one fails. The failure is logged (see `fetches`), by the local
        clock if there was no response, and for one client the first error is raised afterwards.
        When this returns, the books are on the disk, under ``client.account``. Books that have
        arrived are stored even if the call is interrupted. From asyncio, ``add`` the books of an
        ``AsyncClient`` in a thread.

        Args:
            client: The client to fetch with, or an ``Accounts``, whose accounts are fetched
                concurrently and stored together.
            timeout: Seconds for each call; the client's own timeout if None.

        Returns:
            ``Fetched``, the log entries of both books; of several accounts, these by label.

        Raises:
            ArchiveError: The archive cannot be written, which is checked before any request, or the
                responses could not be stored; ``error.books`` then has them, to be saved elsewhere.
            ConfigurationError: The client has no account label although other accounts have one.
            AccountsError: Accounts failed. ``received`` has the entries of the others, and
                ``errors`` the errors, by label.
            TradingDataError: A request failed.
        """
        accounts = client if isinstance(client, Accounts) else None
        call = getattr(client, "order_book", None)
        if not callable(call) or iscoroutinefunction(call):
            raise TypeError(f"fetch takes a Client or an Accounts, not {shown(client)}")
        limit = None if timeout is None else seconds("timeout", timeout)
        if accounts is not None:
            accounts._check_open()
        labels = list(accounts.labels) if accounts else [getattr(client, "account", None) or ""]
        with explained(self.path, "write"):
            self._store.check_writable()
        self._ingest.check_label("" in labels, "a client has no account label")
        remarks: list[str] = []
        arrivals = ingest.Arrivals(lambda received: self._ingest.store(received, remarks))
        try:
            if accounts is None:  # on the caller's thread, so that Ctrl-C ends the call
                arrivals.fetch(client, limit)
            else:
                arrivals.fetch_all(accounts, limit)
        finally:
            arrivals.flush()
        _warn(remarks)
        entries = arrivals.entries_of(labels, several=accounts is not None)
        return entries if accounts is not None else entries[labels[0]]

    def add(
        self, book: StoredBook, *, account: str | None = None, at: datetime | None = None
    ) -> ArchiveFetch:
        """Adds a book, such as one from ``load`` or ``from_json``.

        Books may be added in any order and more than once: the same response is stored once. One
        that is not a complete response, such as a slice, adds its rows, but covers no day.

        Args:
            book: A ``TradeBook`` or an ``OrderBook``.
            account: The label of its account, if its response has none; ``""`` for no label.
            at: When it was received, an aware time, if its response has no time. Without either,
                its rows never replace those of a response with a time, orders belong to the day on
                which they were entered, and an order book covers no day.

        Returns:
            The log entry, whose ``stored`` is false if rows were not stored again.

        Raises:
            TypeError: The book is neither of the two, or ``at`` is not a time.
            ValueError: ``at`` has no time zone, or the account is unknown while others have labels.
            ArchiveError: The book could not be stored.
        """
        name = next((name for name, kind in KINDS.items() if isinstance(book, kind)), "")
        if not name:
            kind = type(book).__name__
            raise TypeError(f"an archive keeps a TradeBook or an OrderBook, not {kind}")
        if at is not None and getattr(at, "tzinfo", None) is None:
            wrong = ValueError if hasattr(at, "tzinfo") else TypeError
            raise wrong(f"at must be an aware time (with a zone), not {shown(at)}")
        if book.response is not None:
            at = at or book.response.received_at
            account = book.response.account if account is None else account
        if account is None:
            self._ingest.check_label(True, "the book has no account label")
        label = text("account", account or "")
        remarks: list[str] = []
        (entry,) = self._ingest.store([ingest.Received(name, label, "add", at, book)], remarks)
        _warn(remarks)
        return entry

    def withdraw(self, fetch_id: str) -> None:
        """Takes a response back that is wrong, such as one stored under the wrong account.

        It is as if it had not been fetched, nor the unchanged responses that were stored as its
        repeats: withdraw the first of them. Nothing is deleted, and `fetches` still lists it.

        Args:
            fetch_id: The ``id`` of its entry in `fetches`.
        """
        identity = text("fetch_id", fetch_id)
        with self._reader.log() as log:
            line = log.lines.get(identity)
        if line is None or line["source"] not in ("fetch", "add"):
            raise ValueError(f"the archive has no response {identity!r}: see fetches()")
        facts = {name: line[name] for name in ("account", "book", "day")}
        facts["id"] = ingest.fact_id("withdraw", identity)
        self._ingest.mark("withdraw", withdraws=identity, **facts)

    def retire(self, account: str, day: Day) -> None:
        """Declares that an account is not expected after a day, so that it is not missing then.

        The last call counts, until a response of a later day is stored.

        Args:
            account: Its label.
            day: The last day.
        """
        label, until = text("account", account), validate.day("day", day)
        with self._reader.log() as log:
            if label not in log.since:
                raise ValueError(f"the archive has no account {label!r}")
        self._ingest.mark("retire", account=label, day=str(until))

    def compact(self) -> int:
        """Merges the files of each month into few, which makes reading many days faster.

        Keeps every state of every record. Deletes files that were merged a day ago, and what killed
        programs left. Run it monthly, whatever else is running; past months of more than 500
        commits are merged by themselves.

        Returns:
            By how many the number of files decreased.
        """
        # Another compaction may hide a file meanwhile.
        return self._reader.retried(lambda _: self._ingest.compact())

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

        Each session must have been fetched for each account that is expected on it; see `missing`.
        Without ``start``, all days up to ``end`` are read, or up to the last fetch. The book's
        ``issues`` are the values that did not fit when they were received.

        Args:
            start: The first day, a date or text such as "2026-11-20". A single day must have been
                fetched even if it is no session.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
            missing_ok: Whether days that were never fetched issue a ``DataWarning`` instead of
                raising.

        Raises:
            ArchiveError: Days were never fetched (``error.missing`` lists them), or it is damaged.
            ValueError: ``end`` is before ``start``, or a text is not a day.
        """
        return cast("TradeBook", self._book("trades", start, end, account, missing_ok))

    def orders(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> OrderBook:
        """Returns the orders of some days, each as its day's order book last showed it.

        An order of several days is returned once for each. Arguments as for `trades`.
        """
        return cast("OrderBook", self._book("orders", start, end, account, missing_ok))

    def _book(self, name: str, start: Any, end: Any, account: Any, missing_ok: Any) -> StoredBook:
        def read(connection: Any) -> StoredBook:
            span, log = self._covered(name, start, end, account, missing_ok=missing_ok)
            return self._reader.book(connection, name, span, log)

        return self._reader.retried(read)

    def _covered(self, name: str, *days: Any, missing_ok: Any) -> tuple[Span, Log]:
        """Returns the days that are meant, which must have been fetched, and the log."""
        if name not in list(KINDS):
            raise ValueError(f"name must be 'trades' or 'orders', not {shown(name)}")
        span, gaps, log = self._reader.covered([name], *days)
        coverage.report(self.path, gaps, missing_ok=flag("missing_ok", missing_ok))
        return span, log

    def scan(
        self,
        name: str,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> duckdb.DuckDBPyRelation:
        """Returns the rows of `trades` or `orders` as a DuckDB relation, which reads nothing yet.

        For frames of many days: ``.pl()``, ``.df()`` and ``.to_arrow_table()``, after methods such
        as ``.filter("symbol = 'INFY'")`` and ``.select("day", "quantity")``, which read only what
        they need. It has the columns ``day``, ``account``, ``received_at`` and ``fetch_id``, the
        record's fields, ``extra``, unknown fields as JSON text, and ``sent``, a record as it was
        sent if values of it did not fit.

        Args:
            name: ``"trades"`` or ``"orders"``.
            start: The first day; this and the others are as for `trades`.
            end: The last day (inclusive).
            account: The label of one account.
            missing_ok: Whether days may be missing.
        """
        span, log = self._covered(name, start, end, account, missing_ok=missing_ok)
        opened = cursor()  # the relation keeps it
        self._reader.define(opened, name, span, log)
        return cast("duckdb.DuckDBPyRelation", opened.table(name))

    def sql(
        self,
        query: str,
        start: Day | None = None,
        end: Day | None = None,
        parameters: Parameters | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> QueryResult:
        """Runs an SQL query (DuckDB) over the views of some days.

        ``trades`` and ``orders`` have a row for each record in its newest state; ``order_states``
        has a row for each response that stored an order; ``fetches`` is the log. The first three
        have the columns of `scan`. The views contain the days asked and no others, in no order. A
        book of which a day was never fetched has no view. Ctrl-C ends the query, which may use half
        of the machine's memory.

        Args:
            query: A query. It can read these views and nothing else.
            start: The first day; the first in the archive if None.
            end: The last day (inclusive); ``start`` if None, or the last in the archive without it.
            parameters: Values for its placeholders, ``?`` or ``$name``.
            account: The label of one account; all if None.
            missing_ok: Whether days may be missing, as for `trades`.

        Raises:
            ArchiveError: The query reads a book of which days were never fetched, or does not only
                read.
            ConfigurationError: DuckDB cannot run the query, or a whole number of its result is
                not in -2^63 to 2^63 - 1.
        """
        days, ok = (start, end, account), flag("missing_ok", missing_ok)
        return self._reader.query(text("query", query), days, parameters, missing_ok=ok)

    def history(self, order_no: str, *, account: str | None = None) -> list[OrderState]:
        """Returns the states of an order over time, each with the time when it was first seen.

        If several records have this number (legs, accounts), their states follow each other.
        ``row_no`` and ``ref_ltp`` do not count as changes.

        Args:
            order_no: The order's number.
            account: The label of one account; all if None.

        Returns:
            The states; none if the archive has no such order.
        """
        number, span = text("order_no", order_no), span_of(None, None, account)
        return list(self._reader.history(number, span, self.tz))

    def fetches(
        self, start: Day | None = None, end: Day | None = None, *, account: str | None = None
    ) -> list[ArchiveFetch]:
        """Returns the log of responses and failures, in the order in which they were written.

        Args:
            start: The first day; all days if None.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
        """
        span = span_of(start, end, account)
        with self._reader.log(span) as log:
            lines = fetch_lines(log, span)
            return [self._ingest.entry(x, withdrawn=log.is_withdrawn(x)) for x in lines]

    def missing(
        self, start: Day, end: Day | None = None, *, account: str | None = None, after: Clock = None
    ) -> list[MissingDay]:
        """Returns the days (inclusive) on which a book was not fetched.

        A complete trade response covers the days of its rows and, from ``day_start``, the day on
        which it was received; an order response covers its day, also without rows. A day that is no
        session is missing only if a fetch failed, or if it is the only one asked for. An account is
        expected from its first response or failure until it is retired; one that ``account``
        names is expected on the days before too.

        Args:
            start: The first day.
            end: The last day; ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
            after: A time of day in the archive's time zone, such as "15:30": responses received
                earlier do not count for that day, because they may be incomplete.
        """
        since = None if after is None else validate.time_of_day("after", after)
        span = span_of(validate.day("start", start), end, account)
        days = dict.fromkeys(BOOKS, (span.first or date.min, span.last or date.max))

        def counts(day: str, line: Line) -> bool:
            due = datetime.combine(date.fromisoformat(day), since or time.min, self.tz)
            return line["at"] is not None and ingest.time_of(line["at"]) >= due.astimezone(UTC)

        with self._reader.log(span) as log:
            is_session = self._reader.is_session
            return coverage.gaps(log, span, days, is_session, counts if since else None)

    def verify(self) -> int:
        """Reads everything and compares sizes and SHA-256 digests with the log.

        Returns:
            The number of rows that were checked.
        """
        with explained(self.path, "read"):
            log = Store(self._store.folder).verify()
        self._reader.check_lost(log, Span())
        return sum(sum(x["days"].values()) for x in log.lines.values() if x["repeats"] is None)

    def files(self, name: str) -> list[str]:
        """Returns the paths of the Parquet files of a book, for other engines.

        They have earlier states too: see `scan` for the newest. Each row is in one of them.

        Args:
            name: ``"trades"`` or ``"orders"``.
        """
        if name not in list(KINDS):
            raise ValueError(f"name must be 'trades' or 'orders', not {shown(name)}")
        with self._reader.log(Span()) as log:
            lines = [line for line in log.lines.values() if line["book"] == name]
            wanted = sorted((line["id"], month) for line in lines for month in months_of(line))
            return sorted({file["place"] for file in self._store.find(log, wanted)})


def _warn(remarks: Iterable[str]) -> None:
    for remark in remarks:
        warn_user(DataWarning(remark))


def _restored(kind: type[Archive], path: str, options: dict[str, Any]) -> Archive:
    return kind(path, **options)
