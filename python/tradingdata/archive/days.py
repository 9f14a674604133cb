"""Days as they are asked for: dates, or text such as "2026-11-20"."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    Day = date | str


class Days(NamedTuple):
    """The days from the first to the last, both among them."""

    first: date
    last: date

    def as_texts(self) -> tuple[str, str]:
        """The first and the last as the file holds them."""
        return self.first.isoformat(), self.last.isoformat()

    def __contains__(self, day: object) -> bool:
        return isinstance(day, date) and self.first <= day <= self.last

    def each(self) -> Iterator[date]:
        """Every day of the calendar among them."""
        for count in range((self.last - self.first).days + 1):
            yield self.first + timedelta(days=count)


def day_of(name: str, value: Day) -> date:
    """One day. Raises TypeError for what is none, ValueError for text that names none."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{name} is a day such as '2026-11-20', not {value!r}") from None
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError(f"{name} is a date or text such as '2026-11-20', not {value!r}")
    return value


def days_of(start: Day | None, end: Day | None) -> Days:
    """What ``start`` and ``end`` stand for: neither is all days, a start alone is that one day.

    Raises ValueError where the end is before the start.
    """
    if start is None:
        first = date.min
        last = date.max if end is None else day_of("end", end)
    else:
        first = day_of("start", start)
        last = first if end is None else day_of("end", end)
    if last < first:
        raise ValueError(f"the days end ({last}) before they start ({first})")
    return Days(first, last)
