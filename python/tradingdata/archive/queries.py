"""Reads an archive: books, the history of an order, and SQL over views of some days.

Users see the views ``trades``, ``orders``, ``order_states`` and ``fetches``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from .. import _core
from .._util.validate import shown
from ..books.book import UNCOUNTED
from ..books.issues import decode_issues, warn_of_lost
from ..errors import ArchiveError, ConfigurationError, TradingDataError
from ..table.rows import Order, row_type
from ..table.table import Table
from . import coverage, databases, days
from .coverage import Account, Asked, Day, MissingDay, Sessions, Span, span_of
from .databases import duckdb, explained, interruptible, quoted, quoted_name
from .days import BOOKS, COLUMNS, IDENTITY, KINDS, SORTED, StoredBook
from .ingest import Ingest
from .responses import Entry, Log
from .store import Found, Store, replaced

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection as Connection
    from duckdb import DuckDBPyRelation

_ATTEMPTS = 8  # of a reader, whose files others replace meanwhile
_IN_PLACE = 2  # of these, read where they are
_LONGEST = 250_000  # characters of a query
# Not any Sequence: text is one too.
Parameters = list[Any] | tuple[Any, ...] | Mapping[str, Any]
Result = TypeVar("Result")

# The views that users see, with the book that each has rows of.
VIEWS = {"trades": "trades", "orders": "orders", "order_states": "orders", "fetches": ""}
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
    **dict.fromkeys(("received_at", "filed_at"), "BIGINT"),
    "covered": "DATE",
    "rows": "BIGINT",
    **dict.fromkeys(("sha256", "error", "message"), "VARCHAR"),
}
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


class Reader:
    """What reads from an archive has of it.

    Args:
        ingest: The archive's files and settings.
        sessions: The days on which the exchanges were open.
    """

    def __init__(self, ingest: Ingest, sessions: Sessions) -> None:
        self.ingest, self.sessions = ingest, sessions
        self.store: Store = ingest.files

    def log(self) -> Log:
        """Returns the log as it is now; hold the store's lock while using it."""
        with explained(self.store.root):
            return self.store.log()

    def asked(
        self, books: Sequence[str], start: Day | None, end: Day | None, account: Account
    ) -> tuple[Span, dict[str, tuple[date, date]], list[MissingDay]]:
        """Returns the days that are meant, those to check of each book, and the missing ones."""
        with self.store.lock:
            span = span_of(start, end, account)
            span, due = coverage.due(self.store.root, self.log(), span, books)
        return span, due, self.gaps(span, due)

    def gaps(
        self, span: Span, due: dict[str, tuple[date, date]], since: time | None = None
    ) -> list[MissingDay]:
        """Returns the days of some books that no response covers, or none since a time of day."""
        least = None if since is None else since.replace(tzinfo=self.store.decoder.zone)
        with self.store.lock:
            return coverage.gaps(self.log(), span, due, self.sessions, least)

    def report(self, gaps: Sequence[MissingDay], *, missing_ok: bool) -> None:
        """Raises ArchiveError for days that were never fetched, or warns with ``missing_ok``."""
        damaged = [*self.store.responses.log.damaged]
        coverage.report(self.store.root, gaps, damaged, missing_ok=missing_ok)

    # -- rows of days --

    def read(
        self,
        books: Sequence[str],
        span: Span,
        work: Callable[[Connection, dict[str, Found]], Result],
        remarks: list[str],
        *,
        files_only: bool = False,
    ) -> Result:
        """Returns the result of work on a connection that can read some days of books.

        Nothing is locked or written. If files were replaced meanwhile or are found to be damaged,
        the work is done again; if they are replaced again and again, with the days in memory.

        Args:
            books: The names of the books.
            span: The days.
            work: What gets the connection, and the days of each book with their query.
            remarks: What is wrong with the archive is appended.
            files_only: Whether the connection can read these files and no others, for a query of a
                user, who may have made a mistake.
        """
        for attempt in range(_ATTEMPTS):
            notes: list[str] = []
            found = {x: self._find(x, span, notes, in_memory=attempt >= _IN_PLACE) for x in books}
            files = {path: known for days in found.values() for path, known in days.files.items()}
            gone = [path for days in found.values() for path in days.replaced]
            if not gone:
                failure: Exception | None = None
                try:
                    with databases.connection(sorted(files) if files_only else None) as opened:
                        read = {x: self._readable(opened, x, found[x], span) for x in books}
                        result = interruptible(opened, partial(work, opened, read))
                except TradingDataError:
                    raise
                except (databases.Error, OSError, RuntimeError, ValueError) as error:
                    failure = error
                gone = replaced(files)
            if not gone:
                if failure is None:
                    remarks += dict.fromkeys(notes)
                    return result
                is_mistake = files_only and isinstance(failure, databases.MISTAKES)
                with self.store.lock:
                    if is_mistake or not self.store.distrust(files):
                        raise failure
        raise ArchiveError(
            f"{self.store.root} is changing all the time: try again later", file=self.store.root
        )

    def _find(self, book: str, span: Span, notes: list[str], *, in_memory: bool = False) -> Found:
        with explained(self.store.root, "read", f"the {book} of {span}"), self.store.lock:
            return self.store.find(book, span, notes, in_memory=in_memory)

    def _readable(self, connection: Connection, book: str, found: Found, span: Span) -> Found:
        """Returns what was found of a book with its query; registers the days in memory."""
        queries = [
            days.query(connection, f"{book}_{at}", day, table, book)
            for at, (day, table) in enumerate(found.rows)
        ]
        if found.files:
            columns = ", ".join(COLUMNS[book])
            queries.append(f"SELECT {columns} FROM {databases.parquet(found.files)}")
        query = " UNION ALL BY NAME ".join(queries or [_empty(book)])
        if span.account is not None:
            query = f"FROM ({query}) WHERE coalesce(account, '') = {quoted(span.account)}"
        return found._replace(query=query)

    def scan(self, book: str, span: Span, remarks: list[str]) -> DuckDBPyRelation:
        """Returns the rows of a book as a relation, which keeps its connection."""
        opened = databases.cursor()
        with explained(self.store.root, "read", f"the {book} of {span}"):
            found = self._readable(opened, book, self._find(book, span, remarks), span)
            _define(opened, book, found.query)
            return opened.table(book)

    # -- books --

    def book(self, name: str, span: Span, remarks: list[str]) -> StoredBook:
        """Returns a book of the newest states by day and time, with the issues of lost values."""
        with explained(self.store.root, "read", f"the {name} of {span}"):
            book, sent = self.read([name], span, self._book, remarks)
        return self._with_lost(name, book, sent) if sent else book

    def _book(
        self, connection: Connection, books: dict[str, Found]
    ) -> tuple[StoredBook, list[Any]]:
        """Returns the rows as a book, and the texts of rows of which values did not fit."""
        ((name, found),) = books.items()
        query, is_lost, days = found.query, found.lost, len(found.files) + len(found.rows)
        first, *others = SORTED[name]
        rows = f"SELECT * EXCLUDE (day, fetch_id, received_at, last_seen, sent) FROM ({query})"
        # Trades of several days can be sorted by time alone, which the core does faster.
        if not is_lost and (name == "trades" or days == 1):
            book = self.as_book(name, connection.sql(rows))
            if not book._rows.missing([first]):
                return book.sort(first, *others), []
        order = f"ORDER BY {', '.join(['day', *SORTED[name], 'account', 'fetch_id'])}"
        book = self.as_book(name, connection.sql(f"{rows} {order}"))
        if not is_lost:
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
        issues = decode_issues(
            _core.decode_list(book._record, body, False, self.store.decoder.keep)
        )
        lost = [x._replace(row=sent[x.row][0]) for x in issues if x.lost and x.raw]
        if not lost:
            return book
        warn_of_lost(lost, book._record)
        return cast("StoredBook", KINDS[name]._of(book._rows, issues=(*book.issues, *lost)))

    def as_book(self, name: str, rows: DuckDBPyRelation) -> StoredBook:
        """Returns the rows of a relation as a book."""
        try:
            return cast(
                "StoredBook",
                KINDS[name].from_arrow(rows, keep_personal_data=self.store.decoder.keep),
            )
        except (TypeError, ValueError) as error:  # a column has another type
            raise OSError(str(error)) from error

    # -- states of orders --

    def history(self, number: str, account: Account, remarks: list[str]) -> Iterator[OrderState]:
        """Yields the states of an order, with times in the archive's zone."""

        def days_of_order(connection: Connection, books: dict[str, Found]) -> Any:
            query = f"""SELECT DISTINCT day::VARCHAR, coalesce(account, '')
                FROM ({books["orders"].query}) WHERE order_no = $1"""
            return connection.execute(query, [number]).fetchall()

        with explained(self.store.root, "read"):
            days = self.read(["orders"], span_of(None, None, account), days_of_order, remarks)
        states: dict[tuple[object, ...], list[tuple[object, OrderState]]] = {}
        with self.store.lock:
            for entry, body, _ in self._responses(days, remarks):
                seen = self.ingest.time(entry.received_at)
                rows = KINDS["orders"]._of(self.store.decoder.table(entry, body), issues=())
                for order in rows.filter(order_no=number):
                    content = {**order._asdict(), "extra": order._extra}
                    content |= dict.fromkeys(UNCOUNTED)
                    key = entry.account, *(content[name] for name in IDENTITY["orders"])
                    known = states.setdefault(key, [])
                    if not known or known[-1][0] != content:
                        known.append((content, OrderState(seen, entry.account or None, order)))
        for key in sorted(states, key=lambda key: [(x is not None, x) for x in key]):
            yield from (state for _, state in states[key])

    def _responses(
        self, days: Iterable[tuple[str, str]], remarks: list[str]
    ) -> Iterator[tuple[Entry, bytes, list[str]]]:
        """Yields the responses that changed the orders of some days of accounts, with these days.

        Hold the lock.
        """
        log = self.log()
        chosen: dict[str, tuple[Entry, list[str]]] = {}
        for day, label in days:
            for entry in log.effective("orders", day, label):
                chosen.setdefault(entry.id, (entry, []))[1].append(day)
        entries = sorted((entry for entry, _ in chosen.values()), key=lambda entry: entry.order)
        for entry, body in self.store.responses.bodies(entries):
            if body is None:
                remarks.append(self.store.lacks_body(entry))
            else:
                yield entry, body, chosen[entry.id][1]

    # -- SQL --

    def query(
        self,
        statement: str,
        asked: Asked,
        parameters: Parameters | None,
        remarks: list[str],
        *,
        missing_ok: bool,
    ) -> QueryResult:
        """Returns the result of a query over the views of some days."""
        root = self.store.root
        if not isinstance(parameters, list | tuple | Mapping | None):
            raise TypeError(f"parameters takes a list or a dict of values, not {shown(parameters)}")
        if len(statement) > _LONGEST:  # DuckDB's parser ends the process when it has no stack left
            raise ArchiveError(
                f"a query of {root} has more than {_LONGEST:,} characters: pass `parameters`",
                file=root,
            )
        span, _, gaps = self.asked(BOOKS, *asked)
        if missing_ok:
            self.report(gaps, missing_ok=True)
            gaps = []
        lacking = {book for gap in gaps for book in gap.books}
        # If it names no view, define all, so that DuckDB can suggest the one that was meant.
        named = [view for view in VIEWS if view in statement.lower()] or [*VIEWS]
        named = [view for view in named if VIEWS[view] not in lacking]

        lost: list[str] = []

        def work(connection: Connection, books: dict[str, Found]) -> QueryResult:
            for book, found in books.items():
                _define(connection, book, found.query)
            if "order_states" in named:
                self._define_states(connection, span, lost)
            if "fetches" in named:
                self._define_fetches(connection, span)
            return run(connection, root, statement, parameters)

        with explained(root, "read", str(span)):
            try:
                books = [view for view in named if view in KINDS]
                result = self.read(books, span, work, remarks, files_only=True)
                # Without trades and orders, nobody has said yet what is damaged.
                remarks += sorted({*lost, *self.store.damaged()} - {*remarks})
                return result
            except TradingDataError:
                raise
            except (databases.Error, RuntimeError, ValueError) as error:
                if isinstance(error, duckdb.CatalogException):
                    absent = _NO_TABLE.search(str(error))
                    book = absent and VIEWS.get(absent[1].lower())
                    self.report([x for x in gaps if book in x.books], missing_ok=False)
                reason = databases.redacted(error).rstrip(" ^")
                raise ConfigurationError(f"DuckDB cannot run the query: {reason}") from None

    def _define_states(self, connection: Connection, span: Span, remarks: list[str]) -> None:
        columns = f"SELECT * EXCLUDE (last_seen) FROM ({_empty('orders')})"
        connection.execute(f"CREATE TEMP TABLE order_states AS {columns}")
        with self.store.lock:
            of_accounts = [
                (day, label)
                for (book, day), accounts in sorted(self.log().days.items())
                if book == "orders" and span.has(day)
                for label in accounts
                if span.account in (None, label)
            ]
            for entry, body, its_days in self._responses(of_accounts, remarks):
                table = self.store.decoder.table(entry, body)
                has_time = entry.received_at is not None
                names = days.days_of("orders", table, entry.day, has_time=has_time)[0]()
                rows = days.with_facts(entry, table)
                for day in its_days:
                    of_day = rows.take([at for at, name in enumerate(names) if name == day])
                    query = days.query(connection, "state", day, of_day, "orders")
                    columns = f"SELECT * EXCLUDE (last_seen) FROM ({query})"
                    connection.execute(f"INSERT INTO order_states BY NAME {columns}")

    def _define_fetches(self, connection: Connection, span: Span) -> None:
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
        content = json.dumps([dict(zip(_FETCHES, row, strict=True)) for row in rows])
        times = ("received_at", "filed_at")
        made = ", ".join(f"make_timestamp({time})::TIMESTAMPTZ AS {time}" for time in times)
        connection.execute(
            f"""CREATE TEMP TABLE fetches AS SELECT * REPLACE ({made})
            FROM (SELECT unnest(from_json($1, '{json.dumps([_FETCHES])}'), recursive := true))""",
            [content],
        )


def _define(connection: Connection, name: str, query: str) -> None:
    """Makes a view of a query of files."""
    try:
        connection.execute(f"CREATE TEMP VIEW {name} AS {query}")
    except databases.Error as error:  # a file lacks columns: no mistake of a query
        raise OSError(databases.redacted(error)) from error


def fetches(log: Log, span: Span) -> list[Entry]:
    """Returns the responses and failures of some days, in the order in which they were filed."""
    return [
        entry
        for entry in log.fetches()
        if span.account in (None, entry.account) and any(map(span.has, entry.rows))
    ]


def _empty(book: str) -> str:
    columns = ", ".join(f"NULL::{kind} AS {name}" for name, kind in COLUMNS[book].items())
    return f"SELECT {columns} WHERE false"


def slice_of(relation: DuckDBPyRelation) -> _core.Slice:
    """Returns the rows of a relation, whose columns have different names."""
    known = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    kinds = {
        name: next(kind for kind, types in _KINDS.items() if re.fullmatch(types, text))
        for name, text in known.items()
    }
    times = {known[name] for name, kind in kinds.items() if kind == "timestamp"}
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


def run(
    connection: Connection, root: str, query: str, parameters: Parameters | None
) -> QueryResult:
    """Returns the result of a query, which must be one SELECT.

    Args:
        connection: A connection that can read the files of the views and no others.
        root: The archive, for messages.
        query: The query.
        parameters: Values of its placeholders.

    Raises:
        ArchiveError: It is something else than one SELECT.
    """
    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ArchiveError(
            f"a query of {root} is one SELECT that only reads its views trades, orders, "
            "order_states and fetches: no statement or function that uses files or settings",
            file=root,
        )
    code, end = statements[0].query.encode(), None
    for at, kind in reversed(duckdb.tokenize(statements[0].query)):
        if kind != duckdb.token_type.comment and code[at : at + 1] != b";":
            break
        end = at
    # Within another query, because a WITH clause of the outermost one could write files; so without
    # a semicolon at its end, and the comments after that.
    inner = code[:end].decode()
    relation = connection.sql(f"FROM (\n{inner}\n)", params=parameters)
    return QueryResult._over(slice_of(relation.materialize()))
