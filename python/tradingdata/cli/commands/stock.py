"""`tradingdata stock`: one stock, field by field."""

from __future__ import annotations

from typing import Annotated

import typer

from tradingdata.books.book import StockList
from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.make_client import connect
from tradingdata.cli.options import Columns, Connection, Output
from tradingdata.cli.output import BookDestination

EXAMPLES = """
tradingdata stock RELIANCE
tradingdata stock 500325
tradingdata stock TCS --format json
"""

Identifier = Annotated[
    str,
    typer.Argument(
        metavar="SYMBOL", help="Exact NSE symbol or BSE code; or an ISIN, if the service finds it."
    ),
]


def stock(identifier: Identifier, connection: Connection, columns: Columns, output: Output) -> None:
    """Show one stock, field by field.

    Needs no token.
    """
    if not identifier.strip():
        raise UsageError("SYMBOL is empty: give an NSE symbol or a BSE code")
    destination = BookDestination("Stock", output, columns)
    with connect(connection, token=False) as client:
        found = client.stock(identifier)
    destination.take_one(StockList([found]))
