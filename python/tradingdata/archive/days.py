"""The file of a day: its columns, its rows in memory, and how it is read, folded and written.

The note in a file's metadata names the responses that it has folded, by their number and a digest,
and has a digest of its rows.
"""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from datetime import date, timedelta, tzinfo
from hashlib import sha256
from itertools import count, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from ..books.book import OrderBook, TradeBook
from ..books.issues import decode_issues
from ..table.rows import on_clock, with_extra
from . import databases
from .fold import Part, Row, fold
from .folder import FORMAT, Json
from .responses import Entry, Folded, Log, folded_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection

StoredBook = TradeBook | OrderBook
# What yields responses with their bodies; None for one that cannot be read.
Bodies = Callable[[Iterable[Entry]], Iterator[tuple[Entry, bytes | None]]]

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
_NO_NUMBER = (None, "", "0")
_SQL_TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
    "text": "VARCHAR",
}
# What a file has of each row beside the record; times are microseconds since 1970, in UTC.
_FACTS = {"fetch_id": "text", "received_at": "integer", "last_seen": "integer", "sent": "text"}
_FIELDS = {
    name: {field: kind for field, kind, *_ in _core.fields_of(_DECLARED[name]["name"])}
    for name in BOOKS
}
# The rows of a day in memory: the record, its unknown fields, and the facts.
_TYPES = {
    name: _core.row_type(
        _DECLARED[name]["name"],
        [
            (field, kind, "", False, False)
            for field, kind in (fields | {"extra": "text"} | _FACTS).items()
        ],
    )
    for name, fields in _FIELDS.items()
}
# The columns of the files, in their order; all files have these.
COLUMNS: dict[str, dict[str, str]] = {
    name: {"day": "DATE", "account": "VARCHAR", "fetch_id": "VARCHAR"}
    | {"received_at": "TIMESTAMP WITH TIME ZONE", "last_seen": "TIMESTAMP WITH TIME ZONE"}
    | {field: _SQL_TYPES[kind] for field, kind in fields.items() if field != "account"}
    | {"extra": "VARCHAR", "sent": "VARCHAR"}
    for name, fields in _FIELDS.items()
}


class Damaged(ValueError):
    """A file of a day is not as it was written."""


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
    """

    book: str
    day: str
    rows: int
    digest: str
    lost: bool
    folded: dict[str, Folded]
    orphans: dict[str, list[str]]

    def is_current(self, log: Log) -> bool:
        """Returns whether a day is the fold of all its responses."""
        are_lost = all(log.is_lost(x) for lost in self.orphans.values() for x in lost)
        return are_lost and self.folded == log.folded(self.book, self.day, self.orphans)

    def __str__(self) -> str:
        return json.dumps({"tradingdata": FORMAT} | self._asdict())


class Day(NamedTuple):
    """The rows of a day in memory, and what the metadata of its file says."""

    rows: _core.Slice
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


def with_facts(entry: Entry, table: _core.Slice) -> _core.Slice:
    """Returns the rows of a response as rows of a day."""
    record = with_extra(getattr(_core, _DECLARED[entry.book]["name"]))
    seen = entry.received_at if entry.is_complete else None
    facts = {"fetch_id": entry.id, "received_at": entry.received_at, "last_seen": seen}
    names = [*_FIELDS[entry.book], "extra"]
    rows = _Arrow(table.with_extra_column(record), names)
    stored = _core.from_arrow(_TYPES[entry.book], rows, True, {}, facts)
    sent = sent_texts(table)
    return _replaced(stored, "sent", sent) if sent else stored


def _replaced(table: _core.Slice, column: str, values: Sequence[object]) -> _core.Slice:
    """Returns rows of a day with other values in a column."""
    names = _core.names_of(table.row_type)
    columns = [values if name == column else table.column(name) for name in names]
    return _core.table_of(table.row_type, columns)


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


def _rows(book: str, table: _core.Slice) -> list[Row]:
    """Returns rows of a day as the fold sees them."""
    number, *others = (table.column(name) for name in IDENTITY[book])
    times = [table.column(name) for name in TIMES[book]]
    keys: list[Hashable] = list(number)
    odd = [place for place, key in enumerate(keys) if key in _NO_NUMBER]
    if odd:
        names = [name for name in (*_FIELDS[book], "extra") if name != "account"]
        for place, values in zip(odd, zip(*table.cells(odd, names), strict=True), strict=True):
            keys[place] = values
    identities, nothing = zip(*others, strict=True), (None,) * len(times)
    dated = [known != nothing for known in zip(*times, strict=True)]
    received = [at or 0 for at in table.column("received_at")]
    sides, ids, seen = map(table.column, ("txn_type", "fetch_id", "last_seen"))
    columns = keys, identities, sides, dated, ids, received, seen, repeat(table), count()
    # The same as `Row._make`, which would be the slowest step of storing 10,000 rows.
    return list(map(tuple.__new__, repeat(Row), zip(*columns, strict=False)))


def part_of(entry: Entry, table: _core.Slice, day: str) -> Part:
    """Returns the part of a response that concerns a day."""
    rows = _rows(entry.book, with_facts(entry, table))
    if entry.rows.keys() == {day}:
        return Part(rows)
    names, _, _ = days_of(entry.book, table, entry.day, has_time=entry.received_at is not None)
    pairs = list(zip(rows, names(), strict=True))
    return Part(
        [row for row, name in pairs if name == day],
        [row for row, name in pairs if name != day and row.dated],
    )


# -- days --


def folded(
    book: str, day: str, old: Day | None, log: Log, decoder: Decoder, bodies: Bodies
) -> tuple[Day, int, int]:
    """Returns a day after its responses, and the numbers of orphans and of unreadable responses.

    Orphans are rows of responses that are lost or cannot be read. New responses are folded onto
    what there is. If one is late or does not count any more, or if there are orphans, the account's
    day is folded again from the bodies.

    Args:
        book: The book.
        day: The day.
        old: What there is of it.
        log: The log.
        decoder: What decodes bodies.
        bodies: What yields responses with their bodies.
    """
    file: dict[str, list[Row]] = {}
    if old:
        for row, label in zip(_rows(book, old.rows), old.rows.column("account"), strict=True):
            file.setdefault(label or "", []).append(row)
    done = old.note.folded if old else {}
    lost = old.note.orphans if old else {}
    rows: list[Row] = []
    orphans: dict[str, list[str]] = {}
    unread: set[str] = set()
    torn: dict[str, Folded] = {}

    def parts(entries: Iterable[Entry]) -> Iterator[Part]:
        for entry, body in bodies(entries):
            if body is None:
                unread.add(entry.id)
                torn[entry.account] = UNKNOWN
            else:
                yield part_of(entry, decoder.table(entry, body), day)

    for account in sorted(log.days.get((book, day), {}).keys() | file.keys()):
        state, entries = file.get(account, []), log.effective(book, day, account)
        owners = {row.fetch_id for row in state}
        count, digest = done.get(account, UNKNOWN)
        is_prefix = (count, digest) == folded_of(entries[:count]) and account not in lost
        if is_prefix and owners <= log.entries.keys():
            rows += fold(parts(entries[count:]), state)
            continue
        lost_owners = {owner for owner in owners if log.is_lost(owner)}
        gone = lost_owners | {entry.id for entry, body in bodies(entries) if body is None}
        if gone:  # a repeat may have a body of its own, or follow a lost response
            entries = log.effective(book, day, account, repeats=True)
            gone = lost_owners | {entry.id for entry, body in bodies(entries) if body is None}
        left = [row for row in state if row.fetch_id in gone]
        after = fold(parts(entries), left, {row.name for row in state} if left else ())
        if kept := {row.fetch_id for row in after if log.is_lost(row.fetch_id)}:
            orphans[account] = sorted(kept)
        rows += after
    folded = log.folded(book, day, orphans) | torn
    table = _joined(book, rows)
    is_cut = any(table.column("sent"))
    note = Note(book, day, len(rows), rows_digest(table), is_cut, folded, orphans)
    left_over = unread.union(*orphans.values())
    return Day(table, note), sum(x in left_over for x in table.column("fetch_id")), len(unread)


def _joined(book: str, rows: Sequence[Row]) -> _core.Slice:
    """Returns rows of several tables as one."""
    by_table: dict[int, list[Row]] = {}
    for row in rows:
        by_table.setdefault(id(row.table), []).append(row)
    tables = []
    for some in by_table.values():
        table, places = some[0].table, [row.place for row in some]
        part = table if places == list(range(len(table))) else table.take(places)
        seen = [row.last_seen for row in some]
        tables.append(
            part if seen == part.column("last_seen") else _replaced(part, "last_seen", seen)
        )
    return _core.join(tables) if tables else empty(book)


def empty(book: str) -> _core.Slice:
    """Returns a day's table without rows."""
    return _core.table_of(_TYPES[book], [[] for _ in _core.names_of(_TYPES[book])])


def rows_digest(table: _core.Slice, without: Collection[str] = ()) -> str:
    """Returns a digest of the rows of a day, in any order, without some columns.

    The core's hashes are thus part of the format: those of `tests/golden/stored` must stay.
    """
    names = [name for name in _core.names_of(table.row_type) if name not in without]
    hashes = table.hashes(names)
    values = sorted(struct.unpack(f"{len(hashes) // 8}Q", hashes))
    return sha256(struct.pack(f"<{len(values)}Q", *values)).hexdigest()[:32]


# -- files --


def query(connection: Connection, name: str, day: str, table: _core.Slice, book: str) -> str:
    """Returns a query of the columns of a day's file over its rows in memory, under a name.

    They are sorted by account and time, as a file has them.
    """
    order = [(column, False) for column in ("account", *SORTED[book], "fetch_id")]
    rows = _Arrow(table.sorted(order), _core.names_of(table.row_type))
    connection.register(f"_td_rows_{name}", rows)
    times = ("received_at", "last_seen")
    made = ", ".join(f"make_timestamp({time})::TIMESTAMPTZ AS {time}" for time in times)
    columns = ", ".join(list(COLUMNS[book])[1:])
    return f"""SELECT DATE '{day}' AS day, {columns}
        FROM (SELECT * REPLACE ({made}) FROM _td_rows_{name})"""


class _Arrow:
    """Columns of rows of the core, as many times as they are read."""

    def __init__(self, rows: _core.Slice, names: Sequence[str]) -> None:
        self._rows, self._names = rows, names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows.arrow_stream(list(self._names))


def write(path: str, day: Day) -> None:
    """Writes a day to a file."""
    book, note = day.note.book, day.note
    with databases.connection() as opened:
        rows = query(opened, "day", note.day, day.rows, book)
        written = databases.write(opened, rows, path, note=str(note))
    if written != note.rows:
        raise OSError(f"{written} rows were written of {note.rows}")


def notes_of(connection: Connection, paths: Collection[str]) -> dict[str, Note]:
    """Returns the notes of files, by path."""
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
    times = ", ".join(f"epoch_us({time}) AS {time}" for time in ("received_at", "last_seen"))
    try:
        with databases.connection() as opened:
            file = opened.sql(f"FROM {databases.parquet([path])}")
            lacking = COLUMNS[note.book].keys() - set(file.columns)  # of an earlier version
            rows = file.project(f"* EXCLUDE (day) REPLACE ({times})")
            table = _core.from_arrow(_TYPES[note.book], rows, True)
    except databases.UNREADABLE as error:
        raise Damaged(f"{path}: {databases.shortened(error)}") from error
    if len(table) != note.rows or rows_digest(table, lacking) != note.digest:
        raise Damaged(f"{path} has other rows than were written")
    return Day(table, note._replace(digest=rows_digest(table)) if lacking else note)
