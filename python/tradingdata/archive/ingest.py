"""From an answer to the archive: its rows become records and states, in one transaction."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from . import fetch_log as log
from .record_key import BOOKS, Key, name_of, rows_of
from .state_merge import State, merge, same_content

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

    from .record_key import AnyBook, Row


class Sight(NamedTuple):
    """A book to be filed, and what is known of it. ``received`` is aware, or None: not known."""

    book: AnyBook
    account: str
    source: str
    received: datetime | None
    filed: datetime


def masked(book: AnyBook) -> AnyBook:
    """The book with personal values masked, the response with them."""
    if book._table.masked:
        return book
    from ..books import storage as saved

    return saved.unpack(type(book), *saved.pack(book), keep_personal_data=False)


def file(connection: sqlite3.Connection, sight: Sight, zone: tzinfo) -> int:
    """Files a book; returns the number of its entry in the log. A replay changes nothing."""
    book, received = sight.book, sight.received
    clock = (received or sight.filed).astimezone(zone).date()
    rows = rows_of(book, clock)
    days: Iterable[str] = {row.key.day for row in rows}
    if not rows and book.response is not None and received is not None:
        days = [clock.isoformat()]
    name = name_of(book)
    entry = log.Entry(
        book=name,
        account=sight.account,
        source=sight.source,
        at=log.instant(received),
        filed_at=log.instant(sight.filed),
        whole=book.response is not None,
        days=sorted(days),
        rows=len(rows),
        sha256=_digest(book, rows),
    )
    replayed = log.find(connection, entry)
    if replayed is not None:
        return replayed
    number = log.write(connection, entry)
    new, changed = _Filing(connection, entry, number).file(rows)
    connection.execute(
        "UPDATE fetches SET new = ?, changed = ? WHERE id = ?", (new, changed, number)
    )
    return number


def _digest(book: AnyBook, rows: list[Row]) -> str:
    if book.response is not None:
        return book.response.sha256
    return hashlib.sha256("\n".join(row.json for row in rows).encode()).hexdigest()


class _Filing:
    """The filing of one answer; writes are gathered, then done at once."""

    def __init__(self, connection: sqlite3.Connection, entry: log.Entry, number: int) -> None:
        self._connection = connection
        self._entry = entry
        self._number = number
        self._record = BOOKS[entry.book]._record
        self._is_newest = log.is_newest(connection, entry)
        self._next_record = self._next_id("records")
        self._next_state = self._next_id("states")
        self._new_records: list[tuple[object, ...]] = []
        self._new_states: list[tuple[object, ...]] = []
        self._newest: list[tuple[int, int]] = []

    def file(self, rows: list[Row]) -> tuple[int, int]:
        """Files the rows; returns how many records are new, and how many have a new state."""
        known = self._known({row.key.day for row in rows})
        changed = 0
        for row in rows:
            if row.key in known:
                changed += self._see_again(row, *known[row.key])
            else:
                self._see_first(row)
        self._write()
        return len(self._new_records), changed

    def _next_id(self, table: str) -> int:
        (greatest,) = self._connection.execute(f"SELECT max(id) FROM {table}").fetchone()
        return int(greatest or 0) + 1

    def _known(self, days: set[str]) -> dict[Key, tuple[int, State]]:
        """The records of these days, each with its newest state."""
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

    def _see_again(self, row: Row, record: int, newest: State) -> bool:
        """Notes what the row adds to its record's history; says whether it adds a state."""
        at = self._entry.at
        dated = at >= newest.seen_at > ""
        if dated and same_content(self._record, newest.json, row.json):
            return False
        if dated and self._is_newest:
            self._newest.append((self._add_state(record, at, row.json), record))
            return True
        states = [
            State(*values)
            for values in self._connection.execute(
                "SELECT seen_at, id, json FROM states WHERE record = ? ORDER BY seen_at, id",
                (record,),
            )
        ]
        edits = merge(self._record, states, at, row.json, self._next_answer(row.key.day))
        for state in edits:
            if state.id is None:
                added = self._add_state(record, state.seen_at, state.json)
                states.append(state._replace(id=added))
            else:
                self._connection.execute(
                    "UPDATE states SET seen_at = ?, fetch = ? WHERE id = ?",
                    (state.seen_at, self._number, state.id),
                )
                states = [state if known.id == state.id else known for known in states]
        last = max(states, key=lambda state: (state.seen_at, state.id or 0))
        self._newest.append((last.id or 0, record))
        return any(state.id is None for state in edits)

    def _next_answer(self, day: str) -> log.NextAnswer:
        return log.next_answer(self._connection, self._entry, day)

    def _add_state(self, record: int, seen_at: str, json: str) -> int:
        state, self._next_state = self._next_state, self._next_state + 1
        shown_by = self._number
        if seen_at != self._entry.at:
            shown_by = log.answer_at(self._connection, self._entry, seen_at)
        self._new_states.append((state, record, shown_by, seen_at, json))
        return state

    def _write(self) -> None:
        for table, rows in (("records", self._new_records), ("states", self._new_states)):
            if rows:
                places = ", ".join("?" * len(rows[0]))
                self._connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
        self._connection.executemany("UPDATE records SET state = ? WHERE id = ?", self._newest)
