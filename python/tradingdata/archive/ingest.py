"""Fetches books, and turns responses and failures into lines of the log and their rows."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Any, NamedTuple

from .. import _core
from ..accounts.fetch import Accounts, accounts_error, side_by_side
from ..books.book import OrderBook, TradeBook
from ..display.text import counted
from ..errors import ArchiveError, ConfigurationError, TradingDataError
from ..table.rows import on_clock, row_type
from . import views
from .coverage import Line, Log, begins_with, digest_of, months_of, newest_responses, rank_of
from .databases import connection, explained
from .store import Rows, Store

StoredBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
# The order book comes first, because the service clears it after the session.
CALLS = {"orders": "order_book", "trades": "trade_book"}
_BATCH, _PATIENCE = 400, 2.0  # responses, and seconds after which what has arrived is stored
_EARLIEST = date(1990, 1, 1)
_LATEST = date(2200, 1, 1)
_CLOCKS_AGREE = timedelta(minutes=2)
_LIKELY = range(2026, 2100)  # years in which a service's clock is believed
_AHEAD = timedelta(366)  # a trade of a later day has a wrong time


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFetch:
    """One entry of an archive's log: a stored response, or a failed fetch.

    Attributes:
        id: The entry's id, which rows have as ``fetch_id``.
        book: ``"trades"`` or ``"orders"``.
        account: The label of the account, or ``None``.
        source: ``"fetch"``, or ``"add"`` for a saved book.
        at: When the response was received or the fetch failed, in the archive's time zone; ``None``
            if unknown, as for a saved book without a time.
        filed_at: When the entry was written, in the archive's time zone.
        complete: Whether the book was one complete response.
        days: The days that it covers or has rows of.
        rows: Number of rows in the book.
        stored: Whether rows were stored, because the body differs from the one received before.
        withdrawn: Whether it was withdrawn.
        sha256: SHA-256 digest of the response's body in hex; ``None`` without a complete one.
        error: Name of the error's class, or ``None``.
        message: The error's message; ``""`` without an error.
    """

    id: str
    book: str
    account: str | None
    source: str
    at: datetime | None
    filed_at: datetime
    complete: bool
    days: tuple[date, ...]
    rows: int
    stored: bool
    withdrawn: bool
    sha256: str | None
    error: str | None
    message: str

    @property
    def ok(self) -> bool:
        """Whether the fetch succeeded."""
        return self.error is None

    def summary(self) -> str:
        """Returns the entry in a few words."""
        name = f"{self.book} of {self.account}" if self.account else self.book
        ends = sorted({min(self.days), max(self.days)}) if self.days else ()
        parts = [name, counted(self.rows, "row"), " to ".join(map(str, ends)), self.error]
        return ", ".join(filter(None, parts)) + ", withdrawn" * self.withdrawn

    def __repr__(self) -> str:
        return f"<ArchiveFetch: {self.summary()}>"


class Received(NamedTuple):
    """A response or a failure to store; ``at`` is an aware time, or None if unknown."""

    name: str
    account: str
    source: str
    at: datetime | None
    book: Any = None
    error: Exception | None = None


@dataclass(frozen=True)
class Ingest:
    """Stores what was received."""

    files: Store
    zone: tzinfo
    day_start: time
    keep: bool

    def entry(self, line: Line, *, stored: bool | None = None, withdrawn: bool = False) -> Any:
        """Returns a line of a response or failure as an entry."""
        rows = sum(line["days"].values())
        return ArchiveFetch(
            account=line["account"] or None,
            at=line["at"] and time_of(line["at"]).astimezone(self.zone),
            filed_at=time_of(line["filed"]).astimezone(self.zone),
            complete=line["sha256"] is not None,
            days=tuple(map(date.fromisoformat, line["days"])),
            rows=rows,
            stored=(line["repeats"] is None and rows > 0) if stored is None else stored,
            withdrawn=withdrawn,
            **{x: line[x] for x in ("id", "book", "source", "sha256", "error", "message")},
        )

    def mark(self, source: str, **facts: Any) -> None:
        """Writes a line that is no response: the end of an account, or of a response."""
        with explained(self.files.root, "write"):
            self.files.commit([_line(source) | facts], [])

    def check_label(self, unlabelled: bool, problem: str) -> None:
        """Raises ConfigurationError for records without a label beside others with one."""
        with self.files.lock:
            known = sorted(self.files.log().since)
        if unlabelled and known and "" not in known:
            raise ConfigurationError(
                f"{problem}, but other accounts in this archive have one ({', '.join(known[:3])}): "
                "pass `account`, otherwise records may be duplicated"
            )

    def store(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses; the ArchiveError of a failure has their books."""
        root = self.files.root
        try:
            with explained(root, "write"):
                entries = self.store_all(received, remarks)
        except Exception as error:
            failure = ArchiveError(f"{root} was not written: {error}", file=root)
            failure = error if isinstance(error, ArchiveError) else failure
            failure.books = tuple(one.book for one in received if one.book is not None)
            raise failure from error.__cause__ or error
        with suppress(ArchiveError), explained(root, "write"):  # the responses are stored
            self.files.compact(views.merge, many=True)
        return entries

    def compact(self) -> int:
        """Merges the files of each month; returns by how many their number decreased."""
        with explained(self.files.root, "write"):
            return self.files.compact(views.merge)

    def store_all(self, received: Sequence[Received], remarks: list[str]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries.

        What a caller is to be warned of is appended to ``remarks``: a warning that is an error must
        not keep a response from being stored.
        """
        entries: list[ArchiveFetch] = []
        lines: list[Line] = []
        contents: dict[tuple[str, str], list[views.Content]] = {}
        with connection() as opened:
            with self.files.lock:  # so that no other thread changes the log meanwhile
                log = self.files.log()
                for arrival in received:
                    line = self._line_of(arrival, remarks)
                    known = log.lines.get(line["id"])
                    if known and self.files.is_sound(log, known, intact=True):
                        gone = log.is_withdrawn(known)
                        entries.append(self.entry(known, stored=False, withdrawn=gone))
                        if gone:
                            remarks.append(
                                f"a response of {line['day']} was withdrawn and stays so: add its "
                                "book with another time (`at`) to have its records again"
                            )
                        continue  # the same response once more
                    if arrival.book is not None and not self._repeats(log, line):
                        content = self._content_of(arrival, line, remarks)
                        self._compare(opened, log, content)
                        for month in months_of(line):
                            contents.setdefault((arrival.name, month), []).append(content)
                    lines.append(line)
                    entries.append(self.entry(line))
            if lines:
                tables = [_row_file(opened, *content) for content in sorted(contents.items())]
                self.files.commit(lines, tables)
        return entries

    def _line_of(self, received: Received, remarks: list[str]) -> Line:
        """Returns the line of a response or failure, without its days."""
        book, at = received.book, received.at
        line = _line(received.source) | {"account": received.account, "book": received.name}
        line["at"] = line["local"] = at and _text_of(at)
        response = None if book is None else book.response
        call: Any = received.error or response
        # The service's clock does not correct a time that the caller passed.
        served = response.served_at if response and response.received_at == at else None
        if (refused := getattr(received.error, "_served_at", None)) is not None:
            served = refused
            # The clock of a proxy that responds in place of the service may be days off.
            if at and at.year in _LIKELY and abs(at - served) > timedelta(days=2):
                served = None
        # The service's clock is that of the response's start, and attempts before it took a while.
        elapsed = timedelta(seconds=getattr(call, "elapsed", 0))
        agrees = not served or not at or -_CLOCKS_AGREE < at - served < _CLOCKS_AGREE + elapsed
        if at and served and not agrees and served.year in _LIKELY:
            remarks.append(
                f"the local clock says {at.astimezone(UTC):%Y-%m-%d %H:%M:%S} and the service's "
                f"{served:%Y-%m-%d %H:%M:%S} (UTC), which decides the day of its {received.name}: "
                "set the local clock"
            )
            at, line["at"] = served, _text_of(served)
        clock = (at or datetime.now(UTC)).astimezone(self.zone)
        line["day"] = str(clock.date() - timedelta(clock.time() < self.day_start))
        if book is None:
            # A lone surrogate cannot be written, and would prevent the commit of the books.
            message = str(received.error).encode(errors="replace").decode()
            error = type(received.error).__name__
            return line | {"error": error, "message": message, "days": {line["day"]: 0}}
        body = response.sha256 if response else hashlib.sha256(book._rows.to_json()).hexdigest()
        key = (received.account, received.name, line["local"] or "", body)
        sha256 = body if response else None
        return line | {"id": fact_id(*key), "body": body, "sha256": sha256}

    def _repeats(self, log: Log, line: Line) -> bool:
        """Says in a line which response it repeats, the newest one; returns whether it does."""
        last = log.newest.get((line["account"], line["book"]))
        if not last or any(last[x] != line[x] for x in ("day", "body")):
            return False
        root = log.lines[last["repeats"] or last["id"]]
        rows = {day: count for day, count in root["days"].items() if count}
        if not rows or rank_of(last) >= rank_of(line) or not self.files.is_sound(log, root):
            return False
        line |= {"repeats": root["id"], "lost": root["lost"]}
        self._cover(line, rows)
        return True

    def _cover(self, line: Line, rows: dict[str, int]) -> None:
        """Sets the days of a line, of which these have rows, and those that it covers."""
        covered = set()
        if line["sha256"] is not None:
            if line["book"] == "trades":
                covered = set(rows)
            at = line["at"] and time_of(line["at"]).astimezone(self.zone)
            if at and (line["book"] == "orders" or line["day"] == str(at.date())):
                covered.add(line["day"])
        line["covered"] = sorted(covered)
        days = sorted(covered | rows.keys()) or [line["day"]]
        line["days"] = {day: rows.get(day, 0) for day in days}

    def _content_of(self, received: Received, line: Line, remarks: list[str]) -> views.Content:
        """Returns the rows of a response, and sets the days of its line."""
        book = received.book
        if not self.keep and not book._rows.masked:
            book = book._unpacked(*book._packed(), keep_personal_data=False)
        sent = _sent(book)
        line["lost"] = sent is not None
        if book._rows.zone is not None and str(book._rows.zone) != str(self.zone):
            book = book._of(on_clock(book._rows, self.zone), issues=book.issues)
        book = book.localize(None)
        if sent is None:
            book = book.sort(*views.SORTED[received.name])
        day = date.fromisoformat(line["day"])
        limits = (_EARLIEST, day + _AHEAD if received.at else _LATEST)
        by_time = received.name == "trades" or received.at is None
        rows = book._selection(extra=bool(book._rows.extra_names()))._exported
        content = views.Content(received.name, rows, sent, line, limits if by_time else None)
        days, wrong = content.count_days()
        self._cover(line, days)
        if wrong:
            remarks.append(
                f"{wrong} of these {received.name} have a time that cannot be right and are "
                f"stored under {day}: check their times"
            )
        return content

    def _compare(self, connection: Any, log: Log, content: views.Content) -> None:
        """Says in a line of which earlier responses it has all records."""
        line = content.line
        lines = log.days.get((line["account"], line["book"]), {})
        rank, days = rank_of(line), {*line["days"], line["day"]}
        fronts = [newest_responses(lines[day], day) for day in days if day in lines]
        older = {one for front in fronts for one, at in front.items() if at < rank}
        identities = content.identities()
        line["identities"] = digest_of(identities) if identities else None
        # A day that grows mostly begins with the records of the response before it.
        same = {one for one in older if begins_with(identities, log.lines[one])}
        line["covers"] = sorted(same)
        older -= same
        if not older or not len(content.rows):
            return
        wanted = [(one, month) for one in sorted(older) for month in months_of(log.lines[one])]
        with suppress(ArchiveError, views.Error):  # damage costs a comparison, not the response
            files = self.files.find(log, wanted)
            pairs = [(file["place"], one) for file, (one, _) in zip(files, wanted, strict=True)]
            whole = all(log.contents[file["path"]] <= older for file in files)
            covered = views.covered(connection, content, pairs, whole=whole)
            line["covers"] = sorted(same.union(covered))


def _row_file(connection: Any, key: tuple[str, str], contents: Sequence[views.Content]) -> Rows:
    book, month = key
    days = [day for content in contents for day in content.line["days"].items()]
    rows = sum(count for day, count in days if day[:7] == month)
    # Written one after the other, because the files share the names of registered rows.
    return Rows(book, month, rows, partial(views.write_month, connection, month, contents, rows))


def _sent(book: StoredBook) -> _core.Slice | None:
    """Returns the text of each row, as it was sent, that may have values that did not fit."""
    lost = {issue.field for issue in book.issues if issue.lost and issue.raw}
    columns = [book._rows.column(name) for name in lost & set(book.columns)]
    if not columns:
        return None
    texts = book._rows.record_texts()
    kept = [text if None in row else None for text, *row in zip(texts, *columns, strict=True)]
    return _core.table_of(row_type("Sent", [("sent", "text", "")]), [kept])


def _line(source: str) -> Line:
    return {
        "id": secrets.token_hex(16),
        **dict.fromkeys(("account", "book", "message"), ""),
        "source": source,
        "at": None,
        "local": None,  # `at` by the local clock
        "filed": _text_of(datetime.now(UTC)),
        "day": str(date.today()),
        "days": {},
        "covered": [],
        **dict.fromkeys(("body", "sha256", "error", "repeats", "identities")),
        "covers": [],
        "lost": False,
    }


def fact_id(*facts: str) -> str:
    """Returns the id of a line, which is the same whenever it is made of the same."""
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _text_of(at: datetime) -> str:
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


def time_of(text: str) -> datetime:
    """Returns the time that a line has as text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


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
    """

    def __init__(self, store: Callable[[Sequence[Received]], list[ArchiveFetch]]) -> None:
        self._store = store
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
                at = response.received_at if response else datetime.now(UTC)
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
