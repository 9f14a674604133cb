"""The charts: what was traded and when, how long orders waited, what was realised and is open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

from ..._util.validate import count
from ...books.book import OrderBook, TradeBook
from ..checks import check_codes, require_sides, require_values
from ..inputs import Orders, PriceLookup, Trades, joined
from ..pnl import realised_pnl
from ..position import Positions, positions
from ..quality import ExecutionQuality
from ..realised import LONG, SHORT, Lots, Matches, RealisedPnl
from ..unrealised import UnrealisedPnl, valued
from .style import (
    BOUGHT,
    GAIN,
    INK,
    LOSS,
    OPEN,
    SOLD,
    Sessions,
    add_legend,
    chart,
    format_amounts,
    names_of,
    status_colour,
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


def _columns_of(book: TradeBook, buy: str, sell: str, *fields: str) -> list[list[Any]]:
    """Returns the times, the sides and other fields of trades, none of which may be missing."""
    check_codes(buy, sell)
    names = ("exch_trade_time", "txn_type", *fields)
    require_values(book._rows, *names)
    require_sides(book._rows, buy, sell)
    return [book._column(name) for name in names]


def _trades(
    book: TradeBook, minutes: int, values: bool, buy: str, sell: str, ax: Axes | None
) -> Axes:
    times, sides, *amounts = _columns_of(book, buy, sell, *(["trade_value"] if values else []))
    bins = _Bins(times, sides, amounts[0] if values else repeat(1), minutes)
    with chart(ax, "Trades by side", "rupees" if values else "trades", bins) as ax:
        bought, sold = bins.heights(buy), [-height for height in bins.heights(sell)]
        ax.bar(bins.places, bought, bins.width, color=BOUGHT, label="bought")
        ax.bar(bins.places, sold, bins.width, color=SOLD, label="sold")
        ax.axhline(0, color=INK, linewidth=0.8)
        if times:
            ends = [0.0, *bought, *sold]
            ax.set_ylim(min(ends) * 1.15, max(ends) * 1.15)
        add_legend(ax, "" if times else "no trades", columns=2, ylim=(-1, 1))
        if values:
            format_amounts(ax.yaxis, signed=False)
        else:
            _whole_numbers(ax)
    return ax


def _orders(book: OrderBook, minutes: int, ax: Axes | None) -> Axes:
    entered = book.filter(order_date_time__ne=None)
    statuses = [status or "no status" for status in entered._column("status")]
    bins = _Bins(entered._column("order_date_time"), statuses, repeat(1), minutes)
    missing = len(book) - len(entered)
    untimed = f" ({missing} without a time of entry left out)" if missing else ""
    with chart(ax, f"Orders by status{untimed}", "orders entered", bins) as ax:
        base = [0.0] * len(bins.places)
        for status in sorted(set(statuses), reverse=True):
            heights = bins.heights(status)
            colour = status_colour(status)
            ax.bar(bins.places, heights, bins.width, base, color=colour, label=status)
            base = [low + height for low, height in zip(base, heights, strict=True)]
        add_legend(ax, "" if statuses else "no orders", ylim=(0, 1))
        _whole_numbers(ax)
    return ax


def _whole_numbers(ax: Axes) -> None:
    """Labels the axis with counts, without a minus sign for bars drawn downwards."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{abs(value):,.0f}"))


class _Bins(Sessions):
    """Sums by label in the intervals of a day, or in days if there are several."""

    label, mark_at = "day", 0.5

    def __init__(self, times: Iterable[datetime], labels: Any, amounts: Any, minutes: int) -> None:
        super().__init__(times)
        self._length = timedelta(minutes=minutes)
        self._sums: dict[tuple[str, float], float] = defaultdict(float)
        for moment, label, amount in zip(self.times, labels, amounts, strict=False):
            self._sums[label, self._place(moment)] += amount
        if self.several:
            self.places, self.width = [at + self.mark_at for at in range(len(self.days))], 0.8
        else:
            self.places = sorted({place for _, place in self._sums})
            self.width = minutes / (24 * 60) * 0.9

    def _place(self, moment: datetime) -> float:
        """Returns the middle of the moment's interval."""
        if self.several:
            return self._places[moment.date()] + self.mark_at
        opened = datetime.combine(moment.date(), OPEN)
        return self.position(opened + self._length * ((moment - opened) // self._length + 0.5))

    def heights(self, label: str) -> list[float]:
        """Returns the sums of one label, one for each place."""
        return [self._sums.get((label, place), 0.0) for place in self.places]


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
    times, sides, heights = _columns_of(book, buy, sell, y)
    sessions = Sessions(times)
    with chart(ax, "Fills", _HEIGHTS[y], sessions) as ax:
        for side, colour, marker, name in ((buy, BOUGHT, "^", "bought"), (sell, SOLD, "v", "sold")):
            rows = [row for row, each in enumerate(sides) if each == side]
            places = [sessions.position(sessions.times[row]) for row in rows]
            chosen = [heights[row] for row in rows]
            ax.scatter(places, chosen, 26, color=colour, marker=marker, alpha=0.75, label=name)
        add_legend(ax, "" if times else "no fills", columns=2, ylim=(0, 1))
        if y != "traded_price":
            if heights and min(heights) > 0:
                ax.set_yscale("log")
            format_amounts(ax.yaxis, each=True)
        ax.grid(visible=True, axis="y")
    return ax


def _waits(
    quality: ExecutionQuality,
    wait: Wait,
    label: str | None,
    sides: dict[str, str],
    ax: Axes | None,
) -> Axes:
    groups: dict[str, list[float | None]] = {}
    found = quality._column(wait)
    for side, seconds in zip(quality._column("txn_type"), found, strict=True):
        groups.setdefault(label or sides.get(side, str(side)), []).append(seconds)
    named = {"bought": BOUGHT, "sold": SOLD}
    title = "Time to the exchange" if wait == "to_exchange" else "Time to fill"
    with chart(ax, title, "% of orders") as ax:
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
        limit = max(12, before, *((seconds or 0) * 1.1 for seconds in found))
        left_out = (2, 5) if limit > 120 else ()
        marks = [mark for mark in _MARKS if mark <= limit and mark not in left_out]
        ax.set_xticks(marks, [_MARKS[mark] for mark in marks])
        ax.set_xticks([], minor=True)
        ax.set(xlim=(0, limit), ylim=(0, 102), xlabel=_WAITS[wait])
        ax.grid(visible=True)
        if groups:
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1), title="orders")
        else:
            add_legend(ax, "no orders")
    return ax


def pnl_curve(result: Trades | RealisedPnl | Matches, *, ax: Axes | None = None) -> Axes:
    """Draws the profit and loss realised so far, in total and of long and short lots, by time.

    Args:
        result: A trade book, the books of several accounts, the result of ``td.realised_pnl``, or
            its ``matches``. Books are computed with the defaults of ``td.realised_pnl``.
        ax: Axes to draw on; a new figure unless given.

    Returns:
        The axes. A day is from 09:15 to 15:30; several days are side by side, without nights.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: As ``td.realised_pnl``, if ``result`` is a book.

    Example:
        >>> td.plot.pnl_curve(client.trade_book())
    """
    if not isinstance(result, Matches):
        result = (result if isinstance(result, RealisedPnl) else realised_pnl(result)).matches
    closed = sorted((row.close_time, row.side, row.realised) for row in result)
    sessions = Sessions(time for time, _, _ in closed)
    with chart(ax, "Realised so far", "rupees, before charges", sessions) as ax:
        ax.axhline(0, color=INK, linewidth=0.8)
        first, last = sessions.ends
        sides = {side for _, side, _ in closed}
        # The last line is that of all.
        both = [(LONG, BOUGHT, 1), (SHORT, SOLD, 1), ("all", INK, 2)]
        for label, colour, width in both if len(sides) > 1 else [(each, INK, 2) for each in sides]:
            places, sums = [first], [0.0]
            for time, (_, side, amount) in zip(sessions.times, closed, strict=True):
                if label in (side, "all"):
                    places.append(sessions.position(time))
                    sums.append(sums[-1] + amount)
            places, sums = [*places, last], [*sums, sums[-1]]
            ax.step(places, sums, where="post", color=colour, linewidth=width, label=label)
        for colour, sign in ((GAIN, 1), (LOSS, -1)) if closed else ():
            filled = [max(total * sign, 0) * sign for total in sums]
            ax.fill_between(places, filled, step="post", color=colour, alpha=0.25, linewidth=0)
        add_legend(ax, "" if closed else "nothing realised", ylim=(-1, 1))
        format_amounts(ax.yaxis)
    return ax


def exposure(
    result: Trades | Positions | RealisedPnl | Lots | UnrealisedPnl,
    *,
    largest: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draws the value of each open quantity: bought to the right, sold to the left.

    An ``UnrealisedPnl`` is drawn at its prices. Everything else has no prices and is drawn at cost:
    what the open lots were traded for, or for positions the open quantity at the average of its
    side. (``td.unrealised_pnl`` says how that is computed.)

    Args:
        result: The result of ``td.unrealised_pnl``, ``td.positions`` or ``td.realised_pnl``, its
            ``open_lots``, a trade book, or the books of several accounts.
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
    if isinstance(result, UnrealisedPnl):
        found, unpriced = result, len(result.unpriced)
        column, basis = "market_value", "at your prices"
    else:
        given = result if isinstance(result, (Positions, RealisedPnl, Lots)) else positions(result)
        found, unpriced = valued(given, PriceLookup("prices", {})), 0
        column, basis = "value", "at cost"
    bars = [(value, row) for value, row in zip(found._column(column), found, strict=True) if value]
    bars.sort(key=lambda bar: -abs(bar[0]))
    shown = bars[:largest]
    # Without a sum: shares, notional values and premiums do not add up.
    parts = ["Open quantities"]
    parts += [f"{len(shown)} of {len(bars)} shown"] if len(bars) > len(shown) else []
    parts += [f"{unpriced} without a price"] if unpriced else []
    empty = "" if shown else "no prices" if unpriced else "nothing open"
    height = 1.4 + 0.28 * max(len(shown), 3)
    with chart(ax, ", ".join(parts), "", height=height) as ax:
        values = [value for value, _ in shown]
        colours = [BOUGHT if value > 0 else SOLD for value in values]
        ax.barh(range(len(shown)), values, color=colours)
        ax.set_yticks(range(len(shown)), names_of([row for _, row in shown]))
        ax.invert_yaxis()
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_xlabel(f"rupees {basis}: sold to the left, bought to the right")
        add_legend(ax, empty, columns=0, xlim=(-1, 1))
        format_amounts(ax.xaxis)
    return ax
