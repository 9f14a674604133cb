"""Charts of results: the course of realised profit and loss, and what is open."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING

from ..._util.validate import count
from ..inputs import PriceLookup, Trades
from ..keys import Keyed
from ..pnl import realised_pnl
from ..position import Positions, positions
from ..realised import LONG, SHORT, Lots, Matches, RealisedPnl
from ..unrealised import UnrealisedPnl, valued
from .style import (
    BOUGHT,
    GAIN,
    INK,
    LOSS,
    SOLD,
    Sessions,
    format_amounts,
    market_time,
    note_empty,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    matches = _matches(result)
    closed = sorted((market_time(row.close_time), row.side, row.realised) for row in matches)
    sessions = Sessions(time for time, _, _ in closed)
    with styled(ax, 3.5) as ax:
        ax.axhline(0, color=INK, linewidth=0.8)
        ax.set(title="Realised so far", ylabel="rupees, before charges")
        if closed:
            found = {side for _, side, _ in closed}
            for side, colour in ((LONG, BOUGHT), (SHORT, SOLD)):
                if side in found and len(found) > 1:
                    part = [(time, amount) for time, each, amount in closed if each == side]
                    times, sums = _steps(sessions, part)
                    ax.step(times, sums, where="post", color=colour, linewidth=1, label=side)
            times, sums = _steps(sessions, [(time, amount) for time, _, amount in closed])
            label = "all" if len(found) > 1 else found.pop()
            ax.step(times, sums, where="post", color=INK, linewidth=2, label=label)
            for colour, sign in ((GAIN, 1), (LOSS, -1)):
                filled = [max(total * sign, 0) * sign for total in sums]
                ax.fill_between(times, filled, step="post", color=colour, alpha=0.25, linewidth=0)
            ax.legend(loc="best")
        else:
            ax.set_ylim(-1, 1)
            note_empty(ax, "nothing realised")
        format_amounts(ax.yaxis)
        sessions.mark(ax)
    return ax


def _matches(result: Trades | RealisedPnl | Matches) -> Matches:
    if isinstance(result, Matches):
        return result
    return (result if isinstance(result, RealisedPnl) else realised_pnl(result)).matches


def _steps(
    sessions: Sessions, closed: list[tuple[datetime, float]]
) -> tuple[list[float], list[float]]:
    """Returns positions and running sums, from zero at the opening to the last close."""
    sums = [0.0, *accumulate(amount for _, amount in closed)]
    times = [sessions.first, *(sessions.position(time) for time, _ in closed)]
    return [*times, sessions.last], [*sums, sums[-1]]


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
        found, unpriced = valued(given, PriceLookup({})), 0
        column, basis = "value", "at cost"
    bars = [(value, row) for value, row in zip(found._column(column), found, strict=True) if value]
    bars.sort(key=lambda bar: -abs(bar[0]))
    shown = bars[:largest]
    with styled(ax, 1.4 + 0.28 * max(len(shown), 3)) as ax:
        values = [value for value, _ in shown]
        colours = [BOUGHT if value > 0 else SOLD for value in values]
        ax.barh(range(len(shown)), values, color=colours)
        ax.set_yticks(range(len(shown)), _names([row for _, row in shown]))
        ax.invert_yaxis()
        ax.axvline(0, color=INK, linewidth=0.8)
        # Without a sum: shares, notional values and premiums do not add up.
        parts = ["Open quantities"]
        parts += [f"{len(shown)} of {len(bars)} shown"] if len(bars) > len(shown) else []
        parts += [f"{unpriced} without a price"] if unpriced else []
        ax.set(title=", ".join(parts))
        ax.set_xlabel(f"rupees {basis}: sold to the left, bought to the right")
        if not shown:
            ax.set_xlim(-1, 1)
            note_empty(ax, "nothing open" if not unpriced else "no prices")
        format_amounts(ax.xaxis)
    return ax


def _names(rows: list[Keyed]) -> list[str]:
    """Returns a name for each row, with exchange and product where a name is used twice."""
    names = [row.display_name or row.symbol or row.security_id for row in rows]
    uses = Counter(names)
    return [
        name if uses[name] == 1 else f"{name} ({row.exchange}, {row.product})"
        for name, row in zip(names, rows, strict=True)
    ]
