"""Open quantities and their value, by security."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..._util.validate import count
from ..lots import Lots
from ..position import Positions, positions
from ..realised import RealisedPnl
from ..unrealised import UnrealisedPnl, open_quantities
from .amounts import format_amounts
from .style import BOUGHT, INK, SOLD, note_empty, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..inputs import Trades
    from ..keys import Keyed


class _Bar(NamedTuple):
    row: Keyed
    value: float


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
        The axes. The title gives gross and net over all rows, and the number of rows not shown.

    Raises:
        ImportError: If Matplotlib is not installed.
        TypeError: If ``result`` is none of these.
        ValueError: As ``td.positions``, if ``result`` is a book.

    Example:
        >>> td.plot.exposure(td.unrealised_pnl(pnl.open_lots, prices))
    """
    count("largest", largest)
    if isinstance(result, UnrealisedPnl):
        bars = [_Bar(row, row.market_value) for row in result if row.market_value]
        basis, unpriced = "at your prices", len(result.unpriced)
    else:
        if not isinstance(result, (Positions, RealisedPnl, Lots)):
            result = positions(result)
        bars = [_Bar(each.key, float(each.value)) for each in open_quantities(result) if each.value]
        basis, unpriced = "at cost", 0
    bars.sort(key=lambda bar: -abs(bar.value))
    shown = bars[:largest]
    with styled(ax, 1.4 + 0.28 * max(len(shown), 3)) as ax:
        values = [bar.value for bar in shown]
        colours = [BOUGHT if value > 0 else SOLD for value in values]
        ax.barh(range(len(shown)), values, color=colours)
        ax.set_yticks(range(len(shown)), _names([bar.row for bar in shown]))
        ax.invert_yaxis()
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set(title=_title(bars, len(shown), unpriced))
        ax.set_xlabel(f"rupees {basis}: sold to the left, bought to the right")
        if not shown:
            ax.set_xlim(-1, 1)
            note_empty(ax, "nothing open" if not unpriced else "no prices")
        format_amounts(ax.xaxis)
    return ax


def _title(bars: list[_Bar], shown: int, unpriced: int) -> str:
    """Returns the title, without a sum: shares, notional values and premiums do not add up."""
    parts = ["Open quantities"]
    if len(bars) > shown:
        parts.append(f"{shown} of {len(bars)} shown")
    if unpriced:
        parts.append(f"{unpriced} without a price")
    return ", ".join(parts)


def _names(rows: list[Keyed]) -> list[str]:
    """Returns a name for each row, with exchange and product where a name is used twice."""
    names = [row.display_name or row.symbol or row.security_id for row in rows]
    uses = Counter(names)
    return [
        name if uses[name] == 1 else f"{name} ({row.exchange}, {row.product})"
        for name, row in zip(names, rows, strict=True)
    ]
