"""Checksums of an archive's content, which prove that a read is complete and unaltered.

SQLite checks the structure of the pages that it visits, but not their content: one flipped bit can
change a price, and a lost index entry hides a row. The table `days` therefore stores, for each
book, account and day, the number of records and two CRC-32 checksums: `newest` covers the JSON from
which the book of that day is read, `history` all states. The table `totals` covers `days` and the
log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from .failures import Damage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator

    from .days import Days

    AccountDay = tuple[str, str]
    Key = tuple[str, str, str]  # book, account, day


class Seal(NamedTuple):
    """The row of the table `days` for one book, account and day.

    ``records`` is their number, and ``fetched`` whether a complete response covered the day.
    """

    fetched: int
    records: int
    newest: int
    history: int


_NOTHING = Seal(False, 0, 0, 0)


JSON = "CAST(coalesce(s.json, '') AS BLOB)"  # bytes also of a value that was damaged to NULL
_DAY = "r.book = ? AND r.account = ? AND r.day = ?"
_NEWEST = f"""SELECT {JSON} FROM records r JOIN states s ON s.id = r.state
    WHERE {_DAY} ORDER BY r.time, r.id"""
_OTHERS = (
    "r.id r.client_id r.exchange r.segment r.number r.leg r.repeat r.time r.state"
    " s.id s.fetch s.seen_at"
)
# The order is that of two indexes, so that SQLite need not sort.
_HISTORY = f"""SELECT {JSON}, CAST(coalesce({" || ' ' || ".join(_OTHERS.split())}, '') AS BLOB)
    FROM records r JOIN states s ON s.record = r.id
    WHERE {_DAY} ORDER BY r.time, r.id, s.seen_at, s.id"""
_DAYS = "SELECT book, account, day, fetched, records, newest, history, checksum FROM days"


def read_days(
    connection: sqlite3.Connection, book: str, days: Days, account: str | None = None
) -> dict[AccountDay, Seal]:
    """Returns the seals of these days, of one account or of all.

    Raises:
        Damage: The table of seals does not match its total.
    """
    _check_total(connection)
    found = connection.execute(
        f"{_DAYS} WHERE book = ? AND day BETWEEN ? AND ? AND account = coalesce(?, account)",
        (book, *days.as_texts(), account),
    )
    return {(label, day): seal for _, label, day, seal in _seals(found)}


def checked(
    book: str, rows: Iterable[tuple[str, str, bytes]], seals: dict[AccountDay, Seal]
) -> Iterator[tuple[str, bytes]]:
    """Yields (account, JSON) of rows of (account, day, JSON), each day in its checksum's order.

    Raises:
        Damage: After the last row, if the rows are not exactly those that were sealed.
    """
    seen: dict[AccountDay, tuple[int, int]] = {}
    for account, day, json in rows:
        key = (account, day)
        count, checksum = seen.get(key, (0, 0))
        seen[key] = (count + 1, crc32(json, checksum))
        yield account, json
    for key in seen.keys() | seals.keys():
        seal = seals.get(key, _NOTHING)
        count, checksum = seen.get(key, (0, 0))
        if (count, checksum) != (seal.records, seal.newest):
            raise _mismatch(book, key[1], count, seal)


def check_days(
    connection: sqlite3.Connection, book: str, account: str, days: Iterable[str]
) -> None:
    """Checks all states of the records of these days; call it before anything is added to them.

    Raises:
        Damage: They are not those that were sealed.
    """
    _check_total(connection)
    for day in days:
        key = (book, account, day)
        found = connection.execute(f"{_DAYS} WHERE book = ? AND account = ? AND day = ?", key)
        _check(connection, key, next((seal for *_, seal in _seals(found)), _NOTHING))


def seal_days(
    connection: sqlite3.Connection,
    book: str,
    account: str,
    days: Iterable[str],
    fetched: Collection[str],
) -> None:
    """Seals days whose records changed or that were fetched for the first time.

    Before the change, ``check_days`` must have found them unaltered.

    Args:
        connection: A connection within a transaction.
        book: ``"trades"`` or ``"orders"``.
        account: The label of the account.
        days: The days to seal.
        fetched: Those that a complete response covers; a day that was fetched remains so.
    """
    for day in days:
        key = (book, account, day)
        known = connection.execute(
            "SELECT fetched FROM days WHERE book = ? AND account = ? AND day = ?", key
        ).fetchone()
        is_fetched = day in fetched or known == (1,)
        values = (*key, int(is_fetched), *_measure(connection, key))
        connection.execute(
            "INSERT OR REPLACE INTO days VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*values, _own(values))
        )
    connection.execute(
        "UPDATE totals SET rows = ?, checksum = ? WHERE name = 'days'", _total(connection)
    )


def check_all(connection: sqlite3.Connection) -> None:
    """Checks the structure of the file, every index and every record.

    Raises:
        Damage: Something is missing or was altered.
    """
    check_structure(connection)
    _check_total(connection)
    records = 0
    for book, account, day, seal in _seals(connection.execute(_DAYS).fetchall()):
        _check(connection, (book, account, day), seal)
        records += seal.records
    (found,) = connection.execute("SELECT count(*) FROM records").fetchone()
    (orphans,) = connection.execute(
        "SELECT count(*) FROM states WHERE record NOT IN (SELECT id FROM records)"
    ).fetchone()
    if found != records or orphans:
        raise Damage(f"{found} records instead of {records}, {orphans} states without a record")


def check_structure(connection: sqlite3.Connection) -> None:
    """Lets SQLite check its pages and compare every index with its table.

    Raises:
        Damage: With the first problem that SQLite reports.
    """
    (problem,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if problem != "ok":
        raise Damage(" ".join(problem.split()))


def _check(connection: sqlite3.Connection, key: Key, seal: Seal) -> None:
    measured = _measure(connection, key)
    if measured != seal[1:]:
        raise _mismatch(key[0], key[2], measured[0], seal)


def _measure(connection: sqlite3.Connection, key: Key) -> tuple[int, int, int]:
    """Returns the number of records, and the checksums of their newest and of all their states."""
    records = newest = history = 0
    for (json,) in connection.execute(_NEWEST, key):
        records += 1
        newest = crc32(json, newest)
    for json, others in connection.execute(_HISTORY, key):
        history = crc32(others, crc32(json, history))
    return records, newest, history


def _seals(rows: Iterable[Any]) -> Iterator[tuple[str, str, str, Seal]]:
    """Yields rows of `days` as (book, account, day, seal), each checked by its own checksum."""
    for *values, checksum in rows:
        if _own(tuple(values)) != checksum:
            raise Damage("the table of its days was altered")
        book, account, day, *seal = values
        yield book, account, day, Seal(*seal)


def _own(values: tuple[object, ...]) -> int:
    return crc32(repr(values).encode())


def _total(connection: sqlite3.Connection) -> tuple[int, int]:
    query = "SELECT count(*), coalesce(sum(checksum), 0) FROM days"
    rows, checksum = connection.execute(query).fetchone()
    return rows, checksum


def _check_total(connection: sqlite3.Connection) -> None:
    if read_total(connection, "days") != _total(connection):
        raise Damage("the table of its days is incomplete")


def read_total(connection: sqlite3.Connection, name: str) -> tuple[int, int]:
    """Returns the number of rows that a table should have, and their checksum.

    Raises:
        Damage: The table lacks the entry.
    """
    row = connection.execute("SELECT rows, checksum FROM totals WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise Damage("the table of its totals is incomplete")
    return row[0], row[1]


def _mismatch(book: str, day: str, count: int, seal: Seal) -> Damage:
    if count != seal.records:
        return Damage(f"{count} {book} of {day} instead of {seal.records}")
    return Damage(f"the {book} of {day} were altered")
