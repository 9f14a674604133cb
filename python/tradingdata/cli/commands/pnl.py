"""The `pnl` command: realised profit and loss."""

from __future__ import annotations

from typing import Annotated

import typer

from tradingdata.analysis import Realised, realised_pnl
from tradingdata.analysis.result_table import kinds_of
from tradingdata.cli.analysis_input import Trades, calculated, trades_of
from tradingdata.cli.filter_args import chosen_columns
from tradingdata.cli.options import Chosen, Connection, Output
from tradingdata.cli.output import Destination

EXAMPLES = """
tradingdata pnl
tradingdata pnl --shorts I,M -o pnl.xlsx
tradingdata pnl --archive books.sqlite
"""

Shorts = Annotated[
    str,
    typer.Option(
        metavar="PRODUCTS",
        help="Products in which sales may open short positions: all, none, or codes such as I,M.",
    ),
]


def show(
    connection: Connection,
    choice: Trades,
    output: Output,
    columns: Chosen = None,
    shorts: Shorts = "all",
) -> None:
    """Show realised profit and loss.

    Matches today's trades, or those of an archive, first in, first out, before charges. A trade
    closes open lots of the other side; what remains of it opens a lot. A sale that may not open
    a short position counts as unmatched.
    """
    known = list(kinds_of(Realised))
    destination = Destination(output, columns=chosen_columns("pnl", known, columns))
    trades = trades_of(connection, choice)
    allowed = {"all": True, "none": False}.get(shorts, shorts.split(","))
    result = calculated(
        lambda: realised_pnl(trades, shorts=allowed, buy=choice.buy, sell=choice.sell)
    )
    destination.take(result)
