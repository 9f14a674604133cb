"""`tradingdata archive export`: Parquet files by day."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tradingdata.cli.make_client import received
from tradingdata.cli.options import Debug
from tradingdata.cli.terminal import write_out

from .arguments import End, File, Start, days, opened

EXAMPLES = """
tradingdata archive export books.sqlite lake
tradingdata archive export books.sqlite lake 2026-11-20
"""

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go.")]


def export(
    file: File, folder: Folder, start: Start = None, end: End = None, debug: Debug = False
) -> None:
    """Write Parquet files by day, as trades/day=2026-11-20/trades.parquet; prints their paths."""
    chosen = days(start, end)
    for path in received(lambda: opened(file).export(folder, *chosen)):
        write_out(f"{path}\n".encode())
