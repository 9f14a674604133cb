"""Calculations on books, each of which returns a table that exports to frames and files."""

from __future__ import annotations

from .._util.declarations import publish
from .charge_rates import ChargeRate
from .charging import charges
from .events import LotChange
from .keys import Keyed, OfOrder
from .ledger import Ledger
from .pnl import daily_pnl, day_pnl, realised_pnl, unrealised_pnl
from .position import Position, Positions, positions
from .quality import ExecutionQuality, OrderExecution, execution_quality
from .reconciliation import OrderCheck, Reconciliation, reconcile
from .results import (
    Charge,
    Charges,
    DailyPnl,
    DailyRow,
    DayPnl,
    DayRow,
    Lot,
    Lots,
    Match,
    Matches,
    NetPnl,
    OrderIssue,
    OrderIssues,
    Realised,
    RealisedPnl,
    ResultIssue,
    ResultIssues,
    ResultTable,
    TradeCharge,
    TradeCharges,
    Unrealised,
    UnrealisedPnl,
)

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
    "Ledger",
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
