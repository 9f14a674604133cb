"""`tradingdata archive orders`: the orders of any days."""

from __future__ import annotations

from tradingdata.cli.make_client import received
from tradingdata.cli.options import Columns, Debug, Filter, Keep, Output
from tradingdata.cli.output import BookDestination

from .arguments import Account, End, File, Start, days, opened

EXAMPLES = """
tradingdata archive orders books.sqlite 2026-11-20
tradingdata archive orders books.sqlite 2026-11-01 2026-11-30 -o november.parquet
"""


def orders(
    file: File,
    columns: Columns,
    only: Filter,
    output: Output,
    start: Start = None,
    end: End = None,
    account: Account = None,
    keep_personal_data: Keep = False,
    debug: Debug = False,
) -> None:
    """Show the orders of some days, as they were last seen, or write them to a file."""
    destination = BookDestination("Order", output, columns, only)
    chosen = days(start, end)
    archive = opened(file, keep_personal_data=keep_personal_data)
    destination.take(received(lambda: archive.orders(*chosen, account=account)))
