"""`tradingdata archive add`: stores saved books."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tradingdata.archive import Archive
from tradingdata.books.book import OrderBook, TradeBook
from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.options import Debug
from tradingdata.cli.terminal import write_out
from tradingdata.display.plain_table import group

from .arguments import File, fitting

EXAMPLES = """
tradingdata archive add books.sqlite orders.td trades.td
tradingdata archive add b.sqlite old.td --account desk1
"""

Saved = Annotated[
    list[Path],
    typer.Argument(metavar="SAVED...", help="Files written by the save() method of a book."),
]
Account = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="Account of the books, if the files do not name it."),
]


def add(file: File, saved: Saved, account: Account = None, debug: Debug = False) -> None:
    """Add books that were saved to files.

    Adding a book twice changes nothing.
    """
    books = [_load(path) for path in saved]
    archive = Archive(file)
    for path, book in zip(saved, books, strict=True):
        entry = fitting(lambda book=book: archive.add(book, account=account))  # type: ignore[misc]
        line = f"{path}: {group(entry.rows)} {entry.book}, {group(entry.new)} new\n"
        write_out(line.encode())


def _load(path: Path) -> OrderBook | TradeBook:
    try:
        return TradeBook.load(path)
    except ValueError:
        pass
    try:
        return OrderBook.load(path)
    except ValueError:
        raise UsageError(f"{path} is not a saved book: give files written by save()") from None
