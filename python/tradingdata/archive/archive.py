"""The public class ``Archive``: opens an archive, writes to it, reads it and maintains it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from inspect import iscoroutinefunction
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from .._util import validate
from .._util.plans import run, run_async
from .._util.time_zones import zone_as_text, zone_from, zone_of_text
from .._util.validate import count, flag, seconds, shown, text
from ..accounts.fetch import raise_errors, side_by_side
from ..errors import ArchiveError, ConfigurationError, TradingDataError
from . import sql
from .delta import NAMES, RETENTION_HOURS, Span, Store, explained
from .ingest import KINDS, ArchiveFetch, Ingest, Received
from .ingest import create as create_tables
from .reading import ArchiveReading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from .._util.plans import Plan
    from ..client.aio import AsyncClient
    from ..client.client import Client
    from .coverage import Day
    from .ingest import AnyBook

# The order book comes first, because the service clears it after the session.
_CALLS = {"orders": "order_book", "trades": "trade_book"}
_FORMAT = 2  # of the tables
_NOTE = "and another book failed too: {}"


class Fetched(NamedTuple):
    """The log entries that `Archive.fetch` wrote for one account.

    Attributes:
        orders: Entry of the order book.
        trades: Entry of the trade book.
    """

    orders: ArchiveFetch
    trades: ArchiveFetch


@dataclass(frozen=True)
class FetchedAccounts:
    """The result of fetching several accounts.

    Attributes:
        fetched: The log entries by account.
        errors: The first error of each account of which a book could not be fetched.
    """

    fetched: dict[str, Fetched]
    errors: dict[str, Exception]

    def raise_errors(self) -> None:
        """Raises the errors, if any: one as it is, several as an ``ExceptionGroup``."""
        raise_errors(self.errors)


class Archive(ArchiveReading):
    """Order books and trade books of any days and accounts in a folder of Delta Lake tables.

    Any engine that reads Delta Lake or Parquet can read the folder. Threads, processes and, through
    object storage, machines may write at the same time. Only its owner may read a local folder. No
    file remains open between calls, so an archive needs no closing and can be pickled.

    A trade belongs to the day of its ``exch_trade_time``. An order belongs to each day whose order
    book showed it, and has the state of that day. A response received before ``day_start`` belongs
    to the day before.

    Args:
        path: The folder, or an address such as ``s3://bucket/books``.
        tz: The time zone of the days. It is fixed when the archive is created; the one of an
            existing archive if None, and ``Asia/Kolkata`` for a new one.
        day_start: When a day begins; fixed when the archive is created, ``06:00`` if None.
        holidays: Weekdays on which the exchanges were closed, which are never missing.
        keep_personal_data: Whether to store and return account numbers (PAN) instead of masking
            them. It is fixed when the archive is created.
        create: Whether to create the archive if it does not exist.
        timeout: Seconds to wait while other programs write.
        storage_options: Options of the object storage, as deltalake takes them; credentials are
            also read from the environment.

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
        holidays: Iterable[Day] = (),
        keep_personal_data: bool = False,
        create: bool = True,
        timeout: float = 30.0,
        storage_options: dict[str, str] | None = None,
    ) -> None:
        place = text("path", validate.path("path", path))  # deltalake takes UTF-8
        root = place if "://" in place else os.path.abspath(place)
        self._store = Store(root, storage_options, seconds("timeout", timeout))
        if isinstance(holidays, str):
            raise TypeError(f"holidays is a list of days; use [{holidays!r}]")
        self._holidays = frozenset(validate.day("holidays", day) for day in holidays)
        begin = None if day_start is None else validate.time_of_day("day_start", day_start)
        given: dict[str, Any] = {
            "tz": zone_as_text(zone_from(tz)),
            "day_start": begin and begin.isoformat("minutes"),
            "keep_personal_data": flag("keep_personal_data", keep_personal_data),
        }
        if not self._store.exists():
            self._check_new(create=flag("create", create))
            made: dict[str, Any] = {"tz": "Asia/Kolkata", "day_start": "06:00"}
            made |= {name: value for name, value in given.items() if value is not None}
            create_tables(self._store, {"tradingdata": _FORMAT, **made})
        known = self._settings()
        for name, value in given.items():
            if value is not None and value != known[name]:
                raise ArchiveError(
                    f"{root} was created with {name}={known[name]!r}, which cannot change: pass "
                    f"that, or use another path",
                    file=root,
                )
        zone = zone_of_text(known["tz"])
        begin = time.fromisoformat(known["day_start"])
        self._ingest = Ingest(self._store, zone, begin, keep_personal_data)

    def _check_new(self, *, create: bool) -> None:
        """Raises ArchiveError unless the folder may become an archive."""
        root = self._store.root
        problem = ""
        if not create:
            problem = (
                f"there is no archive at {root}: check the path, restore a backup, or create one "
                "with `create=True` or `tradingdata archive fetch`"
            )
        elif not self._store.is_remote and os.path.lexists(root):
            if not os.path.isdir(root):
                problem = f"{root} is a file, not the folder of an archive"
            else:
                with explained(root):
                    strange = sorted(set(os.listdir(root)) - set(NAMES))
                if strange:
                    problem = (
                        f"{root} is a folder with other files ({strange[0]}): choose another path, "
                        "or restore a backup"
                    )
        if problem:
            raise ArchiveError(problem, file=root)

    def _settings(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads(self._store.description())
            written = found["tradingdata"]
        except (ValueError, KeyError, TypeError):
            written = None
        if written != _FORMAT:
            problem = "is not an archive of tradingdata"
            if written is not None:
                problem = f"has format {written}, and this version of tradingdata reads {_FORMAT}"
            raise ArchiveError(f"{self.path} {problem}: choose another path", file=self.path)
        return found

    def __repr__(self) -> str:
        return f"<Archive {self.path}, time zone {zone_as_text(self.tz)}>"

    @overload
    def fetch(self, client: Client, *, timeout: float | None = None) -> Fetched: ...
    @overload
    def fetch(
        self,
        client: Iterable[Client],
        *,
        timeout: float | None = None,
        concurrency: int = 8,
        progress: bool = False,
    ) -> FetchedAccounts: ...
    def fetch(
        self,
        client: Client | Iterable[Client],
        *,
        timeout: float | None = None,
        concurrency: int = 8,
        progress: bool = False,
    ) -> Fetched | FetchedAccounts:
        """Fetches the order book and the trade book, and stores both in one commit.

        Both are fetched even if one fails; the failure is logged (see `fetches`), and for one
        client the first error is raised afterwards. When this returns, the books are on the disk.
        They are stored under ``client.account``.

        Args:
            client: The client to fetch with, or a list of clients with different accounts, which
                are fetched concurrently and stored in one commit.
            timeout: Seconds for each call; the client's own timeout if None.
            concurrency: Maximum number of clients of a list that fetch at a time.
            progress: Whether to show a progress bar (tqdm) for a list.

        Returns:
            ``Fetched``, the log entries of both books; for a list of clients, ``FetchedAccounts``
            with these by account, and the errors.

        Raises:
            ArchiveError: The archive cannot be written, which is checked before any request, or the
                responses could not be stored; ``error.books`` then has them, so that they can be
                saved elsewhere.
            ConfigurationError: A client has no account label although other accounts have one, or
                two have the same.
            TradingDataError: A request failed.
        """
        several = isinstance(client, Iterable)
        clients = _clients(client, are_async=False)
        workers = count("concurrency", concurrency)
        flag("progress", progress)
        self._check(clients)
        labels = [each.account or "" for each in clients]

        def both(each: Any) -> list[Received]:
            return run(_both_books(each, timeout))

        if not several:
            return self._stored([both(client)], several=False)
        arrived: list[list[Received]] = []
        try:
            with closing(side_by_side(both, clients, workers, progress)) as arrivals:
                arrived.extend(received for _, received in arrivals)
        except BaseException:
            self._stored(arrived, several=True)
            raise
        arrived.sort(key=lambda received: labels.index(received[0].account))
        return self._stored(arrived, several=True)

    @overload
    async def fetch_async(
        self, client: AsyncClient, *, timeout: float | None = None
    ) -> Fetched: ...
    @overload
    async def fetch_async(
        self, client: Iterable[AsyncClient], *, timeout: float | None = None
    ) -> FetchedAccounts: ...
    async def fetch_async(
        self, client: AsyncClient | Iterable[AsyncClient], *, timeout: float | None = None
    ) -> Fetched | FetchedAccounts:
        """Same as `fetch` for an ``AsyncClient``, without blocking the event loop."""
        several = isinstance(client, Iterable)
        clients = _clients(client, are_async=True)
        await asyncio.to_thread(self._check, clients)

        plans = [_both_books(each, timeout) for each in clients]
        received = await asyncio.gather(*map(run_async, plans))
        return await asyncio.to_thread(self._stored, received, several=several)

    def _check(self, clients: Sequence[Any]) -> None:
        """Raises, before any request, if the responses could not be stored correctly."""
        self._store.check_writable()
        labels = [client.account or "" for client in clients]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ConfigurationError(
                f"several clients have the account label {twice!r}: give each its own `account`"
            )
        self._check_label("" in labels, "a client has no account label", set(labels))

    def _check_label(self, unlabelled: bool, problem: str, others: set[str]) -> None:
        if not unlabelled:
            return
        known = set(self._expected())
        labels = sorted((known | others) - {""})
        if labels and "" not in known:
            raise ConfigurationError(
                f"{problem}, but other accounts in this archive have one ({', '.join(labels[:3])}):"
                " pass `account`, otherwise records may be duplicated"
            )

    def _stored(
        self, received: Sequence[Sequence[Received]], *, several: bool
    ) -> Fetched | FetchedAccounts:
        """Stores what was received from each client; raises the error of a single one."""
        each = [one for both in received for one in both]
        failures = [one.error for one in each if one.error is not None]
        try:
            entries = iter(self._ingest.store_all(each) if each else ())
        except ArchiveError as error:
            error.books = tuple(one.book for one in each if one.book is not None)
            for failure in failures:
                error.add_note(_NOTE.format(failure))
            if not error.books and failures:
                failures[0].add_note(f"and the archive could not log it: {error}")
                raise failures[0] from None
            raise
        found = FetchedAccounts({}, {})
        for both in received:
            result = Fetched(**{one.name: next(entries) for one in both})
            failed = [one.error for one in both if one.error is not None]
            if failed:
                found.errors[both[0].account] = failed[0]
                for other in failed[1:]:
                    failed[0].add_note(_NOTE.format(other))
            else:
                found.fetched[both[0].account] = result
        if several:
            return found
        found.raise_errors()
        return next(iter(found.fetched.values()))

    def add(
        self, book: AnyBook, *, account: str | None = None, at: datetime | None = None
    ) -> ArchiveFetch:
        """Adds a book, such as one from ``load`` or ``from_json``.

        Books may be added in any order and more than once. A book that is not one complete response
        (a slice, a concatenation or a constructed one) adds its rows, but covers no day.

        Args:
            book: A ``TradeBook`` or an ``OrderBook``.
            account: The label of its account, if its response has none; ``""`` for no label.
            at: When it was received, an aware time, if its response has no time. Without either,
                its rows never replace those of a response with a time, orders belong to the day on
                which they were entered, and an order book covers no day.

        Returns:
            The log entry. Rows that equal the newest of their account and day are not stored again;
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
        try:
            return self._ingest.store_all([Received(name, label, "add", at, book)])[0]
        except ArchiveError as error:
            error.books = (book,)
            raise

    def retire(self, account: str, day: Day) -> None:
        """Declares that an account is not expected after a day, so that it is not missing then.

        Args:
            account: Its label.
            day: The last day on which it is expected.
        """
        label = text("account", account)
        known = self._expected()
        if label not in known:
            raise ValueError(f"the archive has no account {label!r}")
        until = validate.day("day", day)
        day = min(known[label].since, until)
        self._ingest.mark("retire", [{"account": label, "day": day, "until": until}])

    def compact(self, *, keep_history: bool = True) -> int:
        """Merges the files of each month into few, which makes reading many days faster.

        Deletes files that are a day old and no part of the archive, such as those of a crash. Run
        it monthly, or after many small writes; others may read and write meanwhile.

        Args:
            keep_history: Whether to keep the states of records that later responses replaced, which
                `history` and ``order_states`` show. An archive that is fetched all day is a
                fraction of the size without them. Those of accounts and days for which something
                was stored in the last 24 hours stay until the next time.

        Returns:
            By how many the number of files decreased.
        """
        if not flag("keep_history", keep_history):
            self._drop_history()
        return sum(map(self._store.compact, NAMES))

    def _drop_history(self) -> None:
        """Deletes rows that were replaced, after the log says so: a crash leaves rows at worst.

        Only of account-days for which nothing was stored recently: another program may be about to
        name rows in the log that were the newest until then.
        """
        before = datetime.now(UTC) - timedelta(hours=RETENTION_HOURS)
        for name in KINDS:
            with closing(sql.connect()) as connection:
                self._ingest.open_log(connection, Span())
                self._define(connection, name, Span())
                query = f"""
                SELECT strftime(day, '%Y-%m') AS month, account, day, fetch_id FROM sets_{name}
                WHERE several AND fetch_id NOT IN (SELECT fetch_id FROM {name})
                AND (account, day) IN (
                    SELECT account, day FROM log_lines WHERE book = '{name}'
                    GROUP BY account, day HAVING max(filed_at) < $before)
                ORDER BY ALL"""
                found = connection.execute(query, {"before": before}).fetchall()
            for month, sets in groupby(found, itemgetter(0)):
                names = ("account", "day", "rows_in")
                dropped = [dict(zip(names, each, strict=True)) for _, *each in sets]
                self._ingest.mark("compact", dropped)
                ids = ", ".join(str(each["rows_in"]) for each in dropped)
                self._store.delete(name, f"month = '{month}' AND fetch_id IN ({ids})")


def _clients(given: Any, *, are_async: bool) -> list[Any]:
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


def _both_books(client: Any, timeout: float | None) -> Plan[list[Received]]:
    """Fetches both books of a client, even if one fails."""
    found = []
    for name, call in _CALLS.items():
        book, failure, at = None, None, None
        try:
            book = yield getattr(client, call)(timeout=timeout)
            at = book.response and book.response.received_at
        except Exception as error:
            failure = error
            if isinstance(error, TradingDataError):
                error.account = error.account or client.account or None
        account = client.account or ""
        found.append(Received(name, account, "fetch", at or datetime.now(UTC), book, failure))
    return found
