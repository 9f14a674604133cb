"""Reading from an archive: books, relations, queries, histories and the log."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from .._util import validate
from .._util.validate import flag, shown, text
from ..books.book import UNCOUNTED, OrderBook, TradeBook
from ..errors import ArchiveError
from . import coverage, sql
from .coverage import BOOKS, MissingDay, days_of
from .delta import NAMES, Span, Store, explained, quoted
from .ingest import KINDS, TIMES, ArchiveFetch, Ingest, seals_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from duckdb import DuckDBPyRelation

    from ..table.rows import Order
    from .coverage import Day, Expected
    from .ingest import AnyBook
    from .sql import Parameters, QueryResult


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


class ArchiveReading:
    """The methods of an archive that only read."""

    _store: Store
    _ingest: Ingest
    _holidays: frozenset[date]

    @property
    def path(self) -> str:
        """The folder or address."""
        return self._store.root

    @property
    def tz(self) -> tzinfo:
        """The time zone of the days."""
        return self._ingest.zone

    def trades(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> TradeBook:
        """Returns the trades of some days in their newest state, ordered by day and time.

        Each weekday must have been fetched for each account that is expected on it; see `missing`.
        Without ``start``, all days up to ``end`` are read, and must have been fetched since the
        first fetch; without both, all up to the last fetch.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
            missing_ok: Whether days that were never fetched issue a ``DataWarning`` instead of
                raising.

        Raises:
            ArchiveError: Days were never fetched (``error.missing`` lists them), or the archive is
                damaged.
            ValueError: ``end`` is before ``start``, or a text is not a day.
        """
        return cast("TradeBook", self._book("trades", start, end, account, missing_ok))

    def orders(
        self,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> OrderBook:
        """Returns the orders of some days, each as its day's order book last showed it.

        An order of several days is returned once for each. Arguments as for `trades`.
        """
        return cast("OrderBook", self._book("orders", start, end, account, missing_ok))

    def _book(
        self, name: str, start: Day | None, end: Day | None, account: str | None, missing_ok: bool
    ) -> AnyBook:
        with closing(sql.connect()) as connection:
            span = self._views(connection, name, start, end, account, missing_ok)
            with explained(self.path, days=str(span)):
                first, rows = TIMES[name][0], f"SELECT * EXCLUDE fetch_id FROM {name}"
                if name == "trades":  # whose days are those of their times, if all have one
                    book = self._as_book(name, connection.sql(rows))
                    if not len(book.filter(**{first: None})):
                        return book.sort(first, "client_id", "row_no", "trade_no")
                keys = ", ".join(["day", first, "account", "row_no", *sql.IDENTITY[name]])
                return self._as_book(name, connection.sql(f"{rows} ORDER BY {keys}"))

    def _as_book(self, name: str, rows: DuckDBPyRelation) -> AnyBook:
        labelled = rows.project("* REPLACE (nullif(account, '') AS account)")
        try:
            book: AnyBook = KINDS[name].from_arrow(labelled, keep_personal_data=self._ingest.keep)
        except ValueError as error:
            raise OSError(str(error)) from error
        return book

    def _views(
        self,
        connection: Any,
        name: str,
        start: Day | None,
        end: Day | None,
        account: str | None,
        missing_ok: bool,
    ) -> Span:
        """Makes the views of a book; returns its days. Reports those that were never fetched."""
        flag("missing_ok", missing_ok)
        span, gaps = self._covered(connection, [name], start, end, account)
        coverage.report(self.path, gaps, missing_ok=missing_ok)
        self._define(connection, name, span)
        return span

    def _define(self, connection: Any, name: str, span: Span) -> None:
        """Makes the views of a book.

        Rows may be fewer than in the log because another program deleted history after the log was
        read, so that is damage only if the log still says so.
        """
        for again in (True, False):
            with explained(self.path, days="the log"):
                sql.stored_sets(connection, name)
            _, files = self._store.view(connection, name, span)
            try:
                with explained(self.path, days=f"the {name} of {span}"):
                    return sql.define(connection, name, span.rows, sum(files.values()))
            except ArchiveError:
                if not again:
                    raise
            self._ingest.open_log(connection, span)

    def _covered(
        self,
        connection: Any,
        books: Sequence[str],
        start: Day | None,
        end: Day | None,
        account: str | None,
    ) -> tuple[Span, list[MissingDay]]:
        """Makes the lines of the log for some days; returns these days and their gaps."""
        first, last = days_of(start, end)
        label = label_of(account)
        _, known = self._ingest.open_log(connection, Span(first, last, label))
        if first is None or last is None:
            days = "SELECT book, min(day), max(day) FROM log_lines GROUP BY book"
            found = {book: rest for book, *rest in connection.execute(days).fetchall()}
            dated = {name: found[name] for name in books if name in found}
            if not dated:
                raise ArchiveError(
                    f"{self.path} has no fetches{f' of {label}' if label else ''}: fetch first, or "
                    "name the days",
                    file=self.path,
                )
            lows, highs = zip(*dated.values(), strict=True)
            first = min(lows)
            # A first trade book may have trades of days before the first fetch.
            begun = [each.since for each in known.values() if label in (None, each.account)]
            least = min(begun, default=first)
            # One that is received before the day begins may not cover the day of the order book.
            spans = {name: dated.get(name, (first, max(highs))) for name in books}
            checked = {name: (max(low, least), last or high) for name, (low, high) in spans.items()}
            last = last or max(highs)
        else:
            checked = dict.fromkeys(books, (first, last))
        gaps = coverage.find_gaps(connection, known, (first, last), label, checked, self._holidays)
        return Span(first, last, label), gaps

    def _expected(self) -> dict[str, Expected]:
        """Returns when each account is expected."""
        with closing(sql.connect()) as connection:
            return self._ingest.open_log(connection, Span(date.max))[1]

    def scan(
        self,
        name: str,
        start: Day | None = None,
        end: Day | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> DuckDBPyRelation:
        """Returns the rows of `trades` or `orders` as a DuckDB relation, which reads nothing yet.

        For frames of many days: ``.pl()``, ``.df()`` and ``.to_arrow_table()``, after methods such
        as ``.filter("symbol = 'INFY'")`` and ``.select("day", "quantity")``, which read only what
        they need. It has the columns ``day``, ``account``, ``received_at`` and ``fetch_id``, the
        record's fields, and ``extra``: unknown fields and values that did not fit, as JSON text.

        Args:
            name: ``"trades"`` or ``"orders"``.
            start: The first day; this and the others are as for `trades`.
            end: The last day (inclusive).
            account: The label of one account.
            missing_ok: Whether days may be missing.
        """
        if name not in list(KINDS):
            raise ValueError(f"name must be 'trades' or 'orders', not {shown(name)}")
        connection = sql.connect()  # the relation keeps it
        self._views(connection, name, start, end, account, missing_ok)
        return cast("DuckDBPyRelation", connection.table(name))

    def sql(
        self,
        query: str,
        start: Day | None = None,
        end: Day | None = None,
        parameters: Parameters | None = None,
        *,
        account: str | None = None,
        missing_ok: bool = False,
    ) -> QueryResult:
        """Runs an SQL query (DuckDB) over the views of some days.

        ``trades`` and ``orders`` have a row for each record in its newest state; ``order_states``
        has a row for each response that stored an order; ``fetches`` is the log. Besides the
        record's fields, the first three have ``account``, ``day``, ``received_at`` (UTC),
        ``fetch_id`` and ``extra``, unknown fields as JSON text. The views contain the days asked
        and no others, in no order. A book of which a day was never fetched has no view.

        Args:
            query: A query. It can read these views and nothing else.
            start: The first day; the first in the archive if None.
            end: The last day (inclusive); ``start`` if None, or the last in the archive without it.
            parameters: Values for its placeholders, ``?`` or ``$name``.
            account: The label of one account; all if None.
            missing_ok: Whether days may be missing, as for `trades`.

        Raises:
            ArchiveError: The query reads a book of which days were never fetched, would do
                something else than read, or the archive is damaged.
            duckdb.Error: DuckDB rejects the query, or a whole number is not in -2^63 to 2^63 - 1.
        """
        statement = text("query", query)
        with closing(sql.connect(only=self.path)) as connection:
            span, gaps = self._covered(connection, BOOKS, start, end, account)
            if flag("missing_ok", missing_ok):
                coverage.report(self.path, gaps, missing_ok=True)
                gaps = []
            lacking = {book for gap in gaps for book in gap.books}
            words = statement.lower()
            named = {name for name in KINDS if any(view in words for view in sql.VIEWS[name])}
            # Without any, a name may be mistaken, for which DuckDB suggests one of the views.
            for name in (named or KINDS.keys()) - lacking:
                self._define(connection, name, span)
            connection.execute(
                "CREATE TEMP VIEW fetches AS SELECT * EXCLUDE seal FROM stored_fetches WHERE "
                + span.rows
            )
            return sql.run(connection, self.path, str(span), gaps, statement, parameters)

    def history(self, order_no: str, *, account: str | None = None) -> list[OrderState]:
        """Returns the states of an order over time, each with the time when it was first seen.

        If several records have this number (legs, accounts), their states follow each other.
        ``row_no`` and ``ref_ltp`` change while an order does not, so they do not count as changes.

        Args:
            order_no: The order's number.
            account: The label of one account, ``""`` for the one without a label; all if None.

        Returns:
            The states; empty if the archive has no such order.
        """
        number, label = text("order_no", order_no), label_of(account)
        wanted = f"order_no = {quoted(number)}"
        if label is not None:
            wanted += f" AND account = {quoted(label)}"
        keys = ["account", *sql.IDENTITY["orders"], "received_at", "row_no"]
        with closing(sql.connect()) as connection:
            for name in ("orders", "fetches"):
                self._store.view(connection, name)
            with explained(self.path):
                connection.execute(f"""
                CREATE TEMP TABLE found AS SELECT * FROM stored_orders WHERE {wanted} AND
                fetch_id IN (SELECT fetch_id FROM stored_fetches WHERE book = 'orders')
                ORDER BY {" NULLS FIRST, ".join(keys)}""")
                orders = cast(
                    "OrderBook",
                    self._as_book("orders", connection.sql("SELECT * EXCLUDE fetch_id FROM found")),
                )
                owners = sql.rows_of(connection.sql("SELECT received_at, account FROM found"))
        states: list[OrderState] = []
        last: Any = None
        for owner, order_row in zip(owners, orders, strict=True):
            content = {**order_row._asdict(), "account": owner.account, **dict.fromkeys(UNCOUNTED)}
            if content != last:
                at = owner.received_at and owner.received_at.astimezone(self.tz)
                states.append(OrderState(at, owner.account or None, order_row))
            last = content
        return states

    def fetches(
        self, start: Day | None = None, end: Day | None = None, *, account: str | None = None
    ) -> list[ArchiveFetch]:
        """Returns the log of responses and failures, in the order in which they were written.

        Args:
            start: The first day; all days if None.
            end: The last day (inclusive); ``start`` if None.
            account: The label of one account, ``""`` for the one without a label; all if None.
        """
        with closing(sql.connect()) as connection:
            span = Span(*days_of(start, end), label_of(account))
            self._store.view(connection, "fetches", span)
            with explained(self.path, days="the log"):
                log = f"FROM stored_fetches WHERE {span.rows} ORDER BY filed_at, account, book, day"
                lines = sql.rows_of(connection.sql(log))
            try:
                return self._ingest.entries(lines)
            except (AttributeError, TypeError) as error:  # a value is None
                raise self._damaged("a line of the log was altered") from error

    @property
    def accounts(self) -> tuple[str | None, ...]:
        """The account labels in the log; ``None`` is for fetches without one."""
        return tuple(label or None for label in sorted(self._expected()))

    def missing(
        self, start: Day, end: Day, *, account: str | None = None, after: time | str | None = None
    ) -> list[MissingDay]:
        """Returns the days (inclusive) on which a book was not fetched.

        A complete trade response covers the days of its rows and, from ``day_start``, the day on
        which it was received; an order response covers its day. Weekends are missing only if a
        fetch failed, and ``holidays`` never. An account is expected from its first response or
        failure until it is retired. A fetched day without trades or orders is not missing.

        Args:
            start: The first day, a date or text such as "2026-11-20".
            end: The last day.
            account: The label of one account, ``""`` for the one without a label; every account in
                the log if None.
            after: A time of day in the archive's time zone, such as "15:30": responses received
                earlier do not count for that day, because they may be incomplete.
        """
        since = None if after is None else validate.time_of_day("after", after)
        first, last = validate.day("start", start), validate.day("end", end)
        days_of(first, last)
        with closing(sql.connect()) as connection:
            label = label_of(account)
            _, known = self._ingest.open_log(connection, Span(first, last, label))
            if since is not None:
                days = connection.execute("SELECT DISTINCT day FROM log_lines").fetchall()
                due = [
                    (day, datetime.combine(day, since, self.tz).astimezone(UTC)) for (day,) in days
                ]
                connection.executemany(
                    """UPDATE log_read SET covered = NULL
                    WHERE day = $1 AND (received_at >= $2) IS NOT TRUE""",
                    due,
                )
            books = dict.fromkeys(BOOKS, (first, last))
            return coverage.find_gaps(
                connection, known, (first, last), label, books, self._holidays
            )

    def verify(self) -> int:
        """Reads everything and compares counts and checksums with the log.

        Returns:
            The number of rows that were checked.

        Raises:
            ArchiveError: Something is damaged; the message says which days of which accounts.
        """
        try:
            return self._verified()
        except ArchiveError:  # or another program deleted history after the log was read
            return self._verified()

    def _verified(self) -> int:
        checked = 0
        with closing(sql.connect(private=True)) as connection:  # without cached files
            self._store.view(connection, "fetches")
            with explained(self.path, days="the log"):
                connection.execute("CREATE TEMP TABLE log_all AS FROM stored_fetches")
                lines = sql.rows_of(connection.table("log_all"))
                for line, seal in zip(lines, seals_of(lines), strict=True):
                    if line.seal != seal:
                        raise self._damaged(
                            f"the log of {line.day} ({line.account or 'no label'}) was altered"
                        )
            for name in KINDS:
                self._store.view(connection, name)
                with explained(self.path, days=name):
                    stored, damaged = sql.find_damage(connection, name)
                for day, account, rows in damaged:
                    raise self._damaged(
                        f"the {name} of {day} ({account or 'no label'}) are not the {rows} rows "
                        "that were stored"
                    )
                checked += stored
        return checked

    def _damaged(self, what: str) -> ArchiveError:
        return ArchiveError(f"{self.path} is damaged: {what}: restore a backup", file=self.path)

    def files(self, name: str) -> list[str]:
        """Returns the paths of a table's Parquet files, for engines that do not read Delta Lake.

        They have earlier states too: see `scan` for the newest.

        Args:
            name: ``"trades"``, ``"orders"`` or ``"fetches"``.
        """
        if name not in NAMES:
            raise ValueError(f"name must be one of {', '.join(NAMES)}, not {shown(name)}")
        with closing(sql.connect()) as connection:
            return list(self._store.view(connection, name)[1])


def label_of(account: str | None) -> str | None:
    """Validates a label. A label of another type would match nothing, as on an empty day."""
    return None if account is None else text("account", account)
