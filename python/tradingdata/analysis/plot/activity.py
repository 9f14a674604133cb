"""Charts of the day: trades and orders in intervals, single fills, and how long orders waited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

from ..._util.validate import count
from ...books.book import OrderBook, TradeBook
from ..checks import check_codes, require_sides, require_values
from ..inputs import Orders, Trades, joined
from ..quality import ExecutionQuality
from .style import (
    BOUGHT,
    INK,
    OPEN,
    SOLD,
    Sessions,
    format_amounts,
    mark_days,
    market_time,
    note_empty,
    status_colour,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Height = Literal["trade_value", "traded_price", "quantity"]
Wait = Literal["to_exchange", "to_first_fill", "to_last_fill"]


def blotter(
    book: Trades | Orders,
    *,
    minutes: int = 15,
    values: bool = False,
    buy: str = "B",
    sell: str = "S",
    ax: Axes | None = None,
) -> Axes:
    """Draws how much was traded, or how many orders were entered, in each interval of the day.

    Trades are bars by side: bought above zero, sold below. Orders are stacked bars by status, at
    their time of entry. A book of several days has one bar for each weekday, so that a day without
    records leaves a gap.

    Args:
        book: A trade book, an order book, or such books of several accounts.
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
        >>> td.plot.blotter(trades.filter(expiry_date=None), values=True)
    """
    count("minutes", minutes)
    one = next(iter(book.values()), None) if isinstance(book, Mapping) else book
    if isinstance(one, OrderBook):
        if values:
            raise ValueError("values=True needs trades: an order book has no traded values")
        return _orders(joined("book", book, OrderBook)[0], minutes, ax)
    return _trades(joined("book", book, TradeBook)[0], minutes, values, buy, sell, ax)


def _trades(
    book: TradeBook, minutes: int, values: bool, buy: str, sell: str, ax: Axes | None
) -> Axes:
    check_codes(buy, sell)
    rows = book._rows
    require_values(rows, "exch_trade_time", "txn_type", *(["trade_value"] if values else []))
    require_sides(rows, buy, sell)
    times, sides, amounts = map(rows.column, ("exch_trade_time", "txn_type", "trade_value"))
    bins = _Bins(times, sides, amounts if values else repeat(1), minutes)
    with styled(ax, 3.5) as ax:
        bought, sold = bins.heights(buy), [-height for height in bins.heights(sell)]
        ax.bar(bins.places, bought, bins.width, color=BOUGHT, label="bought")
        ax.bar(bins.places, sold, bins.width, color=SOLD, label="sold")
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set(title="Trades by side", ylabel="rupees" if values else "trades")
        if bins.places:
            ax.legend(loc="best", ncols=2)
            ends = [0.0, *bought, *sold]
            ax.set_ylim(min(ends) * 1.15, max(ends) * 1.15)
        else:
            note_empty(ax, "no trades", ylim=(-1, 1))
        if values:
            format_amounts(ax.yaxis, signed=False)
        else:
            _whole_numbers(ax)
        bins.mark(ax)
    return ax


def _orders(book: OrderBook, minutes: int, ax: Axes | None) -> Axes:
    entered = book.filter(order_date_time__ne=None)
    statuses = [status or "no status" for status in entered._column("status")]
    bins = _Bins(entered._column("order_date_time"), statuses, repeat(1), minutes)
    with styled(ax, 3.5) as ax:
        base = [0.0] * len(bins.places)
        for status in sorted(set(statuses), reverse=True):
            heights = bins.heights(status)
            colour = status_colour(status)
            ax.bar(bins.places, heights, bins.width, base, color=colour, label=status)
            base = [low + height for low, height in zip(base, heights, strict=True)]
        missing = len(book) - len(entered)
        untimed = f" ({missing} without a time of entry left out)" if missing else ""
        ax.set(title=f"Orders by status{untimed}", ylabel="orders entered")
        if statuses:
            ax.legend(loc="best")
        else:
            note_empty(ax, "no orders", ylim=(0, 1))
        _whole_numbers(ax)
        bins.mark(ax)
    return ax


def _whole_numbers(ax: Axes) -> None:
    """Labels the axis with counts, without a minus sign for bars drawn downwards."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{abs(value):,.0f}"))


class _Bins:
    """Sums by label in the intervals of a day, or in days if there are several."""

    def __init__(self, times: Iterable[datetime], labels: Any, amounts: Any, minutes: int) -> None:
        moments = [market_time(time) for time in times]
        self._sessions = Sessions(moments)
        self._minutes = minutes
        self._sums: dict[tuple[str, float], float] = defaultdict(float)
        for moment, label, amount in zip(moments, labels, amounts, strict=False):
            self._sums[label, self._place(moment)] += amount
        if self._sessions.several:
            self.places = [at + 0.5 for at in range(len(self._sessions.days))]
            self.width = 0.8
        else:
            self.places = sorted({place for _, place in self._sums})
            self.width = minutes / (24 * 60) * 0.9

    def _place(self, moment: datetime) -> float:
        """Returns the middle of the moment's interval."""
        if self._sessions.several:
            return self._sessions.places[moment.date()] + 0.5
        opened = datetime.combine(moment.date(), OPEN)
        length = timedelta(minutes=self._minutes)
        return self._sessions.position(opened + length * ((moment - opened) // length + 0.5))

    def heights(self, label: str) -> list[float]:
        """Returns the sums of one label, one for each place."""
        return [self._sums.get((label, place), 0.0) for place in self.places]

    def mark(self, ax: Axes) -> None:
        """Sets the time axis."""
        self._sessions.mark(ax)
        if self._sessions.several:
            mark_days(ax, self._sessions.days, self.places)
            ax.set_xlabel("day")


_HEIGHTS = {"trade_value": "rupees", "traded_price": "price (rupees)", "quantity": "quantity"}
_WAITS = {
    "to_exchange": "from entry to the exchange",
    "to_first_fill": "from the exchange to the first fill",
    "to_last_fill": "from the exchange to the last fill",
}
_SECONDS = (0, 1, 2, 5, 10, 60, 600, 3600, 21600)
_MARKS = dict(zip(_SECONDS, "0,1 s,2 s,5 s,10 s,1 min,10 min,1 h,6 h".split(","), strict=True))


def fills(
    result: Trades | ExecutionQuality,
    *,
    y: Height = "trade_value",
    wait: Wait = "to_first_fill",
    label: str | None = None,
    buy: str = "B",
    sell: str = "S",
    ax: Axes | None = None,
) -> Axes:
    """Draws each fill by time and size, or for execution quality how long orders waited.

    Trades are markers by side: upwards for bought, downwards for sold. Execution quality is drawn
    as the share of its orders that were filled within a time; it stays below 100% where orders were
    never filled. (The service sends times to the second.)

    Args:
        result: A trade book, the books of several accounts, or the result of
            ``td.execution_quality``.
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
        >>> td.plot.fills(trades.filter(symbol="INFY", expiry_date=None), y="traded_price")
        >>> td.plot.fills(td.execution_quality(orders, trades), wait="to_exchange")
    """
    for name, value, known in (("y", y, _HEIGHTS), ("wait", wait, _WAITS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    check_codes(buy, sell)
    if isinstance(result, ExecutionQuality):
        return _waits(result, wait, label, {buy: "bought", sell: "sold"}, ax)
    return _fills(joined("result", result, TradeBook)[0], y, buy, sell, ax)


def _fills(book: TradeBook, y: Height, buy: str, sell: str, ax: Axes | None) -> Axes:
    require_values(book._rows, "exch_trade_time", "txn_type", y)
    require_sides(book._rows, buy, sell)
    times, sides, heights = map(book._rows.column, ("exch_trade_time", "txn_type", y))
    moments = [market_time(moment) for moment in times]
    sessions = Sessions(moments)
    with styled(ax, 3.5) as ax:
        for side, colour, marker, name in ((buy, BOUGHT, "^", "bought"), (sell, SOLD, "v", "sold")):
            rows = [row for row, each in enumerate(sides) if each == side]
            places = [sessions.position(moments[row]) for row in rows]
            chosen = [heights[row] for row in rows]
            ax.scatter(places, chosen, 26, color=colour, marker=marker, alpha=0.75, label=name)
        ax.set(title="Fills", ylabel=_HEIGHTS[y])
        if times:
            ax.legend(loc="best", ncols=2)
            if y != "traded_price" and min(heights) > 0:
                ax.set_yscale("log")
        else:
            note_empty(ax, "no fills", ylim=(0, 1))
        if y != "traded_price":
            format_amounts(ax.yaxis, each=True)
        ax.grid(visible=True, axis="y")
        sessions.mark(ax)
    return ax


def _waits(
    quality: ExecutionQuality,
    wait: Wait,
    label: str | None,
    sides: dict[str, str],
    ax: Axes | None,
) -> Axes:
    groups: dict[str, list[float | None]] = {}
    for row in quality:
        side = str(row.txn_type)
        groups.setdefault(label or sides.get(side, side), []).append(getattr(row, wait))
    named = {"bought": BOUGHT, "sold": SOLD}
    with styled(ax, 3.5) as ax:
        before = ax.get_xlim()[1] if ax.lines else 0.0
        for name, waits in groups.items():
            known = sorted(max(each, 0.0) for each in waits if each is not None)
            shares = [(at + 1) / len(waits) * 100 for at in range(len(known))]
            line = f"{name} ({len(waits):,})"
            ends = max([*_MARKS, *known])
            # From the left edge to the right: the share before the first and after the last.
            steps = [0.0, *known, ends], [0.0, *shares, *(shares[-1:] or [0.0])]
            # Without a side's colour the next of the axes' cycle, so that groups differ.
            ax.step(*steps, where="post", label=line, color=named.get(name) if not label else None)
        ax.set_xscale("symlog", linthresh=1)
        longest = max((getattr(row, wait) or 0 for row in quality), default=0)
        limit = max(longest * 1.1, 12, before)
        left_out = (2, 5) if limit > 120 else ()
        marks = [mark for mark in _MARKS if mark <= limit and mark not in left_out]
        ax.set_xticks(marks, [_MARKS[mark] for mark in marks])
        ax.set_xticks([], minor=True)
        ax.set(xlim=(0, limit), ylim=(0, 102))
        ax.set(title="Time to the exchange" if wait == "to_exchange" else "Time to fill")
        ax.set(xlabel=_WAITS[wait], ylabel="% of orders")
        ax.grid(visible=True)
        if groups:
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1), title="orders")
        else:
            note_empty(ax, "no orders")
    return ax
