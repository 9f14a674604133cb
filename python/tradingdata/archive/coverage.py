"""Which days the archive knows, and which nobody fetched."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import TYPE_CHECKING, NamedTuple

from .days import day_of
from .record_key import BOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .days import Day, Days
    from .fetch_log import ArchiveFetch

_SATURDAY = 5


class MissingDay(NamedTuple):
    """A day whose books nobody fetched.

    Attributes:
        day: the day.
        account: the label of the account, or ``None``.
        books: which books of it: ``"orders"``, ``"trades"`` or both.
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
    """Working days without a whole answer, for each of the accounts."""
    closed = {day_of("holidays", day) for day in holidays}
    covered = {
        (entry.account, entry.book, day)
        for entry in entries
        if entry.whole and entry.ok
        for day in _days_of(entry, after)
    }
    found = []
    for day in days.each():
        if day.weekday() >= _SATURDAY or day in closed:
            continue
        for account in accounts:
            books = tuple(book for book in sorted(BOOKS) if (account, book, day) not in covered)
            if books:
                found.append(MissingDay(day, account, books))
    return found


def _days_of(entry: ArchiveFetch, after: time | None) -> Iterable[date]:
    """The days that an answer proves to be fetched."""
    days = _whole_days(entry)
    if after is None:
        return days
    if entry.at is None:
        return []
    clock = entry.at.replace(tzinfo=None)
    return {day for day in (*days, clock.date()) if clock >= datetime.combine(day, after)}


def _whole_days(entry: ArchiveFetch) -> Sequence[date]:
    """The days of which an answer had all rows, not only what was left of them.

    The order book is that of one day: of the days before, it has what outlasted them, such as an
    order that was entered in the evening for the next session.
    """
    if entry.book == "trades":
        return entry.days
    begun = [day for day in entry.days if entry.at is None or day <= entry.at.date()]
    return sorted(begun or entry.days)[-1:]


def time_of(value: time | str | None) -> time | None:
    """A time of day, given as such or as text. Raises TypeError and ValueError for others."""
    if isinstance(value, str):
        try:
            value = time.fromisoformat(value)
        except ValueError:
            raise ValueError(f"after is a time such as '15:30', not {value!r}") from None
    if value is not None and not isinstance(value, time):
        raise TypeError(f"after is a time or text such as '15:30', not {value!r}")
    if value is not None and value.tzinfo is not None:
        raise ValueError(f"after is a time by the archive's clock, without a zone, not {value!r}")
    return value
