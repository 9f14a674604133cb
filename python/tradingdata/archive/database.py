"""Connections to an archive's file, each for one piece of work, and what their errors mean.

Nothing stays open between calls: an archive can be used by any thread, and after a fork.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .._util.fork_safety import ForkLock
from .._util.time_zones import zone_of_text
from ..errors import ArchiveError
from . import schema
from .views import define_views

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN_PATIENCE = 30.0  # seconds; to open waits only while the last connection of others closes
_RETRY_AFTER = 0.02  # seconds between two tries to write; in Python, so that Ctrl-C is heard
_creating = ForkLock()


@contextmanager
def reading(path: str) -> Iterator[sqlite3.Connection]:
    """A connection that cannot change the file; what it reads is one state of it.

    It is opened as a writer's is, where that is possible: only such a one, as the last that closes,
    clears away the files beside an archive.

    Raises ArchiveError where there is no archive that this version knows.
    """
    with _explained(path), closing(_open_to_read(path)) as connection:
        connection.execute("BEGIN")
        if schema.version_of(connection, path) < len(schema.MIGRATIONS):
            raise ArchiveError(
                f"{path} was written by an earlier version of tradingdata and cannot be read "
                "before it is written to once: open it where it is writable",
                file=path,
            )
        connection.execute("PRAGMA query_only = ON")
        yield connection


@contextmanager
def writing(path: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """A connection within a transaction, which is on the disk when the block has ended.

    Raises ArchiveError where another program writes for longer than ``timeout`` seconds, and where
    the file cannot be written. After an error the file is as it was.
    """
    with _explained(path), closing(_open_to_write(path)) as connection:
        _patiently(connection, "BEGIN IMMEDIATE", timeout)
        try:
            if schema.version_of(connection, path) == len(schema.MIGRATIONS):
                define_views(connection)
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def check_writable(path: str) -> None:
    """Raises ArchiveError where the file cannot be written; that another writes does not count."""
    with _explained(path), closing(_open_to_write(path)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
            # A file that cannot be written gives the lock, where its folder can be written.
            connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS)}")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY:
                raise
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def prepare(path: str, zone: str, timeout: float, *, create: bool) -> None:
    """Makes the file where there is none, and raises an older one to this version's schema.

    Raises ArchiveError where there is none and ``create`` is not set, for a file of another kind
    or of a later version, and where its days are told by the clock of another zone.
    """
    if not os.path.exists(path):
        if not create:
            raise ArchiveError(
                f"there is no archive at {path}; Archive(path) makes one, unless create=False",
                file=path,
            )
        _make_file(path)
    with _explained(path):
        with closing(_open_to_read(path)) as connection:
            connection.execute("BEGIN")  # another program may be making it
            version = schema.version_of(connection, path)
        if version < len(schema.MIGRATIONS):
            _upgrade(path, zone, timeout)
    with reading(path) as connection:
        known = schema.zone_name(connection)
    if known != zone:
        wanted = zone_of_text(known) if known[:1] in "+-" else known  # offsets have no name
        raise ArchiveError(
            f"{path} tells days by the clock of {known}: open it with tz={wanted!r}", file=path
        )


def _make_file(path: str) -> None:
    # Within this process nobody may close the file by itself: that would drop SQLite's locks on it.
    with _creating:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return
        except OSError as error:
            raise ArchiveError(
                f"{path} cannot be made: {error.strerror}; check its folder", file=path
            ) from error


def _upgrade(path: str, zone: str, timeout: float) -> None:
    with closing(_open_to_write(path)) as connection:
        mode = _patiently(connection, "PRAGMA journal_mode = WAL", timeout)
        if mode != "wal":
            raise ArchiveError(
                f"{path} cannot be shared between programs there (its journal is {mode!r}): keep "
                "the archive on a local disk",
                file=path,
            )
        _patiently(connection, "BEGIN IMMEDIATE", timeout)
        try:
            schema.migrate(connection, path, zone)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _connect(path: str, mode: str, patience: float) -> sqlite3.Connection:
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=patience, check_same_thread=False
    )


def _open_to_write(path: str) -> sqlite3.Connection:
    """A connection whose commits are on the disk; from here on it waits for nobody by itself."""
    connection = _connect(path, "rw", _OPEN_PATIENCE)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA busy_timeout = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: str) -> sqlite3.Connection:
    """A connection to read with; also of a file in a folder where nothing can be written."""
    connection = _connect(path, "rw", _OPEN_PATIENCE)
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        unwritable = not os.access(os.path.dirname(path) or ".", os.W_OK)
        if _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or not unwritable:
            raise
        # Without a log beside it, and nobody who could write, the file alone is the archive.
        if not os.path.exists(path) or os.path.exists(f"{path}-wal"):
            raise
        return _connect(path, "ro&immutable=1", _OPEN_PATIENCE)
    except BaseException:
        connection.close()
        raise
    return connection


def _patiently(connection: sqlite3.Connection, statement: str, timeout: float) -> object:
    """Runs a statement that needs the file for itself; returns the first value of its result."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            row = connection.execute(statement).fetchone()
            return row[0] if row else None
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
        time.sleep(_RETRY_AFTER)


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 for an error of Python's own."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


_ADVICE = {
    sqlite3.SQLITE_BUSY: "is being written by another program: try again when that is done, or "
    "wait for it longer with Archive(path, timeout=...)",
    sqlite3.SQLITE_READONLY: "cannot be written: the file, its folder or the disk is read-only",
    sqlite3.SQLITE_FULL: "has no room left on its disk: make room, then try again; what it held "
    "before is whole",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check that its folder is there and that you may "
    "use it",
    sqlite3.SQLITE_PERM: "cannot be opened: you may not use it",
    sqlite3.SQLITE_NOTADB: "is no archive: it is no SQLite file",
    sqlite3.SQLITE_CORRUPT: "is damaged: keep a copy of it, and go back to your last backup or "
    "save what can be read with the program sqlite3 and its command .recover",
    sqlite3.SQLITE_IOERR: "could not be read or written by the system: check the disk and its "
    "quota, then try again; what it held before is whole",
}


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Raises what goes wrong with the file as an ArchiveError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = _code(error)
        if code not in _ADVICE:
            raise
        raise ArchiveError(
            f"{path} {_ADVICE[code]} ({error})", file=path, retryable=code == sqlite3.SQLITE_BUSY
        ) from error
