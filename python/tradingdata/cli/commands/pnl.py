"""`tradingdata pnl`: what closed trades earned."""

from __future__ import annotations

from tradingdata.analysis import Realised, realised_pnl
from tradingdata.analysis.results import kinds_of
from tradingdata.cli.calculations import Trades, calculated, sheet_of, trades_of
from tradingdata.cli.choosing import chosen_columns
from tradingdata.cli.options import Chosen, Connection, Output
from tradingdata.cli.output import Destination

EXAMPLES = """
tradingdata pnl
tradingdata pnl -o pnl.xlsx
tradingdata pnl --archive books.sqlite --start 2026-11-20
"""

KEY_COLUMNS = (
    "display_name realised matched_quantity cost proceeds unmatched_quantity open_quantity "
    "product exchange"
).split()


def show(connection: Connection, choice: Trades, output: Output, columns: Chosen = None) -> None:
    """Show what sales realised, first in, first out, before charges.

    What is sold without a purchase among these trades is counted apart, as unmatched.
    """
    known = list(kinds_of(Realised))
    destination = Destination(output, columns=chosen_columns("pnl", known, columns))
    trades = trades_of(connection, choice)
    result = calculated(lambda: realised_pnl(trades, buy=choice.buy, sell=choice.sell))
    destination.take(sheet_of(result, ("row", "rows"), KEY_COLUMNS))
