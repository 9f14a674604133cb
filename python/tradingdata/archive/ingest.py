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
from ..books.book import LabelledBooks, OrderBook, TradeBook
from ..table.rows import declared
from ..table.table import Table
from . import sql
from .coverage import Expected, expected_accounts
from .delta import NAMES, Span, explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from .delta import Store

    AnyBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
# The times that determine the day of a row: the first that is known.
TIMES = {record["noun"][1]: record["event_times"] for record in _core.records()}
ROWS = "day DATE, account TEXT, fetch_id BIGINT, received_at TIMESTAMPTZ"
# A line of the log. `rows_in` is the line whose rows are those of this one, itself or an earlier
# one that says the same, or NULL without rows. `dropped` lists lines of the same account and day
# whose rows were deleted. `since` begins and `until` ends an account.
LINES = """
    day DATE, account TEXT, since DATE, until DATE, book TEXT, fetch_id BIGINT, source TEXT,
    received_at TIMESTAMPTZ, filed_at TIMESTAMPTZ, complete BOOLEAN, covers BOOLEAN, rows BIGINT,
    rows_in BIGINT, dropped BIGINT[], checksum BIGINT, sha256 TEXT, error TEXT, message TEXT,
    seal TEXT"""

# The columns that say which days are covered by which rows; all take twice as long to read.
COVERAGE = """
    day, account, since, until, book, received_at, filed_at, covers, rows, rows_in, dropped,
    checksum, error"""


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
        table = self.store.view(connection, "fetches", span, also=also)
        with explained(self.store.root, days="the log"):
            connection.execute(f"""
            CREATE OR REPLACE TEMP TABLE log_read AS SELECT {COVERAGE} FROM stored_fetches
            WHERE ({span.rows}) OR since IS NOT NULL OR until IS NOT NULL;
            CREATE OR REPLACE TEMP VIEW log_lines AS FROM log_read WHERE {span.rows}""")
            return table, expected_accounts(connection)

    def entries(self, connection: Any, lines: str, condition: str = "true") -> list[ArchiveFetch]:
        """Returns the entries of responses and failures whose lines, in a table, meet a condition.

        A response has a line for each day.
        """
        found = connection.sql(f"""
        SELECT {_RESPONSE} AS id, book, nullif(account, '') AS account, source,
            received_at AT TIME ZONE 'UTC' AS at, filed_at AT TIME ZONE 'UTC' AS filed_at,
            complete, list(day ORDER BY day) AS days, sum(rows)::BIGINT AS rows,
            bool_or(rows_in IS NOT DISTINCT FROM fetch_id) AS stored, sha256, error, message
        FROM {lines} WHERE source IN ('fetch', 'add') AND {condition}
        GROUP BY ALL ORDER BY filed_at, account NULLS FIRST, book""")
        entries = []
        for row in found.fetchall():
            values = dict(zip(found.columns, row, strict=True))
            for name in ("at", "filed_at"):  # DuckDB needs pytz for a time with a zone
                time = values[name]
                values[name] = time and time.replace(tzinfo=UTC).astimezone(self.zone)
            entries.append(ArchiveFetch(**values | {"days": tuple(values["days"])}))
        return entries

    def commit(self, connection: Any, lines: Sequence[dict[str, Any]], table: Any = None) -> None:
        """Adds lines to the log; missing values are None."""
        sql.table(connection, "new_lines", lines, LINES)
        names = connection.table("new_lines").columns
        sealed = f"SELECT * REPLACE ({sql.seal_of(names)} AS seal), {_MONTH} FROM new_lines"
        self.store.append("fetches", connection.sql(sealed), table)

    def mark(self, source: str, lines: Iterable[dict[str, Any]]) -> None:
        """Writes lines that are no response: ends of accounts, or what compacting dropped."""
        empty = self._line(Received("", "", source, None), datetime.now(UTC))
        with closing(sql.connect()) as connection:
            self.commit(connection, [empty | line for line in lines])

    def store_all(self, received: Sequence[Received]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries.

        There is at most one of each book and account.
        """
        with explained(self.store.root, "write"), closing(sql.connect()) as connection:
            lines, rows = self._lines(received)
            days = [line["day"] for line in lines]
            labels = {each.account for each in received}
            label = labels.pop() if len(labels) == 1 else None
            log, known = self.open_log(connection, Span(min(days), max(days), label))
            _find_rows(connection, lines)
            for line in lines:
                expected = known.get(line["account"])
                if expected and expected.since <= line["since"] <= expected.until:
                    line["since"] = None
            new = {line["fetch_id"] for line in lines if line["rows_in"] == line["fetch_id"]}
            for name, own in rows.items():
                if (table := own.table(new)) is not None:
                    self.store.append(name, table)
            self.commit(connection, lines, log)
            entries = self.entries(connection, "new_lines")
        found = {(entry.account or "", entry.book): entry for entry in entries}
        return [found[each.account, each.name] for each in received]

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
            **dict.fromkeys(("complete", "covers"), False),
            "rows": 0,
            "dropped": [],
            "message": "",
        }

    def _lines(self, received: Sequence[Received]) -> tuple[list[dict[str, Any]], dict[str, Rows]]:
        """Returns a line for each day of each response or failure, and the rows of each book."""
        filed = datetime.now(UTC)
        lines: list[dict[str, Any]] = []
        rows: dict[str, Rows] = {}
        for name in KINDS:
            own = [(each, self._line(each, filed)) for each in received if each.name == name]
            books = [(self._kept(each.book), line) for each, line in own if each.book]
            sums: sql.Sums = {}
            if books:
                rows[name], sums = _rows_of(name, books)
            for each, line in own:
                days = {
                    day: found for (_, label, day), found in sums.items() if label == each.account
                }
                lines += self._lines_of(each, line, days)
        return lines, rows

    def _lines_of(
        self, received: Received, line: dict[str, Any], sums: Mapping[date, tuple[int, int]]
    ) -> Iterator[dict[str, Any]]:
        """Yields a line for each day of a response, which has these rows, or for a failure."""
        covered = set()
        if received.error is not None:
            line |= {"error": type(received.error).__name__, "message": str(received.error)}
        elif (response := received.book.response) is not None:
            line |= {"complete": True, "sha256": response.sha256}
            if received.name == "trades":
                covered = set(sums)
            at = received.at
            if at and (received.name == "orders" or line["day"] == at.astimezone(self.zone).date()):
                covered.add(line["day"])
        days = sorted(covered | set(sums)) or [line["day"]]
        for day in days:
            count, checksum = sums.get(day, (0, None))
            fetch = line["fetch_id"] + (day - _FIRST_DAY).days
            own = {"day": day, "fetch_id": fetch, "covers": day in covered, "since": days[-1]}
            yield line | own | {"rows": count, "checksum": checksum}

    def _kept(self, book: AnyBook) -> AnyBook:
        """Returns the book with personal values masked, unless the archive keeps them."""
        if self.keep or book._rows.masked:
            return book
        return book._unpacked(*book._packed(), keep_personal_data=False)


def create(store: Store, settings: dict[str, Any]) -> None:
    """Creates the tables of an archive with these settings."""
    with closing(sql.connect(private=True)) as connection:
        connection.execute(f"CREATE TABLE fetches ({LINES}, month TEXT)")
        for name, kind in KINDS.items():
            connection.register(f"book_{name}", kind())
            connection.execute(f"""
            CREATE TABLE first_{name} ({ROWS});
            CREATE TABLE {name} AS SELECT first_{name}.*, book_{name}.*, ''::TEXT AS extra,
                ''::TEXT AS month FROM first_{name}, book_{name}""")
        store.create({name: connection.table(name) for name in NAMES}, json.dumps(settings))


# The lines of a response are numbered from its number on, by their days since this one.
_FIRST_DAY = date(1970, 1, 1)
_RESPONSE = f"fetch_id - (day - DATE '{_FIRST_DAY}')"
_MONTH = "strftime(day, '%Y-%m') AS month"


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


class Rows(NamedTuple):
    """The rows of a book's responses, and the sets to which they belong.

    Attributes:
        content: The rows, with the columns ``account`` and ``extra``.
        sets: The sets, a `_Set` each.
        numbers: The number of each row's set.
    """

    content: _core.Slice
    sets: _core.Slice
    numbers: list[int]

    def table(self, fetches: set[int]) -> Arrow | None:
        """Returns the rows of these fetches as they are stored, or None if there are none."""
        content, numbers = self.content, self.numbers
        known = [fetch in fetches for fetch in self.sets.column("fetch_id")]
        if not all(known):
            rows = [row for row, number in enumerate(numbers) if known[number]]
            content, numbers = content.take(rows), [numbers[row] for row in rows]
        if not numbers:
            return None
        found = Arrow.from_arrow(Table._over(content))
        sets = Arrow.from_arrow(Table._over(self.sets.take(numbers)))
        for name in sets.column_names:
            found = found.append_column(name, sets.column(name))
        return found


@declared
class _Set:
    """What is stored with each row of a set, besides the account, which comes with the books."""

    fetch_id: int | None
    day: date | None
    received_at: datetime | None
    month: str | None


def _rows_of(name: str, own: Sequence[tuple[AnyBook, dict[str, Any]]]) -> tuple[Rows, sql.Sums]:
    """Returns the rows of books, and of each set the number of rows and the checksum.

    The day of a row is that of its times, or the one of the line that comes with the book. That is
    always the day of an order whose response has a time.
    """
    books = {line["account"]: book.localize(None) for book, line in own}
    lines = {line["account"]: line for _, line in own}
    lost = any(map(_lost, books.values()))
    if not lost:  # sorted, since sorting again, when they are read, is fast
        books = {label: book.sort(TIMES[name][0], "row_no") for label, book in books.items()}
    content = LabelledBooks.of(KINDS[name], books)._selection(extra=True)._exported
    columns = _core.names_of(content.row_type)
    if lost:
        values = content.to_dict(columns)
        values["extra"] = [text for book in books.values() for text in _extras(book)]
        content = _core.table_of(content.row_type, list(values.values()))
    groups = _core.Groups([content], ["account", *(f"{time}.day" for time in TIMES[name])])
    found = zip(*content.cells(groups.first(), ["account", *TIMES[name]]), strict=True)
    sets: list[tuple[int, str, date]] = []
    for account, *times in found:
        line = lines[account]
        day = line["day"]
        if name == "trades" or line["received_at"] is None:
            day = next((time.date() for time in times if time), day)
        sets.append((line["fetch_id"] + (day - _FIRST_DAY).days, account, day))
    sums: sql.Sums = {}
    sql.add_sums(sums, sets, groups, {*columns} - {"account"})
    of_sets: list[list[Any]] = [
        [fetch for fetch, _, _ in sets],
        [day for *_, day in sets],
        [lines[account]["received_at"] for _, account, _ in sets],
        [day.isoformat()[:7] for *_, day in sets],
    ]
    return Rows(content, _core.table_of(_Set, of_sets, UTC), groups.numbers()), sums


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
