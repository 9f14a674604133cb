"""Calculations on books.

Each returns a table that prints a summary and exports to frames and files: ``Positions``,
``RealisedPnl`` with ``Matches`` and ``Lots``, ``UnrealisedPnl``, ``Reconciliation`` and
``ExecutionQuality``.
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
from .unrealised import Exposure, Unrealised, UnrealisedPnl, unrealised_pnl

__all__ = [
    "ExecutionQuality",
    "Exposure",
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
    "Unrealised",
    "UnrealisedPnl",
    "execution_quality",
    "positions",
    "realised_pnl",
    "reconcile",
    "unrealised_pnl",
]


def __dir__() -> list[str]:
    return sorted(__all__)
