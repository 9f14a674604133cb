"""`tradingdata archive export`: Parquet files by day."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tradingdata.cli.options import Debug
from tradingdata.cli.terminal import write_out

from .arguments import Days, File, opened, read

EXAMPLES = """
tradingdata archive export books.sqlite lake
tradingdata archive export books.sqlite lake 2026-11-20
"""

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write to.")]


def export(file: File, folder: Folder, days: Days, debug: Debug = False) -> None:
    """Export to Parquet files, one a day.

    Writes trades/day=2026-11-20/trades.parquet and so on, and prints the paths.
    """
    start, end = days.checked()
    archive = opened(file)
    paths = read(
        lambda missing_ok: archive.export(folder, start, end, missing_ok=missing_ok),
        missing_ok=days.missing_ok,
    )
    for path in paths:
        write_out(f"{path}\n".encode())
