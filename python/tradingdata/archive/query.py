"""SQL over an archive, for reading only."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from .._util.optional_imports import require
from ..errors import ArchiveError
from . import database
from .views import define_views, hide_personal_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    import polars as pl

_RETRY_AFTER = 0.01  # seconds


class QueryResult(list[tuple[Any, ...]]):
    """The rows of a query, as tuples, with the names of their columns.

    Attributes:
        columns: the names, in order.
    """

    def __init__(self, rows: Iterable[tuple[Any, ...]] = (), columns: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.columns = list(columns)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict for each row, by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self]

    def to_pandas(self) -> pd.DataFrame:
        """A pandas data frame of the rows. Raises ImportError without pandas."""
        pandas = require("pandas", "pandas", "to_pandas()", major=3)
        return pandas.DataFrame(list(self), columns=self.columns)  # type: ignore[no-any-return]

    def to_polars(self) -> pl.DataFrame:
        """A polars data frame of the rows. Raises ImportError without polars."""
        polars = require("polars", "polars", "to_polars()")
        frame: pl.DataFrame = polars.DataFrame(
            list(self), schema=self.columns, orient="row", infer_schema_length=None
        )
        return frame


def _interruptibly(connection: sqlite3.Connection, work: Callable[[], QueryResult]) -> QueryResult:
    """Runs work of SQLite's so that Ctrl-C ends it, or whatever else a signal handler raises."""
    if threading.current_thread() is not threading.main_thread():
        return work()  # no other thread hears signals
    with ThreadPoolExecutor(1, "tradingdata-sql") as pool:
        running = pool.submit(work)
        try:
            return running.result()
        except BaseException:
            while not running.done():
                connection.interrupt()  # of no effect until the statement runs
                wait([running], _RETRY_AFTER)
            raise


def _would_write(error: sqlite3.Error) -> bool:
    refused = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY
    return refused or str(error).startswith("cannot modify")  # a view; that has no code of its own


def run(
    path: str, query: str, parameters: Sequence[Any] | Mapping[str, Any], *, personal: bool
) -> QueryResult:
    """The result of one statement, on one state of the archive."""
    with database.reading(path) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.execute("PRAGMA temp_store = MEMORY")
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
                    "sql() only reads: what is in an archive stays as it was sent", file=path
                ) from error
            raise
