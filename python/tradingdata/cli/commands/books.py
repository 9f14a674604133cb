"""`tradingdata trades` and `tradingdata orders`: the books of the current day."""

from __future__ import annotations

from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Care, Columns, Connection, Output, TimedSelection
from tradingdata.cli.output import BookDestination

TRADES_EXAMPLES = """
tradingdata trades
tradingdata trades -w symbol=INFY,TCS -c symbol,traded_price
tradingdata trades -o trades.parquet
tradingdata trades --format csv | head
"""
ORDERS_EXAMPLES = """
tradingdata orders
tradingdata orders --where status=Pending
tradingdata orders -c symbol,reason_description --rows 0
tradingdata orders -o orders.xlsx --force
"""


def trades(
    connection: Connection, columns: Columns, only: TimedSelection, output: Output, care: Care
) -> None:
    """Show the trade book, or save it to a file."""
    destination = BookDestination("Trade", output, columns, only)
    with connect(connection, care) as client:
        book = received(client.trade_book)
    destination.take(book)


def orders(
    connection: Connection, columns: Columns, only: TimedSelection, output: Output, care: Care
) -> None:
    """Show the order book, or save it to a file."""
    destination = BookDestination("Order", output, columns, only)
    with connect(connection, care) as client:
        book = received(client.order_book)
    destination.take(book)
