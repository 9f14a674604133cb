"""The file of a day: its columns, its rows in memory, and how it is read, folded and written.

The note in a file's metadata names the responses that it has folded, by their number and a digest,
and has a digest of its rows.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta, tzinfo
from hashlib import sha256
from itertools import count, repeat
from typing import Any, NamedTuple

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..books.issues import decode_issues
from ..table.rows import on_clock, row_type, with_extra
from . import databases
from .fold import Fact, Part, Row, fold
from .folder import FORMAT, Json
from .responses import Entry, Folded, Log, folded_of

StoredBook = TradeBook | OrderBook
# What yields responses with their rows; None for one that cannot be read.
Tables = Callable[[Iterable[Entry]], Iterator[tuple[Entry, _core.Slice | None]]]

KINDS: dict[str, Any] = {"trades": TradeBook, "orders": OrderBook}
BOOKS = ("orders", "trades")
EARLIEST, LATEST = date(1990, 1, 1), date(2200, 1, 1)
UNKNOWN: Folded = (0, "")  # names no responses, not even none
AHEAD = timedelta(366)  # a trade of a later day has a wrong time
_DECLARED = {record["noun"][1]: record for record in _core.records()}
# The fields that identify a record among those of its account and day; the first is its number.
IDENTITY = {
    name: [field for field in _DECLARED[name]["identity"] if field != "account"] for name in BOOKS
}
# The times that determine the day of a row: the first that is known.
TIMES = {name: list(_DECLARED[name]["event_times"]) for name in BOOKS}
# How the rows of a day are sorted.
SORTED = {
    name: list(dict.fromkeys((TIMES[name][0], "client_id", "row_no", *fields, "txn_type")))
    for name, fields in IDENTITY.items()
}
_TYPES = {
    name: with_extra(getattr(_core, kind["name"]))
    for name, kind in _DECLARED.items()
    if name in BOOKS
}
_NO_NUMBER = (None, "", "0")
_SQL_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
    "text": "VARCHAR",
}
_FACTS = {
    "account": "text",
    "fetch_id": "text",
    "received_at": "integer",
    "last_seen": "integer",
    "sent": "text",
}
_FIELDS = {
    name: {
        field: kind
        for field, kind, *_ in _core.fields_of(_DECLARED[name]["name"])
        if field != "account"
    }
    for name in BOOKS
}
# The columns of the files, in their order; all files have these.
COLUMNS: dict[str, dict[str, str]] = {
    name: {"day": "DATE", "account": "VARCHAR", "fetch_id": "VARCHAR"}
    | {"received_at": "TIMESTAMP WITH TIME ZONE", "last_seen": "TIMESTAMP WITH TIME ZONE"}
    | {field: _SQL_TYPES[kind] for field, kind in _FIELDS[name].items()}
    | {"extra": "VARCHAR", "sent": "VARCHAR"}
    for name in BOOKS
}


class Damaged(Exception):
    """A file of a day is not as it was written."""


class Source(NamedTuple):
    """The rows of a response or of a day's file, with the facts of each."""

    table: _core.Slice
    facts: Sequence[Fact]


class Note(NamedTuple):
    """What the metadata of a day's file says.

    Attributes:
        book: Its book.
        day: Its day.
        rows: Its number of rows.
        digest: That of its rows.
        lost: Whether values did not fit, so that ``sent`` has texts.
        folded: What names the responses that it has folded, by account; `UNKNOWN` for an account of
            which a body could not be read, which is folded again.
        orphans: The ids of lost responses of which it has rows, by account.
        withdrawn: The ids of withdrawn responses without which it was folded; a mark of them that
            is lost is written again.
    """

    book: str
    day: str
    rows: int
    digest: str
    lost: bool
    folded: dict[str, Folded]
    orphans: dict[str, list[str]]
    withdrawn: list[str]

    def is_current(self, log: Log) -> bool:
        """Returns whether a day is the fold of all its responses."""
        key = self.book, self.day
        are_lost = all(log.is_lost(x) for lost in self.orphans.values() for x in lost)
        are_named = log.without.get(key, set()).issubset(self.withdrawn)
        return are_lost and are_named and self.folded == log.folded(*key, self.orphans)

    def __str__(self) -> str:
        return json.dumps({"tradingdata": FORMAT} | self._asdict())


class Day(NamedTuple):
    """The rows of a day in memory, and what the metadata of its file says."""

    rows: Source
    note: Note


# -- responses --


class Decoder(NamedTuple):
    """Decodes what was stored of a response.

    Attributes:
        zone: The zone of the archive's days.
        keep: Whether personal values are kept.
    """

    zone: tzinfo
    keep: bool

    def table(self, entry: Entry, body: bytes) -> _core.Slice:
        """Returns the rows of a body, with naive times of the archive's zone."""
        record, label = KINDS[entry.book]._record, entry.account
        decode = _core.decode_list if entry.written else _core.decode_book
        rows = decode(record, body, False, self.keep, label, written=bool(entry.written))
        if entry.zone is not None:
            from .._util.time_zones import zone_of_text

            rows = on_clock(rows.with_zone(zone_of_text(entry.zone)), self.zone).with_zone(None)
        return rows

    def book(self, entry: Entry, body: bytes) -> Source:
        """Returns the rows of a response, with their facts."""
        return source_of(entry, self.table(entry, body))


def source_of(entry: Entry, table: _core.Slice) -> Source:
    """Returns the rows of a response, with their facts."""
    seen = entry.received_at if entry.is_complete else None
    fact = Fact(entry.account, entry.id, entry.received_at, seen, None)
    sent = sent_texts(table)
    facts = [fact._replace(sent=text) for text in sent] if sent else [fact] * len(table)
    return Source(table.with_extra_column(_TYPES[entry.book]), facts)


def sent_texts(table: _core.Slice) -> list[str | None]:
    """Returns the text of each row, as it was sent, if values of it did not fit; or nothing."""
    issues = decode_issues(table)
    lost = {issue.field for issue in issues if issue.lost and issue.raw}
    columns = [table.column(name) for name in lost & set(_core.names_of(table.record))]
    if not columns:
        return []
    texts = zip(table.record_texts(), *columns, strict=True)
    return [text if None in values else None for text, *values in texts]


def days_of(
    book: str, table: _core.Slice, day: str, *, has_time: bool
) -> tuple[Callable[[], list[str]], dict[str, int], int]:
    """Returns what gives the day of each row, the number of rows of each, and of wrong times.

    The day of a trade is that of its time, the day of an order that of its response.

    Args:
        book: The book.
        table: The rows.
        day: The day of the response.
        has_time: Whether it is known when the response was received.
    """
    count = len(table)
    if not count or (book == "orders" and has_time):
        return (lambda: [day] * count), ({day: count} if count else {}), 0
    low, high = EARLIEST, date.fromisoformat(day) + AHEAD if has_time else LATEST
    groups = _core.Groups([table], [f"{time}.day" for time in TIMES[book]])
    wrong = 0
    names = []
    counts: Counter[str] = Counter()
    times = table.cells(groups.first(), TIMES[book])
    for values, number in zip(zip(*times, strict=True), groups.counts(), strict=True):
        known = [value.date() for value in values if value]
        wrong += 0 if not known or low <= known[0] <= high else number
        names.append(next((str(each) for each in known if low <= each <= high), day))
        counts[names[-1]] += number
    return (lambda: [names[group] for group in groups.numbers()]), dict(counts), wrong


def _rows(book: str, source: Source) -> list[Row]:
    """Returns the rows of a source as the fold sees them."""
    table = source.table
    number, *others = (table.column(name) for name in IDENTITY[book])
    sides = table.column("txn_type")
    times = [table.column(name) for name in TIMES[book]]
    keys: list[Any] = list(number)
    odd = [place for place, key in enumerate(keys) if key in _NO_NUMBER]
    if odd:
        names = [x for x in _core.names_of(table.row_type) if x != "account"]
        for place, values in zip(odd, zip(*table.cells(odd, names), strict=True), strict=True):
            keys[place] = values
    identities, nothing = zip(*others, strict=True), (None,) * len(times)
    dated = (known != nothing for known in zip(*times, strict=True))
    columns = keys, identities, sides, dated, source.facts, repeat(table), count()
    return list(map(Row._make, zip(*columns, strict=False)))


def part_of(entry: Entry, table: _core.Slice, day: str) -> Part:
    """Returns the part of a response that concerns a day."""
    rows = _rows(entry.book, source_of(entry, table))
    if entry.rows.keys() == {day}:
        return Part(rows)
    names, _, _ = days_of(entry.book, table, entry.day, has_time=entry.received_at is not None)
    pairs = list(zip(rows, names(), strict=True))
    return Part(
        [row for row, name in pairs if name == day],
        [row for row, name in pairs if name != day and row.dated],
    )


# -- days --


def folded(book: str, day: str, old: Day | None, log: Log, read: Tables) -> tuple[Day, int, int]:
    """Returns a day after its responses, and the numbers of orphans and of unreadable responses.

    Orphans are rows of responses that are lost or cannot be read. New responses are folded onto
    what there is. If one is late or does not count any more, or if there are orphans, the account's
    day is folded again from the bodies.

    Args:
        book: The book.
        day: The day.
        old: What there is of it.
        log: The log.
        read: What yields responses with their rows.
    """
    file: dict[str, list[Row]] = {}
    for row in _rows(book, old.rows) if old else ():
        file.setdefault(row.fact.account, []).append(row)
    done = old.note.folded if old else {}
    lost = old.note.orphans if old else {}
    rows: list[Row] = []
    orphans: dict[str, list[str]] = {}
    unread: set[str] = set()
    torn: dict[str, Folded] = {}

    def parts(entries: Iterable[Entry]) -> Iterator[Part]:
        for entry, table in read(entries):
            if table is None:
                unread.add(entry.id)
                torn[entry.account] = UNKNOWN
            else:
                yield part_of(entry, table, day)

    for account in sorted(log.effective(book, day).keys() | file.keys()):
        state, entries = file.get(account, []), log.of_account(book, day, account)
        owners = {row.fact.fetch_id for row in state}
        count, digest = done.get(account, UNKNOWN)
        is_prefix = (count, digest) == folded_of(entries[:count]) and account not in lost
        if is_prefix and owners <= log.entries.keys():
            rows += fold(parts(entries[count:]), state)
            continue
        known = read(entry for entry in entries if entry.id in owners)
        gone = {entry.id for entry, table in known if table is None}
        gone |= {owner for owner in owners if log.is_lost(owner)}
        left = [row for row in state if row.fact.fetch_id in gone]
        if left:
            entries = log.of_account(book, day, account, repeats=True)
        after = fold(parts(entries), left, {row.name for row in state} if left else ())
        if kept := {row.fact.fetch_id for row in after if log.is_lost(row.fact.fetch_id)}:
            orphans[account] = sorted(kept)
        rows += after
    folded = log.folded(book, day, orphans) | torn
    source = _joined(book, rows)
    cut = any(fact.sent is not None for fact in source.facts)
    digest = rows_digest(source, _names(book))
    withdrawn = sorted(log.without.get((book, day), set()).union(old.note.withdrawn if old else ()))
    note = Note(book, day, len(rows), digest, cut, folded, orphans, withdrawn)
    left_over = unread.union(*orphans.values())
    return Day(source, note), sum(x.fetch_id in left_over for x in source.facts), len(unread)


def _joined(book: str, rows: Sequence[Row]) -> Source:
    """Returns rows of several sources as one."""
    by_table: dict[int, list[Row]] = {}
    for row in rows:
        by_table.setdefault(id(row.table), []).append(row)
    tables, facts = [], []
    for some in by_table.values():
        table, places = some[0].table, [row.place for row in some]
        tables.append(table if places == list(range(len(table))) else table.take(places))
        facts += [row.fact for row in some]
    if not tables:
        return Source(empty(book), ())
    return Source(tables[0] if len(tables) == 1 else _core.join(tables), facts)


def empty(book: str) -> _core.Slice:
    """Returns a day's table without rows."""
    table: _core.Slice = KINDS[book]()._rows.with_extra_column(_TYPES[book])
    return table


def rows_digest(source: Source, names: Sequence[str]) -> str:
    """Returns a digest of some columns of the rows of a day, in any order.

    The core's hashes are thus part of the format: those of `tests/golden/stored` must stay.
    """
    hashes = source.table.hashes(names)
    values = sorted(struct.unpack(f"{len(hashes) // 8}Q", hashes))
    total = sha256(struct.pack(f"<{len(values)}Q", *values))
    counts = Counter(source.facts)
    texts = sorted("\n".join(map(str, (*fact, count))) for fact, count in counts.items())
    total.update("\n\n".join(texts).encode())
    return total.hexdigest()[:32]


def _names(book: str) -> list[str]:
    return [*_FIELDS[book], "extra"]


# -- files --


class Rows:
    """A day in memory as tables that DuckDB reads; keep it as long as they are read."""

    def __init__(self, book: str, source: Source) -> None:
        self.book = book
        self._table = source.table
        kind = row_type("Facts", [(name, kind, "") for name, kind in _FACTS.items()])
        facts = zip(*source.facts, strict=True)
        columns: list[list[Any]] = [list(column) for column in facts] or [[] for _ in _FACTS]
        columns[0] = [label or None for label in columns[0]]
        self._facts = _core.table_of(kind, columns)

    def query(self, connection: Any, name: str, day: str) -> str:
        """Returns a query of the columns of a day's file; ``name`` is for the two tables."""
        fields = _names(self.book)
        connection.register(f"_td_rows_{name}", _Arrow(self._table, fields))
        connection.register(f"_td_facts_{name}", _Arrow(self._facts, list(_FACTS)))
        times = (
            f"make_timestamp({time})::TIMESTAMPTZ AS {time}"
            for time in ("received_at", "last_seen")
        )
        return f"""
        SELECT DATE '{day}' AS day, account, fetch_id, {", ".join(times)}, {", ".join(fields)}, sent
        FROM _td_rows_{name} POSITIONAL JOIN _td_facts_{name}"""


class _Arrow:
    """Columns of rows of the core, as many times as they are read."""

    def __init__(self, rows: _core.Slice, names: Sequence[str]) -> None:
        self._rows, self._names = rows, names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows.arrow_stream(list(self._names))


def write(path: str, day: Day) -> None:
    """Writes a day to a file, sorted by account and time."""
    book, note = day.note.book, day.note
    with databases.connection() as opened:
        query = Rows(book, day.rows).query(opened, "day", note.day)
        order = ", ".join(["account", *SORTED[book], "fetch_id"])
        written = databases.write(opened, f"{query} ORDER BY {order}", path, note=str(note))
    if written != note.rows:
        raise OSError(f"{written} rows were written of {note.rows}")


def notes_of(connection: Any, paths: Sequence[str]) -> dict[str, Note]:
    """Returns the notes of files, by path. Raises `Damaged`, or an error of DuckDB."""
    if not paths:
        return {}
    listed = ", ".join(databases.quoted(databases.escaped(path)) for path in paths)
    rows = connection.execute(
        f"""SELECT file_name, decode(value) FROM parquet_kv_metadata([{listed}])
        WHERE decode(key) = 'tradingdata'"""
    ).fetchall()
    return {path: _note(path, text) for path, text in rows}


def _note(path: str, text: str) -> Note:
    try:
        values: Json = json.loads(text)
        folded_by = {label: (count, digest) for label, (count, digest) in values["folded"].items()}
        values = {name: values[name] for name in Note._fields} | {"folded": folded_by}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Damaged(f"{path} has no valid note") from error
    return Note(**values)


def read(path: str, note: Note) -> Day:
    """Reads a file, whose note was read before.

    Raises:
        Damaged: Its rows are not those that were written.
    """
    book = note.book
    try:
        with databases.connection() as opened:
            opened.execute(f"CREATE TEMP TABLE _td_day AS FROM {databases.parquet([path])}")
            # One of an earlier version may have fewer columns.
            known = {row[0] for row in opened.execute("DESCRIBE _td_day").fetchall()}
            fields = [name for name in _names(book) if name in known]
            table = _core.from_arrow(
                _TYPES[book], opened.sql(f"SELECT account, {', '.join(fields)} FROM _td_day"), True
            )
            facts = opened.execute(
                """SELECT coalesce(account, ''), fetch_id, epoch_us(received_at),
                epoch_us(last_seen), sent FROM _td_day"""
            ).fetchall()
    except databases.UNREADABLE as error:
        raise Damaged(f"{path}: {' '.join(databases.redacted(error).split())[:200]}") from error
    shared = {row: Fact(*row) for row in set(facts)}
    source = Source(table, [shared[row] for row in facts])
    if len(facts) != note.rows or rows_digest(source, fields) != note.digest:
        raise Damaged(f"{path} has other rows than were written")
    if fields != _names(book):
        note = note._replace(digest=rows_digest(source, _names(book)))
    return Day(source, note)
