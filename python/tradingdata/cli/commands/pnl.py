"""The `pnl` command: realised profit and loss."""

from __future__ import annotations

from typing import Annotated

import typer

from tradingdata.analysis import Realised, realised_pnl
from tradingdata.analysis.result_table import kinds_of
from tradingdata.cli.analysis_input import Trades, calculated, sheet_of, trades_of
from tradingdata.cli.filter_args import chosen_columns
from tradingdata.cli.options import Chosen, Connection, Output
from tradingdata.cli.output import Destination

EXAMPLES = """
tradingdata pnl
tradingdata pnl --shorts I,M -o pnl.xlsx
tradingdata pnl --archive books.sqlite --start 2026-11-20
"""

Shorts = Annotated[
    str,
    typer.Option(
        metavar="PRODUCTS",
        help="Products whose sales may open short positions: all, none, or codes such as I,M.",
    ),
]


def show(
    connection: Connection,
    choice: Trades,
    output: Output,
    columns: Chosen = None,
    shorts: Shorts = "all",
) -> None:
    """Show realised profit and loss, first in, first out, before charges.

    A trade closes open lots of the other side and then opens one of its own. Sales that may not
    open short positions are counted separately, as unmatched.
    """
    known = list(kinds_of(Realised))
    destination = Destination(output, columns=chosen_columns("pnl", known, columns))
    trades = trades_of(connection, choice)
    allowed = {"all": True, "none": False}.get(shorts, shorts.split(","))
    result = calculated(
        lambda: realised_pnl(trades, shorts=allowed, buy=choice.buy, sell=choice.sell)
    )
    destination.take(sheet_of(result))
