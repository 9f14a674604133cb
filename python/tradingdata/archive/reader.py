"""Reads an archive: which files have the newest states, which days are missing, what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, tzinfo
from typing import Any, NamedTuple, TypeVar

from .. import _core
from ..books.book import UNCOUNTED
from ..books.issues import decode_issues, warn_of_lost
from ..errors import ArchiveError, ConfigurationError
from ..table.rows import Order
from . import coverage, views
from .coverage import Day, Line, Log, MissingDay, Span, span_of
from .databases import connection, explained, is_damage, redacted
from .ingest import KINDS, StoredBook, time_of
from .store import BOOKS, Store

Result = TypeVar("Result")
_NO_TIME = datetime.min.replace(tzinfo=UTC)  # sorts before all others


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


class Selected(NamedTuple):
    """Rows of a view of a book.

    Attributes:
        query: Their query.
        relation: Its relation, without the columns to leave out; None unless there are any.
        parts: What is in it.
        is_plain: Whether it is all rows of its files, in their order.
        has_lost: Whether some values did not fit.
    """

    query: str
    relation: Any
    parts: list[coverage.DayPart]
    is_plain: bool
    has_lost: bool


class Reader:
    """What reads from an archive has of it.

    Args:
        store: The files.
        is_session: Whether a day must have been fetched.
        keep: Whether personal values are kept.
    """

    def __init__(self, store: Store, is_session: Callable[[date], bool], *, keep: bool) -> None:
        self.store, self.is_session, self.keep = store, is_session, keep

    @contextmanager
    def log(self, span: Span | None = None) -> Iterator[Log]:
        """Holds the log as it is now.

        Raises ArchiveError if a commit with responses of the days, if there are any, was lost.
        """
        with explained(self.store.root), self.store.lock:
            log = self.store.log()
            if span is not None:
                self.check_lost(log, span)
            yield log

    def check_lost(self, log: Log, span: Span) -> None:
        """Raises ArchiveError if a commit with responses of some days was lost."""
        months = None
        if span.first is not None and span.last is not None:
            first, last = span.first, span.last
            numbers = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
            months = {f"{number // 12:04}-{number % 12 + 1:02}" for number in numbers}
        low, high = span.texts()
        for problem, days in self.store.lost(log, months):
            if min(days) <= high and max(days) >= low:
                raise ArchiveError(
                    f"{self.store.root} is damaged: {problem}, which has responses of "
                    f"{coverage.in_words(min(days), max(days))}: restore a backup, or add the "
                    "responses again",
                    file=self.store.root,
                )

    def covered(
        self, books: Sequence[str], start: Day | None, end: Day | None, account: str | None
    ) -> tuple[Span, list[MissingDay], Log]:
        """Returns the days that are meant, those that were never fetched, and the log."""
        span = span_of(start, end, account)
        with self.log(span) as log:
            if span.first is not None and span.last is not None:
                checked = dict.fromkeys(books, (span.first, span.last))
            else:
                label = span.account
                extents = {name: coverage.extent(log, name, label) for name in books}
                dated = [days for days in extents.values() if days]
                if not dated:
                    raise ArchiveError(
                        f"{self.store.root} has no fetches{f' of {label}' if label else ''}: fetch "
                        "first, or name the days",
                        file=self.store.root,
                    )
                every = min(low for low, _ in dated), max(high for _, high in dated)
                # A first trade book may have trades of days before the first fetch.
                begun = min(log.since[x] for x in log.since if label in (None, x))
                least = date.fromisoformat(begun)
                checked = {
                    name: (max((days or every)[0], least), span.last or (days or every)[1])
                    for name, days in extents.items()
                }
                span = Span(every[0], span.last or every[1], label)
            return span, coverage.gaps(log, span, checked, self.is_session), log

    def select(
        self,
        connection: Any,
        name: str,
        span: Span,
        log: Log | None = None,
        *,
        view: str = "",
        without: Sequence[str] = (),
    ) -> Selected:
        """Selects the rows of a view of a book, by default those of the newest states.

        Args:
            connection: The connection.
            name: The name of the book.
            span: The days.
            log: The log as it was when the days were chosen; as it is now if None.
            view: The name of the view; that of the book if empty.
            without: The columns that the relation leaves out.
        """
        with explained(self.store.root, "read", f"the {name} of {span}"), self.store.lock:
            log = self.store.log() if log is None else log
            if view:
                parts = [
                    coverage.DayPart(day, account, [line["id"]], line["days"][day])
                    for day, account, lines in coverage.lines_by_day(log, name, span)
                    for line in lines
                    if line["days"][day] and line["repeats"] is None
                ]
            else:
                parts = coverage.parts(log, name, span)
            wanted = [(one, part.day[:7]) for part in parts for one in part.ids]
            files = dict(zip(wanted, self.store.find(log, wanted), strict=True))
            taken = [
                (files[one, part.day[:7]]["place"], one, part.day, place, len(part.ids) > 1)
                for part in parts
                for place, one in enumerate(part.ids)
            ]
            stored = {file["path"]: file["rows"] for file in files.values()}
            rows = sum(part.rows for part in parts)
            is_plain = len(taken) == len(parts) and rows == sum(stored.values())
            has_lost = any(log.lines[one]["lost"] for one, _ in wanted)
            query = views.newest_rows(connection, name, view or name, taken, is_plain=is_plain)
            relation = None
            if is_plain or without:
                query, relation = views.complete(connection, name, query, without)
            return Selected(query, relation, parts, is_plain, has_lost)

    def define(self, connection: Any, name: str, span: Span, log: Log, *, view: str = "") -> None:
        """Makes a view of a book, by default one of the newest states."""
        query, *_ = self.select(connection, name, span, log, view=view)
        with explained(self.store.root, "read", f"the {name} of {span}"):
            connection.execute(f"CREATE TEMP VIEW {view or name} AS {query}")

    def retried(self, read: Callable[[Any], Result], folder: str | None = None) -> Result:
        """Returns the result of reading, again if files were merged meanwhile."""
        for attempt in (1, 2, 3):
            try:
                with connection(folder) as opened:
                    return read(opened)
            except ArchiveError as error:
                if not isinstance(error.__cause__, (OSError, views.Error)):
                    raise
                if attempt == 3:
                    Store(self.store.folder).verify()  # names the file and its days
                    raise
        raise AssertionError

    def book(self, connection: Any, name: str, span: Span, log: Log) -> StoredBook:
        """Returns a book of the newest states by day and time, with the issues of lost values."""
        added = ("day", "fetch_id", "received_at", "sent")
        query, relation, parts, is_plain, has_lost = self.select(
            connection, name, span, log, without=added
        )
        least = sum(part.rows for part in parts)
        is_single = all(len(part.ids) == 1 for part in parts)
        with explained(self.store.root, "read", f"the {name} of {span}"):
            sent: list[tuple[int, str]] = []
            first, *others = views.SORTED[name]
            # Trades of several days can be sorted by time alone, which the core does faster.
            is_dated = name == "trades" or len({part.day for part in parts}) == 1
            book = self.as_book(name, relation) if is_dated else KINDS[name]()
            if not is_dated or has_lost or book._rows.missing([first]):
                fields = f"SELECT * EXCLUDE ({', '.join(added)}) FROM ({query})"
                book = self.as_book(name, connection.sql(f"{fields} {views.ordered(name)}"))
                sent = views.sent_in(connection, name, query) if has_lost else []
            elif len(parts) > 1 or not is_plain:  # not in the order of one response
                book = book.sort(first, *others)
            if len(book) > least or (is_single and len(book) < least):
                raise OSError(f"{len(book)} rows where the log has {least}")
        return self._with_lost(name, book, sent)

    def history(self, number: str, span: Span, zone: tzinfo) -> Iterator[OrderState]:
        """Yields the states of an order, with times in a zone."""

        def read(connection: Any) -> tuple[Any, Any, dict[str, list[datetime]]]:
            query, *_ = self.select(connection, "orders", span, view="order_states")
            with explained(self.store.root):
                relation, rows = views.states(connection, query, number)
                owners, orders = views.slice_of(relation), self.as_book("orders", rows)
            shown = owners.to_dict(["fetch_id"])["fetch_id"]
            # When unchanged responses showed these again.
            again: dict[str, list[datetime]] = {one: [] for one in shown}
            with self.log() as log:
                for line in log.lines.values():
                    if line["repeats"] in again and line["at"] and not log.is_withdrawn(line):
                        again[line["repeats"]].append(time_of(line["at"]))
            return owners, orders, again

        owners, orders, again = self.retried(read)
        seen: dict[Any, list[tuple[datetime, Any, OrderState]]] = {}
        for owner, order in zip(owners, orders, strict=True):
            content = {**order._asdict(), "extra": order._extra, **dict.fromkeys(UNCOUNTED)}
            key = (owner.account, *(content[name] for name in views.IDENTITY["orders"]))
            for at in (owner.received_at, *again[owner.fetch_id]):
                state = OrderState(at and at.astimezone(zone), owner.account or None, order)
                seen.setdefault(key, []).append((at or _NO_TIME, content, state))
        for states in seen.values():
            last = None
            for _, content, state in sorted(states, key=lambda entry: entry[0]):
                if content != last:
                    yield state
                last = content

    def query(
        self,
        statement: str,
        days: tuple[Day | None, Day | None, str | None],
        parameters: views.Parameters | None,
        *,
        missing_ok: bool,
    ) -> views.QueryResult:
        """Returns the result of a query over the views of some days."""

        def read(connection: Any) -> views.QueryResult:
            span, gaps, log = self.covered(BOOKS, *days)
            if missing_ok:
                coverage.report(self.store.root, gaps, missing_ok=True)
                gaps = []
            lacking = {book for gap in gaps for book in gap.books}
            # If it names no view, define all, so that DuckDB can suggest the one that was meant.
            every = [(view, book) for book, names in views.VIEWS.items() for view in names]
            words = statement.lower()
            named = [pair for pair in every if pair[0] in words] or every
            for view, book in named:
                if book not in lacking:
                    self.define(connection, book, span, log, view="" if view == book else view)
            if "fetches" in words or named is every:
                with self.log(span) as log:
                    views.define_fetches(connection, fetch_lines(log, span), span)
            try:
                return views.run_query(connection, self.store.root, gaps, statement, parameters)
            except views.Error as error:
                if is_damage(error):
                    with explained(self.store.root, "read", str(span)):
                        raise
                reason = " ".join(redacted(error).split()).rstrip(" ^")
                raise ConfigurationError(f"DuckDB cannot run the query: {reason}") from None

        return self.retried(read, self.store.folder.local(""))

    def _with_lost(
        self, name: str, book: StoredBook, sent: Sequence[tuple[int, str]]
    ) -> StoredBook:
        """Returns a book with the issues of values that did not fit when they were received.

        Args:
            name: Which book it is.
            book: The book.
            sent: The numbers of rows, each with its text as it was sent.
        """
        body = f"[{','.join(text for _, text in sent)}]".encode()
        issues = (
            decode_issues(_core.decode_list(book._record, body, False, self.keep)) if sent else ()
        )
        lost = [x._replace(row=sent[x.row][0]) for x in issues if x.lost and x.raw]
        if lost:
            warn_of_lost(lost, book._record)
            whole: StoredBook = KINDS[name]._of(book._rows, issues=(*book.issues, *lost))
            return whole
        return book

    def as_book(self, name: str, rows: Any) -> StoredBook:
        """Returns the rows of a relation as a book."""
        try:
            book: StoredBook = KINDS[name].from_arrow(rows, keep_personal_data=self.keep)
        except ValueError as error:
            raise OSError(str(error)) from error
        return book


def fetch_lines(log: Log, span: Span) -> list[Line]:
    """Returns the lines of responses and failures, in the order in which they were written."""
    lines = [
        line
        for line in log.lines.values()
        if line["source"] in ("fetch", "add")
        and span.account in (None, line["account"])
        and any(map(span.has, line["days"]))
    ]
    return sorted(lines, key=lambda x: (x["filed"], x["account"], x["book"], x["id"]))
