"""The course of realised profit and loss."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from ..lots import LONG, SHORT
from ..pnl import realised_pnl
from ..realised import Matches, RealisedPnl
from .amounts import format_amounts
from .session import Sessions, market_time
from .style import BOUGHT, GAIN, INK, LOSS, SOLD, note_empty, styled

if TYPE_CHECKING:
    from datetime import datetime

    from matplotlib.axes import Axes

    from ..inputs import Trades


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
