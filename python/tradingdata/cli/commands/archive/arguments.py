"""What the sub-commands share: the archive's file, days and an account."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from tradingdata.archive import Archive
from tradingdata.archive.days import days_of
from tradingdata.cli.exit_codes import UsageError

Result = TypeVar("Result")

File = Annotated[Path, typer.Argument(metavar="FILE", help="The archive, an SQLite file.")]
Start = Annotated[
    str | None,
    typer.Argument(metavar="[START]", help="The first day, as 2026-11-20; all days unless given."),
]
End = Annotated[
    str | None, typer.Argument(metavar="[END]", help="The last day; the first one unless given.")
]
Account = Annotated[
    str | None, typer.Option("--account", metavar="LABEL", help="One account; all unless given.")
]


def days(start: str | None, end: str | None) -> tuple[str | None, str | None]:
    """The two days as they were given, which are one, or all, or a span, once checked."""
    fitting(lambda: days_of(start, end))
    return start, end


def opened(path: Path, *, keep_personal_data: bool = False) -> Archive:
    """An archive that is there: to read is no reason to make one."""
    return Archive(path, create=False, keep_personal_data=keep_personal_data)


def fitting(work: Callable[[], Result]) -> Result:
    """What the work gives; a value that does not fit is the caller's mistake."""
    try:
        return work()
    except ValueError as error:
        raise UsageError(str(error)) from None
