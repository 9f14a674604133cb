"""What all charts share: colours, settings, and axes of amounts and of market time.

Amounts are grouped, in lakh (L) and crore (Cr), never with an exponent or an offset. A time axis
is one session from 09:15 to 15:30, or several side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, datetime, time, timedelta, timezone
from typing import TYPE_CHECKING, Any
from zlib import crc32

from ..._util.optional_imports import require
from ...display.text import group
from ..keys import Keyed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# A page is light or dark, and no one colour has a contrast of 4.5:1 with both: charts bring paper.
INK, PAPER = "#4d4d4d", "#ffffff"
BOUGHT, SOLD = "#2f81f7", "#e8690c"
GAIN, LOSS = "#2f9e44", "#e5484d"
_STATUS = {"success": GAIN, "pending": "#b58900", "error": LOSS}
_OTHERS = ("#9c6ade", "#0c96a8", "#d6409f", "#8d7a5b")

STYLE: dict[str, Any] = {
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": f"cycler('color', {[BOUGHT, SOLD, GAIN, *_OTHERS]!r})",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.25,
    "legend.frameon": False,
}
"""Matplotlib settings of these charts, for your own: ``plt.style.use(td.plot.STYLE)``."""


def names_of(rows: list[Keyed]) -> list[str]:
    """Returns a name for each row, with exchange and product where a name is used twice."""
    names = [row.display_name or row.symbol or row.security_id for row in rows]
    uses = Counter(names)
    return [
        name if uses[name] == 1 else f"{name} ({row.exchange}, {row.product})"
        for name, row in zip(names, rows, strict=True)
    ]


def status_colour(status: str) -> str:
    """Returns the colour of an order status, the same in every chart."""
    known = _STATUS.get(status.lower())
    return known or _OTHERS[crc32(status.lower().encode()) % len(_OTHERS)]


@contextmanager
def chart(
    ax: Axes | None, title: str, ylabel: str, sessions: Sessions | None = None, height: float = 3.5
) -> Iterator[Axes]:
    """Yields the axes to draw on: ``ax`` in its own style, or those of a new figure in this one.

    They get a title, a label and the time axis of the sessions, if there is one.
    """
    matplotlib = require("matplotlib", "plot", "td.plot")
    pyplot = require("matplotlib.pyplot", "plot", "td.plot")
    with ExitStack() as style:
        if ax is None:
            # Loads the backend now: Jupyter's turns on interactive mode, without which a cell shows
            # nothing, and the end of the context would turn it off again.
            pyplot.draw_if_interactive()
            style.enter_context(matplotlib.rc_context(STYLE))
            _, ax = pyplot.subplots(figsize=(8, height), layout="constrained")
            # Ticks are made when they are drawn, after the style has ended.
            ax.tick_params(which="both", color=INK, labelcolor=INK)
        ax.set(title=title, ylabel=ylabel)
        yield ax
        if sessions is not None:
            sessions.mark(ax)


def add_legend(ax: Axes, empty: str, columns: int = 1, **limits: tuple[float, float]) -> None:
    """Adds a legend, or if there is nothing to draw, the reason ``empty`` and these limits."""
    if empty:
        ax.set(**limits)
        ax.text(0.5, 0.6, empty, transform=ax.transAxes, ha="center", va="center", color=INK)
    elif columns:
        ax.legend(loc="best", ncols=columns)


LAKH, CRORE = 1e5, 1e7


def amount(value: float, largest: float | None = None) -> str:
    """Writes an amount in the unit that suits it, or that suits ``largest``.

    ``amount(1250000)`` is "12.5 L", ``amount(-20000000)`` is "-2 Cr" and ``amount(99999)`` is
    "99,999".
    """
    size = abs(value if largest is None else largest)
    unit, name = (CRORE, " Cr") if size >= CRORE else (LAKH, " L") if size >= LAKH else (1, "")
    text = group(value / unit, 2).rstrip("0").rstrip(".")
    return text if text in ("0", "-0") else text + name


def format_amounts(axis: Axis, *, each: bool = False, signed: bool = True) -> None:
    """Formats an axis of amounts.

    All ticks have one unit; with ``each``, for a logarithmic axis, each has its own. Without
    ``signed``, amounts drawn downwards have no minus sign.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    def largest() -> float:
        low, high = axis.get_view_interval()
        return max(abs(low), abs(high))

    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: amount(value if signed else abs(value), None if each else largest())
        )
    )
    axis.set_minor_formatter(NullFormatter())


OPEN, CLOSE = time(9, 15), time(15, 30)
IST = timezone(timedelta(hours=5, minutes=30))
_LABELLED = 10  # days that fit an axis
_NO_DAY = date(2000, 1, 3)  # of an empty chart, whose axis shows hours only


class Sessions:
    """Positions of times on an axis; a naive time is assumed to be one of the exchange.

    A single day has the dates of Matplotlib, so that ``ax.axvline(datetime(...))`` works. Several
    days are side by side without the nights between them: day ``n`` is from ``n`` to ``n + 1``,
    and the weekdays without a time are among them, so that a gap stays visible.
    A session is longer than the market's hours only if a time lies outside of them.
    """

    label, mark_at = "market time", 0.0  # of several days, and the place of a day's mark within it

    def __init__(self, times: Iterable[datetime]) -> None:
        self.times = [
            at if at.tzinfo is None else at.astimezone(IST).replace(tzinfo=None) for at in times
        ]
        given = sorted({at.date() for at in self.times} or {_NO_DAY})
        span = (given[0] + timedelta(days=at) for at in range((given[-1] - given[0]).days + 1))
        self.days = [day for day in span if day.weekday() < 5 or day in given]
        self._open = min([OPEN, *(at.time() for at in self.times)])
        self._close = max([CLOSE, *(at.time() for at in self.times)])
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
    def ends(self) -> tuple[float, float]:
        """The opening of the first day, and the close of the last one."""
        opened = datetime.combine(self.days[0], self._open)
        return self.position(opened), self.position(datetime.combine(self.days[-1], self._close))

    def mark(self, ax: Axes) -> None:
        """Sets limits, ticks and the label of the time axis."""
        ax.set_xlim(*self.ends)
        day = self.days[0]
        if self.several:
            chosen = range(0, len(self.days), -(-len(self.days) // _LABELLED))
            places = [place + self.mark_at for place in chosen]
            ax.set_xticks(places, [f"{self.days[place]:%a %d %b}" for place in chosen])
            ax.set_xlabel(self.label)
            return
        hours = [time(hour, 15) for hour in range(self._open.hour, self._close.hour)]
        marks = [*(mark for mark in hours if mark >= self._open), CLOSE]
        ax.set_xticks(
            [self.position(datetime.combine(day, mark)) for mark in marks],
            [f"{mark:%H:%M}" for mark in marks],
        )
        ax.set_xlabel(f"market time, {day:%d %b %Y}" if self.times else "market time")
