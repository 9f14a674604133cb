"""`tradingdata archive fetch`: stores the day's books."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tradingdata.archive import Archive, ArchiveFetch
from tradingdata.cli.make_client import connect, received
from tradingdata.cli.options import Connection, switch
from tradingdata.cli.terminal import remark, write_out
from tradingdata.display.plain_table import group
from tradingdata.errors import ArchiveError

from .arguments import fitting

EXAMPLES = """
tradingdata archive fetch books.sqlite
tradingdata archive fetch books.sqlite --profile desk1
"""

NewFile = Annotated[Path, typer.Argument(metavar="FILE", help="The archive; created if needed.")]
Zone = Annotated[
    str, typer.Option(metavar="ZONE", help="Time zone in which an empty response gets its day.")
]
Keep = Annotated[bool, switch("--keep-personal-data", "Do not mask account numbers (PAN).")]


def fetch(
    file: NewFile,
    connection: Connection,
    tz: Zone = "Asia/Kolkata",
    keep_personal_data: Keep = False,
) -> None:
    """Fetch and keep today's orders and trades.

    For a cron job after the close. Fetches both books even if one fails, and logs each response
    and each failure in the archive.
    """
    archive = fitting(lambda: Archive(file, tz=tz, keep_personal_data=keep_personal_data))
    with connect(connection, keep_personal_data=keep_personal_data) as client:
        try:
            fetched = received(lambda: archive.fetch(client))
        except ArchiveError as error:
            _rescue(error, file)
            raise
    for entry in fetched:
        write_out(f"{_line(entry)}\n".encode())


def _line(entry: ArchiveFetch) -> str:
    days = ", ".join(map(str, entry.days))
    return (
        f"{entry.book:<6}  {days}  {group(entry.rows)} rows: {group(entry.new)} new, "
        f"{group(entry.changed)} changed"
    )


def _rescue(error: ArchiveError, file: Path) -> None:
    """Saves a book that could not be stored, because the service will not have it tomorrow."""
    if error.book is None:
        return
    now = datetime.now(UTC)
    name = f"{file.name}.{type(error.book).__name__}.{now:%Y%m%dT%H%M%S%f}.td"
    for folder in (file.parent, Path.cwd(), Path.home()):
        path = folder / name
        try:
            error.book.save(path)
        except OSError:
            continue
        remark(
            f"saved in {os.fspath(path)}: add it with tradingdata archive add FILE {name}",
            "yellow",
        )
        return
