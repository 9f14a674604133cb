"""The public class ``Archive``: every call that a user makes of an archive."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any, NamedTuple, cast, overload

from duckdb import DuckDBPyRelation

from .._util import validate
from .._util.plans import run, run_async
from .._util.time_zones import zone_as_text, zone_from, zone_of_text
from .._util.validate import count, flag, seconds, shown, text
from ..accounts.fetch import Accounts, side_by_side
from ..books.book import UNCOUNTED, OrderBook, TradeBook
from ..client.client import AsyncClient, Client
from ..errors import ArchiveError, ConfigurationError, TradingDataError
from ..table.rows import Order
from . import coverage, views
from .arrivals import Arrivals, Fetched, both_books, clients_of, labels_of
from .coverage import Day, Index, MissingDay, Span, sessions_of, span_of
from .databases import cursor
from .folder import Disk, Objects
from .ingest import KINDS, AnyBook, ArchiveFetch, Ingest, Received, time_of, warn_of
from .log import Found
from .reader import Reader, explained, label_of
from .store import BOOKS, Rows, Store
from .views import Parameters, QueryResult

_FORMAT = 3


class OrderState(NamedTuple):
    """One state of an order.

    Attributes:
        seen_at: When the first response with this state was received, in the archive's time zone;
            ``None`` if unknown, as for a saved book without a time.
        account: The label of the account, or ``None``.
        order: The order in that response.
    """

    seen_at: datetime | None
    account: str | None
    order: Order


class Archive:
    """Order books and trade books of any days and accounts in a folder of Parquet files.

    Every file is written once and never changed, so threads, processes and, through object storage
    or a shared disk, machines may write, read and compact at the same time. Any engine that reads
    Parquet can read the folder. Only its owner may read a local one. No file remains open between
    calls, so an archive needs no closing and can be pickled.

    A trade belongs to the day of its ``exch_trade_time``. An order belongs to each day whose order
    book showed it, and has the state of that day. A response received before ``day_start`` belongs
    to the day before.

    Args:
        path: The folder, or an address such as ``s3://bucket/books`` (extra ``s3``).
        tz: The time zone of the days. It is fixed when the archive is created; the one of an
            existing archive if None, and ``Asia/Kolkata`` for a new one.
        day_start: When a day begins; fixed when the archive is created, ``06:00`` if None.
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
        ImportError: The extra ``tradingdata[archive]`` is not installed.

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
        day_start: time | str | None = None,
        calendar: Any = None,
        holidays: Iterable[Day] = (),
        sessions: Iterable[Day] = (),
        keep_personal_data: bool = False,
        create: bool = True,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        place = text("path", validate.path("path", path))
        root: str = place if "://" in place else os.path.abspath(place)
        begins = None if day_start is None else validate.time_of_day("day_start", day_start)
        given: dict[str, Any] = {
            "tz": zone_as_text(zone_from(tz)),
            "day_start": begins and begins.isoformat("minutes"),
            "keep_personal_data": flag("keep_personal_data", keep_personal_data),
        }
        days = {"holidays": holidays, "sessions": sessions}
        for name, each in days.items():
            if isinstance(each, str):
                raise TypeError(f"{name} is a list of days; use [{each!r}]")
        self._holidays = frozenset(validate.day("holidays", day) for day in holidays)
        self._sessions = frozenset(validate.day("sessions", day) for day in sessions)
        self._is_open = sessions_of(calendar)
        self._options = storage_options
        self._calendar = calendar
        self._store, index = _open(root, storage_options)
        with explained(self.path, "read"):
            known = self._store.settings()
        if known is None:
            self._check_new(create=flag("create", create))
            made: dict[str, Any] = {"tz": "Asia/Kolkata", "day_start": "06:00"}
            made["calendar"] = calendar if isinstance(calendar, str) else None
            made |= {name: value for name, value in given.items() if value is not None}
            with explained(self.path, "write"):
                known = self._store.settings({"tradingdata": _FORMAT, **made})
        if known is None or known.get("tradingdata") != _FORMAT:
            found = known and known.get("tradingdata")
            problem = "is not an archive of tradingdata"
            if found is not None:
                problem = f"has format {found}, and this version of tradingdata reads {_FORMAT}"
            raise ArchiveError(f"{root} {problem}: choose another path", file=root)
        for name, value in given.items():
            if value is not None and value != known[name]:
                raise ArchiveError(
                    f"{root} was created with {name}={known[name]!r}, which cannot change: pass "
                    f"that, or use another path",
                    file=root,
                )
        if calendar is None:
            self._is_open = sessions_of(known["calendar"])
        zone = zone_of_text(known["tz"])
        begin = time.fromisoformat(known["day_start"])
        self._ingest = Ingest(self._store, index, zone, begin, keep_personal_data)
        self._reader = Reader(self._store, index, self._is_session, keep=keep_personal_data)

    def _check_new(self, *, create: bool) -> None:
        """Raises ArchiveError unless the folder may become an archive."""
        root = self.path
        problem = ""
        found: list[str] = []
        if os.path.isdir(root):
            with explained(self.path, "read"):
                found = sorted(os.listdir(root))
        if "fetches" in found:
            problem = f"{root} is an archive of an earlier format: choose another path"
        elif not create:
            problem = (
                f"there is no archive at {root}: check the path, restore a backup, or create one "
                "with `create=True` or `tradingdata archive fetch`"
            )
        elif os.path.lexists(root) and not os.path.isdir(root):
            problem = f"{root} is a file, not the folder of an archive: choose another path"
        elif strange := [name for name in found if not name.startswith(".archive.json-")]:
            problem = (
                f"{root} is a folder with other files ({strange[0]}): choose another path, or "
                "restore a backup"
            )
        if problem:
            raise ArchiveError(problem, file=root)

    def _is_session(self, day: date) -> bool:
        if day in self._holidays:
            return False
        return day in self._sessions or self._is_open(day)

    def __reduce__(self) -> tuple[Any, ...]:
        options = {
            "calendar": self._calendar,
            "holidays": sorted(self._holidays),
            "sessions": sorted(self._sessions),
            "keep_personal_data": self._ingest.keep,
            "create": False,
            "storage_options": self._options,
        }
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
        with self._reader.read() as (_, index):
            return tuple(label or None for label in index.accounts())

    # -- writing --

    @overload
    def fetch(self, client: Client, *, timeout: float | None = None) -> Fetched: ...
    @overload
    def fetch(
        self,
        client: Accounts | Iterable[Client],
        *,
        timeout: float | None = None,
        concurrency: int = 8,
        progress: bool = False,
    ) -> dict[str, Fetched]: ...
    def fetch(
        self,
        client: Client | Accounts | Iterable[Client],
        *,
        timeout: float | None = None,
        concurrency: int = 8,
        progress: bool = False,
    ) -> Fetched | dict[str, Fetched]:
        """Fetches the order book and the trade book, and stores both in one commit.

        Both are fetched even if one fails; the failure is logged (see `fetches`), and for one
        client the first error is raised afterwards. When this returns, the books are on the disk.
        They are stored under ``client.account``. Books that have arrived are stored even if the
        call is interrupted.

        Args:
            client: The client to fetch with, or the ``Accounts`` or a list of clients with
                different accounts, which are fetched concurrently and stored together.
            timeout: Seconds for each call; the client's own timeout if None.
            concurrency: Maximum number of clients of a list that fetch at a time; an ``Accounts``
                has its own.
            progress: Whether to show a progress bar (tqdm) for a list; an ``Accounts`` knows.

        Returns:
            ``Fetched``, the log entries of both books; of several accounts, these by label.

        Raises:
            ArchiveError: The archive cannot be written, which is checked before any request, or the
                responses could not be stored; ``error.books`` then has them, so that they can be
                saved elsewhere.
            ConfigurationError: A client has no account label although other accounts have one, or
                two have the same.
            AccountsError: A request of one of several accounts failed. ``received`` has the entries
                of the other accounts, and ``errors`` the errors, by label.
            TradingDataError: A request failed.
        """
        limit = None if timeout is None else seconds("timeout", timeout)
        workers, bar = count("concurrency", concurrency), flag("progress", progress)
        several = isinstance(client, Iterable | Accounts)
        if isinstance(client, Accounts):
            client._check_open()
            labels, workers, bar = list(client.labels), client._concurrency, client._progress
            opened: Callable[[str], AbstractContextManager[Client]] = client._client
        else:
            clients = clients_of(client, are_async=False)
            labels = labels_of(clients)
            opened = dict(zip(labels, map(nullcontext, clients), strict=True)).__getitem__
        self._check(labels)
        with Arrivals(self._store_all, several=several) as arrivals:

            def both(label: str) -> None:
                try:
                    with opened(label) as one:
                        run(both_books(one, limit, arrivals))
                except TradingDataError as error:  # the account has no client
                    error.account = error.account or label or None
                    arrivals.fail(Received("orders", label, "fetch", None, error=error))

            # One client is called on the caller's thread, so that Ctrl-C ends the call.
            if several:
                with closing(side_by_side(both, labels, workers, bar)) as done:
                    for _ in done:
                        pass
            else:
                both(labels[0])
        return cast("Fetched | dict[str, Fetched]", arrivals.result(labels))

    @overload
    async def fetch_async(
        self, client: AsyncClient, *, timeout: float | None = None
    ) -> Fetched: ...
    @overload
    async def fetch_async(
        self, client: Iterable[AsyncClient], *, timeout: float | None = None
    ) -> dict[str, Fetched]: ...
    async def fetch_async(
        self, client: AsyncClient | Iterable[AsyncClient], *, timeout: float | None = None
    ) -> Fetched | dict[str, Fetched]:
        """Same as `fetch` for an ``AsyncClient``, without blocking the event loop."""
        several = isinstance(client, Iterable)
        clients = clients_of(client, are_async=True)
        limit = None if timeout is None else seconds("timeout", timeout)
        labels = labels_of(clients)
        await asyncio.to_thread(self._check, labels)
        arrivals = Arrivals(self._store_all, several=several)
        try:
            plans = [both_books(each, limit, arrivals) for each in clients]
            await asyncio.gather(*map(run_async, plans))
        finally:
            await asyncio.shield(asyncio.to_thread(arrivals.close))
        return cast("Fetched | dict[str, Fetched]", arrivals.result(labels))

    def _check(self, labels: Sequence[str]) -> None:
        """Raises, before any request, if the responses could not be stored correctly."""
        with explained(self.path, "write"):
            self._store.check_writable()
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ConfigurationError(
                f"several clients have the account label {twice!r}: give each its own `account`"
            )
        self._check_label("" in labels, "a client has no account label", set(labels))

    def _check_label(self, unlabelled: bool, problem: str, others: set[str]) -> None:
        if not unlabelled:
            return
        with self._reader.read(check=False) as (_, index):
            known = set(index.accounts())
        labels = sorted((known | others) - {""})
        if labels and "" not in known:
            raise ConfigurationError(
                f"{problem}, but other accounts in this archive have one ({', '.join(labels[:3])}):"
                " pass `account`, otherwise records may be duplicated"
            )

    def _store_all(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses; the ArchiveError of a failure has their books."""
        books = tuple(one.book for one in received if one.book is not None)
        try:
            with explained(self.path, "write"):
                entries = self._ingest.store_all(received, remarks)
        except ArchiveError as error:
            error.books = books
            raise
        except Exception as error:
            failure = ArchiveError(f"{self.path} was not written: {error}", file=self.path)
            failure.books = books
            raise failure from error
        with suppress(ArchiveError), explained(self.path, "write"):  # the responses are stored
            self._store.compact_closed(_merge)
        return entries

    def add(
        self, book: AnyBook, *, account: str | None = None, at: datetime | None = None
    ) -> ArchiveFetch:
        """Adds a book, such as one from ``load`` or ``from_json``.

        Books may be added in any order and more than once: the same response is stored once. A book
        that is not one complete response (a slice, a concatenation or a constructed one) adds its
        rows, but covers no day.

        Args:
            book: A ``TradeBook`` or an ``OrderBook``.
            account: The label of its account, if its response has none; ``""`` for no label.
            at: When it was received, an aware time, if its response has no time. Without either,
                its rows never replace those of a response with a time, orders belong to the day on
                which they were entered, and an order book covers no day.

        Returns:
            The log entry. The rows of a response that equals the one before are not stored again;
            ``stored`` is then false.

        Raises:
            TypeError: The book is neither of the two, or ``at`` is not a time.
            ValueError: ``at`` has no time zone, or the account is unknown while the archive has
                labelled accounts: without a label, records may be duplicated.
            ArchiveError: The book could not be stored.
        """
        name = next((name for name, kind in KINDS.items() if isinstance(book, kind)), None)
        if name is None:
            raise TypeError(
                f"an archive keeps a TradeBook or an OrderBook, not {type(book).__name__}"
            )
        response = book.response
        if at is None:
            at = response.received_at if response is not None else None
        elif not isinstance(at, datetime):
            raise TypeError(f"at must be an aware time (with a zone), not {shown(at)}")
        elif at.tzinfo is None:
            raise ValueError(f"at must be an aware time (with a zone), not {shown(at)}")
        if account is None:
            account = response.account if response is not None else None
            self._check_label(not account, "the book has no account label", set())
        label = text("account", account or "")
        remarks: list[str] = []
        entry = self._store_all([Received(name, label, "add", at, book)], remarks)[0]
        warn_of(remarks)
        return entry

    def withdraw(self, fetch_id: str) -> None:
        """Takes a response back that is wrong, such as one stored under the wrong account.

        It is as if it had not been fetched; nothing is deleted, and `fetches` still lists it.

        Args:
            fetch_id: The ``id`` of its entry in `fetches`.

        Raises:
            ValueError: The archive has no such response.
        """
        identity = text("fetch_id", fetch_id)
        with self._reader.read(check=False) as (log, _):
            line = log.lines.get(identity)
            if line is None or line["source"] not in ("fetch", "add"):
                raise ValueError(f"the archive has no response {identity!r}: see fetches()")
            values = {name: line[name] for name in ("account", "book", "day")}
            repeats = [x["id"] for x in log.lines.values() if x["repeats"] == identity]
        with explained(self.path, "write"):
            for each in (identity, *repeats):  # whose content is the same
                self._ingest.mark("withdraw", withdraws=each, **values)

    def retire(self, account: str, day: Day) -> None:
        """Declares that an account is not expected after a day, so that it is not missing then.

        The last call counts, until a response of a later day is stored.

        Args:
            account: Its label.
            day: The last day on which it is expected.
        """
        label, until = text("account", account), validate.day("day", day)
        with self._reader.read(check=False) as (_, index):
            if label not in index.accounts():
                raise ValueError(f"the archive has no account {label!r}")
        with explained(self.path, "write"):
            self._ingest.mark("retire", account=label, day=str(until))

    def compact(self) -> int:
        """Merges the files of each month into few, which makes reading many days faster.

        Keeps every state of every record. Deletes files that were merged a day ago, and what killed
        programs left. Run it monthly; months that are over are also merged by themselves when they
        have more than 500 commits. Any number of programs may read, write and compact meanwhile.

        Returns:
            By how many the number of files decreased.
        """
        for attempt in (1, 2, 3):
            try:
                with explained(self.path, "write"):
                    return self._store.compact(_merge)
            except ArchiveError:  # another compaction may have hidden a file meanwhile
                if attempt == 3:
                    raise
        raise AssertionError

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
        Without ``start``, all days up to ``end`` are read, and must have been fetched since the
        first fetch; without both, all up to the last fetch. The book's ``issues`` are the values
        that did not fit when they were received.

        Args:
            start: The first day, a date or text such as "2026-11-20". A single day must have been
                fetched even if it is no session.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
            missing_ok: Whether days that were never fetched issue a ``DataWarning`` instead of
                raising.

        Raises:
            ArchiveError: Days were never fetched (``error.missing`` lists them), or the archive is
                damaged.
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

    def _book(
        self, name: str, start: Day | None, end: Day | None, account: str | None, missing_ok: bool
    ) -> AnyBook:
        def read(connection: Any) -> AnyBook:
            span, gaps = self._reader.covered([name], start, end, account)
            coverage.report(self.path, gaps, missing_ok=flag("missing_ok", missing_ok))
            least, exact, lost = self._reader.define(connection, name, span)
            with explained(self.path, "read", f"the {name} of {span}"):
                book = self._reader.ordered(connection, name, lost=lost)
                if len(book) > least or (exact and len(book) < least):
                    raise OSError(f"{len(book)} rows where the log has {least}")
            return book

        return self._reader.retried(read)

    def scan(
        self,
        name: str,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> DuckDBPyRelation:
        """Returns the rows of `trades` or `orders` as a DuckDB relation, which reads nothing yet.

        For frames of many days: ``.pl()``, ``.df()`` and ``.to_arrow_table()``, after methods such
        as ``.filter("symbol = 'INFY'")`` and ``.select("day", "quantity")``, which read only what
        they need. It has the columns ``day``, ``account``, ``received_at`` and ``fetch_id``, the
        record's fields, and ``extra``: unknown fields and values that did not fit, as JSON text.

        Args:
            name: ``"trades"`` or ``"orders"``.
            start: The first day; this and the others are as for `trades`.
            end: The last day (inclusive).
            account: The label of one account.
            missing_ok: Whether days may be missing.
        """
        if name not in list(KINDS):
            raise ValueError(f"name must be 'trades' or 'orders', not {shown(name)}")
        opened = cursor()  # the relation keeps it
        span, gaps = self._reader.covered([name], start, end, account)
        coverage.report(self.path, gaps, missing_ok=flag("missing_ok", missing_ok))
        self._reader.define(opened, name, span)
        return cast("DuckDBPyRelation", opened.table(name))

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
        has a row for each response that stored an order; ``fetches`` is the log. Besides the
        record's fields, the first three have ``account``, ``day``, ``received_at`` (UTC),
        ``fetch_id`` and ``extra``, unknown fields as JSON text. The views contain the days asked
        and no others, in no order. A book of which a day was never fetched has no view. Ctrl-C ends
        the query, which may use half of the machine's memory.

        Args:
            query: A query. It can read these views and nothing else.
            start: The first day; the first in the archive if None.
            end: The last day (inclusive); ``start`` if None, or the last in the archive without it.
            parameters: Values for its placeholders, ``?`` or ``$name``.
            account: The label of one account; all if None.
            missing_ok: Whether days may be missing, as for `trades`.

        Raises:
            ArchiveError: The query reads a book of which days were never fetched, would do
                something else than read, or the archive is damaged.
            duckdb.Error: DuckDB rejects the query, or a whole number is not in -2^63 to 2^63 - 1.
        """
        statement = text("query", query)
        flag("missing_ok", missing_ok)

        def read(connection: Any) -> QueryResult:
            span, gaps = self._reader.covered(BOOKS, start, end, account)
            if missing_ok:
                coverage.report(self.path, gaps, missing_ok=True)
                gaps = []
            lacking = {book for gap in gaps for book in gap.books}
            words = statement.lower()
            named = {name for name in KINDS if any(view in words for view in views.VIEWS[name])}
            # Without any, a name may be mistaken, for which DuckDB suggests one of the views.
            for name in (named or KINDS.keys()) - lacking:
                self._reader.define(connection, name, span)
                if name == "orders" and ("order_states" in words or not named):
                    self._reader.define_states(connection, span)  # opens every file of the days
            if "fetches" in words or not named:
                self._reader.define_fetches(connection, span)
            try:
                return views.run(connection, self.path, gaps, statement, parameters)
            except views.Error as error:
                if views.is_damage(error):
                    with explained(self.path, "read", str(span)):
                        raise
                raise

        return self._reader.retried(read, self._store.local_root)

    def history(self, order_no: str, *, account: str | None = None) -> list[OrderState]:
        """Returns the states of an order over time, each with the time when it was first seen.

        If several records have this number (legs, accounts), their states follow each other.
        ``row_no`` and ``ref_ltp`` change while an order does not, so they do not count as changes.

        Args:
            order_no: The order's number.
            account: The label of one account, ``""`` for the one without a label; all if None.

        Returns:
            The states; empty if the archive has no such order.
        """
        number, label = text("order_no", order_no), label_of(account)

        def read(connection: Any) -> tuple[Any, Any]:
            self._reader.define_states(connection, Span(account=label))
            with explained(self.path, "read"):
                owners, rows = views.states(connection, number)
                return views.rows_of(owners), self._reader.as_book("orders", rows)

        owners, orders = self._reader.retried(read)
        states: list[OrderState] = []
        last: dict[Any, Any] = {}
        for owner, order_row in zip(owners, orders, strict=True):
            content = {**order_row._asdict(), "extra": order_row._extra, **dict.fromkeys(UNCOUNTED)}
            key = (owner.account, *(content[name] for name in views.IDENTITY["orders"]))
            if last.get(key) != content:
                at = owner.received_at and owner.received_at.astimezone(self.tz)
                states.append(OrderState(at, owner.account or None, order_row))
            last[key] = content
        return states

    def fetches(
        self, start: Day | None = None, end: Day | None = None, *, account: str | None = None
    ) -> list[ArchiveFetch]:
        """Returns the log of responses and failures, in the order in which they were written.

        Args:
            start: The first day; all days if None.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
        """
        span = span_of(start, end, label_of(account))
        with self._reader.read(span) as (log, index):
            lines = self._reader.lines(log, span)
            gone = index.withdrawn
            return [self._ingest.entry(line, withdrawn=line["id"] in gone) for line in lines]

    def missing(
        self, start: Day, end: Day, *, account: str | None = None, after: time | str | None = None
    ) -> list[MissingDay]:
        """Returns the days (inclusive) on which a book was not fetched.

        A complete trade response covers the days of its rows and, from ``day_start``, the day on
        which it was received; an order response covers its day. A day that is no session is missing
        only if a fetch failed, or if it is the only one asked for. An account is expected from its
        first response or failure until it is retired. A fetched day without trades or orders is not
        missing.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day.
            account: The label of one account, ``""`` for the one without a label; every account in
                the log if None.
            after: A time of day in the archive's time zone, such as "15:30": responses received
                earlier do not count for that day, because they may be incomplete.
        """
        since = None if after is None else validate.time_of_day("after", after)
        span = span_of(validate.day("start", start), validate.day("end", end), label_of(account))
        first, last = cast("date", span.first), cast("date", span.last)

        def counts(day: str, line: dict[str, Any]) -> bool:
            due = datetime.combine(date.fromisoformat(day), cast("time", since), self.tz)
            return line["at"] is not None and time_of(line["at"]) >= due.astimezone(UTC)

        with self._reader.read(span) as (_, index):
            books = dict.fromkeys(BOOKS, (first, last))
            counted = None if since is None else counts
            return index.gaps((first, last), span.account, books, self._reader.is_session, counted)

    def verify(self) -> int:
        """Reads everything and compares sizes and SHA-256 digests with the log.

        Returns:
            The number of rows that were checked.

        Raises:
            ArchiveError: Something is damaged; the message says which days.
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
        with self._reader.read() as (log, _):
            lines = [x for x in log.lines.values() if x["book"] == name and x["repeats"] is None]
            wanted = {(x["id"], day[:7]) for x in lines for day, rows in x["days"].items() if rows}
            return sorted(found.path for found in self._store.find(log, sorted(wanted)))


_STORES: dict[str, tuple[Store, Index]] = {}  # what was read of a log serves all of a process
_MOST_STORES = 16


def _open(root: str, options: dict[str, Any] | None) -> tuple[Store, Index]:
    if "://" in root:
        return Store(Objects(root, options)), Index()
    key = f"{os.getpid()} {root}"
    if key not in _STORES:
        while len(_STORES) >= _MOST_STORES:
            _STORES.pop(next(iter(_STORES)))
        _STORES[key] = Store(Disk(root)), Index()
    return _STORES[key]


def _restored(kind: type[Archive], path: str, options: dict[str, Any]) -> Archive:
    return kind(path, **options)


def _merge(book: str, month: str, files: list[Found], rows: int) -> Rows:
    opened = cursor()  # until the rows are written
    write = views.merger(opened, book, month, files, rows)

    def written(path: str) -> None:
        with closing(opened):
            write(path)

    return Rows(book, month, rows, written)
