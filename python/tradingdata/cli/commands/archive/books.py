"""`tradingdata archive trades` and `tradingdata archive orders`: the books of any days."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tradingdata.archive import Archive
from tradingdata.cli.options import Columns, Debug, Keep, Output, TimedSelection
from tradingdata.cli.output import BookDestination

from .arguments import Account, Days, File, opened, read

TRADES_EXAMPLES = """
tradingdata archive trades books.sqlite 2026-11-20
tradingdata archive trades books.sqlite -o all.parquet
"""
ORDERS_EXAMPLES = TRADES_EXAMPLES.replace("trades", "orders")


def _book_command(record: str, read_book: Callable[..., Any]) -> Callable[..., None]:
    """Returns the command that shows the books of some days; ``read_book`` is Archive's method."""

    def show(
        file: File,
        columns: Columns,
        only: TimedSelection,
        output: Output,
        days: Days,
        account: Account = None,
        keep_personal_data: Keep = False,
        debug: Debug = False,
    ) -> None:
        destination = BookDestination(record, output, columns, only)
        start, end = days.checked()
        archive = opened(file, keep_personal_data=keep_personal_data)
        book = read(
            lambda missing_ok: read_book(
                archive, start, end, account=account, missing_ok=missing_ok
            ),
            missing_ok=days.missing_ok,
        )
        destination.take(book)

    noun = f"{record.lower()}s"
    show.__doc__ = (
        f"Show the {noun} of some days, or save them.\n\nShows the newest state of each. A day "
        f"that was never fetched is an error, so that it is not mistaken for one without {noun}."
    )
    return show


trades = _book_command("Trade", Archive.trades)
orders = _book_command("Order", Archive.orders)
