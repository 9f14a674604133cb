"""Calculations on books, each with a result that becomes a frame.

Their results are tables: ``Positions``, ``RealisedPnl`` with ``Matches`` and ``Lots``,
``Reconciliation`` and ``ExecutionQuality``.
"""

from __future__ import annotations

from .keys import Keyed
from .lots import Lot, Lots
from .orders import OfOrder
from .pnl import Match, Matches, Realised, RealisedPnl, realised_pnl
from .position import Position, Positions, positions
from .quality import ExecutionQuality, OrderExecution, execution_quality
from .reconciliation import OrderCheck, Reconciliation, reconcile
from .results import ResultTable

__all__ = [
    "ExecutionQuality",
    "Keyed",
    "Lot",
    "Lots",
    "Match",
    "Matches",
    "OfOrder",
    "OrderCheck",
    "OrderExecution",
    "Position",
    "Positions",
    "Realised",
    "RealisedPnl",
    "Reconciliation",
    "ResultTable",
    "execution_quality",
    "positions",
    "realised_pnl",
    "reconcile",
]
