"""`tradingdata archive missing`: the days that were never fetched."""

from __future__ import annotations

from typing import Annotated

import typer

from tradingdata.cli.exportable import ListTable
from tradingdata.cli.options import Debug, Output
from tradingdata.cli.output import Destination

from .arguments import Account, File, fitting, opened

EXAMPLES = r"""
tradingdata archive missing b.sqlite 2026-11-01 2026-11-20
tradingdata archive missing b.sqlite 2026-11-09 2026-11-13 \
  --holidays 2026-11-10 --after 15:30
"""

First = Annotated[str, typer.Argument(metavar="START", help="First day, such as 2026-11-01.")]
Last = Annotated[str, typer.Argument(metavar="END", help="Last day.")]
Holidays = Annotated[
    str,
    typer.Option(metavar="DAY,...", help="Weekdays on which the exchanges were closed."),
]
After = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Count only fetches at this time of day or later."),
]

_KINDS = {"day": "date", "account": "text", "books": "text"}


def missing(
    file: File,
    start: First,
    end: Last,
    output: Output,
    holidays: Holidays = "",
    after: After = None,
    account: Account = None,
    debug: Debug = False,
) -> None:
    """Show weekdays without a fetch.

    A day counts as missing if one of the two books was not fetched.
    """
    destination = Destination(output)
    archive = opened(file)
    closed = [day.strip() for day in holidays.split(",") if day.strip()]
    found = fitting(
        lambda: archive.missing(start, end, holidays=closed, after=after, account=account)
    )
    rows = [{**gap._asdict(), "books": ", ".join(gap.books)} for gap in found]
    days = "1 day is" if len(found) == 1 else f"{len(found) or 'no'} days are"
    destination.take(ListTable(rows, _KINDS, ("day", "days"), title=f"{days} missing"))
