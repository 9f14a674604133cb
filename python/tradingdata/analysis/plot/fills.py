"""Fills over the day, and how long orders waited for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ...books.book import TradeBook
from ..checks import check_codes, require_sides, require_values
from ..inputs import joined
from ..quality import ExecutionQuality
from .amounts import format_amounts
from .session import Sessions, market_time
from .style import BOUGHT, SOLD, note_empty, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..inputs import Trades

    Height = Literal["trade_value", "traded_price", "quantity"]
    Wait = Literal["to_exchange", "to_first_fill", "to_last_fill"]

_HEIGHTS = {"trade_value": "rupees", "traded_price": "price (rupees)", "quantity": "quantity"}
_WAITS = {
    "to_exchange": "from entry to the exchange",
    "to_first_fill": "from the exchange to the first fill",
    "to_last_fill": "from the exchange to the last fill",
}
_MARKS = {
    0: "0",
    1: "1 s",
    2: "2 s",
    5: "5 s",
    10: "10 s",
    60: "1 min",
    600: "10 min",
    3600: "1 h",
    21600: "6 h",
}


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
            ax.set_ylim(0, 1)
            note_empty(ax, "no fills")
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
