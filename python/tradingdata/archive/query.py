"""Read-only SQL queries over an archive."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from .._util.platform import wait_until
from ..books.column_table import ColumnTable
from ..errors import ArchiveError
from .failures import RejectedQuery, code_of
from .views import define_views, hide_personal_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Parameters = Sequence[Any] | Mapping[str, Any]

_RETRY_AFTER = 0.01  # seconds
_OF_THE_FILE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR)


class QueryResult(list[tuple[Any, ...]], ColumnTable):
    """The rows of a query as tuples, with the names of their columns.

    Exports like any other table. SQLite has types for values rather than columns, so a column has
    the type that all its values have, and text if they differ. If the query uses a name twice,
    exports add the number of the column: ``price``, ``price_3``.

    Attributes:
        columns: The names of the columns, in order.
    """

    def __init__(self, rows: Iterable[tuple[Any, ...]] = (), columns: Iterable[str] = ()) -> None:
        list.__init__(self, rows)
        self.columns = list(columns)

    @property
    def _lists(self) -> dict[str, list[Any]]:
        lists: dict[str, list[Any]] = {}
        for at, name in enumerate(self.columns):
            lists[name if name not in lists else f"{name}_{at}"] = [row[at] for row in self]
        return lists

    @property
    def _kinds(self) -> dict[str, str]:
        return {name: _kind(values) for name, values in self._lists.items()}

    def _take(self, rows: Sequence[int]) -> QueryResult:
        return QueryResult([self[row] for row in rows], self.columns)


def _kind(values: list[Any]) -> str:
    types = {type(value) for value in values} - {type(None)}
    if types == {int}:
        return "integer"
    return "number" if types and types <= {int, float} else "text"


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
    if not personal:
        hide_personal_values(connection)
    define_views(connection, temporary=True, personal=personal)
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
            wait_until(lambda seconds: wait([running], seconds).done)
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
