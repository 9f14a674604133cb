"""`tradingdata archive add`: saved books into the archive."""

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
tradingdata archive add books.sqlite old.td --account desk1
"""

Saved = Annotated[
    list[Path], typer.Argument(metavar="SAVED...", help="Files that a book's save() wrote.")
]
Account = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="Whose books they are, where the files do not say."),
]


def add(file: File, saved: Saved, account: Account = None, debug: Debug = False) -> None:
    """Keep books that were saved to files; what the archive has already changes nothing."""
    books = [_load(path) for path in saved]
    archive = Archive(file)
    for path, book in zip(saved, books, strict=True):
        entry = fitting(lambda book=book: archive.add(book, account=account))  # type: ignore[misc]
        told = f"{path}: {group(entry.rows)} {entry.book}, {group(entry.new)} new\n"
        write_out(told.encode())


def _load(path: Path) -> OrderBook | TradeBook:
    try:
        return TradeBook.load(path)
    except ValueError:
        pass
    try:
        return OrderBook.load(path)
    except ValueError as error:
        raise UsageError(str(error)) from None
