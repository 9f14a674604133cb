"""Charts of books and results in Matplotlib (extra ``plot``), public as ``td.plot``.

Each function takes a book or a result, draws on ``ax`` or on a new figure, and returns the axes.
All charts have one colour for each side and each status, on white, so that they are legible on any
page; amounts in lakh (L, 100,000) and crore (Cr, 10,000,000); and a time axis from 09:15 to 15:30.
Without data they return axes with labels and a note.
"""

from __future__ import annotations

from .charts import blotter, exposure, fills, pnl_curve
from .style import STYLE, status_colour

__all__ = ["STYLE", "blotter", "exposure", "fills", "pnl_curve", "status_colour"]
