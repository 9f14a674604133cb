"""Coverage of an archive: the days that were fetched, and those that are missing.

A complete response covers the day on which it was received and, for a trade book, the days of its
rows. An order book covers only the last day of its rows, because orders of earlier days are carried
over. Before 06:00 a response may still be the book of the previous day, so it covers its own day
only if it has rows of that day or is empty. Saturdays and Sundays are never missing.
"""

from __future__ import annotations

import warnings
from datetime import date, datetime, time
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ArchiveError, DataWarning
from . import checksums, fetch_log
from .days import ALL_DAYS, Days, day_of
from .record_key import BOOKS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Sequence

    from .days import Day
    from .fetch_log import ArchiveFetch

_SATURDAY = 5
_NIGHT_ENDS = time(6)
_MOST_LISTED = 8  # in a message


class MissingDay(NamedTuple):
    """A weekday for which a book was never fetched.

    Attributes:
        day: The day.
        account: The label of the account, or ``None``.
        books: The books that are missing: ``"orders"``, ``"trades"`` or both.
    """

    day: date
    account: str | None
    books: tuple[str, ...]


def missing_days(
    entries: Iterable[ArchiveFetch],
    days: Days,
    holidays: Iterable[Day],
    accounts: Sequence[str | None],
    after: time | None,
) -> list[MissingDay]:
    """Returns the weekdays that no complete response covers, for each of the accounts."""
    closed = {day_of("holidays", day) for day in holidays}
    covered = {
        (entry.account, entry.book, day) for entry in entries for day in _covered(entry, after)
    }
    return [gap for gap in _gaps(days, accounts, sorted(BOOKS), covered) if gap.day not in closed]


def fetched_days(
    connection: sqlite3.Connection, book: str, days: Days, account: str | None = None
) -> set[tuple[str, str]]:
    """Returns the accounts and days of a book that complete responses cover."""
    seals = checksums.read_days(connection, book, days, account)
    return {key for key, seal in seals.items() if seal.fetched}


def unfetched_days(
    connection: sqlite3.Connection,
    books: Sequence[str],
    days: Days,
    account: str | None = None,
) -> list[MissingDay]:
    """Returns the weekdays of some books that were never fetched, of one account or of all.

    Of all days, none counts as missing. Days that are open at the start begin with the first one
    that was fetched.
    """
    if days == ALL_DAYS:
        return []
    accounts = (
        [account or None] if account is not None else fetch_log.read_accounts(connection) or [None]
    )
    covered = {
        (label or None, book, date.fromisoformat(day))
        for book in books
        for label, day in fetched_days(connection, book, days, account)
    }
    if days.first == date.min:
        days = Days(min([days.last, *(day for _, _, day in covered)]), days.last)
    return _gaps(days, accounts, books, covered)


def _gaps(
    days: Days,
    accounts: Sequence[str | None],
    books: Sequence[str],
    covered: Collection[tuple[str | None, str, date]],
) -> list[MissingDay]:
    found = []
    for day in days.each():
        if is_weekend(day):
            continue
        for account in accounts:
            lacking = tuple(book for book in books if (account, book, day) not in covered)
            if lacking:
                found.append(MissingDay(day, account, lacking))
    return found


def is_weekend(day: date) -> bool:
    """Returns whether the exchanges are closed on that day of the week."""
    return day.weekday() >= _SATURDAY


def complete_days(entry: ArchiveFetch) -> set[date]:
    """Returns the days that a log entry covers."""
    if not (entry.whole and entry.ok):
        return set()
    days = set(entry.days)
    if entry.book == "orders":
        begun = {day for day in days if entry.at is None or day <= entry.at.date()}
        days = {max(begun or days)} if days else days
    if entry.at is not None and entry.at.time() >= _NIGHT_ENDS:
        days.add(entry.at.date())
    return days


def _covered(entry: ArchiveFetch, after: time | None) -> Iterable[date]:
    """Returns the days that an entry proves to be fetched, at that time of the day or later."""
    days = complete_days(entry)
    if after is None or not days:
        return days
    if entry.at is None:
        return ()
    clock = entry.at.replace(tzinfo=None)
    return {day for day in days | {clock.date()} if clock >= datetime.combine(day, after)}


def report(path: str, gaps: Sequence[MissingDay], *, missing_ok: bool, stacklevel: int) -> None:
    """Raises ArchiveError for days that were never fetched, or warns with ``missing_ok``."""
    if not gaps:
        return
    lacking = f"{path} lacks {describe(gaps)}, which were never fetched"
    if missing_ok:
        warnings.warn(lacking, DataWarning, stacklevel=stacklevel + 1)
        return
    error = ArchiveError(lacking, hint="missing_ok", file=path)
    error.missing = tuple(gaps)
    raise error


def describe(gaps: Sequence[MissingDay]) -> str:
    """Returns missing days in words, such as "the trades of 2026-11-19 (desk1, desk2)"."""
    days: dict[tuple[str | None, tuple[str, ...]], list[date]] = {}
    for gap in gaps:
        days.setdefault((gap.account, gap.books), []).append(gap.day)
    accounts: dict[tuple[str, str], list[str]] = {}
    for (account, books), those in days.items():
        accounts.setdefault((" and ".join(books), _spans(those)), []).append(account or "no label")
    parts = [
        f"the {books} of {spans}" + (f" ({_listed(labels)})" if labels != ["no label"] else "")
        for (books, spans), labels in accounts.items()
    ]
    return "; ".join(parts[:_MOST_LISTED]) + ("; and more" if len(parts) > _MOST_LISTED else "")


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_LISTED
    return ", ".join(texts[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _spans(days: Sequence[date]) -> str:
    """Returns weekdays as text, runs of them as their first and last."""
    spans: list[list[date]] = []
    for day in days:
        if spans and sum(not is_weekend(each) for each in Days(spans[-1][1], day).each()) == 2:
            spans[-1][1] = day
        else:
            spans.append([day, day])
    return _listed([f"{first}" if first == last else f"{first} to {last}" for first, last in spans])


def time_of(value: time | str | None) -> time | None:
    """Returns a time of day that was given as such or as text.

    Raises:
        TypeError: It is neither.
        ValueError: The text is not a time, or the time has a time zone.
    """
    if isinstance(value, str):
        try:
            value = time.fromisoformat(value)
        except ValueError:
            raise ValueError(f"after must be a time such as '15:30', not {value!r}") from None
    if value is not None and not isinstance(value, time):
        raise TypeError(f"after must be a time or text such as '15:30', not {value!r}")
    if value is not None and value.tzinfo is not None:
        raise ValueError(
            f"after must be a time in the archive's time zone, without a zone of its own, not "
            f"{value!r}"
        )
    return value
