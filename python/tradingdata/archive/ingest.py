"""Stores a book in an archive: its rows become records and states, in one transaction."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from . import checksums, fetch_log
from .coverage import complete_days
from .days import Days
from .record_key import BOOKS, Key, name_of, rows_of
from .state_merge import State, merge, same_content

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable
    from datetime import tzinfo

    from .record_key import AnyBook, Row


class Sight(NamedTuple):
    """A book to store, with its origin; ``received`` is an aware time, or None if unknown."""

    book: AnyBook
    account: str
    source: str
    received: datetime | None
    filed: datetime


def origin_of(
    book: AnyBook,
    account: str | None,
    at: datetime | None,
    known_accounts: Callable[[], Iterable[str | None]],
) -> tuple[str | None, datetime | None]:
    """Returns the account of a book and when it was received, from arguments or its response.

    Raises:
        TypeError: The book is neither a TradeBook nor an OrderBook, or ``at`` is not a time.
        ValueError: ``at`` has no time zone, or the account is unknown while others are labelled.
    """
    name_of(book)
    response = book.response
    if account is None and response is not None:
        account = response.account
    labels = [label for label in known_accounts() if label] if account is None else []
    if labels:
        raise ValueError(
            "the book has no account label, but this archive has labelled accounts "
            f"({', '.join(labels)}): pass account=, or account='' for no label"
        )
    if at is None:
        return account, response.received_at if response is not None else None
    if not isinstance(at, datetime):
        raise TypeError(f"at must be an aware time (with a zone), not {at!r}")
    if at.tzinfo is None:
        raise ValueError(f"at must be an aware time (with a zone), not {at!r}")
    return account, at


def masked(book: AnyBook) -> AnyBook:
    """Returns the book, and its response, with personal values masked."""
    if book._rows.masked:
        return book
    return book._unpacked(*book._packed(), keep_personal_data=False)


def file(connection: sqlite3.Connection, sight: Sight, zone: tzinfo) -> fetch_log.ArchiveFetch:
    """Stores a book and returns its log entry.

    A response that is already stored changes nothing: its entry is returned, with ``new`` and
    ``changed`` 0.

    Raises:
        Damage: The days to be changed do not match their checksums.
    """
    book, received = sight.book, sight.received
    clock = (received or sight.filed).astimezone(zone).date()
    rows = rows_of(book, clock)
    days: Iterable[str] = {row.key.day for row in rows}
    if not rows and book.response is not None and received is not None:
        days = [clock.isoformat()]
    name = name_of(book)
    entry = fetch_log.Entry(
        book=name,
        account=sight.account,
        source=sight.source,
        at=fetch_log.instant(received),
        filed_at=fetch_log.instant(sight.filed),
        whole=book.response is not None,
        days=sorted(days),
        rows=len(rows),
        sha256=_digest(book, rows),
    )
    known = fetch_log.find(connection, entry)
    if known is not None:
        entries = {each.id: each for each in fetch_log.read_all(connection, zone)}
        return replace(entries[known], new=0, changed=0)
    checksums.check_days(connection, name, sight.account, {clock.isoformat(), *days})
    number = fetch_log.write(connection, entry)
    filing = _Filing(connection, entry, number)
    changed = filing.file(rows)
    fetched = {str(day) for day in complete_days(fetch_log.read(connection, zone, number))}
    altered = filing.days | (fetched - _fetched_before(connection, entry, fetched))
    if altered:
        filing.write()
        checksums.seal_days(connection, name, sight.account, altered, fetched)
    fetch_log.finish(connection, number, new=filing.new, changed=changed)
    return fetch_log.read(connection, zone, number)


def _digest(book: AnyBook, rows: list[Row]) -> str:
    if book.response is not None:
        return book.response.sha256
    return hashlib.sha256("\n".join(row.json for row in rows).encode()).hexdigest()


def _fetched_before(
    connection: sqlite3.Connection, entry: fetch_log.Entry, days: set[str]
) -> set[str]:
    if not days:
        return set()
    span = Days.of_texts(min(days), max(days))
    seals = checksums.read_days(connection, entry.book, span, entry.account)
    return {day for (_, day), seal in seals.items() if seal.fetched}


class _Filing:
    """Stores one book; collects all rows to write first."""

    def __init__(self, connection: sqlite3.Connection, entry: fetch_log.Entry, number: int) -> None:
        self._connection = connection
        self._entry = entry
        self._number = number
        self._record = BOOKS[entry.book]._record
        self._is_newest = fetch_log.is_newest(connection, entry)
        self._next_record = self._next_id("records")
        self._next_state = self._next_id("states")
        self._new_records: list[tuple[object, ...]] = []
        self._new_states: list[tuple[object, ...]] = []
        self._dated: list[tuple[object, ...]] = []
        self._newest: list[tuple[int, int]] = []
        self.days: set[str] = set()  # of the records that change

    @property
    def new(self) -> int:
        """The number of records that the archive does not have yet."""
        return len(self._new_records)

    def file(self, rows: list[Row]) -> int:
        """Compares the rows with the archive; returns how many records get a new state."""
        known = self._known({row.key.day for row in rows})
        changed = 0
        for row in rows:
            if row.key in known:
                changed += self._see_again(row, *known[row.key])
            else:
                self._see_first(row)
        return changed

    def write(self) -> None:
        """Writes what `file` collected."""
        for table, rows in (("records", self._new_records), ("states", self._new_states)):
            if rows:
                places = ", ".join("?" * len(rows[0]))
                self._connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        self._connection.executemany(
            "UPDATE states SET seen_at = ?, fetch = ? WHERE id = ?", self._dated
        )
        self._connection.executemany("UPDATE records SET state = ? WHERE id = ?", self._newest)

    def _next_id(self, table: str) -> int:
        (greatest,) = self._connection.execute(f"SELECT max(id) FROM {table}").fetchone()
        return int(greatest or 0) + 1

    def _known(self, days: set[str]) -> dict[Key, tuple[int, State]]:
        """Returns the records of these days, each with its newest state."""
        query = """SELECT r.day, r.client_id, r.exchange, r.segment, r.number, r.leg, r.repeat,
                r.id, s.seen_at, s.id, s.json
            FROM records r JOIN states s ON s.id = r.state
            WHERE r.book = ? AND r.account = ? AND r.day = ?"""
        found = {}
        for day in days:
            values = (self._entry.book, self._entry.account, day)
            for *key, record, seen_at, state, json in self._connection.execute(query, values):
                found[Key(*key)] = (record, State(seen_at, state, json))
        return found

    def _see_first(self, row: Row) -> None:
        record, self._next_record = self._next_record, self._next_record + 1
        state = self._add_state(record, self._entry.at, row.json)
        day, *key = row.key
        values = (record, self._entry.book, self._entry.account, day, *key, row.time, state)
        self._new_records.append(values)
        self.days.add(day)

    def _see_again(self, row: Row, record: int, newest: State) -> bool:
        """Adds a row to the history of its record; returns whether the record has a new state."""
        at = self._entry.at
        dated = at >= newest.seen_at > ""
        if dated and same_content(self._record, newest.json, row.json):
            return False
        if dated and self._is_newest:
            self._newest.append((self._add_state(record, at, row.json), record))
            self.days.add(row.key.day)
            return True
        states = [
            State(*values)
            for values in self._connection.execute(
                "SELECT seen_at, id, json FROM states WHERE record = ? ORDER BY seen_at, id",
                (record,),
            )
        ]
        edits = merge(self._record, states, at, row.json, self._next_response(row.key.day))
        for state in edits:
            if state.id is None:
                added = self._add_state(record, state.seen_at, state.json)
                states.append(state._replace(id=added))
            else:
                self._dated.append((state.seen_at, self._number, state.id))
                states = [state if known.id == state.id else known for known in states]
        if edits:
            last = max(states, key=lambda state: (state.seen_at, state.id or 0))
            self._newest.append((last.id or 0, record))
            self.days.add(row.key.day)
        return any(state.id is None for state in edits)

    def _next_response(self, day: str) -> fetch_log.NextResponse:
        return fetch_log.next_response(self._connection, self._entry, day)

    def _add_state(self, record: int, seen_at: str, json: str) -> int:
        state, self._next_state = self._next_state, self._next_state + 1
        shown_by = self._number
        if seen_at != self._entry.at:
            shown_by = fetch_log.response_at(self._connection, self._entry, seen_at)
        self._new_states.append((state, record, shown_by, seen_at, json))
        return state
