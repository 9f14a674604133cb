"""`tradingdata trades`: the trade book."""

from __future__ import annotations

from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Care, Columns, Connection, Output, TimedSelection
from tradingdata.cli.output import BookDestination

EXAMPLES = """
tradingdata trades
tradingdata trades --where symbol=INFY,TCS --columns symbol,traded_price
tradingdata trades -o trades.parquet
tradingdata trades --format csv | head
"""


def trades(
    connection: Connection, columns: Columns, only: TimedSelection, output: Output, care: Care
) -> None:
    """Show the account's executed trades, or write them to a file."""
    destination = BookDestination("Trade", output, columns, only)
    with connect(connection, care) as client:
        book = received(client.trade_book)
    destination.take(book)
