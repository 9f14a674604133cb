"""Colours and settings that all charts share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from zlib import crc32

from ..._util.optional_imports import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

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
def styled(ax: Axes | None, height: float) -> Iterator[Axes]:
    """Yields the axes to draw on: ``ax`` in its own style, or those of a new figure in this one."""
    matplotlib = require("matplotlib", "plot", "td.plot")
    pyplot = require("matplotlib.pyplot", "plot", "td.plot")
    if ax is not None:
        yield ax
        return
    # Loads the backend now: Jupyter's turns on interactive mode, without which a cell shows
    # nothing, and the end of the context would turn it off again.
    pyplot.draw_if_interactive()
    with matplotlib.rc_context(STYLE):
        _, ax = pyplot.subplots(figsize=(8, height), layout="constrained")
        for axis in (ax.xaxis, ax.yaxis):
            # Ticks are made when they are drawn, after the style has ended.
            axis.set_tick_params(which="both", color=INK, labelcolor=INK)
        yield ax


def note_empty(ax: Axes, text: str) -> None:
    """Writes into empty axes, above a line through their middle, why there is nothing to draw."""
    ax.text(0.5, 0.6, text, transform=ax.transAxes, ha="center", va="center", color=INK)
