"""All SQL of an archive, by DuckDB: row files, newest states, and the user's read-only queries.

Users see the views ``trades``, ``orders``, ``order_states`` and ``fetches``. The names of tables
behind them begin with ``_td_``, which a query cannot use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date
from typing import Any, NamedTuple, cast

from duckdb import DuckDBPyRelation

from .. import _core
from ..books.book import UNCOUNTED
from ..errors import ArchiveError
from ..table.rows import row_type
from ..table.table import Table
from .coverage import Line, MissingDay, Span, report
from .databases import connection, duckdb, escaped, interruptible, quoted
from .log import Found

Error: type[Exception] = duckdb.Error

Parameters = Sequence[Any] | Mapping[str, Any]

# The views that users see of each book.
VIEWS = {"trades": ("trades",), "orders": ("orders", "order_states")}
_DECLARED = {record["noun"][1]: record for record in _core.records()}
# The fields that identify a record among those of its account and day. The legs of an order share
# its number, an account may have several clients, and a client may trade with itself.
IDENTITY = {
    name: [field for field in (*_DECLARED[name]["identity"], *more) if field != "account"]
    for name, more in {"trades": ("txn_type",), "orders": ()}.items()
}
# The times that determine the day of a row: the first that is known.
TIMES = {name: _DECLARED[name]["event_times"] for name in IDENTITY}
_FORMAT = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20480, USE_TMP_FILE false"
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
_BROKEN = re.compile(r"stream registered as|IOError|OSError|[Pp]arquet|[Nn]o such file")
# What a syntax tree of DuckDB may have: queries, and functions of tables that use no file.
_QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_FUNCTIONS = {"unnest", "range", "generate_series"}
# A name of a table that is no file, which would have a dot, nor one of those behind the views.
_PLAIN = re.compile(r"(?!_td_)\w+", re.IGNORECASE)
_NO_TABLE = re.compile(r"Table with name (\w+) does not exist")
_CONTENT = f"*COLUMNS(lambda name: name NOT IN {('fetch_id', 'received_at', *UNCOUNTED)})"
_FETCHES = [
    ("day", "date"),
    ("account", "text"),
    ("book", "text"),
    ("fetch_id", "text"),
    ("source", "text"),
    ("received_at", "timestamp"),
    ("filed_at", "timestamp"),
    ("covered", "date"),
    ("rows", "integer"),
    ("sha256", "text"),
    ("error", "text"),
    ("message", "text"),
]


class _Arrow:
    """Columns of rows of the core, as many times as they are read."""

    def __init__(self, rows: _core.Slice, names: Sequence[str]) -> None:
        self._rows, self._names = rows, names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows.arrow_stream(list(self._names), "large")


class Content(NamedTuple):
    """The rows of a response, and what is stored with each.

    Attributes:
        book: Which book it is.
        rows: The rows.
        line: The line of the response, with the number of rows of each day.
        by_time: Whether the day of a row is that of its times, if it has one.
        limits: The first and the last day that a time may have.
    """

    book: str
    rows: _core.Slice
    line: Line
    by_time: bool
    limits: tuple[date, date]

    def count_days(self) -> tuple[dict[str, int], int]:
        """Returns the number of rows of each day, and of those with a time beyond the limits."""
        times = TIMES[self.book] if self.by_time else []
        if not times:
            return ({self.line["day"]: len(self.rows)} if len(self.rows) else {}), 0
        groups = _core.Groups([self.rows], [f"{time}.day" for time in times])
        cells = self.rows.cells(groups.first(), times)
        low, high = self.limits
        found: dict[str, int] = {}
        wrong = 0
        for known, count in zip(zip(*cells, strict=True), groups.counts(), strict=True):
            days = [time.date() for time in known if time]
            wrong += 0 if not days or low <= days[0] <= high else count
            fit = [str(day) for day in days if low <= day <= high]
            day = fit[0] if fit else self.line["day"]
            found[day] = found.get(day, 0) + count
        return found, wrong

    def register(self, connection: Any, names: Sequence[str], number: int = 0) -> str:
        """Returns a query of some columns and the day."""
        table = f"_td_rows_{number}"
        connection.register(table, _Arrow(self.rows, names))
        day = f"DATE '{self.line['day']}'"
        dated = [day for day, count in self.line["days"].items() if count]
        if self.by_time and dated != [self.line["day"]]:
            low, high = (f"DATE '{limit}'" for limit in self.limits)
            within = f"BETWEEN {low} AND {high}"
            times = [f"CASE WHEN {t}::DATE {within} THEN {t}::DATE END" for t in TIMES[self.book]]
            day = f"coalesce({', '.join(times)}, {day})"
        return f"SELECT {day} AS day, * FROM {table}"


def writer(connection: Any, month: str, contents: Sequence[Content]) -> Callable[[str], None]:
    """Returns what writes the rows of responses that belong to a month to a file."""
    selects = []
    for number, content in enumerate(contents):
        line = content.line
        names = _core.names_of(content.rows.row_type)
        names = [name for name in names if name != "account"]  # the label is the line's
        account = quoted(line["account"]) if line["account"] else "NULL::VARCHAR"
        at = f"TIMESTAMPTZ '{line['at']}+00'" if line["at"] else "NULL::TIMESTAMPTZ"
        query = f"""
        SELECT day, {account} AS account, {quoted(line["id"])} AS fetch_id, {at} AS received_at,
            * EXCLUDE (day) FROM ({content.register(connection, names, number)})"""
        if any(day[:7] != month for day, count in line["days"].items() if count):
            query += f" WHERE date_trunc('month', day) = DATE '{month}-01'"
        selects.append(query)
    return lambda path: _copy(connection, " UNION ALL BY NAME ".join(selects), path)


def _copy(connection: Any, query: str, path: str) -> None:
    connection.execute(f"COPY ({query}) TO {quoted(path)} ({_FORMAT})")


def covered(
    connection: Any, content: Content, files: Sequence[Found], ids: Sequence[str]
) -> list[str]:
    """Returns those of some responses of which another one has all records.

    A record without its time, or without a part of its identity, is one that has the other parts.
    One without a number is none of another response: nothing proves that they are the same.
    """
    if not files:
        return []
    keys, times = IDENTITY[content.book], TIMES[content.book]
    names = list(dict.fromkeys((*keys, *times)))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE _td_keys AS {content.register(connection, names)}"
    )
    listed = ", ".join(map(quoted, ids))
    rows = _read([each.path for each in files])
    key = f"hash({', '.join(['day', *keys])})"  # half of the time of comparing each field
    left = connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE _td_left AS
    SELECT fetch_id, day, {", ".join(names)} FROM {rows} WHERE fetch_id IN ({listed})
        AND ({keys[0]} IS NULL OR {key} NOT IN (SELECT {key} FROM _td_keys))""").fetchall()
    if left == [(0,)]:
        return sorted(ids)
    similar = " AND ".join(f"(p.{key} IS NULL OR r.{key} = p.{key})" for key in keys)
    undated = " AND ".join(f"p.{time} IS NULL" for time in times)
    vague = " OR ".join(f"p.{key} IS NULL" for key in (*keys, times[0]))
    left = connection.execute(f"""
    SELECT DISTINCT fetch_id FROM _td_left AS p WHERE NOT ({vague}) OR NOT EXISTS (
        SELECT 1 FROM _td_keys AS r WHERE (r.day = p.day OR ({undated}))
        AND p.{keys[0]} IS NOT NULL AND {similar})""").fetchall()
    return sorted(set(ids) - {each for (each,) in left})


def merger(
    connection: Any, book: str, month: str, files: Sequence[Found], rows: int
) -> Callable[[str], None]:
    """Returns what writes the rows of responses in some files to one file.

    Raises OSError if their number is not ``rows``.
    """
    where = f"date_trunc('month', day) = DATE '{month}-01'"
    selects = _selects(connection, files, "merged")
    union = " UNION ALL BY NAME ".join([_empty(book), *selects])
    found = connection.execute(f"SELECT count(*) FROM ({union}) WHERE {where}").fetchall()[0][0]
    if found != rows:
        raise OSError(f"{found} rows of the {book} of {month} where the log has {rows}")
    query = f"SELECT * FROM ({union}) WHERE {where} ORDER BY day, account, fetch_id"
    return lambda path: _copy(connection, query, path)


def _read(paths: Sequence[str]) -> str:
    listed = ", ".join(quoted(escaped(path)) for path in paths)
    by_name = ", union_by_name = true" if len(paths) > 1 else ""
    return f"read_parquet([{listed}], hive_partitioning = false{by_name})"


def _selects(connection: Any, files: Sequence[Found], name: str) -> list[str]:
    """Returns queries of the rows of some responses in files."""
    whole = [each.path for each in files if each.whole]
    found = [f"SELECT * FROM {_read(whole)}"] if whole else []
    for number, (path, ids, _) in enumerate(each for each in files if not each.whole):
        if len(ids) < 100:
            chosen = ", ".join(map(quoted, ids))
        else:
            table = f"_td_{name}_{number}"
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT unnest($1) AS id", [ids]
            )
            chosen = f"FROM {table}"
        found.append(f"SELECT * FROM {_read([path])} WHERE fetch_id IN ({chosen})")
    return found


_empties: dict[str, str] = {}


def _empty(book: str) -> str:
    """Returns a query with the columns of the row files of a book, and no rows."""
    if book not in _empties:
        with connection() as own:
            record = _DECLARED[book]["name"]
            rows = _core.from_rows(record, [])
            names = _core.names_of(rows.row_type)
            own.register("_td_empty", _Arrow(rows, names))
            types = zip(names, own.table("_td_empty").types, strict=True)
            columns = {"day": "DATE", "account": "VARCHAR", "fetch_id": "VARCHAR"}
            columns |= {"received_at": "TIMESTAMPTZ"}
            columns |= {name: str(kind) for name, kind in types if name != "account"}
            columns |= {"extra": "VARCHAR"}
            listed = ", ".join(f'NULL::{kind} AS "{name}"' for name, kind in columns.items())
            _empties[book] = f"SELECT {listed} WHERE false"
    return _empties[book]


class Chosen(NamedTuple):
    """The rows of a view.

    Attributes:
        plain: Files with responses of which all rows of the days are taken.
        mixed: Files with responses of which some rows are taken.
        ranks: Of the latter the responses and the days, each with its place among those of its
            account and day, and whether there are several.
    """

    plain: Sequence[Found]
    mixed: Sequence[Found] = ()
    ranks: Sequence[tuple[str, str, int, bool]] = ()


def define(connection: Any, book: str, view: str, chosen: Chosen, span: Span) -> None:
    """Makes a view of a book for some days."""
    low, high = span.texts()
    selects = _selects(connection, chosen.plain, f"plain_{view}")
    if len(selects) != 1 or chosen.mixed:
        selects.insert(0, _empty(book))  # which has all columns, in their order
    query = f"""
    SELECT * FROM ({" UNION ALL BY NAME ".join(selects)})
    WHERE day BETWEEN DATE '{low}' AND DATE '{high}'"""
    if chosen.mixed:
        ids, days, ranks, several = map(list, zip(*chosen.ranks, strict=True))
        connection.execute(
            f"""CREATE OR REPLACE TEMP TABLE _td_ranks_{view} AS SELECT unnest($1) AS fetch_id,
            unnest($2)::DATE AS day, unnest($3) AS _td_rank, unnest($4) AS _td_several""",
            [ids, days, ranks, several],
        )
        selects = [_empty(book), *_selects(connection, chosen.mixed, f"mixed_{view}")]
        number, *_ = IDENTITY[book]  # without it, a record is all of its values
        keys = ", ".join(["account", "day", *IDENTITY[book]])
        keys += f", CASE WHEN {number} IS NULL THEN _td_hash END"
        query += f"""
        UNION ALL BY NAME SELECT * EXCLUDE (_td_rank, _td_several, _td_hash)
        FROM (SELECT *, hash({_CONTENT}) AS _td_hash FROM ({" UNION ALL BY NAME ".join(selects)}))
        JOIN _td_ranks_{view} USING (fetch_id, day)
        QUALIFY NOT _td_several OR _td_rank = max(_td_rank) OVER (PARTITION BY {keys})"""
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {view} AS {query}")


def define_fetches(connection: Any, lines: Sequence[tuple[Any, ...]]) -> None:
    """Makes the view ``fetches`` of lines, with the columns ``_FETCHES``."""
    row = row_type("Fetch", [(name, kind, "") for name, kind in _FETCHES])
    columns = [list(column) for column in zip(*lines, strict=True)] or [[] for _ in _FETCHES]
    rows = _core.table_of(row, columns, UTC)
    connection.register("_td_fetches", _Arrow(rows, [name for name, _ in _FETCHES]))
    connection.execute("CREATE TEMP VIEW fetches AS FROM _td_fetches")


def rows_of_file(path: str) -> list[tuple[str, str]]:
    """Returns the responses and days of which a row file has rows."""
    with connection() as own:
        query = f"SELECT DISTINCT fetch_id, day::VARCHAR FROM {_read([path])}"
        return [tuple(row) for row in own.execute(query).fetchall()]


def ordered(connection: Any, book: str) -> DuckDBPyRelation:
    """Returns the rows of a book's view by day, time, account and identity."""
    query = f"SELECT * EXCLUDE (fetch_id) FROM {book} ORDER BY {_order(book)}"
    return cast("DuckDBPyRelation", connection.sql(query))


def extras(connection: Any, book: str) -> list[tuple[int, str]]:
    """Returns the rows, as `ordered` has them, with unknown fields or values that did not fit."""
    numbered = f"SELECT row_number() OVER (ORDER BY {_order(book)}) - 1, extra FROM {book}"
    query = f"FROM ({numbered}) AS t(number, extra) WHERE extra IS NOT NULL ORDER BY number"
    return [tuple(row) for row in connection.execute(query).fetchall()]


def _order(book: str) -> str:
    return ", ".join(["day", TIMES[book][0], "account", "row_no", *IDENTITY[book], "fetch_id"])


def states(connection: Any, number: str) -> Any:
    """Makes a table of the states of an order, and returns a relation of it and one of its book."""
    keys = ["account", *IDENTITY["orders"], "received_at", "fetch_id", "row_no"]
    connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE _td_states AS SELECT * FROM order_states
    WHERE order_no = {quoted(number)} ORDER BY {" NULLS FIRST, ".join(keys)}""")
    return (
        connection.sql("SELECT received_at, account FROM _td_states"),
        connection.sql("SELECT * EXCLUDE (fetch_id) FROM _td_states"),
    )


class QueryResult(Table[Any]):
    """The rows of a query, each with an attribute for each column; a row is also iterable.

    Filters, sorts and exports like any other table. A name that the query uses twice, in any case,
    gets a number: ``price``, ``price_1``. Whole decimals are integers, other decimals numbers, and
    other types that a book does not have are text. An infinite number, which JSON lacks, is
    ``None``. Times with a zone are in UTC; if others are naive, all are.
    """

    __slots__ = ()


def rows_of(found: DuckDBPyRelation) -> _core.Slice:
    """Returns the rows of a relation, whose columns have different names."""
    kinds = {
        name: next(
            (kind for kind, known in _KINDS.items() if re.fullmatch(known, str(each))), "text"
        )
        for name, each in zip(found.columns, found.types, strict=True)
    }
    times = {
        str(each)
        for each, kind in zip(found.types, kinds.values(), strict=True)
        if kind == "timestamp"
    }
    types = _TYPES | {"timestamp": "TIMESTAMPTZ" if times == {_ZONED} else "TIMESTAMP"}
    columns = []
    for at, (name, kind) in enumerate(kinds.items(), 1):
        value = f"#{at}::{types[kind]}"
        if kind in ("number", "timestamp", "date"):
            value = f"CASE WHEN isfinite({value}) THEN {value} END"
        columns.append(f'{value} AS "{name.replace(_QUOTE, 2 * _QUOTE)}"')
    row = row_type("Row", [(name, kind, "") for name, kind in kinds.items()])
    try:
        # Materialized, since an error of DuckDB would otherwise come as one of the data's producer.
        content = found.project(", ".join(columns)).materialize()
        return _core.from_arrow(row, content, keep_personal_data=True)
    except duckdb.ConversionException:
        raise duckdb.ConversionException(
            "a whole number is not in -2^63 to 2^63 - 1: use CAST to DOUBLE or VARCHAR"
        ) from None


def is_damage(error: BaseException) -> bool:
    """Returns whether an error of DuckDB is one of the files and not of the query."""
    # A broken page of a file is the base class of errors, which no mistake in a query is.
    return type(error) is duckdb.Error or _BROKEN.search(str(error)) is not None


def run(
    connection: Any,
    root: str,
    gaps: Sequence[MissingDay],
    query: str,
    parameters: Parameters | None,
) -> QueryResult:
    """Returns the result of a query over the views of a connection, which can only read them.

    DuckDB may read the files of the archive and no others, and the query's syntax tree has nothing
    in it that writes or that names a file.

    Args:
        connection: A connection that can only read the archive; see `connection`.
        root: The archive, for messages.
        gaps: The days of the books that are not there.
        query: The query.
        parameters: Values of its placeholders.

    Raises:
        ArchiveError: The query reads a book with a gap, or would do something else than read.
    """
    found = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()
    tree = json.loads(found[0][0])
    if tree["error"] and tree["error_type"] == "parser":
        connection.sql(query)  # raises DuckDB's error, which shows the place
    if tree["error"] or len(tree["statements"]) != 1 or not _only_reads(tree):
        raise ArchiveError(
            f"a query of {root} is one SELECT that only reads its views trades, orders, "
            "order_states and fetches: no statement or function that uses files or settings",
            file=root,
        )
    try:
        return interruptible(
            connection,
            lambda: QueryResult._over(
                rows_of(connection.sql(query, params=parameters).materialize())
            ),
        )
    except duckdb.CatalogException as error:
        absent = _NO_TABLE.search(str(error))
        name = absent and absent[1].lower()
        lacking = [gap for gap in gaps if any(name in VIEWS[book] for book in gap.books)]
        report(root, lacking, missing_ok=False)
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
