"""DuckDB databases in memory: one that reads and writes, and one for each folder of queries."""

from __future__ import annotations

import atexit
import os
import re
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from .._core import without_account_numbers
from .._util.optional_imports import require
from ..errors import ArchiveError

duckdb = require("duckdb", "archive", "an archive")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Result = TypeVar("Result")

_OPEN_DATABASES = 5  # the open one, and those that are locked to a folder
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "memory_limit": "50%",
}
_BROKEN = re.compile(r"stream registered as|IOError|OSError|[Pp]arquet|[Nn]o such file")
_forked: list[Any] = []  # closing a parent's database would wait for its threads


def _database(folder: str | None) -> Any:
    database = duckdb.connect(config=_CONFIGURATION)
    database.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL parquet_metadata_cache = true")
    if folder is not None:
        allowed = f"[{quoted(folder)}, {quoted(escaped(folder))}]"
        database.execute(f"SET allowed_directories = {allowed}")
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


def cursor(folder: str | None = None) -> Any:
    """Returns a connection to the database that can only read a folder, or to the open one."""
    return _shared(folder).cursor()


@contextmanager
def connection(folder: str | None = None) -> Iterator[Any]:
    """Opens a connection with views of its own; with a folder, it can read that and no more."""
    with closing(cursor(folder)) as opened:
        try:
            yield opened
        except duckdb.Error as error:
            redacted(error)
            raise
        except RuntimeError as error:  # DuckDB raises it for a Ctrl-C on the main thread
            if "interrupted" in str(error):
                raise KeyboardInterrupt from None
            raise


def redacted(error: Exception) -> str:
    """Masks account numbers in an error, which may quote a value; returns its text."""
    text = without_account_numbers(str(error))
    if isinstance(error, duckdb.Error):
        error.args = (text,)
    return text


def interruptible(connection: Any, work: Callable[[], Result]) -> Result:
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
    """Returns a table of files."""
    listed = [quoted(escaped(path)) for path in paths]
    union = "true" if len(listed) > 1 else "false"  # which takes time for one file too
    return f"""read_parquet([{", ".join(listed)}], hive_partitioning = false,
        union_by_name = {union}{options})"""


def is_damage(error: BaseException) -> bool:
    """Returns whether an error of DuckDB is one of the files and not of the query."""
    # DuckDB raises the base class for a broken page, and subclasses for mistakes in a query.
    return type(error) is duckdb.Error or _BROKEN.search(str(error)) is not None


@contextmanager
def explained(root: str, what: str = "read", days: str = "") -> Iterator[None]:
    """Converts failures of the storage into an ArchiveError that says what to do."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        line = " ".join(redacted(error).split())[:400]
        if what == "read":
            about = f" ({days})" if days else ""
            message = f"{root} is damaged or unreadable{about}: restore a backup ({line})"
        else:
            message = (
                f"{root} could not be written ({line}): check its disk, quota and "
                "permissions, and try again; what it holds is unchanged"
            )
        raise ArchiveError(message, file=root) from error
