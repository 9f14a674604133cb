"""Arguments shared by the sub-commands, and helpers to open and read an archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from tradingdata.archive import Archive
from tradingdata.archive.coverage import describe
from tradingdata.archive.days import days_of
from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.make_client import received
from tradingdata.cli.options import switch
from tradingdata.cli.terminal import remark
from tradingdata.errors import ArchiveError

Result = TypeVar("Result")

File = Annotated[Path, typer.Argument(metavar="FILE", help="The archive, an SQLite file.")]
Account = Annotated[
    str | None, typer.Option("--account", metavar="LABEL", help="Only this account (default: all).")
]
MissingOk = Annotated[bool, switch("--missing-ok", "Only warn about days that were never fetched.")]


@dataclass(frozen=True, kw_only=True)
class Days:
    """Selection of days."""

    start: Annotated[
        str | None,
        typer.Argument(metavar="START", help="First day, such as 2026-11-20 (default: all days)."),
    ] = None
    end: Annotated[
        str | None, typer.Argument(metavar="END", help="Last day (default: same as START).")
    ] = None
    missing_ok: MissingOk = False

    def checked(self) -> tuple[str | None, str | None]:
        """Returns the first and the last day after validating them."""
        fitting(lambda: days_of(self.start, self.end))
        return self.start, self.end


def opened(path: Path, *, keep_personal_data: bool = False) -> Archive:
    """Opens an existing archive; never creates one."""
    return Archive(path, create=False, keep_personal_data=keep_personal_data)


def fitting(work: Callable[[], Result]) -> Result:
    """Returns the result of a function that raises ValueError for what the user passed."""
    try:
        return work()
    except ValueError as error:
        raise UsageError(str(error)) from None


def read(work: Callable[[bool], Result], *, missing_ok: bool) -> Result:
    """Returns the result of a read; ``work`` takes whether days may be missing.

    Missing days are an error, or a warning on standard error with ``missing_ok``.
    """
    try:
        return received(lambda: work(False))
    except ArchiveError as error:
        if not (missing_ok and error.missing):
            raise
        remark(f"warning: never fetched: {describe(error.missing)}", "yellow")
    return received(lambda: work(True))
