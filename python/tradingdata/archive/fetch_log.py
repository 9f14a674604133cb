"""The log of an archive: every response stored in it, and every fetch that failed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from . import checksums
from .failures import Damage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    NextResponse = Callable[[str, str | None], str | None]

_COLUMNS = (
    "id book account source at filed_at whole days rows new changed sha256 error message".split()
)
_CONTENT = " || ".join(f"quote({name})" for name in _COLUMNS)
_SELECT = f"SELECT {', '.join(_COLUMNS)}, CAST({_CONTENT} AS BLOB) FROM fetches"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFetch:
    """One entry of an archive's log: a stored response, or a failed fetch.

    Attributes:
        id: Number of the entry in the archive.
        book: ``"trades"`` or ``"orders"``.
        account: The label of the account, or ``None``.
        source: ``"fetch"``, or ``"add"`` for a saved book.
        at: When the response was received or the fetch failed, in the archive's time zone; ``None``
            if unknown, as for a saved book without a time.
        filed_at: When the entry was written, in the archive's time zone.
        whole: Whether the book was one complete response.
        days: The days of its rows; for an empty response, the day on which it was received.
        rows: Number of rows in the book.
        new: Number of rows that were new to the archive.
        changed: Number of rows that the archive had in another state.
        sha256: SHA-256 digest of the stored body in hex; ``None`` for a failure.
        error: Name of the error's class, or ``None``.
        message: The error's message; ``""`` without an error.
    """

    id: int
    book: str
    account: str | None
    source: str
    at: datetime | None
    filed_at: datetime
    whole: bool
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


class Fetched(NamedTuple):
    """The log entries that `Archive.fetch` wrote, one for each book.

    Attributes:
        orders: Entry of the order book.
        trades: Entry of the trade book.
    """

    orders: ArchiveFetch
    trades: ArchiveFetch


class Entry(NamedTuple):
    """A log entry to be written; times are text as `instant` returns it."""

    book: str
    account: str
    source: str
    at: str
    filed_at: str
    whole: bool
    days: Sequence[str] = ()
    rows: int = 0
    sha256: str | None = None
    error: str | None = None
    message: str | None = None


def write(connection: sqlite3.Connection, entry: Entry) -> int:
    """Writes an entry and returns its number; `finish` must follow in the same transaction."""
    values = entry._replace(days=json.dumps(sorted(entry.days)))
    places = ", ".join("?" * len(values))
    columns = ", ".join(Entry._fields)
    done = connection.execute(
        f"INSERT INTO fetches ({columns}, new, changed) VALUES ({places}, 0, 0)", values
    )
    assert done.lastrowid is not None
    return done.lastrowid


def write_failure(
    connection: sqlite3.Connection, book: str, account: str, error: Exception, when: datetime
) -> None:
    """Writes the entry of a fetch that failed."""
    at = instant(when)
    name, message = type(error).__name__, str(error)
    entry = Entry(book, account, "fetch", at, at, whole=False, error=name, message=message)
    finish(connection, write(connection, entry))


def finish(connection: sqlite3.Connection, number: int, *, new: int = 0, changed: int = 0) -> None:
    """Adds the counts to an entry, and the entry to the checksum of the log."""
    connection.execute(
        "UPDATE fetches SET new = ?, changed = ? WHERE id = ?", (new, changed, number)
    )
    *_, content = connection.execute(f"{_SELECT} WHERE id = ?", (number,)).fetchone()
    connection.execute(
        "UPDATE totals SET rows = rows + 1, checksum = checksum + ? WHERE name = 'fetches'",
        (crc32(content),),
    )


def seal(connection: sqlite3.Connection) -> None:
    """Computes the checksum of a log that was written before logs had one."""
    sums = [crc32(content) for *_, content in connection.execute(_SELECT)]
    connection.execute(
        "UPDATE totals SET rows = ?, checksum = ? WHERE name = 'fetches'", (len(sums), sum(sums))
    )


def find(connection: sqlite3.Connection, entry: Entry) -> int | None:
    """Returns the number of the entry of the same response, or None."""
    row = connection.execute(
        "SELECT id FROM fetches WHERE book = ? AND account = ? AND at = ? AND sha256 = ?",
        (entry.book, entry.account, entry.at, entry.sha256),
    ).fetchone()
    return row[0] if row else None


def next_response(connection: sqlite3.Connection, entry: Entry, day: str) -> NextResponse:
    """Returns a function for `merge`: when, between two times, that day was next fetched."""

    def between(after: str, before: str | None) -> str | None:
        (found,) = connection.execute(
            """SELECT min(at) FROM fetches WHERE book = ? AND account = ? AND at > ?
                AND at < coalesce(?, '~') AND sha256 IS NOT NULL AND whole AND rows > 0
                AND days LIKE '%"' || ? || '"%'""",
            (entry.book, entry.account, after, before, day),
        ).fetchone()
        return None if found is None else str(found)

    return between


def is_newest(connection: sqlite3.Connection, entry: Entry) -> bool:
    """Returns whether no later response of the entry's book and account is in the archive."""
    (later,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM fetches WHERE book = ? AND account = ? AND at > ?"
        " AND sha256 IS NOT NULL)",
        (entry.book, entry.account, entry.at),
    ).fetchone()
    return not later


def response_at(connection: sqlite3.Connection, entry: Entry, at: str) -> int:
    """Returns the number of the response of the entry's book and account received at that time."""
    row = connection.execute(
        "SELECT id FROM fetches WHERE book = ? AND account = ? AND at = ? AND sha256 IS NOT NULL",
        (entry.book, entry.account, at),
    ).fetchone()
    if row is None:
        raise Damage("its log lacks a response")
    return int(row[0])


def read(connection: sqlite3.Connection, zone: tzinfo | None, number: int) -> ArchiveFetch:
    """Returns the entry of that number, which this transaction wrote."""
    *row, _ = connection.execute(f"{_SELECT} WHERE id = ?", (number,)).fetchone()
    return _entry(row, zone)


def read_all(connection: sqlite3.Connection, zone: tzinfo | None) -> list[ArchiveFetch]:
    """Returns all entries, in the order in which they were written.

    Raises:
        Damage: The entries do not match their checksum.
    """
    return [_entry(row, zone) for row in _rows(connection)]


def _rows(connection: sqlite3.Connection) -> Iterator[Sequence[object]]:
    found = connection.execute(f"{_SELECT} ORDER BY id").fetchall()
    total = (len(found), sum(crc32(content) for *_, content in found))
    if total != checksums.read_total(connection, "fetches"):
        raise Damage("its log was altered or is incomplete")
    for *row, _ in found:
        yield row


def read_accounts(connection: sqlite3.Connection) -> tuple[str | None, ...]:
    """Returns the labels of the accounts in order, ``None`` for entries without a label.

    Raises:
        Damage: Entries are missing.
    """
    found = connection.execute(
        "SELECT account, count(*) FROM fetches GROUP BY account ORDER BY account"
    ).fetchall()
    wanted, _ = checksums.read_total(connection, "fetches")
    if sum(count for _, count in found) != wanted:
        raise Damage("its log is incomplete")
    return tuple(str(account) if account else None for account, _ in found)


def _entry(row: Sequence[object], zone: tzinfo | None) -> ArchiveFetch:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["account"] = values["account"] or None
    values["at"] = local(str(values["at"]), zone)
    values["filed_at"] = local(str(values["filed_at"]), zone)
    values["whole"] = bool(values["whole"])
    values["days"] = tuple(map(date.fromisoformat, json.loads(str(values["days"]))))
    values["message"] = values["message"] or ""
    return ArchiveFetch(**values)  # type: ignore[arg-type]  # the table's columns are typed


def instant(when: datetime | None) -> str:
    """Returns an aware time in the file's notation, sortable text in UTC; ``""`` for None."""
    if when is None:
        return ""
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def local(text: str, zone: tzinfo | None) -> datetime | None:
    """Returns the time that `instant` wrote, in a time zone."""
    return datetime.fromisoformat(text).astimezone(zone) if text else None
