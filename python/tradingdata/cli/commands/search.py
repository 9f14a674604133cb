"""`tradingdata search`: stocks by name, symbol or code."""

from __future__ import annotations

from typing import Annotated

import typer

from tradingdata.cli.advice import for_a_terminal
from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Care, Columns, Connection, Output, Selection
from tradingdata.cli.output import BookDestination
from tradingdata.cli.terminal import remark

EXAMPLES = """
tradingdata search tata
tradingdata search bank --max 20
tradingdata search bank -w "mcaptype=Large Cap" -o b.csv
"""

Query = Annotated[
    str, typer.Argument(metavar="QUERY", help="Company name, NSE symbol or BSE code.")
]
Most = Annotated[
    int | None,
    typer.Option("--max", min=1, metavar="N", help="Maximum number of stocks (default: all)."),
]
PageSize = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Number of stocks to request per page."),
]
StartPage = Annotated[
    int, typer.Option(min=1, metavar="N", help="First page to read, to resume after an error.")
]


def search(
    query: Query,
    connection: Connection,
    columns: Columns,
    only: Selection,
    output: Output,
    care: Care,
    most: Most = None,
    page_size: PageSize = None,
    start_page: StartPage = 1,
) -> None:
    """Search the stocks of NSE and BSE.

    Reads all pages of the result. Needs no token.
    """
    if not query.strip():
        raise UsageError("QUERY is empty: pass a company name, an NSE symbol or a BSE code")
    destination = BookDestination("Stock", output, columns, only)
    with connect(connection, care, token=False) as client:
        found = client.search(query, max_items=most, page_size=page_size, start_page=start_page)
        book = received(found.all)
    destination.take(book)
    if found._doubt is not None:  # `received` silences the warning
        remark(for_a_terminal(found._doubt), style="yellow")
