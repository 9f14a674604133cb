"""All SQL of an archive, by DuckDB: row files, newest states, and the user's read-only queries.

Users see the views ``trades``, ``orders``, ``order_states`` and ``fetches``. The names of tables
behind them begin with ``_td_``, which a query cannot use.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any, NamedTuple

from duckdb import DuckDBPyRelation

from .. import _core
from .._util.validate import shown
from ..books.book import UNCOUNTED
from ..errors import ArchiveError, ConfigurationError
from ..table.rows import row_type
from ..table.table import Table
from .coverage import Line, MissingDay, Span, report
from .databases import connection as opened
from .databases import duckdb, interruptible, parquet, quoted, quoted_name

_LONGEST = 250_000  # characters of a query
_GROUP = 20_480  # rows of a row group
Parameters = Sequence[Any] | Mapping[str, Any]
Taken = tuple[str, str, str, int, bool]

Error: type[Exception] = duckdb.Error
# The views that users see of each book.
VIEWS = {"trades": ("trades",), "orders": ("orders", "order_states")}
_DECLARED = {record["noun"][1]: record for record in _core.records()}
# The fields that identify a record among those of its account and day. The legs of an order share
# its number, an account may have several clients, and a client may trade with itself.
IDENTITY = {
    name: [field for field in (*_DECLARED[name]["identity"], *more) if field != "account"]
    for name, more in {"trades": ("txn_type",), "orders": ()}.items()
}
# Meets records without a number, which cannot be matched with those of other responses.
_UNNUMBERED = {name: f"coalesce({fields[0]}, '') IN ('', '0')" for name, fields in IDENTITY.items()}
# The times that determine the day of a row: the first that is known.
TIMES = {name: _DECLARED[name]["event_times"] for name in IDENTITY}
# How the rows of a day are sorted.
SORTED = {
    name: list(dict.fromkeys((TIMES[name][0], "client_id", "row_no", *fields)))
    for name, fields in IDENTITY.items()
}
# The kind of column that the core makes of each DuckDB type.
_KINDS = {
    "integer": r"\w*INT(EGER)?|DECIMAL\(\d+,0\)",
    "number": r"FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)",
    "timestamp": r"TIMESTAMP[^\[]*",
    "date": "DATE",
    "text": ".*",
}
_TYPES = dict(zip(_KINDS, ("BIGINT", "DOUBLE", "TIMESTAMP", "DATE", "VARCHAR"), strict=True))
_ZONED = "TIMESTAMP WITH TIME ZONE"
# The columns of row files, in their order.
_COLUMNS = {
    name: {"day": "DATE", "account": "VARCHAR", "fetch_id": "VARCHAR", "received_at": _ZONED}
    | {
        field: _TYPES[kind]
        for field, kind, *_ in _core.fields_of(_DECLARED[name]["name"])
        if field != "account"
    }
    | {"extra": "VARCHAR", "sent": "VARCHAR"}
    for name in IDENTITY
}
_EMPTY = {
    name: "SELECT {} WHERE false".format(
        ", ".join(f"NULL::{x[1]} AS {x[0]}" for x in columns.items())
    )
    for name, columns in _COLUMNS.items()
}
_FETCHES = {
    "day": "DATE",
    **dict.fromkeys(("account", "book", "fetch_id", "source"), "VARCHAR"),
    **dict.fromkeys(("received_at", "filed_at"), "TIMESTAMPTZ"),
    "covered": "DATE",
    "rows": "BIGINT",
    **dict.fromkeys(("sha256", "error", "message"), "VARCHAR"),
}
# The columns in which equal records of two responses may differ.
_APART = ("fetch_id", "received_at", "sent", "filename", "_td_place", *UNCOUNTED)
_CONTENT = f"*COLUMNS(lambda name: name NOT IN {_APART})"
# What a syntax tree of DuckDB may have: queries, and functions of tables that use no file.
_QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_FUNCTIONS = {"unnest", "range", "generate_series"}
# The names of tables that a query may use: no file names, and no tables behind the views.
_PLAIN = re.compile(r"(?!_td_)\w+", re.IGNORECASE)
_NO_TABLE = re.compile(r"Table with name (\w+) does not exist")


class _Arrow:
    """Columns of rows of the core, as many times as they are read."""

    def __init__(self, rows: _core.Slice, names: Sequence[str]) -> None:
        self._rows, self._names = rows, names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows.arrow_stream(list(self._names), "view")


class Content(NamedTuple):
    """The rows of a response, and what is stored with each.

    Attributes:
        book: Which book it is.
        rows: The rows.
        sent: The text of each row as it was sent, if some of its values did not fit; or nothing.
        line: The line of the response, with the number of rows of each day.
        limits: The first and the last day that a time may have, or nothing if the day of each row
            is that of the response.
    """

    book: str
    rows: _core.Slice
    sent: _core.Slice | None
    line: Line
    limits: tuple[date, date] | None

    def count_days(self) -> tuple[dict[str, int], int]:
        """Returns the number of rows of each day, and of those with a time beyond the limits."""
        if not self.limits or not len(self.rows):
            return ({self.line["day"]: len(self.rows)} if len(self.rows) else {}), 0
        times, (low, high) = TIMES[self.book], self.limits
        groups = _core.Groups([self.rows], [f"{time}.day" for time in times])
        cells = zip(*self.rows.cells(groups.first(), times), strict=True)
        counts: Counter[str] = Counter()
        wrong = 0
        for known, count in zip(cells, groups.counts(), strict=True):
            days = [time.date() for time in known if time]
            wrong += 0 if not days or low <= days[0] <= high else count
            day = next((str(day) for day in days if low <= day <= high), self.line["day"])
            counts[day] += count
        return dict(counts), wrong

    def identities(self) -> bytes:
        """Returns the day and a hash of the identity of each row; nothing if one has none."""
        days = [str(day) for day, count in self.line["days"].items() if count]
        names = IDENTITY[self.book]
        if len(days) != 1 or len(self.rows.where([(names[0], "eq", "all", True, ["", "0"])])):
            return b""
        return days[0].encode() + self.rows.hashes(names)

    @property
    def _within(self) -> str:
        return "BETWEEN DATE '{}' AND DATE '{}'".format(*self.limits or ())

    def query(self, connection: Any, names: Sequence[str] = (), number: int = 0) -> str:
        """Returns a query of some columns or all, and the day."""
        table, day = f"_td_rows_{number}", f"DATE '{self.line['day']}'"
        known = _core.names_of(self.rows.row_type)
        connection.register(table, _Arrow(self.rows, names or known))
        if self.limits:
            within = "CASE WHEN {0}::DATE {1} THEN {0}::DATE END"
            times = [within.format(time, self._within) for time in TIMES[self.book]]
            day = f"coalesce({', '.join(times)}, {day})"
        extra = "" if "extra" in known else ", NULL::VARCHAR AS extra"
        source = f"SELECT {day} AS day, {table}.*{extra}"
        if names or self.sent is None:
            return f"{source}, NULL::VARCHAR AS sent FROM {table}"
        connection.register(f"_td_sent_{number}", _Arrow(self.sent, ["sent"]))
        return f"{source}, sent FROM {table} POSITIONAL JOIN _td_sent_{number}"


def write_month(
    connection: Any, month: str, contents: Sequence[Content], rows: int, path: str
) -> None:
    """Writes the rows of responses that belong to a month to a file."""
    selects = []
    for number, content in enumerate(contents):
        line = content.line
        account = quoted(line["account"]) if line["account"] else "NULL::VARCHAR"
        at = f"TIMESTAMPTZ '{line['at']}+00'" if line["at"] else "NULL::TIMESTAMPTZ"
        query = f"""
        SELECT day, {account} AS account, {quoted(line["id"])} AS fetch_id, {at} AS received_at,
            * EXCLUDE (day, account) FROM ({content.query(connection, number=number)})"""
        if any(day[:7] != month for day, count in line["days"].items() if count):
            query += f" WHERE date_trunc('month', day) = DATE '{month}-01'"
        selects.append(query)
    _copy(connection, selects, path, rows)


def merge(
    book: str, month: str, files: Sequence[tuple[str, str]], rows: int
) -> Callable[[str], None]:
    """Returns what writes the rows of responses, each in a file, to one file."""

    def write(path: str) -> None:
        with opened() as own:
            query = f"""
            SELECT * EXCLUDE file_row_number FROM ({response_rows(own, book, files, "merged")})
            WHERE date_trunc('month', day) = DATE '{month}-01'
            ORDER BY day, account, fetch_id, file_row_number"""
            _copy(own, [query], path, rows)

    return write


def _copy(connection: Any, selects: Sequence[str], path: str, rows: int) -> None:
    """Writes a file. Raises OSError if it has another number of rows."""
    # The encodings of Parquet 2 halve a file; no query here profits from Bloom filters, a tenth. A
    # dictionary of more than a tenth of the values takes more time and space than other encodings.
    limit = max(1, min(rows, _GROUP) // 10)
    written = connection.execute(
        f"""COPY ({" UNION ALL BY NAME ".join(selects)}) TO {quoted(path)}
        (FORMAT parquet, PARQUET_VERSION V2, WRITE_BLOOM_FILTER false, COMPRESSION zstd,
        COMPRESSION_LEVEL 1, ROW_GROUP_SIZE {_GROUP}, DICTIONARY_SIZE_LIMIT {limit},
        USE_TMP_FILE false)"""
    ).fetchall()[0][0]
    if written != rows:
        raise OSError(f"{written} rows where the log has {rows}")


def covered(
    connection: Any, content: Content, files: Sequence[tuple[str, str]], *, whole: bool
) -> list[str]:
    """Returns those of some responses, each in files, of which another one has all records.

    A record without its time, or without a part of its identity, is one that has the other parts.
    One without a number is none of another response: nothing proves that they are the same.
    """
    if not files:
        return []
    ids = {one for _, one in files}
    keys, times = IDENTITY[content.book], TIMES[content.book]
    names = list(dict.fromkeys((*keys, *times)))
    # Comparing hashes takes half the time of comparing fields; NULL equals nothing.
    key = f"hash({', '.join(['day', *keys])})"
    query = content.query(connection, names)
    # Leaves out columns that older files lack, which would take a fifth of the time.
    every = f"FROM {parquet(sorted({path for path, _ in files}))}"
    source = every if whole else response_rows(connection, content.book, files, "front")
    left = connection.execute(f"""
    CREATE OR REPLACE TEMP TABLE _td_left AS SELECT * EXCLUDE key FROM (
        SELECT fetch_id, day, {", ".join(names)},
            CASE WHEN NOT {_UNNUMBERED[content.book]} THEN {key} END AS key FROM ({source}))
    ANTI JOIN (SELECT {key} AS key FROM ({query})) USING (key)""").fetchall()
    if left == [(0,)]:
        return sorted(ids)
    similar = " AND ".join(f"(p.{key} IS NULL OR r.{key} = p.{key})" for key in keys)
    undated = " AND ".join(f"p.{time} IS NULL" for time in times)
    vague = " OR ".join(f"p.{key} IS NULL" for key in (*keys, times[0]))
    left = connection.execute(f"""
    SELECT DISTINCT fetch_id FROM _td_left AS p WHERE NOT ({vague}) OR NOT EXISTS (
        SELECT 1 FROM ({query}) AS r WHERE (r.day = p.day OR ({undated}))
        AND NOT {_UNNUMBERED[content.book]} AND {similar})""").fetchall()
    return sorted(ids - {identity for (identity,) in left})


def response_rows(connection: Any, book: str, files: Sequence[tuple[str, str]], name: str) -> str:
    """Returns a query of the rows of responses, each in a file: all columns and their places."""
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE _td_{name} AS
        SELECT unnest($1) AS filename, unnest($2) AS fetch_id""",
        [[path for path, _ in files], [one for _, one in files]],
    )
    added = ", filename = true, file_row_number = true"
    table = parquet(sorted({path for path, _ in files}), added)
    return f"""{_EMPTY[book]} UNION ALL BY NAME
    SELECT * EXCLUDE filename FROM {table} SEMI JOIN _td_{name} USING (filename, fetch_id)"""


def complete(
    connection: Any, book: str, query: str, without: Sequence[str] = ()
) -> tuple[str, DuckDBPyRelation]:
    """Returns a query of files with the columns that older ones lack, and its relation."""
    columns = {name: _COLUMNS[book][name] for name in _COLUMNS[book] if name not in without}
    select = f"SELECT * EXCLUDE ({', '.join(without)}) FROM" if without else "FROM"
    with suppress(duckdb.BinderException):  # one to leave out is missing
        relation = connection.sql(f"{select} ({query})")
        if dict(zip(relation.columns, map(str, relation.types), strict=True)) == columns:
            return query, relation
    union = f"{_EMPTY[book]} UNION ALL BY NAME {query}"  # takes a fifth of the time
    return union, connection.sql(f"{select} ({union})")


def newest_rows(
    connection: Any, book: str, view: str, taken: Sequence[Taken], *, is_plain: bool
) -> str:
    """Returns the query of a view of a book, which may not be `complete` if it ``is_plain``.

    Args:
        connection: The connection.
        book: The name of the book.
        view: The name of the view.
        taken: Rows by file, response and day; the place of the response among those of the account
            and the day, and whether there are others, of which the last that has a record counts.
        is_plain: Whether these are all rows of their files, and none replaces another.
    """
    if not taken:
        return _EMPTY[book]
    if is_plain:
        return f"SELECT * FROM {parquet(sorted({path for path, *_ in taken}))}"
    files = parquet(sorted({path for path, *_ in taken}), ", filename = true")
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE _td_taken_{view} AS SELECT unnest($1) AS filename,
        unnest($2) AS fetch_id, unnest($3)::DATE AS day, unnest($4) AS _td_place,
        unnest($5) AS _td_several""",
        [*map(list, zip(*taken, strict=True))],
    )
    rows = f"FROM {files} JOIN _td_taken_{view} USING (filename, fetch_id, day)"
    # Without a number, a record is all of its values. If each response has one record of a number,
    # a field that one of them lacks, or a side that a later one corrects, makes no other record.
    number, *fields = IDENTITY[book]
    apart = (
        f"CASE WHEN min({field}) OVER one IS DISTINCT FROM max({field}) OVER one THEN {field} END"
        for field in fields
        if field != "txn_type"
    )
    return f"""
    SELECT * EXCLUDE (filename, _td_place, _td_several, _td_hash, _td_count, _td_key) FROM (
        {_EMPTY[book]} UNION ALL BY NAME
        SELECT *, NULL AS _td_hash, NULL AS _td_count, NULL AS _td_key {rows} WHERE NOT _td_several
        UNION ALL BY NAME
        FROM (
            SELECT *, CASE WHEN {_UNNUMBERED[book]} THEN _td_hash
                WHEN max(_td_count) OVER one > 1 THEN hash({", ".join(fields)})
                ELSE hash({", ".join(apart)}) END AS _td_key
            FROM (
                SELECT *, hash({_CONTENT}) AS _td_hash,
                    count(*) OVER (PARTITION BY fetch_id, account, day, {number}) AS _td_count
                {rows} WHERE _td_several
            ) WINDOW one AS (PARTITION BY account, day, {number})
        ) QUALIFY _td_place = max(_td_place) OVER (PARTITION BY account, day, {number}, _td_key))"""


def ordered(book: str) -> str:
    """Returns the end of a query of a view of a book that sorts its rows."""
    return f"ORDER BY {', '.join(['day', *SORTED[book], 'account', 'fetch_id'])}"


def define_fetches(connection: Any, lines: Iterable[Line], span: Span) -> None:
    """Makes the view ``fetches``."""
    records = [
        line
        | {"fetch_id": line["id"], "received_at": line["at"], "filed_at": line["filed"]}
        | {"day": day, "rows": rows, "covered": day if day in line["covered"] else None}
        for line in lines
        for day, rows in line["days"].items()
        if span.has(day)
    ]
    connection.execute(
        f"""CREATE TEMP TABLE fetches AS SELECT * REPLACE (nullif(account, '') AS account) FROM (
        SELECT unnest(from_json($1, '{json.dumps([_FETCHES])}'), recursive := true))""",
        [json.dumps(records)],
    )


def states(connection: Any, query: str, number: str) -> Any:
    """Makes a table of the states of an order, and returns a relation of it and one of its book."""
    keys = ["account", *IDENTITY["orders"], "received_at", "fetch_id", "row_no"]
    connection.execute(f"""
    CREATE TEMP TABLE _td_states AS SELECT * FROM ({query})
    WHERE order_no = {quoted(number)} ORDER BY {" NULLS FIRST, ".join(keys)}""")
    return (
        connection.sql("SELECT received_at, account, fetch_id FROM _td_states"),
        connection.sql("SELECT * EXCLUDE (fetch_id, sent) FROM _td_states"),
    )


class QueryResult(Table[Any]):
    """The rows of a query, each with an attribute for each column; a row is also iterable.

    Filters, sorts and exports like any other table. A name that the query uses twice, in any case,
    gets a number: ``price``, ``price_1``. Whole decimals are integers, other decimals numbers, and
    other types that a book does not have are text. An infinite number, which JSON lacks, is
    ``None``. Times with a zone are in UTC; if others are naive, all are.
    """

    __slots__ = ()


def slice_of(relation: DuckDBPyRelation) -> _core.Slice:
    """Returns the rows of a relation, whose columns have different names."""
    kinds = {
        name: next(kind for kind, known in _KINDS.items() if re.fullmatch(known, str(type_)))
        for name, type_ in zip(relation.columns, relation.types, strict=True)
    }
    times = {
        str(type_) for type_ in relation.types if re.fullmatch(_KINDS["timestamp"], str(type_))
    }
    types = _TYPES | {"timestamp": "TIMESTAMPTZ" if times == {_ZONED} else "TIMESTAMP"}
    columns = []
    for at, (name, kind) in enumerate(kinds.items(), 1):
        value = f"#{at}::{types[kind]}"
        if kind in ("number", "timestamp", "date"):
            value = f"CASE WHEN isfinite({value}) THEN {value} END"
        columns.append(f"{value} AS {quoted_name(name)}")
    row = row_type("Row", [(name, kind, "") for name, kind in kinds.items()])
    try:
        # Materialized, since an error of DuckDB would otherwise come as one of the data's producer.
        content = relation.project(", ".join(columns)).materialize()
        return _core.from_arrow(row, content, True)
    except duckdb.ConversionException:
        raise ConfigurationError(
            "a whole number of the result is not in -2^63 to 2^63 - 1: use CAST to DOUBLE or "
            "VARCHAR"
        ) from None


def run_query(
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
        connection: A connection that can only read the archive.
        root: The archive, for messages.
        gaps: The days of the books that are not there.
        query: The query.
        parameters: Values of its placeholders.

    Raises:
        ArchiveError: The query reads a book with a gap, or would do something else than read.
    """
    if isinstance(parameters, str) or not isinstance(parameters, Sequence | Mapping | None):
        raise TypeError(f"parameters takes a list or a dict of values, not {shown(parameters)}")
    if len(query) > _LONGEST:  # DuckDB's parser ends the process when it has no stack left
        raise ArchiveError(
            f"a query of {root} has more than {_LONGEST:,} characters: pass `parameters`", file=root
        )
    serialized = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()
    try:
        tree = json.loads(serialized[0][0])
    except RecursionError:
        raise ArchiveError(
            f"a query of {root} is nested too deeply: name its parts in a WITH clause", file=root
        ) from None
    if tree["error"] and tree["error_type"] == "parser":
        connection.sql(query)  # raises DuckDB's error, which shows the place
    if tree["error"] or len(tree["statements"]) != 1 or not _only_reads(tree):
        raise ArchiveError(
            f"a query of {root} is one SELECT that only reads its views trades, orders, "
            "order_states and fetches: no statement or function that uses files or settings",
            file=root,
        )

    def result() -> QueryResult:
        return QueryResult._over(slice_of(connection.sql(query, params=parameters).materialize()))

    try:
        return interruptible(connection, result)
    except duckdb.CatalogException as error:
        absent = _NO_TABLE.search(str(error))
        name = absent and absent[1].lower()
        lacking = [gap for gap in gaps if any(name in VIEWS[book] for book in gap.books)]
        report(root, lacking, missing_ok=False)
        raise


def _only_reads(tree: Any) -> bool:
    """Returns whether a syntax tree of DuckDB has only queries of tables with plain names."""
    nodes = [tree]
    for node in nodes:  # grows meanwhile; recursion would be too deep for some queries
        if isinstance(node, list):
            nodes += node
        if not isinstance(node, dict):
            continue
        nodes += node.values()
        kind = str(node.get("type", ""))
        if (
            (kind.endswith("_NODE") and kind not in _QUERIES)
            or (kind == "TABLE_FUNCTION" and node["function"]["function_name"] not in _FUNCTIONS)
            or node.get("show_type") == "SHOW_SPECIAL"  # lists only views that the query needs
            or (kind == "BASE_TABLE" and not _PLAIN.fullmatch(node["table_name"]))
        ):
            return False
    return True


def days_in(files: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the responses and days of which row files have rows."""
    if not files:
        return []
    with opened() as own:
        query = f"SELECT DISTINCT fetch_id, day::VARCHAR FROM {parquet(files)}"
        return [tuple(row) for row in own.execute(query).fetchall()]


def sent_in(connection: Any, book: str, query: str) -> list[tuple[int, str]]:
    """Returns the numbers of sorted rows, each with its text as it was sent, if it was stored."""
    numbered = f"SELECT row_number() OVER ({ordered(book)}) - 1 AS number, sent FROM ({query})"
    sent = connection.execute(f"FROM ({numbered}) WHERE sent IS NOT NULL ORDER BY 1").fetchall()
    return [tuple(row) for row in sent]
