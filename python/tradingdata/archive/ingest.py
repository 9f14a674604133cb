"""Stores responses: their rows by day, then the lines of the log, which are the commit.

The log, the table ``fetches``, has a line for each day of a response or failure. Readers take only
rows that a line names, so rows without one, which a crash may leave, are never seen.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from arro3.core import Table

from .. import _core
from .._util.optional_imports import require
from ..books.book import LabelledBooks, OrderBook, TradeBook
from . import sql
from .coverage import Expected, expected_accounts
from .delta import Span, explained, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import tzinfo

    from .delta import Store

    AnyBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
# The times that determine the day of a row: the first that is known.
TIMES = {record["noun"][1]: record["event_times"] for record in _core.records()}
ROWS = "day DATE, account TEXT, fetch_id BIGINT, received_at TIMESTAMPTZ"
# A line of the log. `rows_in` is the line whose rows are those of this one, itself or an earlier
# one that says the same, or NULL without rows. `supersedes` lists lines of the same day whose rows
# are no longer the newest. `since` begins and `until` ends an account.
LINES = """
    day DATE, account TEXT, since DATE, until DATE, book TEXT, fetch_id BIGINT, response_id BIGINT,
    source TEXT, received_at TIMESTAMPTZ, filed_at TIMESTAMPTZ, complete BOOLEAN, covers BOOLEAN,
    rows BIGINT, new BIGINT, changed BIGINT, rows_in BIGINT, supersedes BIGINT[], checksum BIGINT,
    sha256 TEXT, error TEXT, message TEXT, seal TEXT"""

# The columns that say which days are covered by which rows; all take twice as long to read.
COVERAGE = """
    day, account, since, until, book, fetch_id, source, received_at, covers, rows, rows_in,
    supersedes, sha256, error"""


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
        new: Number of records that were new to the archive.
        changed: Number of records that the archive had in another state.
        sha256: SHA-256 digest of the response's body in hex; ``None`` for a failure.
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
    new: int
    changed: int
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
        SELECT response_id AS id, book, nullif(account, '') AS account, source,
            received_at AT TIME ZONE 'UTC' AS at, filed_at AT TIME ZONE 'UTC' AS filed_at,
            complete, list(day ORDER BY day) AS days, sum(rows)::BIGINT AS rows,
            sum(new)::BIGINT AS new, sum(changed)::BIGINT AS changed, sha256, error, message
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

    def mark(self, source: str, account: str, day: date, **values: Any) -> None:
        """Writes a line that is no response: the end of an account, or what compacting dropped."""
        line = self._line(Received("", account, source, None), datetime.now(UTC))
        with closing(sql.connect()) as connection:
            self.commit(connection, [line | {"day": day} | values])

    def store_all(self, received: Sequence[Received]) -> list[ArchiveFetch]:
        """Stores responses and failures in one commit, and returns their entries.

        There is at most one of each book and account.
        """
        with explained(self.store.root, "write"), closing(sql.connect()) as connection:
            parts, rows = self._parts(connection, received)
            days = [line["day"] for part in parts for line in part]
            labels = {each.account for each in received}
            label = labels.pop() if len(labels) == 1 else None
            span = Span(min(days), max(days), label)
            log, known = self.open_log(connection, span)
            stored = self._stored_before(connection, parts, span)
            lines = [line for part in parts if _identity(part) not in stored for line in part]
            for name in rows:
                own = [line for line in lines if line["book"] == name and not line["error"]]
                if own:
                    self._decide(connection, name, own, rows[name])
            _mark_new_accounts(lines, known)
            if lines:
                self.commit(connection, lines, log)
                stored |= _by_identity(self.entries(connection, "new_lines"))
        return [stored[_identity(part)] for part in parts]

    def _line(self, received: Received, filed: datetime) -> dict[str, Any]:
        """Returns a line for the day on which something was received."""
        clock = (received.at or filed).astimezone(self.zone)
        number = secrets.randbits(62)
        return {
            "account": received.account,
            "book": received.name,
            "day": clock.date() - timedelta(clock.time() < self.day_start),
            "fetch_id": number,
            "response_id": number,
            "source": received.source,
            "received_at": _in_utc(received.at),
            "filed_at": filed,
            **dict.fromkeys(("complete", "covers"), False),
            **dict.fromkeys(("rows", "new", "changed"), 0),
            **dict.fromkeys(("rows_in", "sha256", "checksum", "error")),
            "supersedes": [],
            "message": "",
        }

    def _parts(
        self, connection: Any, received: Sequence[Received]
    ) -> tuple[list[list[dict[str, Any]]], dict[str, Table]]:
        """Returns the lines of each response, one for each day, and the rows of each book."""
        filed = datetime.now(UTC)
        kept = [
            one if one.book is None or self.keep else one._replace(book=_masked(one.book))
            for one in received
        ]
        each = [(one, self._line(one, filed)) for one in kept]
        rows: dict[str, Table] = {}
        sums: dict[str, dict[str, dict[date, tuple[int, int]]]] = {}
        for name in KINDS:
            own = [
                (one.book, line) for one, line in each if one.name == name and one.book is not None
            ]
            if own:
                rows[name] = _rows_of(connection, name, own)
                sums[name] = _sums(connection, name)
        return [
            self._lines(one, line, sums.get(one.name, {}).get(one.account, {}))
            for one, line in each
        ], rows

    def _lines(
        self, received: Received, line: dict[str, Any], sums: Mapping[date, tuple[int, int]]
    ) -> list[dict[str, Any]]:
        """Returns a line for each day of a response, which has these rows."""
        if received.error is not None:
            error = {"error": type(received.error).__name__, "message": str(received.error)}
            return [line | error]
        book, response = received.book, received.book.response
        rows = None if response else hashlib.sha256(book._rows.to_json()).hexdigest()
        line |= {"complete": response is not None, "sha256": response.sha256 if response else rows}
        covered = set()
        if response is not None:
            if received.name == "trades":
                covered = set(sums)
            at = received.at
            if at and (received.name == "orders" or line["day"] == at.astimezone(self.zone).date()):
                covered.add(line["day"])
        lines = []
        for day in sorted(covered | set(sums)) or [line["day"]]:
            fetch = line["response_id"] + (day - _FIRST_DAY).days
            count, checksum = sums.get(day, (0, None))
            own = {"day": day, "fetch_id": fetch, "covers": day in covered, "rows": count}
            kept = {"rows_in": fetch if count else None, "checksum": checksum}
            lines.append(line | own | kept)
        return lines

    def _stored_before(
        self, connection: Any, parts: Sequence[list[dict[str, Any]]], span: Span
    ) -> dict[Any, ArchiveFetch]:
        """Returns the entries of responses that are stored already, by their identity."""
        digests = sorted({part[0]["sha256"] for part in parts} - {None})
        times = {f"TIMESTAMPTZ '{at}'" for part in parts if (at := part[0]["received_at"])}
        same = f"""sha256 IN ({", ".join(map(quoted, digests))}) AND (
            received_at IS NULL OR received_at IN ({", ".join(["NULL", *sorted(times)])}))"""
        if not digests or not sql.scalar(
            connection, f"SELECT count(*) FROM log_lines WHERE {same}"
        ):
            return {}
        found = self.entries(connection, "stored_fetches", f"{same} AND {span.rows}")
        return _by_identity(replace(entry, new=0, changed=0) for entry in found)

    def _decide(self, connection: Any, name: str, lines: list[dict[str, Any]], rows: Table) -> None:
        """Completes the lines of a book's responses, and stores their rows where that is needed.

        Of two responses for an account and a day, the later supersedes the earlier if it has all
        records of it. One that says the same as what is there stores nothing.
        """
        sql.table(connection, "mine", lines, "account TEXT, day DATE")
        sql.live_fetches(connection, name, "log_lines SEMI JOIN mine USING (account, day)")
        live = dict(connection.execute(f"SELECT fetch_id, rows FROM live_{name}").fetchall())
        table, pairs = None, {}
        if live:
            days = [line["day"] for line in lines]
            span = Span(min(days), max(days))
            table = self.store.view(connection, name, span, sql.live_files(name))
            pairs = sql.compare(connection, name)
        for line in lines:
            fetch, count = line["fetch_id"], line["rows"]
            for other, common, same, changed, later in pairs.get(
                fetch, [(None, count, 0, 0, False)]
            ):
                line["changed"] += changed
                if other is None:
                    line["new"] = common
                elif same == count == live[other]:
                    line["rows_in"], line["checksum"] = other, None
                elif common == live[other] and not later:
                    line["supersedes"].append(other)
                elif common == count and later:
                    line["supersedes"].append(fetch)
        own = [line for line in lines if line["rows_in"] == line["fetch_id"]]
        if sum(line["rows"] for line in own) < rows.num_rows:
            ids = ", ".join(str(line["fetch_id"]) for line in own) or "NULL"
            rows = Table.from_arrow(connection.sql(f"FROM rows_{name} WHERE fetch_id IN ({ids})"))
        if rows.num_rows:
            self.store.append(name, rows, table)


def create(store: Store, settings: dict[str, Any]) -> None:
    """Creates the tables of an archive with these settings."""
    with closing(sql.connect()) as connection:
        fields = {"fetches": f"SELECT {_nothing(LINES)}"}
        for name, kind in KINDS.items():
            connection.register(f"book_{name}", kind())
            fields[name] = f"SELECT {_nothing(ROWS)}, *, ''::TEXT AS extra FROM book_{name}"
        empty = {
            name: connection.sql(f"SELECT *, ''::TEXT AS month FROM ({query}) LIMIT 0")
            for name, query in fields.items()
        }
        store.create(empty, json.dumps(settings))


_EPOCH = datetime.fromtimestamp(0, UTC)
_FIRST_DAY = _EPOCH.date()  # a response's lines are numbered from its number on, by their days
_MONTH = "strftime(day, '%Y-%m') AS month"


def _nothing(columns: str) -> str:
    """SQL of a row of NULLs with these columns."""
    each = [column.split() for column in columns.split(",")]
    return ", ".join(f"NULL::{kind} AS {name}" for name, kind in each)


def _identity(lines: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    return tuple(lines[0][name] for name in ("account", "book", "received_at", "sha256"))


def _by_identity(entries: Iterable[ArchiveFetch]) -> dict[Any, ArchiveFetch]:
    return {
        (each.account or "", each.book, _in_utc(each.at), each.sha256): each for each in entries
    }


def _in_utc(at: datetime | None) -> datetime | None:
    """Returns a time in UTC: a time that a zone has twice equals none of another zone."""
    return at and at.astimezone(UTC)


def _masked(book: AnyBook) -> AnyBook:
    """Returns the book, and its response, with personal values masked."""
    return book if book._rows.masked else book._unpacked(*book._packed(), keep_personal_data=False)


def _rows_of(connection: Any, name: str, own: Sequence[tuple[AnyBook, dict[str, Any]]]) -> Table:
    """Returns the rows of books as they are stored, as Arrow data, and registers ``rows_NAME``.

    Their day is that of the row's times, or the one of the line that comes with the book. That is
    always the day of an order whose response has a time.
    """
    books = {line["account"]: book.localize(None) for book, line in own}
    if any(map(_lost, books.values())):
        pyarrow = require("pyarrow", "archive", "an archive")
        texts = [text for book in books.values() for text in _extras(book)]
        sent = LabelledBooks.of(KINDS[name], books).to_arrow()
        sent = sent.append_column("extra", pyarrow.array(texts, "string"))
    else:  # sorted, since sorting again, when they are read, is fast
        books = {label: book.sort(TIMES[name][0], "row_no") for label, book in books.items()}
        sent = LabelledBooks.of(KINDS[name], books)._selection(extra=True)
    connection.register(f"books_{name}", sent)
    columns = "account TEXT, day DATE, response_id BIGINT, received_at TIMESTAMPTZ"
    sql.table(connection, f"responses_{name}", [line for _, line in own], columns)
    times = "".join(f"{time}::DATE, " for time in TIMES[name])
    if name == "orders":
        times = f"CASE WHEN received_at IS NULL THEN coalesce({times}NULL) END, "
    rows = Table.from_arrow(
        connection.sql(f"""
    SELECT day, account, response_id + (day - DATE '{_FIRST_DAY}') AS fetch_id, received_at,
        * EXCLUDE (day, account, response_id, received_at), {_MONTH}
    FROM (SELECT * REPLACE (coalesce({times}day) AS day)
        FROM books_{name} JOIN responses_{name} USING (account))""")
    )
    connection.register(f"rows_{name}", rows)
    return rows


def _sums(connection: Any, name: str) -> dict[str, dict[date, tuple[int, int]]]:
    """Returns the number of rows and their checksum by account and day."""
    checksum = sql.checksum_of(connection.table(f"rows_{name}"))
    query = f"SELECT account, day, count(*), {checksum} FROM rows_{name} GROUP BY account, day"
    sums: dict[str, dict[date, tuple[int, int]]] = {}
    for account, day, *found in connection.execute(query).fetchall():
        sums.setdefault(account, {})[day] = tuple(found)
    return sums


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
        found.append(json.dumps(kept, ensure_ascii=False) if kept else None)
    return found


def _number(digits: str) -> float | str:
    """Returns a number with a fraction, as text where a float has not the same digits."""
    value = float(digits)
    return value if repr(value) == digits else digits


def _mark_new_accounts(lines: list[dict[str, Any]], known: dict[str, Expected]) -> None:
    """Sets ``since`` in the first line of each account that was not expected on its day.

    That is the day of the response, since a first trade book may have trades of earlier days.
    """
    newest: dict[int, date] = {}
    for line in lines:
        response = line["response_id"]
        newest[response] = max(newest.get(response, date.min), line["day"])
    for line in sorted(lines, key=lambda line: newest[line["response_id"]]):
        day = newest[line["response_id"]]
        expected = known.get(line["account"])
        if expected is None or not expected.since <= day <= expected.until:
            line["since"] = day
            since = min(day, expected.since) if expected else day
            known[line["account"]] = Expected(line["account"], since, date.max)
