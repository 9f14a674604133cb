"""The tables of an archive's file, by version: what a new file gets, and an older one is raised to.

A version is never changed once it was released; a change is one more of them, which must leave what
is there readable. ``user_version`` of the file says how many were applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ArchiveError
from .views import define_views

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

APPLICATION_ID = 0x74644172  # "tdAr": tells an archive from any other SQLite file

_FIRST = (
    "CREATE TABLE archive (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # `at` is when the answer was received, in UTC; of a failure, when it failed; '' is not known.
    """CREATE TABLE fetches (
        id INTEGER PRIMARY KEY,
        book TEXT NOT NULL CHECK (book IN ('orders', 'trades')),
        account TEXT NOT NULL,
        source TEXT NOT NULL CHECK (source IN ('fetch', 'add')),
        at TEXT NOT NULL,
        filed_at TEXT NOT NULL,
        whole INTEGER NOT NULL,
        days TEXT NOT NULL,
        rows INTEGER NOT NULL,
        new INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        sha256 TEXT,
        error TEXT,
        message TEXT
    )""",
    "CREATE UNIQUE INDEX answers ON fetches (book, account, at, sha256) WHERE sha256 IS NOT NULL",
    # `number` is that of the order or the trade, `leg` an order's leg or a trade's order; `state`
    # is the newest.
    """CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        book TEXT NOT NULL CHECK (book IN ('orders', 'trades')),
        account TEXT NOT NULL,
        day TEXT NOT NULL,
        client_id TEXT NOT NULL,
        exchange TEXT NOT NULL,
        segment TEXT NOT NULL,
        number TEXT NOT NULL,
        leg TEXT NOT NULL,
        repeat INTEGER NOT NULL,
        time TEXT NOT NULL,
        state INTEGER NOT NULL,
        UNIQUE (book, account, day, client_id, exchange, segment, number, leg, repeat)
    )""",
    "CREATE INDEX records_by_day ON records (book, day, time)",
    "CREATE INDEX records_by_number ON records (number, book)",
    # `seen_at` is when the first answer that showed this state was received, `fetch` that answer.
    """CREATE TABLE states (
        id INTEGER PRIMARY KEY,
        record INTEGER NOT NULL REFERENCES records (id),
        fetch INTEGER NOT NULL REFERENCES fetches (id),
        seen_at TEXT NOT NULL,
        json TEXT NOT NULL
    )""",
    "CREATE INDEX states_by_record ON states (record, seen_at)",
)

MIGRATIONS: tuple[Iterable[str], ...] = (_FIRST,)


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """The schema version of a file; 0 for an empty one. To be asked within a transaction.

    Raises ArchiveError for the database of another program and for a version from the future.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables or version or application:
            raise ArchiveError(
                f"{path} is an SQLite database, but no archive of tradingdata: choose another path",
                file=path,
            )
        return 0
    if version > len(MIGRATIONS):
        raise ArchiveError(
            f"{path} was written by a later version of tradingdata (schema {version}; this one "
            f"knows {len(MIGRATIONS)}): update it with pip install -U tradingdata",
            file=path,
        )
    return int(version)


def migrate(connection: sqlite3.Connection, path: str, zone: str) -> None:
    """Raises a file to the newest version, within the transaction that the caller has begun."""
    version = version_of(connection, path)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    if version == 0:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("INSERT INTO archive VALUES ('zone', ?)", (zone,))
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    define_views(connection)


def zone_name(connection: sqlite3.Connection) -> str:
    """The zone whose clock gives an empty answer its day."""
    (name,) = connection.execute("SELECT value FROM archive WHERE name = 'zone'").fetchone()
    return str(name)
