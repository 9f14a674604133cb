"""The log of an archive: every answer that it was given, and every fetch that failed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence
    from datetime import tzinfo

    NextAnswer = Callable[[str, str | None], str | None]

_COLUMNS = (
    "id, book, account, source, at, filed_at, whole, days, rows, new, changed, sha256, error,"
    " message"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFetch:
    """One answer that an archive was given, or one fetch that failed.

    Attributes:
        id: its number in the archive.
        book: ``"trades"`` or ``"orders"``.
        account: the label of the account, or ``None``.
        source: ``"fetch"``, or ``"add"`` for a saved book.
        at: when the answer was received, or the fetch failed, in the archive's zone; ``None`` where
            a saved book does not know.
        filed_at: when it was written to the archive, in its zone.
        whole: whether it was one whole answer of the service, not a part of one.
        days: the days of its rows; of an empty answer, the day on the archive's clock.
        rows: records in it.
        new: how many of them the archive had not seen.
        changed: how many it had seen in another state.
        sha256: the digest of the body as it was kept, in hex; ``None`` for a failure.
        error: the name of the error's class, or ``None``.
        message: the error's message; ``""`` where there was none.
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
        """Whether the service answered."""
        return self.error is None


class Fetched(NamedTuple):
    """What ``archive.fetch`` kept: the entry of each book."""

    orders: ArchiveFetch
    trades: ArchiveFetch


class Entry(NamedTuple):
    """What is written of an answer or a failure; times are text in UTC."""

    book: str
    account: str
    source: str
    at: str
    filed_at: str
    whole: bool
    days: Sequence[str] = ()
    rows: int = 0
    new: int = 0
    changed: int = 0
    sha256: str | None = None
    error: str | None = None
    message: str | None = None


def write(connection: sqlite3.Connection, entry: Entry) -> int:
    """Writes an entry and returns its number."""
    values = entry._replace(days=json.dumps(sorted(entry.days)))
    places = ", ".join("?" * len(values))
    columns = _COLUMNS.removeprefix("id, ")
    done = connection.execute(f"INSERT INTO fetches ({columns}) VALUES ({places})", values)
    assert done.lastrowid is not None
    return done.lastrowid


def find(connection: sqlite3.Connection, entry: Entry) -> int | None:
    """The number of the same answer, where the archive has it already."""
    row = connection.execute(
        "SELECT id FROM fetches WHERE book = ? AND account = ? AND at = ? AND sha256 = ?",
        (entry.book, entry.account, entry.at, entry.sha256),
    ).fetchone()
    return row[0] if row else None


def next_answer(connection: sqlite3.Connection, entry: Entry, day: str) -> NextAnswer:
    """A function for `content.merge`: when, between two times, a whole answer showed that day."""

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
    """Whether no answer of the entry's book and account was received after it."""
    (later,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM fetches WHERE book = ? AND account = ? AND at > ?"
        " AND sha256 IS NOT NULL)",
        (entry.book, entry.account, entry.at),
    ).fetchone()
    return not later


def answer_at(connection: sqlite3.Connection, entry: Entry, at: str) -> int:
    """The number of the answer of the entry's book and account that was received then."""
    row = connection.execute(
        "SELECT id FROM fetches WHERE book = ? AND account = ? AND at = ? AND sha256 IS NOT NULL",
        (entry.book, entry.account, at),
    ).fetchone()
    return int(row[0])


def read(connection: sqlite3.Connection, zone: tzinfo, number: int) -> ArchiveFetch:
    """The entry of that number."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM fetches WHERE id = ?", (number,)).fetchone()
    return _entry(row, zone)


def read_all(
    connection: sqlite3.Connection, zone: tzinfo, account: str | None
) -> list[ArchiveFetch]:
    """The entries, in the order in which they were written; of one account where it is given."""
    query = f"SELECT {_COLUMNS} FROM fetches WHERE account = coalesce(?, account) ORDER BY id"
    return [_entry(row, zone) for row in connection.execute(query, (account,))]


def read_accounts(connection: sqlite3.Connection) -> tuple[str | None, ...]:
    """The labels of the accounts, ``None`` for entries without one, in order."""
    query = "SELECT DISTINCT account FROM fetches ORDER BY account"
    return tuple(account or None for (account,) in connection.execute(query))


def _entry(row: Sequence[object], zone: tzinfo) -> ArchiveFetch:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    values["account"] = values["account"] or None
    values["at"] = local(str(values["at"]), zone)
    values["filed_at"] = local(str(values["filed_at"]), zone)
    values["whole"] = bool(values["whole"])
    values["days"] = tuple(map(date.fromisoformat, json.loads(str(values["days"]))))
    values["message"] = values["message"] or ""
    return ArchiveFetch(**values)  # type: ignore[arg-type]  # the table's columns are typed


def instant(when: datetime | None) -> str:
    """An aware time as the file holds it: text in UTC that sorts; ``""`` for none."""
    if when is None:
        return ""
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def local(text: str, zone: tzinfo) -> datetime | None:
    """The time that ``instant`` wrote, in a zone."""
    return datetime.fromisoformat(text).astimezone(zone) if text else None
