"""Queries of an archive by DuckDB: newest states, checksums, and the user's read-only SQL.

A connection has these tables and views. Of each table NAME of the archive: ``stored_NAME``, its
rows, made of ``table_NAME``, which has its columns, and the files or ``remote_NAME``. Of the log:
``log_files``, its files, ``log_read``, the lines of some days and those that begin or end an
account, and ``log_lines``, the former. Of each book NAME: ``sets_NAME``, the sets of rows that are
stored; ``newest_NAME``, the newest records where a day has several sets; and the views that users
see: ``trades``, ``orders``, ``order_states`` and ``fetches``.
"""

from __future__ import annotations

import json
import re
import threading
from typing import TYPE_CHECKING, Any

import duckdb
from arro3.core import RecordBatchReader

from .. import _core
from ..errors import ArchiveError
from ..table.rows import row_type
from ..table.table import Table
from .coverage import report
from .delta import explained, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from duckdb import DuckDBPyRelation

    from .coverage import MissingDay

    Parameters = Sequence[Any] | Mapping[str, Any]

# The views that users see of each book.
VIEWS = {"trades": ("trades",), "orders": ("orders", "order_states")}
# The number of rows and their checksum, by the set to which they belong.
Sums = dict[Any, tuple[int, int]]
# The fields that identify a record among those of its account and day.
IDENTITY = {record["noun"][1]: record["identity"] for record in _core.records()}
_KEY = {name: f"hash({', '.join(fields)})" for name, fields in IDENTITY.items()}
# SQL by which lines of the log are ordered; a time that is not known comes first.
AGE = "coalesce(received_at, TIMESTAMPTZ 'epoch'), filed_at, rows_in"
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
SET = ["fetch_id", "account", "day", "received_at"]  # what the rows of a set have in common
# The types of DuckDB that the core keeps in each way, and as which it takes them.
_KINDS = {
    "integer": r"\w*INT(EGER)?|DECIMAL\(\d+,0\)",
    "number": r"FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)",
    "timestamp": r"TIMESTAMP[^\[]*",
    "date": "DATE",
}
_TYPES = {"integer": "BIGINT", "number": "DOUBLE", "date": "DATE", "text": "VARCHAR"}
_ZONED = "TIMESTAMP WITH TIME ZONE"
_QUOTE = '"'
_BROKEN = re.compile(r"stream registered as|IOError|OSError|[Pp]arquet")
# What a syntax tree of DuckDB may have: queries, and functions of tables that use no file.
_QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_FUNCTIONS = {"unnest", "range", "generate_series"}
# A name of a table that is no file, which would have a dot, nor one of those behind the views.
_PLAIN = re.compile(
    r"(?!((stored|table|remote|sets|newest)_(trades|orders|fetches)|log_(files|read|lines))$)\w+",
    re.IGNORECASE,
)
_NO_TABLE = re.compile(r"Table with name (\w+) does not exist")


_shared = threading.local()  # making a database takes 20 ms


def connect(*, private: bool = False, only: str | None = None) -> Any:
    """Returns a connection to a database in memory, of this thread or ``private``.

    With ``only``, it can read the files of this folder, and its settings cannot be changed.
    """
    kind = "open" if only is None else "locked"
    folder, database = getattr(_shared, kind, (None, None))
    if private or database is None or folder != only:
        database = duckdb.connect(config=_CONFIGURATION)
        database.execute("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL parquet_metadata_cache = true")
        if only is not None:
            database.execute(f"SET allowed_directories = [{quoted(only)}]")
            database.execute("SET enable_external_access = false; SET lock_configuration = true")
        if private:
            return database
        setattr(_shared, kind, (only, database))
    return database.cursor()


def scalar(connection: Any, query: str, values: Any = None) -> Any:
    """Returns the only value of a query."""
    return connection.execute(query, values).fetchall()[0][0]


def sums_of(rows: DuckDBPyRelation) -> Sums:
    """Returns the sums of the rows of a relation. Raises OSError if they cannot be read."""
    kinds = _kinds_of(rows)
    stored = row_type("Stored", [(name, kind, "") for name, kind in kinds.items()])
    sums = Sums()
    for batch in RecordBatchReader.from_arrow(rows):
        try:
            part = _core.from_arrow(stored, batch, keep_personal_data=True)
        except ValueError as error:
            raise OSError(str(error)) from error
        groups = _core.Groups([part], SET)
        sets = zip(*part.cells(groups.first(), SET), strict=True)
        add_sums(sums, sets, groups, kinds.keys() - {*SET})
    return sums


def add_sums(sums: Sums, sets: Iterable[Any], groups: _core.Groups, columns: Iterable[str]) -> None:
    """Adds groups of rows, which belong to these sets, to the sums.

    The checksum is one of these columns without NULLs, so that a later version may add some.
    """
    found = zip(sets, groups.counts(), groups.checksums(sorted(columns)), strict=True)
    for each, count, checksum in found:
        counted, summed = sums.get(each, (0, 0))
        sums[each] = (counted + count, (summed + checksum) % 2**63)


def stored_sets(connection: Any, name: str) -> None:
    """Makes a table of the sets of rows that are stored, ``sets_NAME``, from ``log_lines``.

    There is one for each account and day, and several where responses differ: ``several`` says so.
    """
    connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE sets_{name} AS
    WITH own AS (FROM log_lines WHERE book = '{name}' AND rows_in IS NOT NULL AND rows_in NOT IN (
        SELECT rows_in FROM log_lines WHERE source = 'compact'))
    SELECT rows_in AS fetch_id, account, day, max(rows) AS rows, (account, day) IN (
        SELECT account, day FROM own GROUP BY ALL HAVING min(rows_in) < max(rows_in)) AS several
    FROM own GROUP BY rows_in, account, day""")


def newest_rows(connection: Any, name: str) -> None:
    """Makes a table of the newest records where there are several sets, ``newest_NAME``.

    For each record, by its identity, it has the set that was received last, and the number of rows
    ``seen`` in all sets. Only the columns of the identity are read.
    """
    connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE newest_{name} AS
    WITH ages AS (
        SELECT rows_in AS fetch_id, max(({AGE})) AS age FROM log_lines
        WHERE rows_in IN (SELECT fetch_id FROM sets_{name} WHERE several) GROUP BY rows_in)
    SELECT arg_max(fetch_id, age) AS fetch_id, {_KEY[name]} AS key, count(*) AS seen
    FROM stored_{name} JOIN ages USING (fetch_id) GROUP BY account, day, key""")


def define(connection: Any, name: str, days: str, present: int) -> None:
    """Makes the views of a book for some days: ``NAME``, and ``order_states`` with ``orders``.

    Must follow `stored_sets` and a view of the rows, whose files have ``present`` rows.

    Raises:
        OSError: There are fewer or more rows than the log says.
    """
    chosen = f"SELECT * FROM stored_{name} WHERE {days} AND fetch_id IN"
    single = f"{chosen} (SELECT fetch_id FROM sets_{name} WHERE NOT several)"
    view = f"FROM stored_{name} WHERE {days}"
    ((wanted, several),) = connection.execute(f"""
    SELECT coalesce(sum(rows), 0), coalesce(bool_or(several), false) FROM sets_{name}""").fetchall()
    if several or present != wanted:  # otherwise the files have these rows and no others
        view, counted = single, f"SELECT count(*) FROM ({single})"
        if several:
            newest_rows(connection, name)
            newest = f"SELECT DISTINCT fetch_id FROM newest_{name}"
            fetches = [str(fetch) for (fetch,) in connection.execute(newest).fetchall()]
            view += f"""
            UNION ALL BY NAME {chosen} ({", ".join(fetches) or "NULL"})
                AND (fetch_id, {_KEY[name]}) IN (
                    SELECT fetch_id, key FROM newest_{name})"""
            counted = f"SELECT ({counted}) + coalesce(sum(seen), 0) FROM newest_{name}"
        if (found := scalar(connection, counted)) != wanted:
            raise OSError(f"{found} rows of the {name} where the log has {wanted}")
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {view}")
    if name == "orders":
        states = f"{chosen} (SELECT rows_in FROM log_lines WHERE book = 'orders')"
        connection.execute(f"CREATE OR REPLACE TEMP VIEW order_states AS {states}")


def find_damage(connection: Any, name: str) -> tuple[int, list[tuple[Any, ...]]]:
    """Returns how many rows were stored, and those that are no longer the same.

    These are tuples of a day, an account and the number of rows that were stored, by the lines of
    the table ``log_all``.
    """
    # The times of a table are in one zone, and those of records in none.
    naive = "* REPLACE (received_at AT TIME ZONE 'UTC' AS received_at)"
    sums = sums_of(connection.sql(f"SELECT {naive} FROM stored_{name}"))
    lines = connection.execute(f"""
    SELECT {", ".join(SET)}, rows, checksum FROM (SELECT {naive} FROM log_all)
    WHERE book = '{name}' AND rows_in = fetch_id AND fetch_id NOT IN (
        SELECT rows_in FROM log_all WHERE source = 'compact')
    ORDER BY day, account""").fetchall()
    damaged = [
        (day, account, count)
        for fetch, account, day, at, count, checksum in lines
        if sums.pop((fetch, account, day, at), None) != (count, checksum)
    ]
    known = {fetch for fetch, *_ in lines}
    damaged += [
        (day, account, count)
        for (fetch, account, day, _), (count, _) in sums.items()
        if fetch in known
    ]
    return sum(count for *_, count, _ in lines), damaged


class QueryResult(Table[Any]):
    """The rows of a query, each with an attribute for each column; a row is also iterable.

    Filters, sorts and exports like any other table. A name that the query uses twice, in any case,
    gets a number: ``price``, ``price_1``. Whole decimals are integers, other decimals numbers, and
    other types that a book does not have are text. Times with a zone are in UTC; if others are
    naive, all are.
    """

    __slots__ = ()


def rows_of(found: DuckDBPyRelation) -> _core.Slice:
    """Returns the rows of a relation, whose columns have different names."""
    kinds = _kinds_of(found)
    try:
        rows = _read(found, kinds)
    except duckdb.ConversionException as error:
        raise duckdb.ConversionException(
            "a whole number is not in -2^63 to 2^63 - 1: use CAST to DOUBLE or VARCHAR"
        ) from error
    # Infinity, which JSON lacks and no book has, is text.
    lost = {name for name, *_ in rows.issues}
    return _read(found, kinds | dict.fromkeys(lost, "text")) if lost else rows


def _kinds_of(found: DuckDBPyRelation) -> dict[str, str]:
    """Returns how the core keeps each column of a relation; other types become text."""
    return {
        name: next(
            (kind for kind, known in _KINDS.items() if re.fullmatch(known, str(each))), "text"
        )
        for name, each in zip(found.columns, found.types, strict=True)
    }


def _read(found: DuckDBPyRelation, kinds: Mapping[str, str]) -> _core.Slice:
    """Returns the rows of a relation, with columns of these names and kinds."""
    times = {
        str(each)
        for each, kind in zip(found.types, kinds.values(), strict=True)
        if kind == "timestamp"
    }
    types = _TYPES | {"timestamp": "TIMESTAMPTZ" if times == {_ZONED} else "TIMESTAMP"}
    columns = ", ".join(
        f'#{at}::{types[kind]} AS "{name.replace(_QUOTE, 2 * _QUOTE)}"'
        for at, (name, kind) in enumerate(kinds.items(), 1)
    )
    row = row_type("Row", [(name, kind, "") for name, kind in kinds.items()])
    # Materialized, since an error of DuckDB would otherwise come as one of the data's producer.
    return _core.from_arrow(row, found.project(columns).materialize(), keep_personal_data=True)


def run(
    connection: Any,
    root: str,
    days: str,
    gaps: Sequence[MissingDay],
    query: str,
    parameters: Parameters | None,
) -> QueryResult:
    """Returns the result of a query over the views of a connection, which can only read them.

    DuckDB may read the files of the archive and no others, and the query's syntax tree has nothing
    in it that writes or that names a file.

    Args:
        connection: A connection that can only read the archive; see `connect`.
        root: The archive, for messages.
        days: The days of the views, for messages.
        gaps: The days of the books that are not there.
        query: The query.
        parameters: Values of its placeholders.

    Raises:
        ArchiveError: The query reads a book with a gap, or would do something else than read.
    """
    tree = json.loads(scalar(connection, "SELECT json_serialize_sql($1)", [query]))
    if tree["error"] and tree["error_type"] == "parser":
        connection.sql(query)  # raises DuckDB's error, which shows the place
    if tree["error"] or len(tree["statements"]) != 1 or not _only_reads(tree):
        raise ArchiveError(
            f"a query of {root} is one SELECT that only reads its views trades, orders, "
            "order_states and fetches: no statement or function that uses files or settings",
            file=root,
        )
    try:
        return QueryResult._over(rows_of(connection.sql(query, params=parameters).materialize()))
    except duckdb.CatalogException as error:
        absent = _NO_TABLE.search(str(error))
        name = absent and absent[1].lower()
        lacking = [gap for gap in gaps if any(name in VIEWS[book] for book in gap.books)]
        report(root, lacking, missing_ok=False)
        raise
    except duckdb.Error as error:
        # A broken page of a file is the base class of errors, which no mistake in a query is.
        if type(error) is duckdb.Error or _BROKEN.search(str(error)):
            with explained(root, days=days):
                raise
        raise


def _only_reads(node: Any) -> bool:
    """Returns whether a syntax tree of DuckDB has only queries of tables with plain names."""
    if isinstance(node, list):
        return all(map(_only_reads, node))
    if not isinstance(node, dict):
        return True
    kind = str(node.get("type", ""))
    if kind.endswith("_NODE") and kind not in _QUERIES:
        return False
    if kind == "TABLE_FUNCTION" and node["function"]["function_name"] not in _FUNCTIONS:
        return False
    if kind == "BASE_TABLE" and not _PLAIN.fullmatch(node["table_name"]):
        return False
    return all(map(_only_reads, node.values()))
