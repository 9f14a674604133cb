"""Connections to an archive's file, one for each operation.

No connection remains open between calls, so any thread can use an archive, also after a fork.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .._util.fork_safety import ForkLock
from .._util.platform import create_private_file, keep_siblings_private
from .._util.time_zones import zone_of_text
from ..errors import ArchiveError
from . import schema
from .failures import code_of, explained
from .views import define_views

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPEN_TIMEOUT = 30.0  # seconds; opening only waits while the last other connection closes
_RETRY_AFTER = 0.02  # seconds between two attempts to write; in Python, so that Ctrl-C interrupts
_creating = ForkLock()


@contextmanager
def reading(path: str) -> Iterator[sqlite3.Connection]:
    """Opens a connection that reads one consistent state of the file and cannot change it.

    The connection is opened like a writer's if possible: only such a connection, as the last one to
    close, removes the files beside the archive.

    Raises:
        ArchiveError: The file is not an archive, has an unknown schema version, or is damaged.
    """
    with explained(path), closing(_open_to_read(path)) as connection:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("BEGIN")
        _require_newest(connection, path)
        connection.execute("PRAGMA query_only = ON")
        yield connection


@contextmanager
def writing(path: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """Opens a connection within a transaction, which is on the disk when the block ends.

    After an error the file is unchanged.

    Raises:
        ArchiveError: Another program writes for longer than ``timeout`` seconds, or the file cannot
            be written.
    """
    with explained(path), closing(_open_to_write(path)) as connection:
        _wait_for(connection, "BEGIN IMMEDIATE", timeout)
        _keep_log_private(path)
        with _committed(connection):
            _require_newest(connection, path)
            define_views(connection)
            yield connection


def check_writable(path: str) -> None:
    """Raises ArchiveError if the file cannot be written, unless it is only locked."""
    with explained(path), closing(_open_to_write(path)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
            _keep_log_private(path)
            _require_newest(connection, path)
            # SQLite locks a read-only file in a writable folder, and only fails to write to it.
            connection.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS)}")
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY:
                raise
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def prepare(path: str, zone: str, timeout: float, *, create: bool) -> None:
    """Creates the file if needed, and upgrades an older one to this version's schema.

    Raises:
        ArchiveError: There is no archive and ``create`` is False, the file is of another kind or
            was written by a later version, or it was created with another time zone.
    """
    if not os.path.exists(path):
        if not create:
            raise ArchiveError(f"there is no archive at {path}", hint="create_archive", file=path)
        _make_file(path)
    with explained(path):
        with closing(_open_to_read(path)) as connection:
            connection.execute("BEGIN")  # another program may be creating it
            version = schema.version_of(connection, path)
            known = schema.zone_name(connection) if version else zone
        if not (version or create):
            raise _is_empty(path)
        if version < len(schema.MIGRATIONS):
            known = _upgrade(path, zone, timeout)
    if known != zone:
        wanted = zone_of_text(known) if known[:1] in "+-" else known  # offsets have no name
        raise ArchiveError(
            f"{path} was created with time zone {known}: open it with tz={wanted!r}", file=path
        )


def file_version(path: str) -> object:
    """Returns a value that changes whenever the file, or the log beside it, is written."""
    found: list[tuple[int, int, int] | None] = []
    for name in (path, f"{path}-wal"):
        try:
            status = os.stat(name)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def _require_newest(connection: sqlite3.Connection, path: str) -> None:
    version = schema.version_of(connection, path)
    if version == 0:
        raise _is_empty(path)
    if version < len(schema.MIGRATIONS):
        raise ArchiveError(
            f"{path} was written by an earlier version of tradingdata: open it once with "
            "Archive(path) where it is writable, which upgrades it",
            file=path,
        )


def _is_empty(path: str) -> ArchiveError:
    return ArchiveError(f"{path} is empty and not an archive", hint="create_archive", file=path)


def _make_file(path: str) -> None:
    # Closing any descriptor of a file drops all POSIX locks of the process on it, including those
    # of SQLite in other threads. Only the thread that creates the file may therefore open it here.
    with _creating:
        try:
            create_private_file(path)
        except FileExistsError:
            return
        except OSError as error:
            raise ArchiveError(
                f"{path} cannot be created ({error.strerror}): check its folder", file=path
            ) from error


def _upgrade(path: str, zone: str, timeout: float) -> str:
    """Brings the file to this version's schema; returns its time zone."""
    with closing(_open_to_write(path)) as connection:
        mode = _wait_for(connection, "PRAGMA journal_mode = WAL", timeout)
        if mode != "wal":
            raise ArchiveError(
                f"{path} is on a file system that cannot share it between programs (its journal is "
                f"{mode!r}): move the archive to a local disk",
                file=path,
            )
        _wait_for(connection, "BEGIN IMMEDIATE", timeout)
        _keep_log_private(path)
        with _committed(connection):
            schema.migrate(connection, path, zone)
            return schema.zone_name(connection)


@contextmanager
def _committed(connection: sqlite3.Connection) -> Iterator[None]:
    """Commits the transaction when the block ends, or rolls it back on an error."""
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _connect(path: str, mode: str, timeout: float) -> sqlite3.Connection:
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=timeout, check_same_thread=False
    )


def _keep_log_private(path: str) -> None:
    """To be called once the connection has read the file and before it writes records."""
    keep_siblings_private(path, "-wal", "-shm")


def _open_to_write(path: str) -> sqlite3.Connection:
    """Opens a connection whose commits are flushed to disk and which never waits for a lock."""
    connection = _connect(path, "rw", _OPEN_TIMEOUT)
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA busy_timeout = 0")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: str) -> sqlite3.Connection:
    """Opens a connection for reading, also in a folder that is read-only."""
    connection = _connect(path, "rw", _OPEN_TIMEOUT)
    try:
        connection.execute("PRAGMA user_version").fetchone()
        _keep_log_private(path)
    except sqlite3.OperationalError as error:
        connection.close()
        unwritable = not os.access(os.path.dirname(path) or ".", os.W_OK)
        if (
            code_of(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            or not unwritable
        ):
            raise
        # Without a write-ahead log, and without anyone able to write, the file is complete.
        if not os.path.exists(path) or os.path.exists(f"{path}-wal"):
            raise
        return _connect(path, "ro&immutable=1", _OPEN_TIMEOUT)
    except BaseException:
        connection.close()
        raise
    return connection


def _wait_for(connection: sqlite3.Connection, statement: str, timeout: float) -> object:
    """Runs a statement that locks the file; returns the first value of its result, if any."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            row = connection.execute(statement).fetchone()
            return row[0] if row else None
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
        time.sleep(_RETRY_AFTER)
