"""The time axis of charts: days that have rows, side by side, without nights and holidays."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ..display.text import group
from .inputs import IST

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPEN, _SESSION = 9.25 * 3600, 6.25 * 3600  # seconds: from midnight to 09:15, and on to 15:30
_MOST_TICKS = 8


class Days:
    """The days of a time axis. The first begins at 0, the second at 1, and so on."""

    def __init__(self, times: Iterable[datetime]) -> None:
        # Times on the exchange's clock; a naive time is assumed to be on it.
        self.times = [
            at if at.tzinfo is None else at.astimezone(IST).replace(tzinfo=None) for at in times
        ]
        self.days: list[date] = sorted({at.date() for at in self.times})
        self.numbers = {day: number for number, day in enumerate(self.days)}

    @property
    def several(self) -> bool:
        """Whether there are two days or more."""
        return len(self.days) > 1

    def places(self) -> list[float]:
        """Returns the place of each time; on several days at most an end of the session."""
        shares = (_seconds(at) / _SESSION for at in self.times)
        if self.several:
            shares = (min(max(share, 0.0), 1.0) for share in shares)
        numbers = (self.numbers[at.date()] for at in self.times)
        return [number + share for number, share in zip(numbers, shares, strict=True)]

    def intervals(self, seconds: float) -> tuple[list[float], float]:
        """Returns the middle of each time's interval or day, and the width of one."""
        if self.several:
            return [self.numbers[at.date()] + 0.5 for at in self.times], 1.0
        width = seconds / _SESSION
        return [(_seconds(at) // seconds + 0.5) * width for at in self.times], width

    def mark(self, ax: Axes, places: Iterable[float]) -> None:
        """Makes the horizontal axis one of these days, which show these places."""
        from matplotlib.ticker import FixedLocator, NullLocator

        if _drawn.setdefault(ax, self.days) != self.days:
            raise ValueError("the axes show other days: draw each chart on axes of its own")
        low, high = min([0.0, *places]), max([float(len(self.days) or 1), *places])
        ends = [f"{day:%d %b %Y}" for day in (self.days[0], self.days[-1])] if self.days else []
        if self.several:
            step = -(-len(self.days) // _MOST_TICKS)
            shown = self.days[::step]
            ticks = [self.numbers[day] + 0.5 for day in shown]
            years = [None, *(day.year for day in shown)]
            texts = [
                f"{day.day} {day:%b}" + (f"\n{day.year}" if day.year != before else "")
                for day, before in zip(shown, years, strict=False)
            ]
            label = f"{group(len(self.days))} days from {' to '.join(ends)}"
        else:
            hours = [(hour * 3600 - _OPEN) / _SESSION for hour in range(25)]
            inside = [(hour, at) for hour, at in enumerate(hours) if low <= at <= high]
            step = -(-len(inside) // _MOST_TICKS)
            ticks = [at for hour, at in inside if hour % step == 0]
            texts = [f"{hour:02}:00" for hour, _ in inside if hour % step == 0]
            label = ", ".join(["market time", *ends[:1]])
        ax.set_xticks(ticks, texts)
        days = range(len(self.days) + 1) if 1 < len(self.days) <= 4 * _MOST_TICKS else ()
        ax.xaxis.set_minor_locator(FixedLocator(days) if days else NullLocator())
        pad = 0.01 * (high - low)  # room for half a marker
        ax.set(xlim=(low - pad, high + pad), xlabel=label)


_drawn: WeakKeyDictionary[Axes, list[date]] = WeakKeyDictionary()


def _seconds(at: datetime) -> float:
    """Returns the seconds from 09:15 of the day."""
    return at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1e6 - _OPEN
