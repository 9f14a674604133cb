"""The tables of an archive's file, by schema version.

A released version never changes. A change of the schema is a new version, which must keep files of
older versions readable. The file's `user_version` is the number of versions applied to it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._util.time_zones import zone_of_text
from ..errors import ArchiveError
from . import upgrade
from .failures import Damage
from .views import define_views

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

APPLICATION_ID = 0x74644172  # "tdAr": distinguishes an archive from other SQLite files

_FIRST = (
    "CREATE TABLE archive (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    # `at` is when the response was received or the failure happened, in UTC; '' where not known.
    # `whole` is whether it was one complete response, `days` a JSON array.
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
    # `number` is the order or trade number, `leg` an order's leg or a trade's order number, `state`
    # the newest state.
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
    # `seen_at` is when the first response with this state was received, `fetch` that response.
    """CREATE TABLE states (
        id INTEGER PRIMARY KEY,
        record INTEGER NOT NULL REFERENCES records (id),
        fetch INTEGER NOT NULL REFERENCES fetches (id),
        seen_at TEXT NOT NULL,
        json TEXT NOT NULL
    )""",
    "CREATE INDEX states_by_record ON states (record, seen_at)",
)

# Checksums, which `checksums` explains. `fetched` is whether a complete response covered the day.
_SECOND = (
    """CREATE TABLE days (
        book TEXT NOT NULL CHECK (book IN ('orders', 'trades')),
        account TEXT NOT NULL,
        day TEXT NOT NULL,
        fetched INTEGER NOT NULL,
        records INTEGER NOT NULL,
        newest INTEGER NOT NULL,
        history INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (book, account, day)
    ) WITHOUT ROWID""",
    """CREATE TABLE totals (
        name TEXT PRIMARY KEY,
        rows INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    )""",
    "INSERT INTO totals VALUES ('fetches', 0, 0), ('days', 0, 0)",
)
_SEALED_SINCE = 2

MIGRATIONS: tuple[Iterable[str], ...] = (_FIRST, _SECOND)


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """Returns the schema version of a file, 0 for an empty one; call it within a transaction.

    Raises:
        ArchiveError: The file is the database of another program, or of a later version of this
            package.
        Damage: The file was an archive, but has lost its tables.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID:
        if tables or version or application:
            raise ArchiveError(
                f"{path} is an SQLite database, but not an archive of tradingdata: choose another "
                "path",
                file=path,
            )
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        if os.path.getsize(path) > page:
            raise Damage("it has content, but no tables")
        return 0
    if version > len(MIGRATIONS):
        raise ArchiveError(
            f"{path} was written by a later version of tradingdata (schema {version}; this version "
            f"knows {len(MIGRATIONS)}): update with pip install -U tradingdata",
            file=path,
        )
    if not (version and tables):
        raise Damage("its tables are missing")
    return int(version)


def create_tables(connection: sqlite3.Connection, version: int = 0) -> None:
    """Applies the versions of the schema that follow the given one."""
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)


def migrate(connection: sqlite3.Connection, path: str, zone: str) -> None:
    """Brings a file to the newest version, within the transaction that the caller has begun."""
    version = version_of(connection, path)
    create_tables(connection, version)
    if version == 0:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("INSERT INTO archive VALUES ('zone', ?)", (zone,))
    elif version < _SEALED_SINCE:
        upgrade.seal_all(connection, zone_name(connection))
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    define_views(connection)


def zone_name(connection: sqlite3.Connection) -> str:
    """Returns the time zone that determines the day of an empty response, as text.

    Raises:
        Damage: The file has no valid time zone.
    """
    row = connection.execute("SELECT value FROM archive WHERE name = 'zone'").fetchone()
    name = row[0] if row else None
    if not isinstance(name, str):
        raise Damage("its time zone is missing")
    if name[:1] in "+-":
        try:
            zone_of_text(name)
        except (ValueError, OverflowError):
            raise Damage("its time zone was altered") from None
    return name
