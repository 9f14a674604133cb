"""The public class ``Archive``: every call that a user makes of an archive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, tzinfo
from functools import partial
from inspect import iscoroutinefunction
from time import time_ns
from typing import TYPE_CHECKING, Any, cast, overload

from .._util import validate
from .._util.optional_imports import LazyModule
from .._util.time_zones import zone_as_text, zone_from, zone_of_text
from .._util.validate import flag, seconds, shown, text
from ..accounts import Accounts
from ..books.book import OrderBook, TradeBook
from ..client.client import Client
from ..errors import ArchiveError, DataWarning, TradingDataError, warn_user
from . import coverage, fetching, ingest
from .coverage import (
    EVERY,
    Account,
    Asked,
    Clock,
    Day,
    MissingDay,
    Sessions,
    Span,
    sessions_of,
    span_of,
)
from .databases import explained
from .days import BOOKS, KINDS, Decoder, StoredBook
from .fetching import Fetched
from .ingest import ArchiveFetch, Ingest
from .queries import OrderState, Parameters, QueryResult, Reader, fetches
from .store import PATIENCE, schema_of, store_of

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = LazyModule("duckdb")


class Archive:
    """Order books and trade books of any days and accounts in a folder of Parquet files.

    ``trades/`` and ``orders/`` in the folder have one file for each day, with each record once, in
    its newest state, which any engine reads. ``responses/`` has what was received. Threads,
    processes and machines that share a disk may write and read at the same time. An archive needs
    no closing and can be pickled.

    A trade belongs to the day of its ``exch_trade_time``. An order belongs to each day whose order
    book showed it, and has the state of that day. A response received before ``day_start`` belongs
    to the day before, by the service's clock if the local one differs by more than two minutes.

    In every call, ``account`` is the label of one account; left out, it means all, and ``None`` is
    for books without a label.

    Args:
        path: The folder.
        tz: The time zone of the days, fixed when the archive is created; ``Asia/Kolkata`` if None.
        day_start: When a day begins, fixed when the archive is created; ``06:00`` if None.
        calendar: The days on which the exchanges are open: the name of a calendar of
            exchange_calendars such as ``"XBOM"``, or an object with ``is_session(day)``. A name is
            kept when the archive is created. Weekdays if None and none was kept.
        holidays: Days on which the exchanges were closed, which are never missing.
        sessions: Days on which they were open although the calendar says otherwise, such as a
            Saturday.
        closes: When the last session of a day ends, such as "23:30" with commodities. A day whose
            last response is older is then missing for `missing`, and reading it warns.
        keep_personal_data: Whether to store and return account numbers (PAN) instead of masking
            them. It is fixed when the archive is created.
        create: Whether to create the archive if it does not exist.

    Raises:
        ArchiveError: The folder cannot be used; every other call may raise it too.
        ValueError: The path is an address, such as ``s3://bucket/books``.

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
        closes: Clock = None,
        keep_personal_data: bool = False,
        create: bool = True,
    ) -> None:
        place = text("path", validate.path("path", path))
        if "://" in place:
            raise ValueError(
                f"path is a folder, not an address ({place.partition('://')[0]}://): archive to a "
                "folder and copy it there, see the how-to 'An archive as one table'"
            )
        begins = None if day_start is None else validate.time_of_day("day_start", day_start)
        self._closes = None if closes is None else validate.time_of_day("closes", closes)
        settings: dict[str, Any] = {
            "tz": zone_as_text(zone_from(tz)),
            "day_start": begins and begins.isoformat("minutes"),
            "calendar": calendar if isinstance(calendar, str) else None,
            "keep_personal_data": flag("keep_personal_data", keep_personal_data),
            "schema": schema_of(),
        }
        self._days = {}
        for name, days in {"holidays": holidays, "sessions": sessions}.items():
            if isinstance(days, str):
                raise TypeError(f"{name} is a list of days; use [{days!r}]")
            self._days[name] = frozenset(validate.day(name, day) for day in days)
        is_open, self._calendar = sessions_of(calendar), calendar
        self._store = store_of(os.path.abspath(place), os.getpid())
        with explained(self._store.root, "read"):
            known = self._store.folder.settled(
                settings, create=flag("create", create), patience=PATIENCE
            )
        if calendar is None:
            is_open = sessions_of(known["calendar"])
        self._store.decoder = Decoder(zone_of_text(known["tz"]), known["keep_personal_data"])
        self._ingest = Ingest(self._store, time.fromisoformat(known["day_start"]))
        self._reader = Reader(self._ingest, Sessions(is_open, **self._days))

    def __reduce__(self) -> tuple[Callable[[str], Archive], tuple[str]]:
        keep, closes = self._store.decoder.keep, self._closes
        options: dict[str, Any] = {"keep_personal_data": keep, "closes": closes, "create": False}
        options |= self._days
        return partial(type(self), calendar=self._calendar, **options), (self.path,)

    def __repr__(self) -> str:
        return f"<Archive {self.path}, time zone {zone_as_text(self.tz)}>"

    @property
    def path(self) -> str:
        """The folder."""
        return self._store.root

    @property
    def tz(self) -> tzinfo:
        """The time zone of the days."""
        return self._store.decoder.zone

    @property
    def accounts(self) -> tuple[str | None, ...]:
        """The account labels in the log; ``None`` is for fetches without one."""
        with self._store.lock:
            return tuple(label or None for label in sorted(self._reader.log().since))

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
        call = getattr(client, "order_book", None)
        if not callable(call) or iscoroutinefunction(call):
            raise TypeError(f"fetch takes a Client or an Accounts, not {shown(client)}")
        limit = None if timeout is None else seconds("timeout", timeout)
        labels = [getattr(client, "account", None) or ""]
        if isinstance(client, Accounts):
            client._check_open()
            labels = list(client.labels)
        with explained(self.path, "write"):
            self._store.folder.check_writable()
        self._ingest.check_label("" in labels, "a client has no account label")
        remarks: list[str] = []
        arrivals = fetching.Arrivals(lambda got: self._ingest.store(got, remarks), remarks)
        try:
            if isinstance(client, Accounts):
                arrivals.fetch_all(client, limit)
            else:  # on the caller's thread, so that Ctrl-C ends the call
                arrivals.fetch(client, limit)
        finally:
            arrivals.flush()
        try:
            entries = arrivals.entries_of(labels, several=isinstance(client, Accounts))
        except TradingDataError as error:
            for remark in remarks:
                try:
                    _warn([remark])
                except DataWarning:  # which is an error here, but not the one that matters most
                    error.add_note(remark)
            raise
        _warn(remarks)
        return entries if isinstance(client, Accounts) else entries[labels[0]]

    def add(
        self, book: StoredBook, *, account: Account = EVERY, at: datetime | None = None
    ) -> ArchiveFetch:
        """Adds a book, such as one from ``load`` or ``from_json``.

        Books may be added in any order and more than once: the same response is stored once. One
        that is not a complete response, such as a slice, adds its rows, but covers no day.

        Args:
            book: A ``TradeBook`` or an ``OrderBook``.
            account: The label of its account, if its response has none; ``None`` for no label.
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
            if account is EVERY:
                account = book.response.account or EVERY
        if account is EVERY:
            self._ingest.check_label(True, "the book has no account label")
            account = None
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

        Raises:
            ValueError: The archive has no such response.
        """
        identity = text("fetch_id", fetch_id)
        with self._store.lock:
            known = {entry.id for entry in self._reader.log().fetches()}
        if identity not in known:
            raise ValueError(f"the archive has no response {identity!r}: see fetches()")
        self._decide(lambda known: {"withdrawn": sorted({*known["withdrawn"], identity})})

    def retire(self, account: str, day: Day) -> None:
        """Declares that an account is not expected after a day, so that it is not missing then.

        The last call counts, until a response of a later day is stored.

        Args:
            account: Its label.
            day: The last day.

        Raises:
            ValueError: The archive has no such account, or ``day`` is not a date.
        """
        label, until = text("account", account), validate.day("day", day)
        with self._store.lock:
            if label not in self._reader.log().since:
                raise ValueError(f"the archive has no account {label!r}")
        now = time_ns() // 1000
        self._decide(lambda known: {"retired": known["retired"] | {label: [now, str(until)]}})

    def erase(self, account: str | None) -> int:
        """Erases everything of an account: its rows, its responses, its failures and its label.

        The folder then has nothing of it but the random ids of what it was, in ``archive.json``, so
        that responses or days that are restored from a backup are erased again. Backups keep it:
        erase them too.

        Args:
            account: Its label; ``None`` for what has no label.

        A file that cannot be read, or is none of the archive's, is named in a ``DataWarning``.

        Returns:
            The number of responses and failures that were erased, and of a retirement.

        Raises:
            ValueError: The archive has no such account.
            ArchiveError: Files could not be written, or others held the archive's lock: call it
                again.
        """
        label = text("account", account or "")
        with explained(self.path, "read"), self._store.lock:
            ids = self._store.ids_of(label)
            is_retired = label in self._store.log().decisions["retired"]
        is_known = bool(ids) or is_retired

        def erased(known: dict[str, Any]) -> dict[str, Any]:
            retired = {x: day for x, day in known["retired"].items() if x != label}
            return {"erased": sorted(ids.union(known["erased"])), "retired": retired}

        if is_known:
            self._decide(erased, required=True)
        with explained(self.path, "write"):  # a killed program may have left its rows in a draft
            self._store.folder.sweep(every=True)
        if not is_known:
            raise ValueError(f"the archive has no account {label!r}")
        unread = sorted(self._store.responses.log.damaged)
        unread = [self._store.folder.path(path) for path in unread]
        unread += [path for book in BOOKS for path in self._store.folder.strange(book)]
        remedy = "delete it, or restore a backup of it and erase again"
        _warn(f"{path} may have some of the account still: {remedy}" for path in unread)
        return len(ids) + is_retired

    def _decide(
        self, decide: Callable[[dict[str, Any]], dict[str, Any]], *, required: bool = False
    ) -> None:
        remarks: list[str] = []
        with explained(self.path, "write"):
            self._store.settle(remarks, decide, required=required)
        _warn(remarks)

    def copy(self, to: str | os.PathLike[str]) -> Archive:
        """Copies everything into a folder, which becomes an archive of the same settings.

        Others may write meanwhile: what they store may or may not be in the copy.

        Args:
            to: The folder, which must be new or empty.

        Returns:
            The copy.

        Raises:
            ArchiveError: The folder is not empty, or cannot be written.
        """
        target = os.path.abspath(text("to", validate.path("to", to)))
        copy = store_of(target, os.getpid())
        remarks: list[str] = []
        with explained(target, "write"):
            self._store.copy_to(copy, remarks)
        _warn(remarks)
        same, _ = self.__reduce__()
        return same(target)

    # -- reading --

    def trades(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: Account = EVERY,
        missing_ok: bool = False,
    ) -> TradeBook:
        """Returns the trades of some days in their newest state, ordered by day and time.

        Each session must have been fetched for each account that is expected on it; see `missing`.
        Without ``start``, all days up to ``end`` are read, or up to the last fetch. Rows are there
        even if their day was not complete. The book's ``issues`` are the values that did not fit
        when they were received.

        Args:
            start: The first day, a date or text such as "2026-11-20". A single day must have been
                fetched even if it is no session.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``None`` for no label; all if left out.
            missing_ok: Whether days that were never fetched issue a ``DataWarning`` instead of
                raising.

        Raises:
            ArchiveError: Days were never fetched (``error.missing`` lists them), or it is damaged.
            ValueError: ``end`` is before ``start``, or a text is not a day.
        """
        asked = start, end, account
        return cast("TradeBook", self._book("trades", asked, missing_ok=missing_ok))

    def orders(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: Account = EVERY,
        missing_ok: bool = False,
    ) -> OrderBook:
        """Returns the orders of some days, each as its day's order book last showed it.

        An order of several days is returned once for each. Arguments and errors as for `trades`.
        """
        asked = start, end, account
        return cast("OrderBook", self._book("orders", asked, missing_ok=missing_ok))

    def _book(self, name: str, asked: Asked, *, missing_ok: bool) -> StoredBook:
        remarks: list[str] = []
        span = self._covered(name, asked, remarks, missing_ok=missing_ok)
        book = self._reader.book(name, span, remarks)
        day = span.first
        if not len(book) and day == span.last and day in self._days["holidays"]:
            remarks.append(f"{day} is one of `holidays`, so its {name} are none")
        _warn(remarks)
        return book

    def _covered(self, name: str, asked: Asked, remarks: list[str], *, missing_ok: bool) -> Span:
        """Returns the days that are meant, which must have been fetched."""
        _check_book(name)
        span, due, missing = self._reader.asked([name], *asked)
        self._reader.report(missing, missing_ok=flag("missing_ok", missing_ok))
        if self._closes is not None:
            gaps = self._reader.gaps(span, due, self._closes)
            if late := [gap for gap in gaps if gap not in missing]:
                remarks.append(
                    f"{self.path} has {coverage.describe(late)} only as of before "
                    f"{self._closes:%H:%M}: fetch after the last session"
                )
        return span

    def scan(
        self,
        name: str,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: Account = EVERY,
        missing_ok: bool = False,
    ) -> duckdb.DuckDBPyRelation:
        """Returns the rows of `trades` or `orders` as a DuckDB relation, which reads nothing yet.

        For frames of many days: ``.pl()``, ``.df()`` and ``.to_arrow_table()``, after methods such
        as ``.filter("symbol = 'INFY'")`` and ``.select("day", "quantity")``, which read only what
        they need. It has the columns ``day``, ``account``, ``fetch_id``, ``received_at``,
        ``last_seen``, the record's fields, ``extra``, unknown fields as JSON text, and ``sent``, a
        record as it was sent if values of it did not fit.

        Args:
            name: ``"trades"`` or ``"orders"``.
            start: The first day; this and the others are as for `trades`.
            end: The last day (inclusive).
            account: The label of one account.
            missing_ok: Whether days may be missing.

        Raises:
            ArchiveError: Days were never fetched, and ``missing_ok`` is false.
            ValueError: The name is another, or a day is not a date.
        """
        remarks: list[str] = []
        span = self._covered(name, (start, end, account), remarks, missing_ok=missing_ok)
        relation = self._reader.scan(name, span, remarks)
        _warn(remarks)
        return relation

    def sql(
        self,
        query: str,
        start: Day | None = None,
        end: Day | None = None,
        parameters: Parameters | None = None,
        *,
        account: Account = EVERY,
        missing_ok: bool = False,
    ) -> QueryResult:
        """Runs an SQL query (DuckDB) over the views of some days.

        ``trades`` and ``orders`` have a row for each record in its newest state; ``order_states``
        has a row for each response that changed an order's book, which is decoded for the query;
        ``fetches`` is the log. The first two have the columns of `scan`, the third all of them but
        ``last_seen``. The views contain the days asked and no others, in no order. A
        book of which a day was never fetched has no view. Ctrl-C ends the query, which may use half
        of the machine's memory.

        Args:
            query: One SELECT. It writes nothing, and reaches no file but those of these days.
            start: The first day; the first in the archive if None.
            end: The last day (inclusive); ``start`` if None, or the last in the archive without it.
            parameters: Values for its placeholders, ``?`` or ``$name``.
            account: The label of one account; all if left out.
            missing_ok: Whether days may be missing, as for `trades`.

        Raises:
            ArchiveError: The query reads a book of which days were never fetched, or does not only
                read.
            ConfigurationError: DuckDB cannot run the query, or a whole number of its result is
                not in -2^63 to 2^63 - 1.
        """
        remarks: list[str] = []
        days, ok = (start, end, account), flag("missing_ok", missing_ok)
        query = text("query", query)
        result = self._reader.query(query, days, parameters, remarks, missing_ok=ok)
        _warn(remarks)
        return result

    def history(self, order_no: str, *, account: Account = EVERY) -> list[OrderState]:
        """Returns the states of an order over time, each with the time when it was first seen.

        If several records have this number (legs, accounts), their states follow each other.
        ``row_no`` and ``ref_ltp`` do not count as changes.

        Args:
            order_no: The order's number.
            account: The label of one account; all if left out.

        Returns:
            The states; none if the archive has no such order.
        """
        remarks: list[str] = []
        states = list(self._reader.history(text("order_no", order_no), account, remarks))
        _warn(remarks)
        return states

    def fetches(
        self, start: Day | None = None, end: Day | None = None, *, account: Account = EVERY
    ) -> list[ArchiveFetch]:
        """Returns the log of responses and failures, in the order in which they were written.

        Args:
            start: The first day; all days if None.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``None`` for no label; all if left out.

        Returns:
            One entry for each response and each failed fetch.

        Raises:
            ValueError: A day is not a date, or the end is before the start.
        """
        span = span_of(start, end, account)
        with explained(self.path), self._store.lock:
            log = self._store.log()
            known = fetches(log, span)
            entries = [self._ingest.entry(x, withdrawn=log.is_withdrawn(x)) for x in known]
            damaged = self._store.damaged()
        _warn(damaged)
        return entries

    def missing(
        self, start: Day, end: Day | None = None, *, account: Account = EVERY, after: Clock = None
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
            account: The label of one account, ``None`` for no label; all if left out.
            after: A time of day in the archive's time zone, such as "15:30": responses received
                earlier do not count for that day, because they may be incomplete. ``closes`` of the
                archive if None.

        Returns:
            One entry for each day and account that lacks a book, with the names of the ``books``.

        Raises:
            ValueError: A day is not a date, the end is before the start, or ``after`` is not a time
                of day.
        """
        since = self._closes if after is None else validate.time_of_day("after", after)
        span = span_of(validate.day("start", start), end, account)
        days = dict.fromkeys(BOOKS, (span.first or date.min, span.last or date.max))
        return self._reader.gaps(span, days, since)

    def verify(self) -> int:
        """Reads everything: compares each body and each day's rows with their digests.

        Returns:
            The number of rows of days that were checked.

        Raises:
            ArchiveError: A file is damaged or lacks rows, or is beside the files of days, where
                other engines read it. A day's file is made again from the responses by the next
                `fetch` or `add`.
        """
        with explained(self.path, "read"), self._store.lock:
            rows, problems = self._store.verify()
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise ArchiveError(f"{problems[0]}{more}", file=self.path)
        return rows

    def files(self, name: str) -> list[str]:
        """Returns the paths of the days' files of a book, for other engines.

        Args:
            name: ``"trades"`` or ``"orders"``.

        Returns:
            The paths, in the order of the days.

        Raises:
            ValueError: The name is another.
        """
        _check_book(name)
        with explained(self.path):
            days = self._store.folder.days(name)
        return [days[day][0] for day in sorted(days)]


def _check_book(name: object) -> None:
    if name not in list(KINDS):
        raise ValueError(f"name must be 'trades' or 'orders', not {shown(name)}")


def _warn(remarks: Iterable[str]) -> None:
    for remark in remarks:
        warn_user(DataWarning(remark))
