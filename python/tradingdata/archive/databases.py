"""DuckDB databases in memory: one that reads and writes, and one for the files of a query."""

from __future__ import annotations

import atexit
import os
import re
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from .._core import without_account_numbers
from .._util.optional_imports import require
from ..errors import ArchiveError

duckdb = require("duckdb", "archive", "an archive")

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from duckdb import DuckDBPyConnection as Connection

Result = TypeVar("Result")

Error: type[Exception] = duckdb.Error
# What reading a damaged file raises: a RuntimeError for text that is not UTF-8.
UNREADABLE = (duckdb.Error, OSError, ValueError, TypeError, RuntimeError)
_OPEN_DATABASES = 5  # the open one, and those that can read the files of a query
_GROUP = 20_480  # rows of a row group
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # Files are replaced, within the second by which a cache would know them.
    "enable_external_file_cache": "false",
    "temp_directory": "",
    "memory_limit": "50%",
}
# What is wrong with a query, and never with files.
MISTAKES = (
    *(duckdb.ParserException, duckdb.SyntaxException, duckdb.BinderException),
    *(duckdb.CatalogException, duckdb.DataError, duckdb.PermissionException),
    *(duckdb.OutOfMemoryException, duckdb.InterruptException),
)
_forked: list[object] = []  # closing a parent's database would wait for its threads


def _database(paths: tuple[str, ...] | None) -> Connection:
    database: Connection = duckdb.connect(config=_CONFIGURATION)
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    if paths is not None:
        # An allowed folder would let a query read everything in it, and write into it.
        allowed = sorted({name for path in paths for name in (path, escaped(path))})
        database.execute(f"SET allowed_paths = [{', '.join(map(quoted, allowed))}]")
        database.execute("SET enable_external_access = false; SET lock_configuration = true")
    return database


_shared = lru_cache(_OPEN_DATABASES)(_database)


def _renew() -> None:
    """Begins anew in a forked child."""
    global _shared
    _forked.append(_shared)
    _shared = lru_cache(_OPEN_DATABASES)(_database)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
atexit.register(lambda: _shared.cache_clear())  # before DuckDB's types are destroyed


def cursor(paths: Iterable[str] | None = None) -> Connection:
    """Returns a connection to the open database, or to one that can read some files alone."""
    return _shared(None if paths is None else tuple(paths)).cursor()


@contextmanager
def connection(paths: Iterable[str] | None = None) -> Iterator[Connection]:
    """Opens a connection with views of its own; with paths, it can read those and no more.

    Account numbers are masked in its errors, and what DuckDB raises of a Ctrl-C is that again.
    """
    with closing(cursor(paths)) as opened:
        try:
            yield opened
        except RuntimeError as error:  # of a Ctrl-C on the main thread
            if type(error) is RuntimeError and "nterrupted" in str(error):
                raise KeyboardInterrupt from None
            raise
        except duckdb.InterruptException:
            raise KeyboardInterrupt from None
        except duckdb.Error as error:
            if isinstance(error, duckdb.FatalException):  # a damaged file can end the database
                _shared.cache_clear()
            redacted(error)
            raise


def redacted(error: Exception) -> str:
    """Masks account numbers in an error, which may quote a value; returns it in one line."""
    text = without_account_numbers(str(error))
    if isinstance(error, duckdb.Error):
        error.args = (text,)
    return " ".join(text.split())


def shortened(error: Exception) -> str:
    """Returns the beginning of a redacted error of a file, which says what is wrong."""
    return redacted(error)[:400]


def interruptible(connection: Connection, work: Callable[[], Result]) -> Result:
    """Returns the result of work on a connection, which Ctrl-C ends on the main thread."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while not wait([future], 0.05).done:
                pass
        except BaseException:
            connection.interrupt()
            raise
        return future.result()


def escaped(path: str) -> str:
    """Returns a path in which DuckDB sees no pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def quoted(text: str) -> str:
    """Returns a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Returns a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def parquet(paths: Iterable[str], options: str = "") -> str:
    """Returns a table of files, which have the same columns unless options say otherwise."""
    listed = ", ".join(quoted(escaped(path)) for path in paths)
    return f"read_parquet([{listed}], hive_partitioning = false{options})"


def write(
    connection: Connection, query: str, path: str, values: Sequence[object] = (), note: str = ""
) -> int:
    """Writes the rows of a query to a Parquet file, with a note in its metadata."""
    # The encodings of Parquet 2 halve a file; Bloom filters, a tenth of it, would serve no query.
    more = f", KV_METADATA {{tradingdata: {quoted(note)}}}" if note else ""
    statement = f"""COPY ({query}) TO {quoted(path)} (FORMAT parquet, PARQUET_VERSION V2,
        WRITE_BLOOM_FILTER false, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE {_GROUP},
        USE_TMP_FILE false{more})"""
    return int(connection.execute(statement, list(values)).fetchall()[0][0])


def read_each(
    paths: Collection[str], read: Callable[[Connection, Collection[str]], dict[str, Result]]
) -> tuple[dict[str, Result], dict[str, str]]:
    """Returns what files have, by path, and what is wrong with those that cannot be read.

    Args:
        paths: The files.
        read: What reads some of them on a connection, all or one alone.
    """
    with suppress(*UNREADABLE), connection() as opened:
        return read(opened, paths), {}
    known: dict[str, Result] = {}
    damaged: dict[str, str] = {}
    for path in paths:
        try:
            with connection() as opened:
                known |= read(opened, [path])
        except UNREADABLE as error:
            damaged[path] = shortened(error)
    return known, damaged


@contextmanager
def explained(root: str, what: str = "read", days: str = "") -> Iterator[None]:
    """Converts failures of the storage into an ArchiveError that says what to do."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        line = shortened(error)
        if what == "read":
            about = f" ({days})" if days else ""
            message = f"{root} is damaged or unreadable{about}: restore a backup ({line})"
        else:
            message = (
                f"{root} could not be written ({line}): check its disk, quota and "
                "permissions, and try again; nothing that it holds is lost"
            )
        raise ArchiveError(message, file=getattr(error, "filename", None) or root) from error
