"""Charts of books and results in Matplotlib (extra ``plot``), public as ``td.plot``.

Each function takes a book or a result, draws on ``ax`` or on a new figure, and returns the axes.
All charts have one colour for each side and each status, which colour-blind people can tell apart
and which are legible on light and dark pages; amounts in lakh (L, 100,000) and crore (Cr,
10,000,000), never with an exponent; and a time axis without nights and holidays: each day that has
rows is one unit wide, from 09:15 to 15:30. Without data they return axes with labels and a note.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import date, datetime, time
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary
from zlib import crc32

from ._core import printable
from ._util.optional_imports import LazyModule, require
from ._util.validate import count, flag, text
from .analysis import DailyPnl
from .analysis.events import check_codes, require_sides, require_values
from .analysis.inputs import IST, Lookup, rows_in
from .analysis.keys import FUTURE, OPTION, SHARES
from .analysis.ledger import Ledger
from .analysis.pnl import valued
from .analysis.quality import ExecutionQuality
from .analysis.results import LONG, SHORT, Lots, RealisedPnl, UnrealisedPnl
from .books.book import OrderBook, TradeBook
from .display import group

if TYPE_CHECKING:
    from matplotlib import axes
    from matplotlib.axis import Axis
else:
    axes = LazyModule("matplotlib.axes")

__all__ = ["STYLE", "blotter", "exposure", "fills", "pnl_curve", "status_colour"]

Height = Literal["trade_value", "traded_price", "quantity"]
Wait = Literal["to_exchange", "to_first_fill", "to_last_fill"]
Kind = Literal["shares", "future", "option"]

# Those of Okabe and Ito's colours whose contrast with white and with a dark page is 3:1 or more.
INK = "#7a7a7a"
# A notebook puts a transparent picture on a white box if all its tick labels are dark, and on a
# dark one if all are light. These are just light, and those of the other axis just dark.
INK_Y = "#808080"
BOUGHT, SOLD = "#0072b2", "#d55e00"
GAIN, LOSS, PENDING = "#009e73", SOLD, "#cc79a7"
_STATUS = {"success": GAIN, "pending": PENDING, "error": LOSS}
_OTHERS = ("#8c1aff", "#e6004c")

STYLE: dict[str, Any] = {
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.prop_cycle": f"cycler('color', {[BOUGHT, SOLD, GAIN, PENDING, *_OTHERS]!r})",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK_Y,
    "grid.color": INK,
    "grid.alpha": 0.25,
    "legend.frameon": False,
}
"""Matplotlib settings of these charts, for your own: ``plt.style.use(td.plot.STYLE)``."""


def status_colour(status: str) -> str:
    """Returns the colour of an order status, the same in every chart.

    Args:
        status: A status, such as ``"Pending"``; upper and lower case are alike.

    Returns:
        The colour, such as ``"#cc79a7"``, for Matplotlib.
    """
    known = _STATUS.get(text("status", status).lower())
    return known or (BOUGHT, *_OTHERS)[crc32(status.lower().encode()) % 3]


@contextmanager
def _axes(ax: axes.Axes | None, *heights: float) -> Iterator[list[axes.Axes]]:
    """Yields the axes to draw on: ``ax`` in its own style, or those of a new figure in this one."""
    matplotlib = require("matplotlib", "plot", "td.plot")
    pyplot = require("matplotlib.pyplot", "plot", "td.plot")
    # Loads the backend now: Jupyter's turns on interactive mode, without which a cell shows
    # nothing, and the end of the context would turn it off again.
    pyplot.draw_if_interactive()
    with matplotlib.rc_context(STYLE) if ax is None else nullcontext():
        if ax is not None:
            yield [ax]
            return
        figure = pyplot.figure(figsize=(8, sum(heights)), layout="constrained")
        panels = list(figure.subplots(len(heights), squeeze=False, height_ratios=heights).flat)
        for panel in panels:  # ticks are made when they are drawn, after the style has ended
            panel.tick_params("x", which="both", color=INK, labelcolor=INK)
            panel.tick_params("y", which="both", color=INK_Y, labelcolor=INK_Y)
        yield panels


@contextmanager
def _chart(ax: axes.Axes | None, title: str, ylabel: str, empty: str = "") -> Iterator[axes.Axes]:
    """Yields axes that get a title, a label and a legend, or without data the reason ``empty``."""
    with _axes(ax, 3.5) as (ax,):
        ax.set(title=title, ylabel=ylabel)
        yield ax
        if empty:
            _note(ax, empty)
        elif ax.get_legend_handles_labels()[1]:
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1))


def _note(ax: axes.Axes, text: str) -> None:
    ax.text(0.5, 0.6, text, transform=ax.transAxes, ha="center", va="center", color=INK)


def _as_written(text: str) -> str:
    """Returns a text that Matplotlib draws as it is, even between two dollars."""
    return printable(text).replace("$", r"\$")


def _number_text(value: float) -> str:
    """Writes a number with Indian grouping and as many decimals as it needs, at most four."""
    return group(value, 4).rstrip("0").rstrip(".")


def _amount(value: float) -> str:
    """Writes an amount, such as "12.5 L" or "-2 Cr"; below a lakh, with Indian grouping."""
    size = abs(value)
    unit, name = (1e7, " Cr") if size >= 1e7 else (1e5, " L") if size >= 1e5 else (1, "")
    return _number_text(value / unit) + name


def _format_numbers(axis: Axis, written: Callable[[float], str], *, signed: bool = True) -> None:
    """Formats an axis; without ``signed``, what is drawn downwards has no minus sign."""
    axis.set_major_formatter(lambda value, _: written(value if signed else abs(value)))
    axis.set_minor_formatter("")


def _trade_columns(
    argument: str, book: TradeBook, buy: str, sell: str, *fields: str
) -> tuple[Days, list[list[Any]]]:
    """Returns the days, and the sides and other fields of trades, none of which may be missing."""
    names = ("exch_trade_time", "txn_type", *fields)
    rows = rows_in(argument, book, TradeBook)
    require_values(rows, *names)
    require_sides(rows, buy, sell)
    times, *others = map(rows.column, names)
    return Days(times), others


def blotter(
    book: TradeBook | OrderBook,
    *,
    minutes: int = 15,
    values: bool = False,
    buy: str = "B",
    sell: str = "S",
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Draws how much was traded, or how many orders were entered, in each interval of the day.

    Trades are bars by side: bought above zero, sold below. Orders are stacked bars by status, at
    their time of entry. A book of several days has one bar for each day.

    Args:
        book: A trade book or an order book.
        minutes: Length of an interval, counted from 09:15. The default divides the session evenly.
        values: Adds up ``trade_value`` rather than counting trades. Leave derivatives out first:
            the value of an option is its premium, that of a future is notional.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``book`` is none of these.
        ValueError: If ``values`` is set for orders, ``minutes`` is below 1, or a trade has another
            ``txn_type`` or lacks a required value.

    Example:
        >>> td.plot.blotter(trades.filter(segment="E"), values=True)
    """
    count("minutes", minutes)
    flag("values", values)
    amounts: Iterable[float] = repeat(1)
    if isinstance(book, OrderBook):
        if values:
            raise ValueError("values=True needs trades: an order book has no traded values")
        entered = book.filter(order_date_time__ne=None)
        days = Days(entered._column("order_date_time"))
        labels = [status or "no status" for status in entered._column("status")]
        missing = len(book) - len(entered)
        title = f"Orders by status{f' ({missing} without a time of entry)' if missing else ''}"
        ylabel, empty = "orders entered", "no orders"
        shown = [
            (status, _as_written(status), status_colour(status))
            for status in sorted(set(labels), reverse=True)
        ]
    else:
        check_codes(buy, sell)
        fields = ["trade_value"] if values else []
        days, (labels, *chosen) = _trade_columns("td.plot.blotter", book, buy, sell, *fields)
        amounts = chosen[0] if values else amounts
        title, ylabel, empty = "Trades by side", "rupees" if values else "trades", "no trades"
        shown = [(buy, "bought", BOUGHT), (sell, "sold", SOLD)]
    places, width = days.intervals(minutes * 60)
    sums: defaultdict[tuple[str, float], float] = defaultdict(int)
    for label, place, amount in zip(labels, places, amounts, strict=False):
        sums[label, place] += amount
    bars = sorted(set(places))
    with _chart(ax, title, ylabel, "" if bars else empty) as ax:
        base, thick = [0.0] * len(bars), width * (0.9 if len(bars) < 100 else 1)
        for label, name, colour in shown if bars else ():
            heights = [sums[label, place] for place in bars]
            if name == "sold":
                base, heights = [0.0] * len(bars), [-height for height in heights]
            ax.bar(bars, heights, thick, base, color=colour, label=name)
            base = [low + height for low, height in zip(base, heights, strict=True)]
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.margins(y=0.15)
        if not values:
            ax.locator_params(axis="y", integer=True)
        _format_numbers(ax.yaxis, _amount, signed=False)
        days.mark(ax, [place + side * width / 2 for place in bars for side in (-1, 1)])
    return ax


_HEIGHTS = {"trade_value": "rupees", "traded_price": "price (rupees)", "quantity": "quantity"}
_WAITS = {
    "to_exchange": "seconds from entry to the exchange",
    "to_first_fill": "seconds from the exchange to the first fill",
    "to_last_fill": "seconds from the exchange to the last fill",
}
_NEVER = 1e9  # seconds, beyond every axis


def fills(
    result: TradeBook | ExecutionQuality,
    *,
    y: Height = "trade_value",
    wait: Wait = "to_first_fill",
    label: str | None = None,
    buy: str = "B",
    sell: str = "S",
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Draws each fill by time and size, or for execution quality how long orders waited.

    Trades are markers by side: upwards for bought, downwards for sold. Execution quality is drawn
    as the share of its orders that were filled within a time; it stays below 100% where orders were
    never filled. (The service sends times to the second.)

    Args:
        result: A trade book, or the result of ``td.execution_quality``.
        y: For trades, the field on the vertical axis. ``trade_value`` and ``quantity`` are on a
            logarithmic scale; ``traded_price`` suits trades of one security.
        wait: For execution quality, the latency to draw.
        label: For execution quality, draws one line with this name rather than one for each side.
            Several calls on one ``ax`` compare groups of orders.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: If ``y`` or ``wait`` is another name, or a trade has another ``txn_type`` or
            lacks a required value.

    Example:
        >>> td.plot.fills(trades.filter(symbol="INFY", segment="E"), y="traded_price")
        >>> td.plot.fills(td.execution_quality(orders, trades), wait="to_exchange")
    """
    for name, value, known in (("y", y, _HEIGHTS), ("wait", wait, _WAITS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    check_codes(buy, sell)
    if isinstance(result, ExecutionQuality):
        return _waits(result, wait, label, {buy: ("bought", BOUGHT), sell: ("sold", SOLD)}, ax)
    days, (sides, heights) = _trade_columns("td.plot.fills", result, buy, sell, y)
    places = days.places()
    with _chart(ax, "Fills", _HEIGHTS[y], "" if places else "no fills") as ax:
        for side, colour, marker, name in ((buy, BOUGHT, "^", "bought"), (sell, SOLD, "v", "sold")):
            chosen = [at for at, of_row in enumerate(sides) if of_row == side]
            across, up = ([values[at] for at in chosen] for values in (places, heights))
            ax.scatter(across, up, 26, color=colour, marker=marker, alpha=0.75, label=name)
        if y != "traded_price" and heights and min(heights) > 0:
            ax.set_yscale("log")
        _format_numbers(ax.yaxis, _number_text if y == "traded_price" else _amount)
        ax.grid(visible=True, axis="y")
        days.mark(ax, places)
    return ax


def _waits(
    quality: ExecutionQuality,
    wait: Wait,
    label: str | None,
    sides: dict[str, tuple[str, str]],
    ax: axes.Axes | None,
) -> axes.Axes:
    # Without a colour, the next one of the axes' cycle is used, so that groups differ.
    groups: dict[tuple[str, str | None], list[float]] = {}
    for row in quality:
        named = (label, None) if label else sides.get(row.txn_type or "", (str(row.txn_type), None))
        seconds = getattr(row, wait)
        groups.setdefault(named, []).append(_NEVER if seconds is None else max(seconds, 0.0))
    title = "Time to the exchange" if wait == "to_exchange" else "Time to fill"
    with _chart(ax, title, "share of orders", "" if groups else "no orders") as ax:
        before = ax.get_xlim()[1] if ax.lines else 10.0
        for (name, colour), waits in groups.items():
            ax.ecdf(waits, label=f"{_as_written(name)} ({group(len(waits))})", color=colour)
        longest = max(
            (waited for waits in groups.values() for waited in waits if waited < _NEVER), default=0
        )
        ax.set_xscale("symlog", linthresh=1)
        _format_numbers(ax.xaxis, _number_text)
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.set(xlim=(0, max(before, longest * 1.1)), ylim=(0, 1.02), xlabel=_WAITS[wait])
        ax.grid(visible=True)
    return ax


def pnl_curve(
    result: TradeBook | RealisedPnl | DailyPnl, *, ax: axes.Axes | None = None
) -> axes.Axes:
    """Draws the profit and loss realised so far, in total and of long and short lots, by time.

    Of daily profit and loss it draws the equity curve: the running sum of ``net``, after charges.

    Args:
        result: A trade book, the result of ``td.realised_pnl``, or that of ``td.daily_pnl``, in
            which a day without a price of something has no point. A book is computed with the
            defaults of ``td.realised_pnl``.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes, from 09:15 of the first day with a match to 15:30 of the last.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: As ``td.realised_pnl``, if ``result`` is a book.

    Example:
        >>> td.plot.pnl_curve(client.trade_book())
    """
    if isinstance(result, DailyPnl):
        return _equity_curve(result, ax)
    if not isinstance(result, RealisedPnl):
        rows_in("td.plot.pnl_curve", result, TradeBook)
        result = Ledger(result).realised()
    matches = result.matches.sort("close_time")
    days = Days(matches._column("close_time"))
    times = days.places()
    end = max([float(len(days.days) or 1), *times])
    closed = list(zip(times, matches._column("side"), matches._column("realised"), strict=True))
    empty = "" if closed else "nothing realised"
    with _chart(ax, "Realised so far", "rupees, before charges", empty) as ax:
        ax.axhline(0, color=INK, linewidth=0.8)
        for label, colour, line in ((LONG, BOUGHT, "--"), (SHORT, SOLD, ":"), ("all", INK, "-")):
            counted = [(at, amount) for at, side, amount in closed if label in (side, "all")]
            places = [min([0.0, *times]), *(at for at, _ in counted), end]
            sums = list(accumulate([0.0, *(amount for _, amount in counted), 0.0]))
            if closed:
                ax.step(places, sums, line, where="post", color=colour, label=label)
        for colour, keep in ((GAIN, max), (LOSS, min)):
            filled = [keep(total, 0.0) for total in sums]
            ax.fill_between(places, filled, step="post", color=colour, alpha=0.25, linewidth=0)
        _format_numbers(ax.yaxis, _amount)
        days.mark(ax, times)
    return ax


def _equity_curve(daily: DailyPnl, ax: axes.Axes | None) -> axes.Axes:
    """Draws what days have added up to, at the end of each."""
    of_days: dict[date, list[list[float | None]]] = {}
    for day, *amounts in zip(*map(daily._column, ("day", "net", "realised")), strict=True):
        of_days.setdefault(day, []).append(amounts)
    days = Days([datetime.combine(day, time(15, 30)) for day in of_days])
    places, nets, realised = [0.0], [0.0], [0.0]
    net = gained = 0.0
    for at, day in enumerate(days.days, 1):
        amounts = of_days[day]
        net += sum(of_row[0] or 0.0 for of_row in amounts)
        gained += sum(of_row[1] or 0.0 for of_row in amounts)
        if all(of_row[0] is not None for of_row in amounts):  # else the next day has this one's
            places.append(float(at))
            nets.append(net)
            realised.append(gained)
    with _chart(ax, "Net so far", "rupees", "" if of_days else "no trades") as ax:
        ax.axhline(0, color=INK, linewidth=0.8)
        if of_days:
            ax.plot(places, realised, "--", color=BOUGHT, label="realised, before charges")
            ax.plot(places, nets, "-", color=INK, label="net")
        for colour, sign in ((GAIN, 1), (LOSS, -1)):
            area = [sign * total >= 0 for total in nets]  # up to where the line crosses zero
            ax.fill_between(
                places, nets, where=area, interpolate=True, color=colour, alpha=0.25, linewidth=0
            )
        _format_numbers(ax.yaxis, _amount)
        days.mark(ax, places)
    return ax


_OPENED = {SHARES: "Open shares", FUTURE: "Open futures", OPTION: "Open options"}
_VALUES = {SHARES: "rupees", FUTURE: "notional value in rupees", OPTION: "premium in rupees"}


def exposure(
    result: TradeBook | RealisedPnl | Lots | UnrealisedPnl,
    *,
    kind: Kind | None = None,
    largest: int = 12,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Draws the value of each open quantity: bought to the right, sold to the left.

    Shares, futures (notional value) and options (premium) are panels with a scale of their own.

    An ``UnrealisedPnl`` is drawn at its prices. Everything else has no prices and is drawn at cost:
    what the open lots were traded for.

    Args:
        result: The result of ``td.unrealised_pnl`` or ``td.realised_pnl``, its ``open_lots``, or a
            trade book.
        kind: Draws these only: ``shares``, ``future`` or ``option``.
        largest: Maximum number of bars in a panel; the largest amounts come first.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes, of several panels those of the first: ``ax.figure.axes`` has all. The title gives
        the number of rows not shown, and of those without a price.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: As ``td.realised_pnl``, if ``result`` is a book; if ``kind`` is another name, or
            ``ax`` is given for several kinds.

    Example:
        >>> td.plot.exposure(td.unrealised_pnl(pnl.open_lots, prices))
    """
    count("largest", largest)
    basis, amount = "at cost", "value"
    if isinstance(result, UnrealisedPnl):
        basis, amount = "at your prices", "market_value"
    else:
        if not isinstance(result, (RealisedPnl, Lots)):
            rows_in("td.plot.exposure", result, TradeBook)
            result = Ledger(result).open_lots()
        result = valued(result, Lookup("prices", {}))
    rows = list(zip(result._column(amount), result, strict=True))
    if kind is not None and kind not in _OPENED:
        raise ValueError(f"kind must be one of {', '.join(_OPENED)}, not {kind!r}")
    kinds: list[str] = [kind] if kind else list(_OPENED)
    held = [name for name in kinds if any(row.kind == name for _, row in rows)]
    held = held or kinds[:1]
    if ax is not None and len(held) > 1:
        raise ValueError(
            f"the values of {' and '.join(map(repr, held))} do not share a scale: pass one of them "
            "as `kind`, or no `ax`"
        )
    panels = {
        name: sorted(
            ((value, row) for value, row in rows if row.kind == name and value),
            key=lambda bar: -abs(bar[0]),
        )
        for name in held
    }
    heights = [1.4 + 0.28 * min(max(len(bars), 3), largest) for bars in panels.values()]
    with _axes(ax, *heights) as drawn:
        for panel, (name, of_kind) in zip(drawn, panels.items(), strict=True):
            bars = of_kind[:largest]
            title = _OPENED[name]
            if len(of_kind) > largest:
                title += f", {len(bars)} of {group(len(of_kind))} shown"
            unpriced = sum(row.kind == name and value is None for value, row in rows)
            title += f", {group(unpriced)} without a price" if unpriced else ""
            names = [
                f"{row.display_name or row.symbol or row.security_id} "
                f"({row.exchange}, {row.product})"
                for _, row in bars
            ]
            colours = [BOUGHT if value > 0 else SOLD for value, _ in bars]
            panel.barh(range(len(bars)), [value for value, _ in bars], color=colours)
            panel.set_yticks(range(len(bars)), list(map(_as_written, names)))
            panel.set_ylim(max(len(bars), 3) - 0.5, -0.5)
            panel.axvline(0, color=INK, linewidth=0.8)
            panel.set_title(title)
            panel.set_xlabel(f"{_VALUES[name]} {basis}: sold to the left, bought to the right")
            _format_numbers(panel.xaxis, _amount)
            if not bars:
                _note(panel, "no prices" if unpriced else "nothing open")
    return drawn[0]


# -- the time axis: days that have rows, side by side, without nights and holidays --

_OPEN, _OPEN_HOUR = time(9, 15), 9.25
_SESSION = 6.25 * 3600  # seconds, from 09:15 to 15:30
_MOST_TICKS = 8


class Days:
    """The days of a time axis. The first begins at 0, the second at 1, and so on."""

    def __init__(self, times: Iterable[datetime]) -> None:
        # Times on the exchange's clock; a naive time is assumed to be on it.
        local = [
            at if at.tzinfo is None else at.astimezone(IST).replace(tzinfo=None) for at in times
        ]
        self.days: list[date] = sorted({at.date() for at in local})
        self.several = len(self.days) > 1
        numbers = {day: number for number, day in enumerate(self.days)}
        # The number of each time's day, and the seconds from 09:15 of it.
        self.times = [
            (numbers[at.date()], (at - datetime.combine(at, _OPEN)).total_seconds()) for at in local
        ]

    def places(self) -> list[float]:
        """Returns the place of each time; on several days at most an end of the session."""
        shares = [(day, seconds / _SESSION) for day, seconds in self.times]
        if self.several:
            return [day + min(max(share, 0.0), 1.0) for day, share in shares]
        return [share for _, share in shares]

    def intervals(self, seconds: float) -> tuple[list[float], float]:
        """Returns the middle of each time's interval or day, and the width of one."""
        if self.several:
            return [day + 0.5 for day, _ in self.times], 1.0
        width = seconds / _SESSION
        return [(since_open // seconds + 0.5) * width for _, since_open in self.times], width

    def mark(self, ax: axes.Axes, places: Iterable[float]) -> None:
        """Makes the horizontal axis one of these days, which show these places."""
        if _drawn.setdefault(ax, self.days) != self.days:
            raise ValueError("the axes show other days: draw each chart on axes of its own")
        low, high = min([0.0, *places]), max([float(len(self.days) or 1), *places])
        ends = [f"{day:%d %b %Y}" for day in (self.days[0], self.days[-1])] if self.days else []
        if self.several:
            shown = range(0, len(self.days), -(-len(self.days) // _MOST_TICKS))
            ticks = [number + 0.5 for number in shown]
            texts, year = [], None
            for day in (self.days[number] for number in shown):
                texts.append(f"{day.day} {day:%b}" + (f"\n{day.year}" if day.year != year else ""))
                year = day.year
            label = f"{group(len(self.days))} days from {' to '.join(ends)}"
        else:
            hours = [(hour, (hour - _OPEN_HOUR) * 3600 / _SESSION) for hour in range(25)]
            inside = [(hour, at) for hour, at in hours if low <= at <= high]
            step = -(-len(inside) // _MOST_TICKS)
            ticks = [at for hour, at in inside if hour % step == 0]
            texts = [f"{hour:02}:00" for hour, _ in inside if hour % step == 0]
            label = ", ".join(["market time", *ends[:1]])
        ax.set_xticks(ticks, texts)
        days = range(len(self.days) + 1) if 1 < len(self.days) <= 4 * _MOST_TICKS else ()
        ax.set_xticks(days, minor=True)
        pad = 0.01 * (high - low)  # room for half a marker
        ax.set(xlim=(low - pad, high + pad), xlabel=label)


_drawn: WeakKeyDictionary[axes.Axes, list[date]] = WeakKeyDictionary()
