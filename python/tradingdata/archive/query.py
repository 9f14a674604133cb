"""SQL over an archive, for reading only."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from .._util.optional_imports import require
from ..errors import ArchiveError
from .failures import RejectedQuery, code_of
from .views import define_views, hide_personal_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    import polars as pl

    Parameters = Sequence[Any] | Mapping[str, Any]

_RETRY_AFTER = 0.01  # seconds
_OF_THE_FILE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR)


class QueryResult(list[tuple[Any, ...]]):
    """The rows of a query as tuples, with the names of their columns.

    Attributes:
        columns: The names, in order.
    """

    def __init__(self, rows: Iterable[tuple[Any, ...]] = (), columns: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.columns = list(columns)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns a dict for each row, by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self]

    def to_pandas(self) -> pd.DataFrame:
        """Returns the rows as a pandas DataFrame.

        Raises:
            ImportError: pandas is not installed, or too old.
        """
        pandas = require("pandas", "pandas", "to_pandas()", major=3)
        return pandas.DataFrame(list(self), columns=self.columns)  # type: ignore[no-any-return]

    def to_polars(self) -> pl.DataFrame:
        """Returns the rows as a polars DataFrame.

        Raises:
            ImportError: polars is not installed.
        """
        polars = require("polars", "polars", "to_polars()")
        frame: pl.DataFrame = polars.DataFrame(
            list(self), schema=self.columns, orient="row", infer_schema_length=None
        )
        return frame


def run(
    connection: sqlite3.Connection,
    path: str,
    query: str,
    parameters: Parameters,
    *,
    personal: bool,
) -> QueryResult:
    """Returns the result of one statement on a checked archive.

    Raises:
        ArchiveError: The statement would write.
        RejectedQuery: SQLite rejects the statement.
    """
    forbid_other_files(connection)
    connection.text_factory = lambda text: text.decode(errors="replace")
    connection.execute("PRAGMA query_only = OFF")
    define_views(connection, temporary=True, personal=personal)
    if not personal:
        hide_personal_values(connection)
    connection.execute("PRAGMA query_only = ON")

    def work() -> QueryResult:
        cursor = connection.execute(query, parameters)
        names = [column[0] for column in cursor.description or ()]
        return QueryResult(cursor.fetchall(), names)

    try:
        return _interruptibly(connection, work)
    except sqlite3.Error as error:
        if _would_write(error):
            raise ArchiveError(
                f"sql() only reads: use fetch() or add() to change {path}",
                file=path,
            ) from error
        if code_of(error) in _OF_THE_FILE:
            raise
        raise RejectedQuery(error) from None


def forbid_other_files(connection: sqlite3.Connection) -> None:
    """Prevents a query from opening another file with ATTACH or VACUUM INTO."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)


def _interruptibly(connection: sqlite3.Connection, work: Callable[[], QueryResult]) -> QueryResult:
    """Runs a query so that Ctrl-C, or any exception from a signal handler, ends it."""
    if threading.current_thread() is not threading.main_thread():
        return work()  # signal handlers only run in the main thread
    with ThreadPoolExecutor(1, "tradingdata-sql") as pool:
        running = pool.submit(work)
        try:
            return running.result()
        except BaseException:
            while not running.done():
                connection.interrupt()  # has no effect before the statement runs
                wait([running], _RETRY_AFTER)
            raise


def _would_write(error: sqlite3.Error) -> bool:
    # SQLite has no code of its own for a statement that writes to a view.
    is_read_only = code_of(error) == sqlite3.SQLITE_READONLY
    return is_read_only or str(error).startswith("cannot modify")
