"""Shared by `positions` and `pnl`: the trades to use as input, and their results as sheets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tradingdata.archive.days import days_of

from .advice import for_a_terminal
from .commands.archive.arguments import MissingOk, fitting, opened, read
from .exit_codes import DataError, UsageError
from .make_client import connect, received

if TYPE_CHECKING:
    from tradingdata.analysis import ResultTable
    from tradingdata.archive import Archive
    from tradingdata.books.book import TradeBook

    from .options import Connection

    Result = TypeVar("Result", bound=ResultTable[Any])


@dataclass(frozen=True, kw_only=True)
class Trades:
    """Options that select the input trades and the codes of their sides."""

    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Take the trades from this archive, not from the service."
        ),
    ] = None
    start: Annotated[
        str | None, typer.Option(metavar="DAY", help="First day to include (with --archive).")
    ] = None
    end: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="Last day to include (default: same as --start)."),
    ] = None
    account: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Only this account of the archive.")
    ] = None
    missing_ok: MissingOk = False
    buy: Annotated[str, typer.Option(metavar="CODE", help="txn_type of a purchase.")] = "B"
    sell: Annotated[str, typer.Option(metavar="CODE", help="txn_type of a sale.")] = "S"


def trades_of(connection: Connection, choice: Trades) -> TradeBook:
    """Returns today's trades from the service, or those of an archive.

    Without days, an archive must be complete from its first day to its last, because a position or
    a profit across a day that was never fetched would be wrong.
    """
    path = choice.archive
    if path is None:
        if choice.start or choice.end or choice.account or choice.missing_ok:
            raise UsageError("--start, --end, --account and --missing-ok need --archive FILE")
        with connect(connection) as client:
            return received(client.trade_book)
    fitting(lambda: days_of(choice.start, choice.end))
    archive = opened(path)
    end = choice.end or (None if choice.start else _last_day(archive, choice.account))
    return read(
        lambda missing_ok: archive.trades(
            choice.start, end, account=choice.account, missing_ok=missing_ok
        ),
        missing_ok=choice.missing_ok,
    )


def _last_day(archive: Archive, account: str | None) -> date | None:
    entries = archive.fetches(account=account)
    return max((day for entry in entries for day in entry.days), default=None)


def calculated(work: Callable[[], Result]) -> Result:
    """Returns the result; unusable trades are an error of the data rather than of the user."""
    try:
        return work()
    except ValueError as error:
        raise DataError(for_a_terminal(error)) from None
