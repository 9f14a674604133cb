"""Reads an archive: which files have the newest states, which days are missing, what was lost."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from .._util.validate import text
from ..errors import ArchiveError
from . import coverage, views
from .coverage import Span, span_of
from .databases import connection, redacted
from .ingest import KINDS, time_of, with_lost_values
from .store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from duckdb import DuckDBPyRelation

    from .coverage import Day, Index, MissingDay
    from .ingest import AnyBook
    from .log import Log, Lost

Result = TypeVar("Result")


class Reader:
    """What reads from an archive has of it.

    Args:
        store: The files.
        index: What their log says of days.
        is_session: Whether a day must have been fetched.
        keep: Whether personal values are kept.
    """

    def __init__(
        self, store: Store, index: Index, is_session: Callable[[date], bool], *, keep: bool
    ) -> None:
        self.store, self.index, self.is_session, self.keep = store, index, is_session, keep

    @contextmanager
    def read(self, span: Span | None = None, *, check: bool = True) -> Iterator[tuple[Log, Index]]:
        """Holds the log as it is now.

        Raises ArchiveError if a commit of the days was lost, unless this is not to ``check`` it.
        """
        with explained(self.store.root, "read"), self.store.lock:
            log = self.store.log()
            self.index.update(log)
            if check:
                self.check_lost(log, span or Span())
            yield log, self.index

    def check_lost(self, log: Log, span: Span) -> None:
        """Raises ArchiveError if a commit with responses of some days was lost."""
        months = None
        if span.first is not None and span.last is not None:
            first, last = span.first, span.last
            numbers = range(12 * first.year + first.month - 1, 12 * last.year + last.month)
            months = [f"{number // 12:04}-{number % 12 + 1:02}" for number in numbers]
        for lost in self.store.lost(log, months):
            if days := self._days_of(log, lost):
                first_day, last_day = days
                low, high = span.texts()
                if first_day <= high and last_day >= low:
                    raise ArchiveError(
                        f"{self.store.root} is damaged: {lost.problem}, which has responses of "
                        f"{coverage.in_words(*days)}: restore a backup, or add the responses again",
                        file=self.store.root,
                    )

    def _days_of(self, log: Log, lost: Lost) -> tuple[str, str] | None:
        """Returns the days of a lost commit; None if everything of it was stored again."""
        try:
            rows = [row for path in lost.files for row in views.rows_of_file(path)]
        except views.Error:
            return lost.days
        unknown = [day for identity, day in rows if identity not in log.lines]
        if unknown or rows:
            return (min(unknown), max(unknown)) if unknown else None
        if lost.ids is not None:
            return None if lost.ids <= log.lines.keys() else lost.days
        low, high = lost.days  # the newest commit of all, which nobody saw, and without rows
        later = [x for x in log.lines.values() if x["commit"] > lost.commit and x["sha256"]]
        again = any(low <= day <= high for line in later for day in line["days"])
        return None if again else lost.days

    def covered(
        self, books: Sequence[str], start: Day | None, end: Day | None, account: str | None
    ) -> tuple[Span, list[MissingDay]]:
        """Returns the days that are meant, and those that were never fetched."""
        span = span_of(start, end, label_of(account))
        first, last, label = span
        with self.read(span) as (_, index):
            if first is None or last is None:
                dated = {}
                for name in books:
                    if extent := index.extent(name, span):
                        dated[name] = extent
                if not dated:
                    raise ArchiveError(
                        f"{self.store.root} has no fetches{f' of {label}' if label else ''}: fetch "
                        "first, or name the days",
                        file=self.store.root,
                    )
                first = min(low for low, _ in dated.values())
                # A first trade book may have trades of days before the first fetch.
                begun = [s for x, (s, _) in index.accounts().items() if label in (None, x)]
                least = min(begun, default=first)
                highest = max(high for _, high in dated.values())
                checked = {}
                for name in books:
                    low, high = dated.get(name, (first, highest))
                    checked[name] = (max(low, least), last or high)
                last = last or highest
            else:
                checked = dict.fromkeys(books, (first, last))
            gaps = index.gaps((first, last), label, checked, self.is_session)
            return Span(first, last, label), gaps

    def define(self, connection: Any, name: str, span: Span) -> tuple[int, bool, bool]:
        """Makes the views of a book.

        Returns:
            The number of rows that are compared, whether none of them replaces another, and whether
            values of some did not fit.
        """
        with explained(self.store.root, "read", f"the {name} of {span}"), self.store.lock:
            log = self.store.log()
            self.index.update(log)
            parts = self.index.parts(name, span)
            taken = [
                (one, part.day, rank, len(part.ids) > 1)
                for part in parts
                for rank, one in enumerate(part.ids)
            ]
            chosen = self._chosen(log, taken, span)
        with explained(self.store.root, "read", f"the {name} of {span}"):
            views.define(connection, name, name, chosen, span)
        rows, single = sum(part.rows for part in parts), all(len(part.ids) == 1 for part in parts)
        return rows, single, any(log.lines[one]["lost"] for part in parts for one in part.ids)

    def define_states(self, connection: Any, span: Span) -> None:
        """Makes the view of all states of orders."""
        with explained(self.store.root, "read", f"the orders of {span}"), self.store.lock:
            log = self.store.log()
            self.index.update(log)
            taken = self.index.stored("orders", span)
            chosen = self._chosen(log, [(one, day, 0, False) for one, day in taken], span)
        with explained(self.store.root, "read", f"the orders of {span}"):
            views.define(connection, "orders", "order_states", chosen, span)

    def _chosen(
        self, log: Log, taken: Sequence[tuple[str, str, int, bool]], span: Span
    ) -> views.Chosen:
        """Returns the files and rows of responses on days, each with its rank."""
        days: dict[str, set[str]] = {}
        mixed = set()
        for one, day, _, several in taken:
            days.setdefault(one, set()).add(day)
            if several:
                mixed.add(one)
        for one, those in days.items():
            every = {day for day, rows in log.lines[one]["days"].items() if rows and span.has(day)}
            if every != those:
                mixed.add(one)
        wanted = {(one, day[:7]) for one, those in days.items() for day in those}
        plain = sorted(each for each in wanted if each[0] not in mixed)
        return views.Chosen(
            self.store.find(log, plain),
            self.store.find(log, sorted(each for each in wanted if each[0] in mixed)),
            [each for each in taken if each[0] in mixed],
        )

    def define_fetches(self, connection: Any, span: Span) -> None:
        """Makes the view of the log."""
        with self.read(span) as (log, _):
            lines = [
                (
                    date.fromisoformat(day),
                    *(line[name] or None for name in ("account", "book", "id", "source")),
                    line["at"] and time_of(line["at"]),
                    time_of(line["filed"]),
                    date.fromisoformat(day) if day in line["covered"] else None,
                    rows,
                    *(line[name] for name in ("sha256", "error", "message")),
                )
                for line in self.lines(log, span)
                for day, rows in line["days"].items()
                if span.has(day)
            ]
        views.define_fetches(connection, lines)

    def retried(self, read: Callable[[Any], Result], folder: str | None = None) -> Result:
        """Returns the result of reading, again if files were merged meanwhile."""
        for attempt in (1, 2, 3):
            try:
                with connection(folder) as opened:
                    return read(opened)
            except ArchiveError as error:
                if not isinstance(error.__cause__, (OSError, views.Error)):
                    raise
                if attempt == 3:
                    Store(self.store.folder).verify()  # names the file and its days
                    raise
        raise AssertionError

    def ordered(self, connection: Any, name: str, *, lost: bool) -> AnyBook:
        """Returns a book of the rows of a view by day and time, with the issues of lost values."""
        first = views.TIMES[name][0]
        if name == "trades" and not lost:
            # The days of trades are those of their times, if all have one; the core sorts faster.
            book = self.as_book(name, connection.sql(f"SELECT * EXCLUDE fetch_id FROM {name}"))
            if not len(book.filter(**{first: None})):
                return book.sort(first, "client_id", "row_no", "trade_no")
        book = self.as_book(name, views.ordered(connection, name))
        if lost:
            extras = views.extras(connection, name)
            book = with_lost_values(name, book, extras, keep=self.keep)
        return book

    def as_book(self, name: str, rows: DuckDBPyRelation) -> AnyBook:
        """Returns the rows of a relation as a book."""
        try:
            book: AnyBook = KINDS[name].from_arrow(rows, keep_personal_data=self.keep)
        except ValueError as error:
            raise OSError(str(error)) from error
        return book

    def lines(self, log: Log, span: Span) -> list[dict[str, Any]]:
        """Returns the lines of responses and failures, in the order in which they were written."""
        found = [
            line
            for line in log.lines.values()
            if line["source"] in ("fetch", "add")
            and span.account in (None, line["account"])
            and any(map(span.has, line["days"]))
        ]
        return sorted(found, key=lambda x: (x["filed"], x["account"], x["book"], x["id"]))


@contextmanager
def explained(root: str, what: str = "read", days: str = "") -> Iterator[None]:
    """Converts failures of the storage into an ArchiveError that says what to do."""
    try:
        yield
    except (OSError, views.Error) as error:
        line = " ".join(redacted(error).split())[:400]
        if what == "read":
            about = f" ({days})" if days else ""
            message = f"{root} is damaged or unreadable{about}: restore a backup ({line})"
        else:
            message = (
                f"{root} could not be written ({line}): check its disk, quota and "
                "permissions, and try again; what it holds is unchanged"
            )
        raise ArchiveError(message, file=root) from error


def label_of(account: str | None) -> str | None:
    """Validates a label. A label of another type would match nothing, as on an empty day."""
    return None if account is None else text("account", account)
