"""Reads an archive: books, the history of an order, and SQL over views of some days.

Users see the views ``trades``, ``orders``, ``order_states`` and ``fetches``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import date, datetime
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .. import _core
from .._util.validate import shown
from ..books.book import UNCOUNTED
from ..books.issues import decode_issues, warn_of_lost
from ..errors import ArchiveError, ConfigurationError
from ..table.rows import Order, row_type
from ..table.table import Table
from . import coverage, databases, days
from .coverage import Account, Day, MissingDay, Sessions, Span, span_of
from .databases import duckdb, explained, interruptible, quoted, quoted_name
from .days import BOOKS, COLUMNS, IDENTITY, KINDS, SORTED, StoredBook
from .folder import signature_of
from .ingest import Ingest
from .responses import Entry, Log
from .store import Found, Store

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_ATTEMPTS = 4  # of a reader, whose files others replace meanwhile
_LONGEST = 250_000  # characters of a query
Parameters = Sequence[Any] | Mapping[str, Any]
Result = TypeVar("Result")

# The views that users see of each book.
VIEWS = {"trades": ("trades",), "orders": ("orders", "order_states")}
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
_FETCHES = {
    "day": "DATE",
    **dict.fromkeys(("account", "book", "fetch_id", "source"), "VARCHAR"),
    **dict.fromkeys(("received_at", "filed_at"), "TIMESTAMPTZ"),
    "covered": "DATE",
    "rows": "BIGINT",
    **dict.fromkeys(("sha256", "error", "message"), "VARCHAR"),
}
# What a syntax tree of DuckDB may have: queries, and functions of tables that use no file.
_QUERIES = {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"}
_FUNCTIONS = {"unnest", "range", "generate_series"}
# The names of tables that a query may use: no file names, and no tables behind the views.
_PLAIN = re.compile(r"(?!_td_)\w+", re.IGNORECASE)
_NO_TABLE = re.compile(r"Table with name (\w+) does not exist")


class OrderState(NamedTuple):
    """One state of an order.

    Attributes:
        seen_at: When the first response with this state was received, in the archive's time zone;
            ``None`` if unknown, as for a saved book without a time.
        account: The label of the account, or ``None``.
        order: The order in that response.
    """

    seen_at: datetime | None
    account: str | None
    order: Order


class QueryResult(Table[Any]):
    """The rows of a query, each with an attribute for each column; a row is also iterable.

    Filters, sorts and exports like any other table. A name that the query uses twice, in any case,
    gets a number: ``price``, ``price_1``. Whole decimals are integers, other decimals numbers, and
    other types that a book does not have are text. An infinite number, which JSON lacks, is
    ``None``. Times with a zone are in UTC; if others are naive, all are.
    """

    __slots__ = ()


class View(NamedTuple):
    """The rows of a book of some days, for DuckDB.

    Attributes:
        query: A query of the files; empty without any.
        found: The files.
        tables: The days in memory, each with a name for its tables.
    """

    query: str
    found: Found
    tables: list[tuple[str, str, days.Rows]]


class Reader:
    """What reads from an archive has of it.

    Args:
        ingest: The archive's files and settings.
        sessions: The days on which the exchanges were open.
    """

    def __init__(self, ingest: Ingest, sessions: Sessions) -> None:
        self.ingest, self.sessions = ingest, sessions
        self.store: Store = ingest.files
        self.decoder = ingest.decoder

    def log(self) -> Log:
        """Returns the log as it is now; hold the store's lock while using it."""
        with explained(self.store.root):
            return self.store.log()

    def covered(
        self, books: Sequence[str], start: Day | None, end: Day | None, account: Account
    ) -> tuple[Span, dict[str, tuple[date, date]], list[MissingDay]]:
        """Returns the days that are meant, those to check of each book, and the missing ones."""
        span = span_of(start, end, account)
        with self.store.lock:
            log = self.log()
            if span.first is not None and span.last is not None:
                checked = dict.fromkeys(books, (span.first, span.last))
            else:
                label = span.account
                extents = {name: coverage.extent(log, name, label) for name in books}
                dated = [known for known in extents.values() if known]
                if not dated:
                    raise ArchiveError(
                        f"{self.store.root} has no fetches{f' of {label}' if label else ''}: fetch "
                        "first, or name the days",
                        file=self.store.root,
                    )
                # A first trade book may have trades of days before the first fetch.
                begun = date.fromisoformat(
                    min(log.since[x] for x in log.since if label in (None, x))
                )
                every = min(low for low, _ in dated), max(high for _, high in dated)
                if span.last is not None:
                    checked = dict.fromkeys(books, (min(begun, span.last), span.last))
                else:
                    checked = {
                        name: (max((known or every)[0], begun), (known or every)[1])
                        for name, known in extents.items()
                    }
                span = Span(every[0], span.last or every[1], label)
                if span.last is not None and span.last < every[0]:
                    span = span._replace(first=span.last)
            return span, checked, coverage.gaps(log, span, checked, self.sessions)

    def late(
        self,
        span: Span,
        checked: dict[str, tuple[date, date]],
        counts: Callable[[str, Entry], bool],
    ) -> list[MissingDay]:
        """Returns the days that were fetched, but not as late as they should be."""
        with self.store.lock:
            log = self.log()
            missing = set(coverage.gaps(log, span, checked, self.sessions))
            late = coverage.gaps(log, span, checked, self.sessions, counts)
            return [gap for gap in late if gap not in missing]

    # -- rows of days --

    def retried(
        self, read: Callable[[list[str], str | None], Result], remarks: list[str]
    ) -> Result:
        """Returns the result of reading, again if files were replaced meanwhile."""
        with ExitStack() as copies:
            for attempt in range(1, _ATTEMPTS + 1):
                notes: list[str] = []
                folder = None
                if attempt == _ATTEMPTS:
                    folder = copies.enter_context(TemporaryDirectory(prefix="tradingdata-"))
                try:
                    result = read(notes, folder)
                except _Changed:
                    continue
                remarks += dict.fromkeys(notes)
                return result
        raise ArchiveError(
            f"{self.store.root} is changing all the time: try again later", file=self.store.root
        )

    def view(self, name: str, span: Span, notes: list[str], copies: str | None = None) -> View:
        """Returns the rows of a book of some days, all that is stored."""
        with explained(self.store.root, "read", f"the {name} of {span}"), self.store.lock:
            found = self.store.find(name, span, self.decoder, notes, copies)
            query = ""
            if found.files:
                union = ", union_by_name = true" if self.store.is_narrow() else ""
                query = f"SELECT * FROM {databases.parquet(found.files, union)}"
                if union:
                    query = f"{_empty(name)} UNION ALL BY NAME {query}"
        tables = [(f"{name}_{at}", day, rows) for at, (day, rows) in enumerate(found.rows)]
        return View(_of_account(query, span) if query else "", found, tables)

    def define(self, connection: Any, name: str, view: View, span: Span) -> str:
        """Registers the days in memory; returns a query of all rows."""
        queries = [view.query] if view.query else []
        for table, day, rows in view.tables:
            queries.append(_of_account(rows.query(connection, table, day), span))
        return " UNION ALL BY NAME ".join(queries) or _empty(name)

    def check(self, view: View, *, failed: bool = False) -> None:
        """Raises `_Changed` if a file was replaced, or found to be damaged, while it was read."""
        if any(signature_of(path) != known for path, known in view.found.listed):
            raise _Changed
        if failed:
            with self.store.lock:
                if self.store.distrust(view.found.files):
                    raise _Changed

    def book(self, name: str, span: Span, remarks: list[str]) -> StoredBook:
        """Returns a book of the newest states by day and time, with the issues of lost values."""

        def read(notes: list[str], copies: str | None) -> tuple[StoredBook, list[Any]]:
            view = self.view(name, span, notes, copies)
            with databases.connection() as opened:
                try:
                    rows = interruptible(opened, lambda: self._book(opened, name, view, span))
                except (databases.Error, OSError) as error:
                    self.check(view, failed=True)
                    with explained(self.store.root, "read", f"the {name} of {span}"):
                        raise error
            self.check(view)
            return rows

        book, sent = self.retried(read, remarks)
        return self._with_lost(name, book, sent) if sent else book

    def _book(
        self, connection: Any, name: str, view: View, span: Span
    ) -> tuple[StoredBook, list[Any]]:
        """Returns the rows as a book, and the texts of rows of which values did not fit."""
        query = self.define(connection, name, view, span)
        first, *others = SORTED[name]
        added = "day, fetch_id, received_at, last_seen, sent"
        fields = f"SELECT * EXCLUDE ({added}) FROM ({query})"
        is_single = len(view.found.files) + len(view.tables) == 1
        # Trades of several days can be sorted by time alone, which the core does faster.
        if not view.found.lost and (name == "trades" or is_single):
            book = self.as_book(name, connection.sql(fields))
            if not book._rows.missing([first]):
                return book.sort(first, *others), []
        order = f"ORDER BY {', '.join(['day', *SORTED[name], 'account', 'fetch_id'])}"
        book = self.as_book(name, connection.sql(f"{fields} {order}"))
        if not view.found.lost:
            return book, []
        sent = connection.execute(
            f"""FROM (SELECT row_number() OVER ({order}) - 1 AS number, sent FROM ({query}))
            WHERE sent IS NOT NULL ORDER BY 1"""
        ).fetchall()
        return book, sent

    def _with_lost(
        self, name: str, book: StoredBook, sent: Sequence[tuple[int, str]]
    ) -> StoredBook:
        """Returns a book with the issues of values that did not fit when they were received.

        Args:
            name: Which book it is.
            book: The book.
            sent: The numbers of rows, each with its text as it was sent.
        """
        body = f"[{','.join(text for _, text in sent)}]".encode()
        issues = decode_issues(_core.decode_list(book._record, body, False, self.decoder.keep))
        lost = [x._replace(row=sent[x.row][0]) for x in issues if x.lost and x.raw]
        if lost:
            warn_of_lost(lost, book._record)
            whole: StoredBook = KINDS[name]._of(book._rows, issues=(*book.issues, *lost))
            return whole
        return book

    def as_book(self, name: str, rows: Any) -> StoredBook:
        """Returns the rows of a relation as a book."""
        try:
            book: StoredBook = KINDS[name].from_arrow(rows, keep_personal_data=self.decoder.keep)
        except (TypeError, ValueError) as error:  # a column has another type
            raise OSError(str(error)) from error
        return book

    # -- states of orders --

    def history(self, number: str, account: Account, remarks: list[str]) -> Iterator[OrderState]:
        """Yields the states of an order, with times in the archive's zone."""
        span = span_of(None, None, account)

        def read(notes: list[str], copies: str | None) -> list[tuple[str, str]]:
            view = self.view("orders", span, notes, copies)
            with databases.connection() as opened:
                query = self.define(opened, "orders", view, span)
                try:
                    rows: list[tuple[str, str]] = opened.execute(
                        f"""SELECT DISTINCT day::VARCHAR, coalesce(account, '') FROM ({query})
                        WHERE order_no = $1""",
                        [number],
                    ).fetchall()
                except (databases.Error, OSError) as error:
                    self.check(view, failed=True)
                    with explained(self.store.root):
                        raise error
            self.check(view)
            return rows

        where = self.retried(read, remarks)
        with self.store.lock:
            log = self.log()
            chosen = {
                entry.id: entry
                for day, label in where
                for entry in log.effective("orders", day).get(label, ())
            }
            entries = sorted(chosen.values(), key=lambda entry: entry.order)
            states: dict[Any, list[tuple[Any, OrderState]]] = {}
            for entry, body in self.store.responses.bodies(entries):
                if body is None:  # it is damaged
                    continue
                seen = self.ingest.time(entry.received_at)
                rows = KINDS["orders"]._of(self.decoder.table(entry, body), issues=())
                for order in rows.filter(order_no=number):
                    content = {**order._asdict(), "extra": order._extra}
                    content |= dict.fromkeys(UNCOUNTED)
                    key = entry.account, *(content[name] for name in IDENTITY["orders"])
                    known = states.setdefault(key, [])
                    if not known or known[-1][0] != content:
                        known.append((content, OrderState(seen, entry.account or None, order)))
        for key in sorted(states, key=lambda key: [(x is not None, x) for x in key]):
            yield from (state for _, state in states[key])

    def _states(self, span: Span) -> list[tuple[str, days.Rows]]:
        """Returns each response that stored an order, with its rows of each day."""
        tables = []
        with self.store.lock:
            log = self.log()
            for (book, day), accounts in sorted(log.days.items()):
                if book == "orders" and span.has(day):
                    for label in list(accounts) if span.account is None else (span.account,):
                        entries = log.effective(book, day).get(label, ())
                        for entry, body in self.store.responses.bodies(entries):
                            if body is not None:
                                source = _of_day(entry, self.decoder.book(entry, body), day)
                                tables.append((day, days.Rows(book, source)))
        return tables

    # -- SQL --

    def query(
        self,
        statement: str,
        asked: tuple[Day | None, Day | None, Account],
        parameters: Parameters | None,
        remarks: list[str],
        *,
        missing_ok: bool,
    ) -> QueryResult:
        """Returns the result of a query over the views of some days."""
        if isinstance(parameters, str) or not isinstance(parameters, Sequence | Mapping | None):
            raise TypeError(f"parameters takes a list or a dict of values, not {shown(parameters)}")
        if len(statement) > _LONGEST:  # DuckDB's parser ends the process when it has no stack left
            raise ArchiveError(
                f"a query of {self.store.root} has more than {_LONGEST:,} characters: pass "
                "`parameters`",
                file=self.store.root,
            )
        span, _, gaps = self.covered(BOOKS, *asked)
        if missing_ok:
            coverage.report(self.store.root, gaps, missing_ok=True)
            gaps = []
        lacking = {book for gap in gaps for book in gap.books}
        # If it names no view, define all, so that DuckDB can suggest the one that was meant.
        words = statement.lower()
        every = [(view, book) for book, names in VIEWS.items() for view in names]
        named = [pair for pair in every if pair[0] in words] or every
        named = [(view, book) for view, book in named if book not in lacking]

        def read(notes: list[str], copies: str | None) -> QueryResult:
            views = {v: self.view(v, span, notes, copies) for v, _ in named if v in KINDS}
            files = {path for view in views.values() for path in view.found.files}
            with databases.connection(sorted(files)) as opened:

                def work() -> QueryResult:
                    for name, view in views.items():
                        query = self.define(opened, name, view, span)
                        opened.execute(f"CREATE TEMP VIEW {name} AS {query}")
                    if any(name == "order_states" for name, _ in named):
                        self._define_states(opened, span)
                    if "fetches" in words or len(named) == len(every):
                        self._define_fetches(opened, span)
                    return run(opened, self.store.root, statement, parameters)

                try:
                    result = interruptible(opened, work)
                except databases.Error as error:
                    for view in views.values():
                        self.check(view, failed=databases.is_damage(error))
                    self._explain(error, gaps, span)
                    raise AssertionError from None
            for view in views.values():
                self.check(view)
            return result

        return self.retried(read, remarks)

    def _explain(self, error: Exception, gaps: Sequence[MissingDay], span: Span) -> None:
        """Raises what is to be said of an error of DuckDB."""
        if isinstance(error, duckdb.CatalogException):
            absent = _NO_TABLE.search(str(error))
            name = absent and absent[1].lower()
            lacking = [gap for gap in gaps if any(name in VIEWS[book] for book in gap.books)]
            coverage.report(self.store.root, lacking, missing_ok=False)
        if databases.is_damage(error):
            with explained(self.store.root, "read", str(span)):
                raise error
        reason = " ".join(databases.redacted(error).split()).rstrip(" ^")
        raise ConfigurationError(f"DuckDB cannot run the query: {reason}") from None

    def _define_states(self, connection: Any, span: Span) -> None:
        connection.execute(f"CREATE TEMP TABLE order_states AS {_empty('orders')}")
        columns = "* EXCLUDE (last_seen)"
        connection.execute("ALTER TABLE order_states DROP COLUMN last_seen")
        for number, (day, rows) in enumerate(self._states(span)):
            query = rows.query(connection, f"state_{number}", day)
            connection.execute(f"INSERT INTO order_states BY NAME SELECT {columns} FROM ({query})")
            for kind in ("rows", "facts"):
                connection.unregister(f"_td_{kind}_state_{number}")

    def _define_fetches(self, connection: Any, span: Span) -> None:
        with self.store.lock:
            log = self.log()
            rows = [
                (
                    *(day, entry.account or None, entry.book, entry.id, entry.source),
                    *(entry.received_at, entry.filed_at),
                    *(day if day in entry.covered.split() else None, count),
                    *(entry.sha256 if entry.is_complete else None, entry.error, entry.message),
                )
                for entry in fetches(log, span)
                for day, count in entry.rows.items()
                if span.has(day)
            ]
        columns = []
        for at, (name, kind) in enumerate(_FETCHES.items(), 1):
            if kind == "TIMESTAMPTZ":
                columns.append(f"make_timestamp(unnest(${at}::BIGINT[]))::TIMESTAMPTZ AS {name}")
            else:
                columns.append(f"unnest(${at}::VARCHAR[])::{kind} AS {name}")
        values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in _FETCHES]
        values = [
            column if kind == "TIMESTAMPTZ" else [None if x is None else str(x) for x in column]
            for column, kind in zip(values, _FETCHES.values(), strict=True)
        ]
        connection.execute(f"CREATE TEMP TABLE fetches AS SELECT {', '.join(columns)}", values)


class _Changed(Exception):
    """A file was replaced while it was read, or is damaged: its day is found anew."""


def fetches(log: Log, span: Span) -> list[Entry]:
    """Returns the responses and failures of some days, in the order in which they were filed."""
    return [
        entry
        for entry in log.fetches()
        if span.account in (None, entry.account) and any(map(span.has, entry.rows))
    ]


def _of_day(entry: Entry, source: days.Source, day: str) -> days.Source:
    """Returns the rows of a response that belong to a day."""
    names, _, _ = days.days_of(
        entry.book, source.table, entry.day, has_time=entry.received_at is not None
    )
    places = [place for place, name in enumerate(names()) if name == day]
    return days.Source(source.table.take(places), [source.facts[place] for place in places])


def _of_account(query: str, span: Span) -> str:
    if span.account is None:
        return query
    label = quoted(span.account)
    return f"SELECT * FROM ({query}) WHERE coalesce(account, '') = {label}"


def _empty(book: str) -> str:
    columns = ", ".join(f"NULL::{kind} AS {name}" for name, kind in COLUMNS[book].items())
    return f"SELECT {columns} WHERE false"


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


def run(connection: Any, root: str, query: str, parameters: Parameters | None) -> QueryResult:
    """Returns the result of a query, which must be one SELECT.

    Its syntax tree has nothing in it that writes or that names a file.

    Args:
        connection: A connection that can read the files of the views and no others.
        root: The archive, for messages.
        query: The query.
        parameters: Values of its placeholders.

    Raises:
        ArchiveError: It is something else than one SELECT.
    """
    serialized = connection.execute("SELECT json_serialize_sql($1)", [query]).fetchall()
    try:
        tree = json.loads(serialized[0][0])
    except RecursionError:
        raise ArchiveError(
            f"a query of {root} is nested too deeply: name its parts in a WITH clause", file=root
        ) from None
    if tree["error"] and tree["error_type"] == "parser":
        connection.sql(query)  # raises DuckDB's error, which shows the place
    # DuckDB says SELECT of a statement too that has a COPY in its WITH clause.
    if tree["error"] or len(tree["statements"]) != 1 or not _only_reads(tree):
        raise ArchiveError(
            f"a query of {root} is one SELECT that only reads its views trades, orders, "
            "order_states and fetches: no statement or function that uses files or settings",
            file=root,
        )
    relation = connection.sql(query, params=parameters)
    return QueryResult._over(slice_of(relation.materialize()))


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
