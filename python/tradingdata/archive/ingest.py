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
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo

    from .delta import Store

    AnyBook = TradeBook | OrderBook

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
# The times that determine the day of a row: the first that is known.
TIMES = {record["noun"][1]: record["event_times"] for record in _core.records()}
ROWS = "day DATE, account TEXT, fetch_id BIGINT, received_at TIMESTAMPTZ"
# A line of the log. `rows_in` is the line whose rows are those of this one, itself or an earlier
# one that says the same; `rows` counts those of the response and `stored` those that are kept,
# which has records of earlier responses that this one lacks. `supersedes` lists lines of the same
# day whose rows are no longer the newest. `since` begins and `until` ends an account.
LINES = """
    day DATE, account TEXT, since DATE, until DATE, book TEXT, fetch_id BIGINT, response_id BIGINT,
    source TEXT, received_at TIMESTAMPTZ, filed_at TIMESTAMPTZ, complete BOOLEAN, covers BOOLEAN,
    rows BIGINT, new BIGINT, changed BIGINT, rows_in BIGINT, stored BIGINT, supersedes BIGINT[],
    checksum BIGINT, sha256 TEXT, error TEXT, message TEXT, seal TEXT"""

# The columns that say which days are covered by which rows; all take twice as long to read.
COVERAGE = """
    day, account, since, until, book, fetch_id, source, received_at, covers, rows, rows_in, stored,
    supersedes, error"""


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

    def open_log(
        self, connection: Any, span: Span, columns: str = "*"
    ) -> tuple[Any, dict[str, Expected]]:
        """Makes ``log_lines``, some columns of the lines for a span.

        Returns:
            The table of the log, and when each account is expected.
        """
        marked = '("null_count.since" < num_records OR "null_count.until" < num_records)'
        also = f"{Span(account=span.account).files} AND {marked}"
        table = self.store.view(connection, "fetches", span, also=also)
        with explained(self.store.root, days="the log"):
            connection.execute(f"""
            CREATE OR REPLACE TEMP TABLE log_read AS SELECT {columns} FROM stored_fetches;
            CREATE OR REPLACE TEMP TABLE log_lines AS FROM log_read WHERE {span.rows}""")
            return table, expected_accounts(connection)

    def entries(self, connection: Any, condition: str = "true") -> dict[int, list[dict[str, Any]]]:
        """Returns the lines of responses and failures in ``log_lines`` by their ``response_id``."""
        # DuckDB needs pytz for a time with a zone.
        times = ("received_at", "filed_at")
        naive = ", ".join(f"{name} AT TIME ZONE 'UTC' AS {name}" for name in times)
        found = connection.sql(
            f"SELECT * REPLACE ({naive}) FROM log_lines WHERE source IN ('fetch', 'add') AND "
            f"{condition} ORDER BY filed_at, rowid"
        )
        entries: dict[int, list[dict[str, Any]]] = {}
        for row in found.fetchall():
            line = dict(zip(found.columns, row, strict=True))
            line |= {name: line[name] and line[name].replace(tzinfo=UTC) for name in times}
            entries.setdefault(line["response_id"], []).append(line)
        return entries

    def entry(self, lines: Sequence[dict[str, Any]]) -> ArchiveFetch:
        """Returns the entry of a response from its lines, one for each day."""
        first = lines[0]
        at = first["received_at"]
        same = ("book", "source", "complete", "sha256", "error", "message")
        sums = ("rows", "new", "changed")
        return ArchiveFetch(
            id=first["response_id"],
            account=first["account"] or None,
            at=at and at.astimezone(self.zone),
            filed_at=first["filed_at"].astimezone(self.zone),
            days=tuple(sorted(line["day"] for line in lines)),
            **{name: first[name] for name in same},
            **{name: sum(line[name] for line in lines) for name in sums},
        )

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
            filed = datetime.now(UTC)
            parts = self._parts(connection, received, filed)
            days = [line["day"] for part in parts for line in part]
            labels = {each.account for each in received}
            label = labels.pop() if len(labels) == 1 else None
            log, known = self.open_log(connection, Span(min(days), max(days), label))
            stored = self._stored_before(connection, parts)
            fresh = [part for part in parts if _identity(part) not in stored]
            lines = [line for part in fresh for line in part]
            for name in KINDS:
                self._decide(connection, name, [line for line in lines if line["book"] == name])
            _mark_new_accounts(lines, known)
            if lines:
                self.commit(connection, lines, log)
        return [
            replace(self.entry(stored[_identity(part)]), new=0, changed=0)
            if _identity(part) in stored
            else self.entry(part)
            for part in parts
        ]

    def _line(self, received: Received, filed: datetime) -> dict[str, Any]:
        return {
            "account": received.account,
            "book": received.name,
            "fetch_id": secrets.randbits(63),
            "response_id": secrets.randbits(63),
            "source": received.source,
            "received_at": received.at,
            "filed_at": filed,
            **dict.fromkeys(("complete", "covers"), False),
            **dict.fromkeys(("rows", "new", "changed", "stored"), 0),
            **dict.fromkeys(("rows_in", "sha256", "error")),
            "supersedes": [],
            "message": "",
        }

    def _parts(
        self, connection: Any, received: Sequence[Received], filed: datetime
    ) -> list[list[dict[str, Any]]]:
        """Returns the lines of each response, one for each day, and makes views of their rows."""
        kept = [
            one if one.book is None or self.keep else one._replace(book=_masked(one.book))
            for one in received
        ]
        today = {id(one): self._today(one.at or filed) for one in kept}
        counts: dict[tuple[str, str], dict[date, int]] = {}
        for name in KINDS:
            own = {one.account: one for one in kept if one.name == name and one.book is not None}
            if own:
                others = {account: today[id(one)] for account, one in own.items()}
                for account, day, rows in _view_by_day(connection, name, own, others):
                    counts.setdefault((name, account), {})[day] = rows
        return [
            self._lines(one, filed, today[id(one)], counts.get((one.name, one.account), {}))
            for one in kept
        ]

    def _today(self, at: datetime) -> date:
        clock = at.astimezone(self.zone)
        return clock.date() - timedelta(clock.time() < self.day_start)

    def _lines(
        self, received: Received, filed: datetime, today: date, counts: dict[date, int]
    ) -> list[dict[str, Any]]:
        """Returns a line for each day of a response, which has these numbers of rows."""
        line = self._line(received, filed)
        if received.error is not None:
            error = {"error": type(received.error).__name__, "message": str(received.error)}
            return [line | {"day": today} | error]
        book, response = received.book, received.book.response
        rows = None if response else hashlib.sha256(book._rows.to_json()).hexdigest()
        line |= {"complete": response is not None, "sha256": response.sha256 if response else rows}
        covered = set()
        if response is not None:
            if received.name == "trades":
                covered = set(counts)
            begun = (received.at or filed).astimezone(self.zone).time() >= self.day_start
            if received.at is not None and (begun or received.name == "orders"):
                covered.add(today)
        return [
            line
            | {
                "day": day,
                "fetch_id": secrets.randbits(63),
                "covers": day in covered,
                "rows": counts.get(day, 0),
            }
            for day in sorted(covered | set(counts)) or [today]
        ]

    def _stored_before(
        self, connection: Any, parts: Sequence[list[dict[str, Any]]]
    ) -> dict[Any, list[dict[str, Any]]]:
        """Returns the lines of responses that are stored already, by their identity."""
        digests = {part[0]["sha256"] for part in parts} - {None}
        if not digests:
            return {}
        same = f"sha256 IN ({', '.join(map(quoted, sorted(digests)))})"
        return {_identity(lines): lines for lines in self.entries(connection, same).values()}

    def _decide(self, connection: Any, name: str, lines: list[dict[str, Any]]) -> None:
        """Completes the lines of a book's responses, and stores their rows where that is needed.

        A response at least as late as all that is there supersedes it, and carries the records that
        it lacks. One without news stores nothing. An older one is kept beside what is there; if all
        of its records are there in later states, it supersedes itself.
        """
        lines = [line for line in lines if not line["error"]]
        if not lines:
            return
        mine = [line | {"due": line["received_at"] or _EPOCH} for line in lines]
        columns = (
            "account TEXT, day DATE, fetch_id BIGINT, due TIMESTAMPTZ, received_at TIMESTAMPTZ"
        )
        sql.table(connection, "mine", mine, columns)
        sql.live_fetches(connection, name, "log_lines SEMI JOIN mine USING (account, day)")
        found = connection.execute(f"SELECT account, day, fetch_id, stored FROM live_{name}")
        live: dict[tuple[str, date], list[tuple[int, int]]] = {}
        for account, day, *fetch in found.fetchall():
            live.setdefault((account, day), []).append(tuple(fetch))
        days = [line["day"] for line in lines]
        span = Span(min(days), max(days))
        table = self.store.view(connection, name, span, sql.live_files(name))
        connection.execute(f"""
        CREATE OR REPLACE TEMP VIEW fresh AS FROM schema_{name}
        UNION ALL BY NAME FROM rows_{name} JOIN (
            SELECT account, day, fetch_id, received_at FROM mine) USING (account, day)""")
        counts = sql.compare(connection, name) if live else {}
        drop, carry = [], []
        for line in lines:
            there, seen = live.get((line["account"], line["day"]), []), counts.get(line["fetch_id"])
            if not there:
                line["new"] = line["rows"]
            elif seen is not None:
                line["new"], line["changed"] = seen["new"], seen["changed"]
                if seen["later"]:
                    line["supersedes"] = [] if seen["wins"] else [line["fetch_id"]]
                elif seen["new"] or seen["changed"] or len(there) > 1:
                    line["supersedes"] = [fetch for fetch, _ in there]
                    carry += [line["fetch_id"]] if seen["lost"] else []
                else:
                    drop.append(line["fetch_id"])
                    line["rows_in"], line["stored"] = there[0]
        rows = f"FROM fresh WHERE fetch_id NOT IN ({', '.join(map(str, [0, *drop]))})"
        if carry:
            rows += f" UNION ALL BY NAME ({sql.carried(name, carry)})"
        content = Table.from_arrow(connection.sql(f"SELECT *, {_MONTH} FROM ({rows})"))
        connection.register("content", content)
        checksum = sql.checksum_of(connection.table("content"))
        sums = f"SELECT fetch_id, count(*), {checksum} FROM content GROUP BY fetch_id"
        stored = {fetch: rest for fetch, *rest in connection.execute(sums).fetchall()}
        for line in lines:
            if line["fetch_id"] in stored:
                line["rows_in"] = line["fetch_id"]
                line["stored"], line["checksum"] = stored[line["fetch_id"]]
        if stored:
            self.store.append(name, content, table)


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
_MONTH = "strftime(day, '%Y-%m') AS month"


def _nothing(columns: str) -> str:
    """SQL of a row of NULLs with these columns."""
    each = [column.split() for column in columns.split(",")]
    return ", ".join(f"NULL::{kind} AS {name}" for name, kind in each)


def _identity(lines: Sequence[dict[str, Any]]) -> tuple[Any, ...]:
    return tuple(lines[0][name] for name in ("account", "book", "received_at", "sha256"))


def _masked(book: AnyBook) -> AnyBook:
    """Returns the book, and its response, with personal values masked."""
    return book if book._rows.masked else book._unpacked(*book._packed(), keep_personal_data=False)


def _view_by_day(
    connection: Any, name: str, received: Mapping[str, Received], others: Mapping[str, date]
) -> list[tuple[str, date, int]]:
    """Makes a view of the rows of the accounts' books with their ``day``, ``rows_NAME``.

    The day is that of the row's times or the account's other one. That is always the day of an
    order whose response has a time.

    Returns:
        Accounts and days, each with its number of rows.
    """
    books = {label: one.book.localize(None) for label, one in received.items()}
    if any(map(_lost, books.values())):
        pyarrow = require("pyarrow", "archive", "an archive")
        texts = [text for book in books.values() for text in _extras(book)]
        rows = LabelledBooks.of(KINDS[name], books).to_arrow()
        rows = rows.append_column("extra", pyarrow.array(texts, "string"))
    else:  # sorted, since sorting again, when they are read, is fast
        books = {label: book.sort(TIMES[name][0], "row_no") for label, book in books.items()}
        rows = LabelledBooks.of(KINDS[name], books)._selection(extra=True)
    connection.register(f"books_{name}", rows)
    responses = [
        {"account": label, "other": others[label], "by_row": name == "trades" or one.at is None}
        for label, one in received.items()
    ]
    sql.table(
        connection, f"responses_{name}", responses, "account TEXT, other DATE, by_row BOOLEAN"
    )
    times = ", ".join(f"{time}::DATE" for time in TIMES[name])
    connection.execute(f"""
    CREATE OR REPLACE TEMP VIEW rows_{name} AS
    SELECT coalesce(CASE WHEN by_row THEN coalesce({times}, NULL) END, other) AS day,
        * EXCLUDE (other, by_row) FROM books_{name} JOIN responses_{name} USING (account)""")
    days = f"SELECT account, day, count(*) FROM rows_{name} GROUP BY ALL"
    return list(connection.execute(days).fetchall())


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
