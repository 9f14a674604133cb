"""DuckDB databases in memory: one that reads and writes, and one for each folder of queries."""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from .._core import without_account_numbers
from .._util.optional_imports import require

duckdb = require("duckdb", "archive", "an archive")

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")

_OPEN_DATABASES = 4  # that are locked to a folder
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}


_forked: list[Any] = []  # closing a parent's database would wait for its threads


class _Databases:
    """The databases of this process: one for each folder that queries read, and an open one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._known: OrderedDict[str | None, Any] = OrderedDict()

    def cursor(self, folder: str | None) -> Any:
        """Returns a connection to the database that can only read a folder, or to the open one."""
        with self._lock:
            if self._process != os.getpid():  # the threads of a database exist in its process only
                _forked.append(self._known)
                self._process, self._known = os.getpid(), OrderedDict()
            if folder not in self._known:
                self._known[folder] = _database(folder)
            self._known.move_to_end(folder)
            locked = [each for each in self._known if each is not None]
            if len(locked) > _OPEN_DATABASES:
                del self._known[locked[0]]
            return self._known[folder].cursor()

    def renew(self) -> None:
        """Replaces a lock that another thread held when this process was forked."""
        self._lock = threading.Lock()


def _database(folder: str | None) -> Any:
    database = duckdb.connect(config=_CONFIGURATION)
    database.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL parquet_metadata_cache = true")
    database.execute("SET GLOBAL memory_limit = '50%'")
    if folder is not None:
        allowed = f"[{quoted(folder)}, {quoted(escaped(folder))}]"
        database.execute(f"SET allowed_directories = {allowed}")
        database.execute("SET enable_external_access = false; SET lock_configuration = true")
    return database


_databases = _Databases()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_databases.renew)


@contextmanager
def connection(folder: str | None = None) -> Iterator[Any]:
    """Opens a connection with views of its own; with a folder, it can read that and no more."""
    with closing(_databases.cursor(folder)) as opened:
        try:
            yield opened
        except duckdb.Error as error:
            redacted(error)
            raise


def redacted(error: Exception) -> str:
    """Masks account numbers in an error, which may quote a value; returns its text."""
    text = without_account_numbers(str(error))
    if isinstance(error, duckdb.Error):
        error.args = (text,)
    return text


def cursor() -> Any:
    """Returns a connection that remains open as long as a relation of it does."""
    return _databases.cursor(None)


def interruptible(connection: Any, work: Callable[[], Result]) -> Result:
    """Returns the result of work on a connection, which Ctrl-C ends on the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while True:
                try:
                    return future.result(0.05)
                except FutureTimeout:
                    if future.done():
                        raise
        except BaseException:
            if not future.done():
                connection.interrupt()
            raise


def escaped(path: str) -> str:
    """Returns a path in which DuckDB sees no pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def quoted(text: str) -> str:
    """Returns a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"
