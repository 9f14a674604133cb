"""`tradingdata orders`: the order book."""

from __future__ import annotations

from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Care, Columns, Connection, Output, TimedSelection
from tradingdata.cli.output import BookDestination

EXAMPLES = """
tradingdata orders
tradingdata orders --where status=Pending
tradingdata orders --columns order_no,symbol,reason_description --rows 0
tradingdata orders -o orders.xlsx --force
"""


def orders(
    connection: Connection, columns: Columns, only: TimedSelection, output: Output, care: Care
) -> None:
    """Show the orders of the current day, or write them to a file."""
    destination = BookDestination("Order", output, columns, only)
    with connect(connection, care) as client:
        book = received(client.order_book)
    destination.take(book)
