"""Queries of an archive by DuckDB: newest states, checksums, and the user's read-only SQL.

A connection has these tables and views. Of each table NAME of the archive: ``files_NAME``, the
files to read; ``stored_NAME``, their rows; ``schema_NAME``, the columns of these without rows. Of
the log: ``log_lines``, the lines of some days. Of each book NAME: ``sets_NAME``, the sets of rows
that are stored; ``newest_NAME``, the newest records where a day has several sets; and NAME, the
view that users see.
"""

from __future__ import annotations

import json
import math
import re
import threading
from datetime import UTC
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
    from datetime import date

    import pyarrow as pa

    from .coverage import MissingDay

    Parameters = Sequence[Any] | Mapping[str, Any]
    # The number of rows and their checksum, by the set to which they belong.
    Sums = dict[tuple[int, str, date], tuple[int, int]]

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
SET = ["fetch_id", "account", "day"]  # what the rows of a set have in common
# How the core keeps the values of DuckDB's types in a book; its other columns are integers.
_KINDS = {"VARCHAR": "text", "DOUBLE": "number", "TIMESTAMP": "timestamp", "DATE": "date"}
_BROKEN = re.compile(r"stream registered as|IOError|OSError|[Pp]arquet")
# What a syntax tree of DuckDB may have: queries, and functions of tables that use no file.
_QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_FUNCTIONS = {"unnest", "range", "generate_series"}
# A name of a table that is no file, which would have a dot, nor one of those behind the views.
_PLAIN = re.compile(r"(?!(stored|schema|table|remote|live|log)_)\w+", re.IGNORECASE)
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


def sums_of(rows: Any) -> Sums:
    """Returns the sums of the rows of a relation. Raises OSError if they cannot be read."""
    kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
    del kinds["received_at"]
    fields = [(name, _KINDS.get(kind, "integer"), "") for name, kind in kinds.items()]
    stored = row_type("Stored", fields)
    sums: Sums = {}
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


def seal_of(columns: Iterable[str]) -> str:
    """SQL of the checksum of a line of the log, whatever NULLs a later version appends to it."""
    parts = ", ".join(f'coalesce("{name}"::VARCHAR, chr(30))' for name in columns if name != "seal")
    return f"left(md5(rtrim(concat_ws(chr(31), {parts}), chr(30) || chr(31))), 16)"


def table(connection: Any, name: str, rows: Sequence[Mapping[str, Any]], columns: str) -> Any:
    """Makes a temporary table of rows and returns it; a value that a row lacks is NULL."""
    names = [column.split()[0] for column in columns.split(",")]
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {name} AS "
        f"SELECT r.* FROM (SELECT unnest($rows::STRUCT({columns})[]) AS r)",
        {"rows": [{name: row.get(name) for name in names} for row in rows]},
    )
    return connection.table(name)


def stored_sets(connection: Any, name: str) -> None:
    """Makes a table of the sets of rows that are stored, ``sets_NAME``, from ``log_lines``.

    There is one for each account and day, and several where responses differ: ``several`` says so.
    The greater its ``age``, the later were its rows received.
    """
    connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE sets_{name} AS
    SELECT rows_in AS fetch_id, account, day, max(rows) AS rows,
        count(*) OVER (PARTITION BY account, day) > 1 AS several,
        row_number() OVER (ORDER BY max(({AGE}))) AS age
    FROM log_lines WHERE book = '{name}' AND rows_in IS NOT NULL AND rows_in NOT IN (
        SELECT unnest(dropped) FROM log_lines) GROUP BY rows_in, account, day""")


def newest_rows(connection: Any, name: str) -> None:
    """Makes a table of the newest records where there are several sets, ``newest_NAME``.

    For each record, by its identity, it has the set that was received last, and the number of rows
    ``seen`` in all sets. Only the columns of the identity are read.
    """
    connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE newest_{name} AS
    SELECT arg_max(s.fetch_id, age) AS fetch_id, {_KEY[name]} AS key, count(*) AS seen
    FROM stored_{name} JOIN sets_{name} s USING (fetch_id) WHERE several
    GROUP BY s.account, s.day, key""")


def define(connection: Any, name: str, days: str) -> None:
    """Makes the views of a book for some days: ``NAME``, and ``order_states`` with ``orders``.

    Must follow `stored_sets` and a view of the rows.

    Raises:
        OSError: There are fewer or more rows than the log says.
    """
    chosen = f"SELECT * FROM stored_{name} WHERE {days} AND fetch_id IN"
    single = f"{chosen} (SELECT fetch_id FROM sets_{name} WHERE NOT several)"
    view = f"FROM stored_{name} WHERE {days}"
    ((wanted, several, present),) = connection.execute(f"""
    SELECT coalesce(sum(rows), 0), coalesce(bool_or(several), false),
        (SELECT coalesce(sum(coalesce(num_records, -1)), 0) FROM files_{name})
    FROM sets_{name}""").fetchall()
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
    sums = sums_of(connection.table(f"stored_{name}"))
    lines = connection.execute(f"""
    SELECT fetch_id, account, day, rows, checksum FROM log_all
    WHERE book = '{name}' AND rows_in = fetch_id AND fetch_id NOT IN (
        SELECT unnest(dropped) FROM log_all)
    ORDER BY day, account""").fetchall()
    damaged = [
        (day, account, count)
        for fetch, account, day, count, checksum in lines
        if sums.pop((fetch, account, day), None) != (count, checksum)
    ]
    known = {fetch for fetch, *_ in lines}
    damaged += [
        (day, account, count)
        for (fetch, account, day), (count, _) in sums.items()
        if fetch in known
    ]
    return sum(count for *_, count, _ in lines), damaged


class QueryResult(Table[Any]):
    """The rows of a query, each with an attribute for each column; a row is also iterable.

    Filters, sorts and exports like any other table. A name that the query uses twice gets the
    number of its column: ``price``, ``price_3``. Whole decimals are integers, other decimals
    numbers, and other types that a book does not have are text. Times with a zone are in UTC; if
    others are naive, all are.
    """

    __slots__ = ()

    @classmethod
    def _of_query(cls, table: pa.Table) -> QueryResult:
        from pyarrow import types  # imported late: it takes as long as everything else here

        kinds: dict[str, str] = {}
        lists: dict[str, list[Any]] = {}
        for at, name in enumerate(table.column_names):
            unique = name if name not in kinds else f"{name}_{at}"
            kinds[unique], lists[unique] = _values(table.column(at))
        zones = {each.tz for each in table.schema.types if types.is_timestamp(each)}
        return cls._of_lists(kinds, lists, UTC if zones and None not in zones else None)


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
        found = connection.sql(query, params=parameters)
        return QueryResult._of_query(found.to_arrow_table())
    except duckdb.CatalogException as error:
        absent = _NO_TABLE.search(str(error))
        wanted = "orders" if absent and absent[1] == "order_states" else absent and absent[1]
        lacking = [gap for gap in gaps if wanted in gap.books]
        report(root, lacking, missing_ok=False)
        raise
    except duckdb.Error as error:
        if _BROKEN.search(str(error)):
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


def _values(column: pa.ChunkedArray) -> tuple[str, list[Any]]:
    """Returns the kind of a column and its values; decimals as integers or numbers."""
    from pyarrow import types

    kind, values = column.type, column.to_pylist()
    if types.is_integer(kind) or (types.is_decimal(kind) and kind.scale == 0):
        return "integer", [None if value is None else int(value) for value in values]
    if types.is_floating(kind) or types.is_decimal(kind):
        numbers = [None if value is None else float(value) for value in values]
        if math.inf in numbers or -math.inf in numbers:  # which JSON lacks, and no book has
            return "text", numbers
        return "number", [None if value != value else value for value in numbers]
    if types.is_timestamp(kind):
        return "timestamp", values
    return "date" if types.is_date(kind) else "text", values
