"""What the log of an archive says of days: which were fetched, by which responses, and which not.

A response covers days, and an account is expected on each session from its first line in the log
until it is retired. Other days count only if a fetch was tried and failed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from .._util import validate
from .._util.warn import warn_user
from ..errors import ArchiveError, ConfigurationError, DataWarning
from .log import Log

Day = date | str
Line = dict[str, Any]
Rank = tuple[str, str, str]
_MOST_LISTED = 8  # in a message


class MissingDay(NamedTuple):
    """A day on which a book was never fetched.

    Attributes:
        day: The day.
        account: The label of the account, or ``None``.
        books: The books that are missing: ``"orders"``, ``"trades"`` or both.
    """

    day: date
    account: str | None
    books: tuple[str, ...]


class Span(NamedTuple):
    """Some days, inclusive, of one account or all; None where it is open."""

    first: date | None = None
    last: date | None = None
    account: str | None = None

    def __str__(self) -> str:
        if self.first is None or self.last is None:
            return "all days"
        return in_words(str(self.first), str(self.last))

    def has(self, day: str) -> bool:
        """Returns whether a day, as text, is one of these."""
        low, high = self.texts()
        return low <= day <= high

    def texts(self) -> tuple[str, str]:
        """Returns the first and the last day as text, which sort all days."""
        return str(self.first or date.min), str(self.last or date.max)


class Part(NamedTuple):
    """The responses that have the newest states of a book of an account and a day.

    Attributes:
        day: The day.
        account: The account.
        ids: The responses, the newest last.
        rows: How many rows of the day they have together.
    """

    day: str
    account: str
    ids: list[str]
    rows: int


def span_of(start: Day | None, end: Day | None, account: str | None = None) -> Span:
    """Returns days as given by a caller; with ``start`` alone, the range is that day.

    Raises:
        ValueError: The end is before the start.
    """
    first = None if start is None else validate.day("start", start)
    last = first if end is None else validate.day("end", end)
    if first is not None and last is not None and last < first:
        raise ValueError(f"the end ({last}) is before the start ({first})")
    return Span(first, last, account)


class Index:
    """The lines of a log by account, book and day."""

    def __init__(self) -> None:
        self._clear("")

    def _clear(self, generation: str) -> None:
        self._generation, self._count = generation, 0
        self.withdrawn: set[str] = set()
        # By account and book: the lines of each day, and the days covered and failed.
        self.lines: dict[tuple[str, str], dict[str, list[Line]]] = {}
        self._covered: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._failed: dict[tuple[str, str], set[int]] = defaultdict(set)
        self._since: dict[str, str] = {}
        self._last: dict[str, tuple[str, str]] = {}  # the last day, with the time of its line
        self._retired: dict[str, tuple[str, str]] = {}  # the time of the line, with the day

    def update(self, log: Log) -> Index:
        """Adds the lines that are new in a log; returns itself."""
        new = [log.lines[each] for each in log.order[self._count :]]
        withdrawn = {line["withdraws"] for line in new if line["source"] == "withdraw"}
        if log.generation != self._generation or withdrawn:
            self._clear(log.generation)
            new = [log.lines[each] for each in log.order]
            self.withdrawn = {x["withdraws"] for x in new if x["source"] == "withdraw"}
        for line in new:
            self._add(line)
        self._count = len(log.order)
        return self

    def _add(self, line: Line) -> None:
        account, book, filed = line["account"], line["book"], line["filed"]
        if line["source"] == "retire":
            self._retired[account] = max(self._retired.get(account, ("", "")), (filed, line["day"]))
        if line["source"] not in ("fetch", "add") or line["id"] in self.withdrawn:
            return
        days = self.lines.setdefault((account, book), {})
        for day in line["days"]:
            days.setdefault(day, []).append(line)
        day = max(line["days"])
        self._since[account] = min(self._since.get(account, day), day)
        self._last[account] = max(self._last.get(account, ("", "")), (filed, day))
        self._covered[account, book].update(map(_ordinal, line["covered"]))
        if line["error"] is not None:
            self._failed[account, book].update(map(_ordinal, line["days"]))

    def accounts(self) -> dict[str, tuple[date, date]]:
        """Returns the first and the last day on which each account is expected.

        A fetch after an account was retired, of a later day, ends its retirement.
        """
        found = {}
        for account, since in sorted(self._since.items()):
            until = date.max
            if account in self._retired:
                at, day = self._retired[account]
                last_at, last = self._last[account]
                if not (last_at > at and last > day):
                    until = date.fromisoformat(day)
            found[account] = (date.fromisoformat(since), until)
        return found

    def extent(self, book: str, span: Span) -> tuple[date, date] | None:
        """Returns the first and the last day of a book in a span, or None without any."""
        days = [
            day
            for (label, name), lines in self.lines.items()
            if name == book and span.account in (None, label)
            for day in lines
            if span.has(day)
        ]
        return (date.fromisoformat(min(days)), date.fromisoformat(max(days))) if days else None

    def parts(self, book: str, span: Span) -> list[Part]:
        """Returns the responses with the newest states of a book, by day and account."""
        low, high = span.texts()
        found = []
        for (account, name), days in self.lines.items():
            if name == book and span.account in (None, account):
                for day, lines in days.items():
                    if low <= day <= high:
                        ids = [*newest(lines, day)]
                        if ids:
                            rows = {x["repeats"] or x["id"]: x["days"][day] for x in lines}
                            found.append(Part(day, account, ids, sum(rows[one] for one in ids)))
        return sorted(found)

    def stored(self, book: str, span: Span) -> list[tuple[str, str]]:
        """Returns the responses of a book that have rows of their own, with each of their days."""
        return [
            (line["id"], day)
            for (account, name), days in self.lines.items()
            if name == book and span.account in (None, account)
            for day, lines in days.items()
            if span.has(day)
            for line in lines
            if line["days"][day] and line["repeats"] is None
        ]

    def gaps(
        self,
        days: tuple[date, date],
        account: str | None,
        books: dict[str, tuple[date, date]],
        is_session: Callable[[date], bool],
        after: Callable[[str, Line], bool] | None = None,
    ) -> list[MissingDay]:
        """Returns the days of some books that no response covers.

        Before the first account is expected, a day must be covered for any of them.

        Args:
            days: The first and the last day; a single one counts whether it is a session or not.
            account: One account, which is expected until it is retired, or None for all.
            books: The names of the books, each with the first and the last day to check.
            is_session: Whether a day must have been fetched.
            after: Which responses count for a day; all if None.
        """
        first, last = days
        known = self.accounts()
        expected: list[tuple[str | None, date, date]] = [(x, *known[x]) for x in known]
        if account is not None:
            expected = [(account, first, known[account][1] if account in known else date.max)]
        elif (begin := min((since for since, _ in known.values()), default=date.max)) > first:
            expected.append((None, first, min(last, begin - timedelta(1))))
        due = {first.toordinal()}
        if first < last:
            each_day = range(first.toordinal(), last.toordinal() + 1)
            due = {day for day in each_day if is_session(date.fromordinal(day))}
        lacking: dict[tuple[int, str], list[str]] = defaultdict(list)
        for label, since, until in expected:
            for book, (start, end) in sorted(books.items()):
                covered, failed = self._of_book(label, book, after)
                low, high = max(since, start).toordinal(), min(until, end).toordinal()
                for day in (due | failed) - covered:
                    if low <= day <= high:
                        lacking[day, label or ""].append(book)
        return [
            MissingDay(date.fromordinal(day), label or None, tuple(books_of_day))
            for (day, label), books_of_day in sorted(lacking.items())
        ]

    def _of_book(
        self, account: str | None, book: str, after: Callable[[str, Line], bool] | None
    ) -> tuple[set[int], set[int]]:
        """Returns the days covered, and those on which a fetch failed, of one account or any."""
        keys = [key for key in self.lines if key[1] == book and account in (None, key[0])]
        failed = set().union(*(self._failed[key] for key in keys))
        if after is None:
            return set().union(*(self._covered[key] for key in keys)), failed
        lines = {x["id"]: x for key in keys for same in self.lines[key].values() for x in same}
        covered: set[int] = set()
        for line in lines.values():
            covered.update(_ordinal(day) for day in line["covered"] if after(day, line))
        return covered, failed


def newest(lines: Sequence[Line], day: str) -> dict[str, Rank]:
    """Returns the responses with the newest states of a day, each with its rank, the newest last.

    These are the newest response that has rows, and those of whose records a newer one lacks some.
    The rows of an unchanged response are those of the response that it repeats.
    """
    ranks: dict[str, Rank] = {}
    for line in lines:
        if line["days"][day]:
            root = line["repeats"] or line["id"]
            ranks[root] = max(ranks.get(root, ("", "", "")), rank_of(line))
    covered = {x for one in lines for x in one["covers"] if x in ranks and rank_of(one) > ranks[x]}
    left = sorted((rank, one) for one, rank in ranks.items() if one not in covered)
    return {one: rank for rank, one in left}


def rank_of(line: Line) -> Rank:
    """Returns the place of a response among others; one without a time comes first.

    The service's clock has whole seconds, within which the local one decides.
    """
    return line["at"] or "", line["local"] or "", line["id"]


def _ordinal(day: str) -> int:
    return date.fromisoformat(day).toordinal()


def sessions_of(calendar: Any) -> Callable[[date], bool]:
    """Returns what says whether the exchanges were open on a day.

    Args:
        calendar: None for weekdays, the name of a calendar of exchange_calendars such as "XBOM", or
            an object with a method ``is_session``.
    """
    if calendar is None:
        return lambda day: day.weekday() < 5
    if isinstance(calendar, str):
        try:
            import exchange_calendars as library
        except ModuleNotFoundError as error:
            raise ImportError(
                f"the calendar {calendar!r} needs exchange_calendars, which is not installed: pip "
                "install exchange_calendars"
            ) from error
        try:
            calendar = library.get_calendar(calendar)
        except library.errors.InvalidCalendarName as error:
            raise ConfigurationError(
                f"exchange_calendars has no calendar {calendar!r}: use one such as 'XBOM'"
            ) from error
        first, last = calendar.first_session.date(), calendar.last_session.date()
        return lambda day: bool(
            calendar.is_session(str(day)) if first <= day <= last else day.weekday() < 5
        )
    if not callable(getattr(calendar, "is_session", None)):
        raise TypeError(
            "calendar must be None, the name of an exchange calendar, or an object with "
            f"is_session(day), not {validate.shown(calendar)}"
        )
    return lambda day: bool(calendar.is_session(day))


def report(root: str, gaps: Sequence[MissingDay], *, missing_ok: bool) -> None:
    """Raises ArchiveError for days that were never fetched, or warns with ``missing_ok``."""
    if not gaps:
        return
    lacking = f"{root} lacks {describe(gaps)}, which were never fetched"
    if missing_ok:
        warn_user(DataWarning(lacking))
        return
    error = ArchiveError(
        f"{lacking}: fetch or add them, choose other days, name `holidays`, or pass `missing_ok`",
        file=root,
    )
    error.missing = tuple(gaps)
    raise error from None


def describe(gaps: Sequence[MissingDay]) -> str:
    """Returns missing days in words, such as "the trades of 2026-11-19 (desk1, desk2)"."""
    days: dict[tuple[str | None, tuple[str, ...]], list[date]] = {}
    for gap in gaps:
        days.setdefault((gap.account, gap.books), []).append(gap.day)
    accounts: dict[tuple[str, str], list[str]] = {}
    for (account, books), those in days.items():
        listed = _listed([str(day) for day in those])
        if len(those) > _MOST_LISTED:
            listed = f"{len(those)} days from {those[0]} to {those[-1]}"
        accounts.setdefault((" and ".join(books), listed), []).append(account or "no label")
    parts = [
        f"the {books} of {listed}" + (f" ({_listed(labels)})" if labels != ["no label"] else "")
        for (books, listed), labels in accounts.items()
    ]
    return "; ".join(parts[:_MOST_LISTED]) + ("; and more" if len(parts) > _MOST_LISTED else "")


def in_words(first: str, last: str) -> str:
    """Returns a range of days as text."""
    return first if first == last else f"{first} to {last}"


def _listed(texts: Iterable[str]) -> str:
    known = [*texts]
    more = len(known) - _MOST_LISTED
    return ", ".join(known[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
