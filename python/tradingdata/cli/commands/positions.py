"""`tradingdata positions`: purchases, sales and their net by security."""

from __future__ import annotations

from tradingdata.analysis import Position, positions
from tradingdata.analysis.result_table import kinds_of
from tradingdata.cli.analysis_input import Trades, calculated, trades_of
from tradingdata.cli.filter_args import chosen_columns
from tradingdata.cli.options import Chosen, Connection, Output
from tradingdata.cli.output import Destination

EXAMPLES = """
tradingdata positions
tradingdata positions -o positions.xlsx
tradingdata positions --archive books.sqlite
"""


def show(connection: Connection, choice: Trades, output: Output, columns: Chosen = None) -> None:
    """Show the net position in each security.

    Adds up today's trades, or those of an archive, by account, security and product, before
    charges. Holdings from before these trades are not included.
    """
    known = list(kinds_of(Position))
    destination = Destination(output, columns=chosen_columns("positions", known, columns))
    trades = trades_of(connection, choice)
    result = calculated(lambda: positions(trades, buy=choice.buy, sell=choice.sell))
    destination.take(result)
