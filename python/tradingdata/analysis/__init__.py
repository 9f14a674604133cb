"""Calculations on books, each of which returns a table that exports to frames and files."""

from __future__ import annotations

from .._util.pickles import publish
from .changes import LotChange
from .charge_rates import ChargeRate
from .charging import Charge, Charges, TradeCharge, TradeCharges, charges
from .daily import DailyPnl, DailyRow, daily_pnl
from .day import DayPnl, DayRow, NetPnl, day_pnl
from .keys import Keyed, OfOrder
from .pnl import realised_pnl
from .position import Position, Positions, positions
from .quality import ExecutionQuality, OrderExecution, execution_quality
from .realised import Lot, Lots, Match, Matches, Realised, RealisedPnl
from .reconciliation import OrderCheck, Reconciliation, reconcile
from .result_table import OrderIssue, OrderIssues, ResultIssue, ResultIssues, ResultTable
from .unrealised import Unrealised, UnrealisedPnl, unrealised_pnl

__all__ = [
    "Charge",
    "ChargeRate",
    "Charges",
    "DailyPnl",
    "DailyRow",
    "DayPnl",
    "DayRow",
    "ExecutionQuality",
    "Keyed",
    "Lot",
    "LotChange",
    "Lots",
    "Match",
    "Matches",
    "NetPnl",
    "OfOrder",
    "OrderCheck",
    "OrderExecution",
    "OrderIssue",
    "OrderIssues",
    "Position",
    "Positions",
    "Realised",
    "RealisedPnl",
    "Reconciliation",
    "ResultIssue",
    "ResultIssues",
    "ResultTable",
    "TradeCharge",
    "TradeCharges",
    "Unrealised",
    "UnrealisedPnl",
    "charges",
    "daily_pnl",
    "day_pnl",
    "execution_quality",
    "positions",
    "realised_pnl",
    "reconcile",
    "unrealised_pnl",
]
publish([globals()[name] for name in __all__], __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
