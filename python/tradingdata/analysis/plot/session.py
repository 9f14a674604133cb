"""The time axis: one trading session from 09:15 to 15:30, or several side by side."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

OPEN, CLOSE = time(9, 15), time(15, 30)
IST = timezone(timedelta(hours=5, minutes=30))
_LABELLED = 10  # days that fit an axis
_NO_DAY = date(2000, 1, 3)  # of an empty chart, whose axis shows hours only


def market_time(moment: datetime) -> datetime:
    """Returns the naive time at the exchange; a naive time is assumed to be one."""
    return moment if moment.tzinfo is None else moment.astimezone(IST).replace(tzinfo=None)


def weekdays_between(days: Iterable[date]) -> list[date]:
    """Returns the given days and the weekdays between them, so that a gap stays visible."""
    given = sorted(set(days))
    if not given:
        return []
    span = (given[0] + timedelta(days=at) for at in range((given[-1] - given[0]).days + 1))
    return [day for day in span if day.weekday() < 5 or day in given]


def mark_days(ax: Axes, days: Sequence[date], places: Sequence[float]) -> None:
    """Labels the days at their places, at most about ten of them."""
    step = -(-len(days) // _LABELLED)
    ax.set_xticks(places[::step], [f"{day:%a %d %b}" for day in days[::step]])


class Sessions:
    """Positions of times on an axis.

    A single day has the dates of Matplotlib, so that ``ax.axvline(datetime(...))`` works. Several
    days are side by side without the nights between them: day ``n`` is from ``n`` to ``n + 1``.
    A session is longer than the market's hours only if a time lies outside of them.
    """

    def __init__(self, times: Iterable[datetime]) -> None:
        times = list(times)
        self.days = weekdays_between(at.date() for at in times) or [_NO_DAY]
        self.is_empty = not times
        self._open = min([OPEN, *(at.time() for at in times)])
        self._close = max([CLOSE, *(at.time() for at in times)])
        self._places = {day: place for place, day in enumerate(self.days)}
        self.several = len(self.days) > 1

    def position(self, moment: datetime) -> float:
        """Returns the place of a time on the axis."""
        if self.several:
            opened = datetime.combine(moment.date(), self._open)
            length = datetime.combine(moment.date(), self._close) - opened
            return self._places[moment.date()] + (moment - opened) / length
        from matplotlib import dates

        return float(dates.date2num(moment))  # type: ignore[no-untyped-call]

    @property
    def first(self) -> float:
        """The opening of the first day."""
        return self.position(datetime.combine(self.days[0], self._open))

    @property
    def last(self) -> float:
        """The close of the last day."""
        return self.position(datetime.combine(self.days[-1], self._close))

    def mark(self, ax: Axes) -> None:
        """Sets limits, ticks and the label of the time axis."""
        ax.set_xlim(self.first, self.last)
        if self.several:
            mark_days(ax, self.days, list(range(len(self.days))))
            ax.set_xlabel("market time")
            return
        day = self.days[0]
        hours = [time(hour, 15) for hour in range(self._open.hour, self._close.hour)]
        marks = [*(mark for mark in hours if mark >= self._open), CLOSE]
        ax.set_xticks(
            [self.position(datetime.combine(day, mark)) for mark in marks],
            [f"{mark:%H:%M}" for mark in marks],
        )
        ax.set_xlabel("market time" if self.is_empty else f"market time, {day:%d %b %Y}")
