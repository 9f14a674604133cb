"""Charts of books and results in Matplotlib (extra ``plot``), public as ``td.plot``.

Each function takes a book or a result, draws on ``ax`` or on a new figure, and returns the axes.
All charts have one colour for each side and each status, on white, so that they are legible on any
page; amounts in lakh (L, 100,000) and crore (Cr, 10,000,000), never with an exponent; and a time
axis that begins at 09:15 and ends at 15:30. Without data they return axes with labels and a note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime, time, timedelta
from itertools import accumulate, repeat
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

from .._util.optional_imports import Later, require
from .._util.validate import count
from ..books.book import OrderBook, TradeBook
from ..display.text import group, printable
from .checks import check_codes, require_sides, require_values
from .inputs import IST, Lookup, rows_in
from .pnl import realised_pnl
from .position import Positions, positions
from .quality import ExecutionQuality
from .realised import LONG, SHORT, Lots, Matches, RealisedPnl
from .unrealised import UnrealisedPnl, valued

if TYPE_CHECKING:
    from matplotlib import axes
    from matplotlib.axis import Axis
else:
    axes = Later("matplotlib.axes")

__all__ = ["STYLE", "blotter", "exposure", "fills", "pnl_curve", "status_colour"]

Height = Literal["trade_value", "traded_price", "quantity"]
Wait = Literal["to_exchange", "to_first_fill", "to_last_fill"]

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


def status_colour(status: str) -> str:
    """Returns the colour of an order status, the same in every chart."""
    known = _STATUS.get(status.lower())
    return known or _OTHERS[crc32(status.lower().encode()) % len(_OTHERS)]


@contextmanager
def _chart(
    ax: axes.Axes | None, title: str, ylabel: str, empty: str = "", height: float = 3.5
) -> Iterator[axes.Axes]:
    """Yields the axes to draw on: ``ax`` in its own style, or those of a new figure in this one.

    They get a title, a label and a legend, or if there is nothing to draw, the reason ``empty``.
    """
    matplotlib = require("matplotlib", "plot", "td.plot")
    pyplot = require("matplotlib.pyplot", "plot", "td.plot")
    # Loads the backend now: Jupyter's turns on interactive mode, without which a cell shows
    # nothing, and the end of the context would turn it off again.
    pyplot.draw_if_interactive()
    with matplotlib.rc_context(STYLE) if ax is None else nullcontext():
        if ax is None:
            _, ax = pyplot.subplots(figsize=(8, height), layout="constrained")
            # Ticks are made when they are drawn, after the style has ended.
            ax.tick_params(which="both", color=INK, labelcolor=INK)
        ax.set(title=title, ylabel=ylabel)
        yield ax
        if empty:
            ax.text(0.5, 0.6, empty, transform=ax.transAxes, ha="center", va="center", color=INK)
        elif ax.get_legend_handles_labels()[1]:
            ax.legend()


def _as_written(text: str) -> str:
    """Returns a text that Matplotlib draws as it is, even between two dollars."""
    return printable(text).replace("$", r"\$")


def _amount(value: float) -> str:
    """Writes an amount, such as "12.5 L" or "-2 Cr"; below a lakh, with Indian grouping."""
    size = abs(value)
    unit, name = (1e7, " Cr") if size >= 1e7 else (1e5, " L") if size >= 1e5 else (1, "")
    return group(value / unit, 2).rstrip("0").rstrip(".") + name if value else "0"


def _format_amounts(axis: Axis, *, signed: bool = True) -> None:
    """Formats an axis; without ``signed``, what is drawn downwards has no minus sign."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(
        FuncFormatter(lambda value, _: _amount(value if signed else abs(value)))
    )
    axis.set_minor_formatter(NullFormatter())


_OPEN, _CLOSE = time(9, 15), time(15, 30)


def _on_the_clock(times: Iterable[datetime]) -> list[datetime]:
    """Returns times on the clock of the exchange; a naive one is taken to be one of it."""
    return [at if at.tzinfo is None else at.astimezone(IST).replace(tzinfo=None) for at in times]


def _sessions(times: list[datetime]) -> tuple[datetime, datetime]:
    """Returns the open of the first day and the close of the last, or the times outside them."""
    first, last = min(times, default=datetime(2000, 1, 3)), max(times, default=datetime(2000, 1, 3))
    opened, closed = datetime.combine(first, _OPEN), datetime.combine(last, _CLOSE)
    return (min(first, opened), max(last, closed)) if times else (opened, closed)


def _mark_time(ax: axes.Axes, times: list[datetime]) -> None:
    """Makes the horizontal axis one of market time."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locate: Any = AutoDateLocator  # neither has types
    write: Any = ConciseDateFormatter
    ends: Any = _sessions(times)
    ax.xaxis.set_major_locator(locator := locate())
    ax.xaxis.set_major_formatter(write(locator, show_offset=False))
    ax.set_xlim(*ends)
    days = dict.fromkeys(f"{end:%d %b %Y}" for end in ends) if times else ()
    ax.set_xlabel(", ".join(["market time", *[" to ".join(days)] * bool(times)]))


def _trade_columns(
    argument: str, book: TradeBook, buy: str, sell: str, *fields: str
) -> list[list[Any]]:
    """Returns the times, the sides and other fields of trades, none of which may be missing."""
    check_codes(buy, sell)
    names = ("exch_trade_time", "txn_type", *fields)
    rows = rows_in(argument, book, TradeBook)
    require_values(rows, *names)
    require_sides(rows, buy, sell)
    times, *others = map(rows.column, names)
    return [_on_the_clock(times), *others]


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
    amounts: Iterable[float] = repeat(1)
    if isinstance(book, OrderBook):
        if values:
            raise ValueError("values=True needs trades: an order book has no traded values")
        entered = book.filter(order_date_time__ne=None)
        times = _on_the_clock(entered._column("order_date_time"))
        labels = [status or "no status" for status in entered._column("status")]
        missing = len(book) - len(entered)
        title = f"Orders by status{f' ({missing} without a time of entry)' if missing else ''}"
        ylabel, empty = "orders entered", "no orders"
        shown = [
            (status, _as_written(status), status_colour(status))
            for status in sorted(set(labels), reverse=True)
        ]
    else:
        fields = ["trade_value"] if values else []
        times, labels, *chosen = _trade_columns("book", book, buy, sell, *fields)
        amounts = chosen[0] if values else amounts
        title, ylabel, empty = "Trades by side", "rupees" if values else "trades", "no trades"
        shown = [(buy, "bought", BOUGHT), (sell, "sold", SOLD)]
    places, width = _intervals(times, timedelta(minutes=minutes))
    sums: Counter[tuple[str, datetime]] = Counter()
    for label, place, amount in zip(labels, places, amounts, strict=False):
        sums[label, place] += amount  # type: ignore[assignment]  # a Counter adds up floats too
    bars = sorted(set(places))
    with _chart(ax, title, ylabel, "" if times else empty) as ax:
        base = [0.0] * len(bars)
        for label, name, colour in shown if times else ():
            heights = [sums[label, place] for place in bars]
            if name == "sold":
                base, heights = [0.0] * len(bars), [-height for height in heights]
            ax.bar(bars, heights, width, base, color=colour, label=name)
            base = [low + height for low, height in zip(base, heights, strict=True)]
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.margins(y=0.15)
        if not values:
            ax.locator_params(axis="y", integer=True)
        _format_amounts(ax.yaxis, signed=False)
        _mark_time(ax, times)
    return ax


# Any, since Matplotlib's types lack dates.
def _intervals(times: list[datetime], length: timedelta) -> tuple[list[Any], Any]:
    """Returns the middle of each time's interval, or of several days, and the width of a bar."""
    if len({at.date() for at in times}) > 1:
        return [datetime.combine(at, time(12, 22)) for at in times], timedelta(hours=6)
    opened = [datetime.combine(at, _OPEN) for at in times]
    middles = [
        start + length * ((at - start) // length + 0.5)
        for start, at in zip(opened, times, strict=True)
    ]
    return middles, length * 0.9


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
    times, sides, heights = _trade_columns("result", result, buy, sell, y)
    with _chart(ax, "Fills", _HEIGHTS[y], "" if times else "no fills") as ax:
        for side, colour, marker, name in ((buy, BOUGHT, "^", "bought"), (sell, SOLD, "v", "sold")):
            points = [
                (at, height)
                for at, each, height in zip(times, sides, heights, strict=True)
                if each == side
            ]
            places, chosen = zip(*points, strict=True) if points else ((), ())
            ax.scatter(places, chosen, 26, color=colour, marker=marker, alpha=0.75, label=name)
        if y != "traded_price" and heights and min(heights) > 0:
            ax.set_yscale("log")
        if y != "traded_price":
            _format_amounts(ax.yaxis)
        ax.grid(visible=True, axis="y")
        _mark_time(ax, times)
    return ax


def _waits(
    quality: ExecutionQuality,
    wait: Wait,
    label: str | None,
    sides: dict[str, tuple[str, str]],
    ax: axes.Axes | None,
) -> axes.Axes:
    from matplotlib.ticker import PercentFormatter, ScalarFormatter

    # Without a side's colour the next of the axes' cycle, so that groups differ.
    groups: dict[tuple[str, str | None], list[float]] = {}
    for row in quality:
        named = (label, None) if label else sides.get(row.txn_type or "", (str(row.txn_type), None))
        seconds = getattr(row, wait)
        groups.setdefault(named, []).append(_NEVER if seconds is None else max(seconds, 0.0))
    title = "Time to the exchange" if wait == "to_exchange" else "Time to fill"
    with _chart(ax, title, "share of orders", "" if groups else "no orders") as ax:
        before = ax.get_xlim()[1] if ax.lines else 10.0
        for (name, colour), waits in groups.items():
            ax.ecdf(waits, label=f"{_as_written(name)} ({len(waits):,})", color=colour)
        longest = max(
            (each for waits in groups.values() for each in waits if each < _NEVER), default=0
        )
        ax.set_xscale("symlog", linthresh=1)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.yaxis.set_major_formatter(PercentFormatter(1))
        ax.set(xlim=(0, max(before, longest * 1.1)), ylim=(0, 1.02), xlabel=_WAITS[wait])
        ax.grid(visible=True)
    return ax


def pnl_curve(
    result: TradeBook | RealisedPnl | Matches, *, ax: axes.Axes | None = None
) -> axes.Axes:
    """Draws the profit and loss realised so far, in total and of long and short lots, by time.

    Args:
        result: A trade book, the result of ``td.realised_pnl``, or its ``matches``. A book is
            computed with the defaults of ``td.realised_pnl``.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes, from 09:15 of the first day to 15:30 of the last.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: As ``td.realised_pnl``, if ``result`` is a book.

    Example:
        >>> td.plot.pnl_curve(client.trade_book())
    """
    if not isinstance(result, Matches):
        result = (result if isinstance(result, RealisedPnl) else realised_pnl(result)).matches
    matches = result.sort("close_time")
    times = _on_the_clock(matches._column("close_time"))
    closed = list(zip(times, matches._column("side"), matches._column("realised"), strict=True))
    first, last = _sessions(times)
    empty = "" if closed else "nothing realised"
    with _chart(ax, "Realised so far", "rupees, before charges", empty) as ax:
        ax.axhline(0, color=INK, linewidth=0.8)
        for label, colour, width in ((LONG, BOUGHT, 1), (SHORT, SOLD, 1), ("all", INK, 2)):
            counted = [(at, amount) for at, side, amount in closed if label in (side, "all")]
            places: list[Any] = [first, *(at for at, _ in counted), last]
            sums = list(accumulate([0.0, *(amount for _, amount in counted), 0.0]))
            if closed:
                ax.step(places, sums, where="post", color=colour, linewidth=width, label=label)
        for colour, keep in ((GAIN, max), (LOSS, min)):
            filled = [keep(total, 0.0) for total in sums]
            ax.fill_between(places, filled, step="post", color=colour, alpha=0.25, linewidth=0)
        _format_amounts(ax.yaxis)
        _mark_time(ax, times)
    return ax


def exposure(
    result: TradeBook | Positions | RealisedPnl | Lots | UnrealisedPnl,
    *,
    largest: int = 12,
    ax: axes.Axes | None = None,
) -> axes.Axes:
    """Draws the value of each open quantity: bought to the right, sold to the left.

    An ``UnrealisedPnl`` is drawn at its prices. Everything else has no prices and is drawn at cost:
    what the open lots were traded for, or for positions the open quantity at the average of its
    side. (``td.unrealised_pnl`` says how that is computed.)

    Args:
        result: The result of ``td.unrealised_pnl``, ``td.positions`` or ``td.realised_pnl``, its
            ``open_lots``, or a trade book.
        largest: Maximum number of bars; the largest amounts come first.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes. The title gives the number of rows not shown, and of those without a price.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: As ``td.positions``, if ``result`` is a book.

    Example:
        >>> td.plot.exposure(td.unrealised_pnl(pnl.open_lots, prices))
    """
    count("largest", largest)
    column, basis = "market_value", "at your prices"
    if not isinstance(result, UnrealisedPnl):
        given = result if isinstance(result, (Positions, RealisedPnl, Lots)) else positions(result)
        result = valued(given, Lookup("prices", {}))
        column, basis = "value", "at cost"
    found = [
        (value, row) for value, row in zip(result._column(column), result, strict=True) if value
    ]
    found.sort(key=lambda bar: -abs(bar[0]))
    bars = found[:largest]
    unpriced = 0 if column == "value" else len(result.unpriced)
    # Without a sum: shares, notional values and premiums do not add up.
    title = "Open quantities"
    title += f", {len(bars)} of {len(found)} shown" if len(found) > len(bars) else ""
    title += f", {unpriced} without a price" if unpriced else ""
    empty = "" if bars else "no prices" if unpriced else "nothing open"
    with _chart(ax, title, "", empty, height=1.4 + 0.28 * max(len(bars), 3)) as ax:
        values = [value for value, _ in bars]
        names = [
            _as_written(
                f"{row.display_name or row.symbol or row.security_id} "
                f"({row.exchange}, {row.product})"
            )
            for _, row in bars
        ]
        ax.barh(range(len(bars)), values, color=[BOUGHT if each > 0 else SOLD for each in values])
        ax.set_yticks(range(len(bars)), names)
        ax.invert_yaxis()
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_xlabel(f"rupees {basis}: sold to the left, bought to the right")
        _format_amounts(ax.xaxis)
    return ax
