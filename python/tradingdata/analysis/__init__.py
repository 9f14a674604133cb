"""Calculations on books, each with a result that becomes a frame.

Their results are tables: ``Positions``, ``RealisedPnl`` with ``Matches`` and ``Lots``,
``Reconciliation`` and ``ExecutionQuality``.
"""

from __future__ import annotations

from .fifo import Lot, Lots
from .order_key import OfOrder
from .pnl import Match, Matches, Realised, RealisedPnl, realised_pnl
from .position import Position, Positions, positions
from .quality import ExecutionQuality, OrderExecution, execution_quality
from .reconciliation import OrderCheck, Reconciliation, reconcile
from .result_table import ResultTable
from .security_key import Keyed

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
