"""Days and ranges of days as arguments: dates, or text such as "2026-11-20"."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    Day = date | str


class Days(NamedTuple):
    """The days from the first to the last, inclusive."""

    first: date
    last: date

    @classmethod
    def of_texts(cls, first: str, last: str) -> Days:
        """Returns the range between two days in the file's notation."""
        return cls(date.fromisoformat(first), date.fromisoformat(last))

    def as_texts(self) -> tuple[str, str]:
        """Returns the first and the last day in the file's notation."""
        return self.first.isoformat(), self.last.isoformat()

    def each(self) -> Iterator[date]:
        """Yields every calendar day of the range."""
        for count in range((self.last - self.first).days + 1):
            yield self.first + timedelta(days=count)


ALL_DAYS = Days(date.min, date.max)


def day_of(name: str, value: Day) -> date:
    """Returns one day.

    Raises:
        TypeError: The value of the argument ``name`` is neither a date nor text.
        ValueError: The text is not a date.
    """
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{name} must be a day such as '2026-11-20', not {value!r}") from None
    if isinstance(value, datetime) or not isinstance(value, date):
        raise TypeError(f"{name} must be a date or text such as '2026-11-20', not {value!r}")
    return value


def days_of(start: Day | None, end: Day | None) -> Days:
    """Returns the range given by two arguments: all days without both, one day without an end.

    Raises:
        ValueError: The end is before the start.
    """
    if start is None:
        first = date.min
        last = date.max if end is None else day_of("end", end)
    else:
        first = day_of("start", start)
        last = first if end is None else day_of("end", end)
    if last < first:
        raise ValueError(f"the end ({last}) is before the start ({first})")
    return Days(first, last)
