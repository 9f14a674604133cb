"""Which days were fetched: those that responses cover, of those on which accounts are expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from .._util import validate
from ..errors import ArchiveError, ConfigurationError, DataWarning, warn_user
from .responses import Entry, Log

Day = date | str
Clock = time | str | None
IsOpen = Callable[[date], bool]

_MOST_LISTED = 8  # in a message


class Every:
    """All accounts."""

    def __repr__(self) -> str:
        return "<all>"

    def __reduce__(self) -> str:
        return "EVERY"


EVERY = Every()
Account = str | None | Every
Asked = tuple[Day | None, Day | None, Account]  # the first and the last day


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
    """Some days, inclusive, of one account or, if None, all; a day is None where it is open."""

    first: date | None = None
    last: date | None = None
    account: str | None = None

    def __str__(self) -> str:
        is_open = self.first is None or self.last is None
        if is_open or self.first == self.last:
            return "all days" if is_open else str(self.first)
        return f"{self.first} to {self.last}"

    def has(self, day: str) -> bool:
        """Returns whether a day, as text, is one of these."""
        return str(self.first or date.min) <= day <= str(self.last or date.max)


def span_of(start: Day | None, end: Day | None, account: Account = EVERY) -> Span:
    """Returns days as given by a caller; with ``start`` alone, the range is that day.

    A label of another type would match nothing, as on an empty day.

    Raises:
        ValueError: The end is before the start.
    """
    label = None if account is EVERY else validate.text("account", account or "")
    first = None if start is None else validate.day("start", start)
    last = first if end is None else validate.day("end", end)
    if first is not None and last is not None and last < first:
        raise ValueError(f"the end ({last}) is before the start ({first})")
    return Span(first, last, label)


class Sessions(NamedTuple):
    """The days on which the exchanges were open.

    Attributes:
        is_open: Whether they are open on a day, by the calendar.
        holidays: Days on which they were closed, which are never missing.
        sessions: Days on which they were open although the calendar says otherwise.
    """

    is_open: IsOpen
    holidays: frozenset[date]
    sessions: frozenset[date]

    def has(self, day: date) -> bool:
        """Returns whether a day is a session."""
        return day not in self.holidays and (day in self.sessions or self.is_open(day))


def due(
    root: str, log: Log, span: Span, books: Sequence[str]
) -> tuple[Span, dict[str, tuple[date, date]]]:
    """Returns the days that are meant, and the days of which each book must have been fetched.

    Args:
        root: The archive, for the message.
        log: The log.
        span: The days as given; open ends are those of what was fetched.
        books: The names of the books.

    Raises:
        ArchiveError: An end is open, and nothing was fetched.
    """
    first, last, label = span
    if first is not None and last is not None:
        return span, dict.fromkeys(books, (first, last))
    extents = {name: _extent(log, name, label) for name in books}
    known = [extent for extent in extents.values() if extent]
    if not known:
        raise ArchiveError(
            f"{root} has no fetches{f' of {label}' if label else ''}: fetch first, or name the "
            "days",
            file=root,
        )
    every = min(low for low, _ in known), max(high for _, high in known)
    # A first trade book may have trades of days before the first fetch.
    begun = date.fromisoformat(min(log.since[x] for x in log.since if label in (None, x)))
    if last is not None:
        begun = min(begun, last)
        return Span(min(every[0], last), last, label), dict.fromkeys(books, (begun, last))
    ends = {name: extent or every for name, extent in extents.items()}
    days = {name: (max(low, begun), high) for name, (low, high) in ends.items()}
    return Span(*every, label), days


def gaps(
    log: Log,
    span: Span,
    books: dict[str, tuple[date, date]],
    sessions: Sessions,
    since: time | None = None,
) -> list[MissingDay]:
    """Returns the days of some books that no response covers.

    Before the first account is expected, a day must be covered for any of them.

    Args:
        log: The log.
        span: The days; a single one counts whether it is a session or not. One account is expected
            until it is retired.
        books: The names of the books, each with the first and the last day to check.
        sessions: The days that must have been fetched.
        since: From which time of a day on a response counts for it, in a zone; always if None.
    """
    first, last = span.first or date.min, span.last or date.max
    known = {label: _expected(log, label) for label in sorted(log.since)}
    expected: list[tuple[str | None, date, date]] = [(x, *known[x]) for x in known]
    if span.account is not None:
        until = known.get(span.account, (first, date.max))[1]
        expected = [(span.account, first, until)]
    elif (earliest := min((begin for begin, _ in known.values()), default=date.max)) > first:
        expected.append((None, first, min(last, earliest - timedelta(1))))

    def is_lacking(book: str, day: date, label: str | None, *, is_due: bool) -> bool:
        entries = [*_entries(log, book, str(day), label)]
        least = -1.0 if since is None else datetime.combine(day, since).timestamp() * 1e6
        covering = (entry for entry in entries if str(day) in entry.covered.split())
        is_covered = any((entry.received_at or -1) >= least for entry in covering)
        return not is_covered and (is_due or any(entry.error for entry in entries))

    missing = []
    for day in map(date.fromordinal, range(first.toordinal(), last.toordinal() + 1)):
        is_due = first == last or sessions.has(day)
        for label, begin, until in () if day in sessions.holidays else expected:
            lacking = tuple(
                book
                for book, (low, high) in sorted(books.items())
                if max(begin, low) <= day <= min(until, high)
                and is_lacking(book, day, label, is_due=is_due)
            )
            if lacking:
                missing.append(MissingDay(day, label or None, lacking))
    return missing


def _entries(log: Log, book: str, day: str, account: str | None) -> Iterator[Entry]:
    """Yields the responses and failures of a day, of one account or of all."""
    by_account = log.days.get((book, day), {})
    for label in by_account if account is None else (account,):
        for entry in by_account.get(label, ()):
            if day in entry.rows and not log.is_withdrawn(entry):
                yield entry


def _extent(log: Log, book: str, account: str | None) -> tuple[date, date] | None:
    """Returns the first and the last day of which a book has responses or failures, if any."""
    names = [day for name, day in log.days if name == book]
    known = [day for day in names if any(_entries(log, book, day, account))]
    return (date.fromisoformat(min(known)), date.fromisoformat(max(known))) if known else None


def _expected(log: Log, account: str) -> tuple[date, date]:
    """Returns the first and the last day on which an account is expected.

    A response of a later day that is stored after an account was retired ends its retirement.
    """
    at, retired = log.decisions["retired"].get(account, (0, ""))
    is_retired = retired and not any(
        entry.filed_at > at
        for book, day in log.days
        if day > retired
        for entry in _entries(log, book, day, account)
    )
    since = date.fromisoformat(log.since[account])
    return since, date.fromisoformat(retired) if is_retired else date.max


def sessions_of(calendar: Any) -> IsOpen:
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
            known = library.get_calendar(calendar)
        except library.errors.InvalidCalendarName as error:
            raise ConfigurationError(
                f"exchange_calendars has no calendar {calendar!r}: use one such as 'XBOM'"
            ) from error
        first, last = known.first_session.date(), known.last_session.date()
        return lambda day: bool(
            known.is_session(str(day)) if first <= day <= last else day.weekday() < 5
        )
    if not callable(getattr(calendar, "is_session", None)):
        raise TypeError(
            "calendar must be None, the name of an exchange calendar, or an object with "
            f"is_session(day), not {validate.shown(calendar)}"
        )
    return lambda day: bool(calendar.is_session(day))


def report(
    root: str, gaps: Sequence[MissingDay], damaged: Iterable[str], *, missing_ok: bool
) -> None:
    """Raises ArchiveError for days that were never fetched, or warns with ``missing_ok``.

    Args:
        root: The archive.
        gaps: The days.
        damaged: Files of responses that cannot be read, which may cover the days.
        missing_ok: Whether to warn.
    """
    if not gaps:
        return
    lacking, remedy = f"{root} lacks {describe(gaps)}, which were never fetched", ""
    for path in damaged:
        lacking = f"{lacking} or are in {root}/{path}, which is damaged"
        remedy = "restore a backup of that file, "
        break
    if missing_ok:
        warn_user(DataWarning(lacking))
        return
    error = ArchiveError(
        f"{lacking}: {remedy}fetch or add them, choose other days, name `holidays`, or pass "
        "`missing_ok`",
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
    texts = [
        f"the {books} of {listed}" + (f" ({_listed(labels)})" if labels != ["no label"] else "")
        for (books, listed), labels in accounts.items()
    ]
    return "; ".join(texts[:_MOST_LISTED]) + ("; and more" if len(texts) > _MOST_LISTED else "")


def _listed(texts: Iterable[str]) -> str:
    known = [*texts]
    more = len(known) - _MOST_LISTED
    return ", ".join(known[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
