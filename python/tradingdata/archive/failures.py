"""Conversion of all failures of an archive's file into `ArchiveError`.

Messages name the file and what to do about it. They never quote a record, because it may contain
personal data.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import ArchiveError, DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROBLEMS = {
    sqlite3.SQLITE_BUSY: "is locked by another program",
    sqlite3.SQLITE_READONLY: "is read-only: make the file and its folder writable, or write to a "
    "copy of it",
    sqlite3.SQLITE_FULL: "could not be written because its disk is full: free some space and try "
    "again; the archive is unchanged",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check that its folder exists and that you may use "
    "it",
    sqlite3.SQLITE_PERM: "cannot be opened: you lack permission to use it",
    sqlite3.SQLITE_NOTADB: "is not an archive, or is damaged at its start, because SQLite does not "
    "recognise it: choose another path, or restore a backup",
    sqlite3.SQLITE_IOERR: "could not be read or written: check the disk and its quota, then try "
    "again; the archive is unchanged",
    sqlite3.SQLITE_TOOBIG: "cannot hold a record of this size: save the book with book.save()",
}
_PROBLEMS[sqlite3.SQLITE_LOCKED] = _PROBLEMS[sqlite3.SQLITE_PROTOCOL] = _PROBLEMS[
    sqlite3.SQLITE_BUSY
]
_RETRYABLE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)

# Mistakes of the calling code, which say nothing about the file.
_MISUSE = (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.NotSupportedError)


class Damage(Exception):
    """The file is inconsistent; the message says where, without quoting a record."""


class RejectedQuery(Exception):
    """SQLite rejected the user's query; the argument is its error, which is raised instead."""


def code_of(error: sqlite3.Error) -> int:
    """Returns SQLite's primary result code, or 0 for an error of the `sqlite3` module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Converts every failure of the file into an ArchiveError that says what to do."""
    try:
        yield
    except _MISUSE:
        raise
    except RejectedQuery as error:
        raise error.args[0] from None
    except Damage as error:
        raise _damaged(path, str(error)) from None
    except DecodeError:
        raise _damaged(path, "a record is not valid JSON") from None
    except UnicodeDecodeError:  # SQLite quotes the file's schema in its messages
        raise _damaged(path, "its schema is not valid UTF-8") from None
    except sqlite3.Error as error:
        code = code_of(error)
        if code == 0:
            # The module's own message quotes the text that it could not decode.
            error.args = ()
            raise _damaged(path, "a text is not valid UTF-8") from None
        if code == sqlite3.SQLITE_CANTOPEN and _is_read_only(path):
            code = sqlite3.SQLITE_READONLY
        if code not in _PROBLEMS:
            raise _damaged(path, str(error)) from error
        busy = code in _RETRYABLE
        raise ArchiveError(
            f"{path} {_PROBLEMS[code]} ({error})",
            hint="locked" if busy else None,
            file=path,
            retryable=busy,
        ) from error


def _damaged(path: str, detail: str) -> ArchiveError:
    return ArchiveError(
        f"{path} is damaged ({detail}): restore your last backup, or keep a copy and recover the "
        "readable part with the command .recover of the sqlite3 program",
        file=path,
    )


def _is_read_only(path: str) -> bool:
    """Returns whether the file exists but SQLite cannot write it or create its log beside it."""
    folder = os.path.dirname(path) or "."
    return os.path.exists(path) and not all(os.access(name, os.W_OK) for name in (path, folder))
