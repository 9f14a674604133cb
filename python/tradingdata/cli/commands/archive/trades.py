"""`tradingdata archive trades`: the trades of any days."""

from __future__ import annotations

from tradingdata.cli.make_client import received
from tradingdata.cli.options import Columns, Debug, Filter, Keep, Output
from tradingdata.cli.output import BookDestination

from .arguments import Account, End, File, Start, days, opened

EXAMPLES = """
tradingdata archive trades books.sqlite 2026-11-20
tradingdata archive trades books.sqlite 2026-11-01 2026-11-30 -o november.parquet
"""


def trades(
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
    """Show the trades of some days, as they were last seen, or write them to a file."""
    destination = BookDestination("Trade", output, columns, only)
    chosen = days(start, end)
    archive = opened(file, keep_personal_data=keep_personal_data)
    destination.take(received(lambda: archive.trades(*chosen, account=account)))
