"""Stores responses: their rows by day, then the lines of the log, which are the commit.

The log, the table ``fetches``, has a line for each day of a response or failure. Readers take only
rows that a line names, so rows without one, which a crash may leave, are never seen.
"""

from __future__ import annotations

import json
import secrets
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from arro3.core import Table as Arrow

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..table.rows import declared, row_type
from . import sql
from .coverage import Expected, expected_accounts
from .delta import Span, explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from .delta import Store

    AnyBook = TradeBook | OrderBook
    # Of each book the rows, in parts, and of each row the number of its line.
    _Books = dict[str, tuple[list[_core.Slice], list[int]]]

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
# The times that determine the day of a row: the first that is known.
TIMES = {record["noun"][1]: record["event_times"] for record in _core.records()}
# The columns that say which days are covered by which rows; all take twice as long to read.
COVERAGE = """
    day, account, since, until, book, source, received_at, filed_at, covered, rows, rows_in,
    checksum, error"""


@declared
class Line:
    """A line of the log.

    Attributes:
        day: Day of its rows, or on which something happened.
        account: Label of the account, or "".
        since: First day on which the account is expected.
        until: Last day on which the account is expected.
        book: Book that was received.
        fetch_id: Number of the line.
        source: What wrote it: fetch, add, retire or compact.
        received_at: When the response was received, or the fetch failed.
        filed_at: When the line was written.
        covered: The day, if the response covers it.
        rows: Number of rows of that day.
        rows_in: Line whose rows are these: itself, or an earlier one that says the same. In a line
            of compact: the line whose rows were deleted.
        checksum: Sum of the rows' hashes.
        sha256: Digest of the response's body.
        error: Class of the error.
        message: Message of the error.
        seal: Sum of the hashes of all this.
        month: Partition of the table.
    """

    day: date | None
    account: str | None
    since: date | None
    until: date | None
    book: str | None
    fetch_id: int | None
    source: str | None
    received_at: datetime | None
    filed_at: datetime | None
    covered: date | None
    rows: int | None
    rows_in: int | None
    checksum: int | None
    sha256: str | None
    error: str | None
    message: str | None
    seal: int | None
    month: str | None


# What is stored of its line with each row of a book.
_STORED = ("day", "account", "fetch_id", "received_at", "month")
_Stored = row_type("Stored", [field[:3] for field in _core.fields_of(Line) if field[0] in _STORED])


def seals_of(lines: _core.Slice) -> list[int]:
    """Returns the seals that lines of the log should have, also those of a later version."""
    groups = _core.Groups([lines], ["fetch_id"])
    names = _core.names_of(lines.row_type)
    seals = groups.checksums([name for name in names if name not in ("seal", "month")])
    return [seals[number] for number in groups.numbers()]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFetch:
    """One entry of an archive's log: a stored response, or a failed fetch.

    Attributes:
        id: Number of the entry.
        book: ``"trades"`` or ``"orders"``.
        account: The label of the account, or ``None``.
        source: ``"fetch"``, or ``"add"`` for a saved book.
        at: When the response was received or the fetch failed, in the archive's time zone; ``None``
            if unknown, as for a saved book without a time.
        filed_at: When the entry was written, in the archive's time zone.
        complete: Whether the book was one complete response.
        days: The days that it covers or has rows of.
        rows: Number of rows in the book.
        stored: Whether rows were stored, because they differ from those received before.
        sha256: SHA-256 digest of the response's body in hex; ``None`` without a complete one.
        error: Name of the error's class, or ``None``.
        message: The error's message; ``""`` without an error.
    """

    id: int
    book: str
    account: str | None
    source: str
    at: datetime | None
    filed_at: datetime
    complete: bool
    days: tuple[date, ...]
    rows: int
    stored: bool
    sha256: str | None
    error: str | None
    message: str

    @property
    def ok(self) -> bool:
        """Whether the fetch succeeded."""
        return self.error is None


class Received(NamedTuple):
    """A response or a failure to store; ``at`` is an aware time, or None if unknown."""

    name: str
    account: str
    source: str
    at: datetime | None
    book: Any = None
    error: Exception | None = None


class Ingest(NamedTuple):
    """Stores what was received."""

    store: Store
    zone: tzinfo
    day_start: time
    keep: bool

    def open_log(self, connection: Any, span: Span) -> tuple[Any, dict[str, Expected]]:
        """Makes ``log_lines``, the columns `COVERAGE` of the lines for a span.

        Returns:
            The table of the log, and when each account is expected.
        """
        marked = '("null_count.since" < num_records OR "null_count.until" < num_records)'
        also = f"{Span(account=span.account).files} AND {marked}"
        table, _ = self.store.view(connection, "fetches", span, also=also)
        with explained(self.store.root, days="the log"):
            connection.execute(f"""
            CREATE OR REPLACE TEMP TABLE log_read AS SELECT {COVERAGE} FROM stored_fetches
            WHERE ({span.rows}) OR since IS NOT NULL OR until IS NOT NULL;
            CREATE OR REPLACE TEMP VIEW log_lines AS FROM log_read WHERE {span.rows}""")
            return table, expected_accounts(connection)

    def entries(self, lines: _core.Slice) -> list[ArchiveFetch]:
        """Returns the entries of responses and failures, which have a line for each day."""
        found: dict[int, list[Any]] = {}
        for line in lines:
            if line.source in ("fetch", "add"):
                found.setdefault(_number_of(line.fetch_id, line.day, -1), []).append(line)
        return [
            ArchiveFetch(
                id=number,
                book=line.book,
                account=line.account or None,
                source=line.source,
                at=line.received_at and line.received_at.astimezone(self.zone),
                filed_at=line.filed_at.astimezone(self.zone),
                complete=line.sha256 is not None,
                days=tuple(each.day for each in each_day),
                rows=sum(each.rows for each in each_day),
                stored=any(each.rows_in == each.fetch_id for each in each_day),
                **{name: getattr(line, name) for name in ("sha256", "error", "message")},
            )
            for number, each_day in found.items()
            for line in each_day[:1]
        ]

    def mark(self, source: str, lines: Iterable[dict[str, Any]]) -> None:
        """Writes lines that are no response: ends of accounts, or what compacting dropped."""
        filed = datetime.now(UTC)
        made = [self._line(Received("", "", source, None), filed) | line for line in lines]
        self.store.append("fetches", _arrow(_log_of(made)))

    def store_all(self, received: Sequence[Received]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries.

        There is at most one of each book and account.
        """
        with explained(self.store.root, "write"), closing(sql.connect()) as connection:
            lines, books = self._lines(received)
            days = [line["day"] for line in lines]
            labels = {each.account for each in received}
            label = labels.pop() if len(labels) == 1 else None
            table, known = self.open_log(connection, Span(min(days), max(days), label))
            _find_rows(connection, lines)
            for line in lines:
                expected = known.get(line["account"])
                if expected and expected.since <= line["since"] <= expected.until:
                    line["since"] = None
            log, sets = _log_of(lines), _table_of(_Stored, lines)
            is_new = [line["rows_in"] == line["fetch_id"] for line in lines]
            for name, (rows, numbers) in books.items():
                new = [row for row, number in enumerate(numbers) if is_new[number]]
                if new:
                    content = _core.join(rows)
                    if len(new) < len(content):
                        content, numbers = content.take(new), [numbers[row] for row in new]
                    self.store.append(name, _arrow(sets.take(numbers), content))
            self.store.append("fetches", _arrow(log), table)
            found = {(entry.account or "", entry.book): entry for entry in self.entries(log)}
        return [found[each.account, each.name] for each in received]

    def _lines(self, received: Sequence[Received]) -> tuple[list[dict[str, Any]], _Books]:
        """Returns a line for each day of each response or failure, and the rows of each book."""
        filed = datetime.now(UTC)
        lines: list[dict[str, Any]] = []
        books: _Books = {name: ([], []) for name in KINDS}
        for each in received:
            line = self._line(each, filed)
            sums = sql.Sums()
            if each.book is not None:
                content, groups, days, sums = _rows_of(each.name, self._kept(each.book), line)
            own = [*self._lines_of(each, line, sums)]
            if sums:
                by_day = {one["day"]: number for number, one in enumerate(own, len(lines))}
                of_groups = [by_day[day] for day in days]
                books[each.name][0].append(content)
                books[each.name][1].extend([of_groups[group] for group in groups])
            lines += own
        return lines, books

    def _line(self, received: Received, filed: datetime) -> dict[str, Any]:
        """Returns a line for the day on which something was received."""
        clock = (received.at or filed).astimezone(self.zone)
        return {
            "account": received.account,
            "book": received.name,
            "day": clock.date() - timedelta(clock.time() < self.day_start),
            "fetch_id": secrets.randbits(62),
            "source": received.source,
            "received_at": received.at and received.at.astimezone(UTC),
            "filed_at": filed,
            "rows": 0,
            "message": "",
        }

    def _lines_of(
        self, received: Received, line: dict[str, Any], sums: sql.Sums
    ) -> Iterator[dict[str, Any]]:
        """Yields a line for each day of a response, which has these rows, or for a failure."""
        covered = set()
        if received.error is not None:
            # The core refuses half of a surrogate pair, and the books would be lost with it.
            message = str(received.error).encode(errors="replace").decode()
            line |= {"error": type(received.error).__name__, "message": message}
        elif (response := received.book.response) is not None:
            line["sha256"] = response.sha256
            if received.name == "trades":
                covered = set(sums)
            at = received.at
            if at and (received.name == "orders" or line["day"] == at.astimezone(self.zone).date()):
                covered.add(line["day"])
        days = sorted(covered | set(sums)) or [line["day"]]
        for day in days:
            count, checksum = sums.get(day, (0, None))
            own = {"day": day, "since": days[-1], "covered": day if day in covered else None}
            fetch = _number_of(line["fetch_id"], day)
            yield line | own | {"fetch_id": fetch, "rows": count, "checksum": checksum}

    def _kept(self, book: AnyBook) -> AnyBook:
        """Returns the book with personal values masked, unless the archive keeps them."""
        if self.keep or book._rows.masked:
            return book
        return book._unpacked(*book._packed(), keep_personal_data=False)


def create(store: Store, settings: dict[str, Any]) -> None:
    """Creates the tables of an archive with these settings."""
    none = _table_of(_Stored, [])
    tables: dict[str, Any] = {
        name: _arrow(none, _content_of(name, kind())) for name, kind in KINDS.items()
    }
    store.create(tables | {"fetches": _arrow(_log_of([]))}, json.dumps(settings))


def _log_of(lines: Sequence[dict[str, Any]]) -> _core.Slice:
    """Returns lines of the log, to which it adds their month and their seal."""
    for line in lines:
        line["month"] = line["day"].isoformat()[:7]
    for line, seal in zip(lines, seals_of(_table_of(Line, lines)), strict=True):
        line["seal"] = seal
    return _table_of(Line, lines)


def _table_of(kind: type, lines: Sequence[dict[str, Any]]) -> _core.Slice:
    """Returns a table of lines; missing values are None."""
    names = _core.names_of(kind)
    return _core.table_of(kind, [[line.get(name) for line in lines] for name in names], UTC)


def _arrow(*parts: _core.Slice) -> Arrow:
    """Returns the columns of slices of equal length, with strings on which pyarrow computes."""
    columns: dict[str, Any] = {}
    for part in parts:
        names = _core.names_of(part.row_type)
        table = Arrow.from_arrow_pycapsule(part.arrow_stream(names, "large"))
        columns |= {name: table.column(name) for name in names if name not in columns}
    return Arrow.from_pydict(columns)


def _number_of(fetch: int, day: date, sign: int = 1) -> int:
    """Returns the number of a response's line for a day, or with -1 of a line's response."""
    return fetch + sign * (day - date(1970, 1, 1)).days


def _find_rows(connection: Any, lines: Iterable[dict[str, Any]]) -> None:
    """Names the line that has the rows of each: the last one with the same rows, or itself.

    Only the last one of its account, book and day will do: all of its rows are the newest, so that
    `compact` cannot be deleting them.
    """
    found = connection.execute(f"""
    SELECT DISTINCT ON (account, book, day) account, book, day, rows, checksum, rows_in
    FROM log_lines WHERE rows_in IS NOT NULL ORDER BY ({sql.AGE}) DESC""").fetchall()
    known = {tuple(content): rows_in for *content, rows_in in found}
    for line in lines:
        content = tuple(line[name] for name in ("account", "book", "day", "rows", "checksum"))
        line["rows_in"] = known.get(content, line["fetch_id"]) if line["rows"] else None


def _rows_of(
    name: str, book: AnyBook, line: dict[str, Any]
) -> tuple[_core.Slice, list[int], list[date], sql.Sums]:
    """Returns the rows of a book, the group of each, each group's day, and the sums of each day.

    The day of a row is that of its times, or the one of the line that comes with the book. That is
    always the day of an order whose response has a time.
    """
    content = _content_of(name, book)
    groups = _core.Groups([content], [f"{time}.day" for time in TIMES[name]])
    days = [line["day"]] * len(groups)
    if name == "trades" or line["received_at"] is None:
        found = zip(*content.cells(groups.first(), TIMES[name]), strict=True)
        days = [next((t.date() for t in times if t), line["day"]) for times in found]
    sums = sql.Sums()
    # The label is the line's: a book that is added may have none.
    own = [name for name in _core.names_of(content.row_type) if name not in sql.SET]
    sql.add_sums(sums, days, groups, own)
    return content, groups.numbers(), days, sums


def _content_of(name: str, book: AnyBook) -> _core.Slice:
    """Returns the rows of a book with their unknown fields and values that did not fit."""
    book = book.localize(None)
    lost = _lost(book)
    if not lost:  # sorted, since sorting again, when they are read, is fast
        book = book.sort(TIMES[name][0], "row_no")
    content = book._selection(extra=True)._exported
    if lost:
        values = content.to_dict(_core.names_of(content.row_type)) | {"extra": _extras(book)}
        content = _core.table_of(content.row_type, list(values.values()))
    return content


def _lost(book: AnyBook) -> set[str]:
    """Returns the fields of which values did not fit."""
    return {issue.field for issue in book.issues if issue.lost} & set(book.columns)


def _extras(book: AnyBook) -> list[str | None]:
    """Returns each row's unknown fields and values that did not fit, as JSON, or None."""
    known, lost = set(book.columns), _lost(book)
    fitting = {name: book._rows.column(name) for name in lost}
    found = []
    for row, content in enumerate(book._rows.record_texts()):
        sent = json.loads(content, parse_float=_number, parse_constant=str)
        kept = {
            name: value
            for name, value in sent.items()
            if name not in known
            or (name in lost and value not in (None, "") and fitting[name][row] is None)
        }
        found.append(json.dumps(kept) if kept else None)
    return found


def _number(digits: str) -> float | str:
    """Returns a number with a fraction, as text where a float has not the same digits."""
    value = float(digits)
    return value if repr(value) == digits else digits
