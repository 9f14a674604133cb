"""`tradingdata archive`: fetches and stores each day's books, and reads those of any days."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradingdata.books.book import OrderBook, TradeBook
from tradingdata.display import counted
from tradingdata.errors import ArchiveError

from . import parameters
from .output import Destination, book_destination, write_lines
from .parameters import PATH, Given, Group, client_of, option, received, together
from .terminal import Code, UsageError, fitting, remark, write_out

if TYPE_CHECKING:
    from tradingdata.archive import Archive, ArchiveFetch

_path = click.argument("path", metavar="ARCHIVE", help="The archive's folder.")
_stored = together(_path, parameters.keep_personal_data)
account = option("--account LABEL", "Only this account (default: all).")
holidays = option("--holidays DAY,...", "Weekdays on which the exchanges were closed.")
days = together(
    account,
    option("--missing-ok", "Only warn about days that were never fetched."),
    holidays,
)
_first = "First day, such as 2026-11-20 (default: all days)."
_last = "Last day (default: same as START)."
_range = together(
    click.argument("start", required=False, metavar="[START]", help=_first),
    click.argument("end", required=False, metavar="[END]", help=_last),
    days,
)


@click.group(cls=Group)
def archive(_: Given) -> None:
    """Keep every day's books in an archive.

    The service clears its order book after the session.

    Examples:
    tradingdata archive fetch books
    tradingdata archive trades books 2026-11-20
    tradingdata archive missing books 2026-11-01 2026-11-20
    """


def open_archive(given: Given) -> Archive:
    """Opens an existing archive; never creates one."""
    from tradingdata.archive import Archive

    path = given["path"] if "path" in given else given["archive"]
    closed = [day.strip() for day in (given.get("holidays") or "").split(",") if day.strip()]
    keep = given.get("keep_personal_data", False)
    return fitting(lambda: Archive(path, create=False, keep_personal_data=keep, holidays=closed))


def read_days(given: Given, name: str, *arguments: object) -> Any:
    """Returns the result of a method of an archive for some days.

    Missing days are an error, or with ``--missing-ok`` a warning on standard error.
    """
    work = getattr(open_archive(given), name)
    work = partial(work, *arguments, given["start"], given["end"], **_account(given))
    try:
        return received(lambda: fitting(work))
    except ArchiveError as error:
        if not (given["missing_ok"] and error.missing):
            raise
        from tradingdata.archive.coverage import describe

        remark(f"warning: never fetched: {describe(error.missing)}", "yellow")
    return received(lambda: fitting(partial(work, missing_ok=True)))


def _account(given: Given) -> Given:
    return {} if given["account"] is None else {"account": given["account"]}


@archive.command
@click.argument("path", metavar="ARCHIVE", help="The archive's folder; created if needed.")
@parameters.connection
@option("--tz ZONE", "Time zone of the days (Asia/Kolkata).")
@option("--existing", "Fail if there is no archive, as on a disk that is not mounted.")
@parameters.keep_personal_data
def fetch(given: Given) -> None:
    """Fetch and keep today's orders and trades.

    For a cron job after the close. Fetches both books even if one fails, and logs each response
    and each failure in the archive.

    Examples:
    tradingdata archive fetch books
    tradingdata archive fetch books --profile desk1 --existing
    """
    from tradingdata.archive import Archive

    options = {"keep_personal_data": given["keep_personal_data"], "create": not given["existing"]}
    # The client first: without an address or a token, no archive is created.
    with client_of(given, "keep_personal_data") as client:
        books = fitting(lambda: Archive(given["path"], tz=given["tz"], **options))
        try:
            fetched = received(lambda: books.fetch(client))
        except ArchiveError as error:
            _rescue(error, given["path"])
            raise
    for entry in fetched:
        _report(f"{entry.book:<6}  {', '.join(map(str, entry.days))}  ", entry, "row")


def _report(before: str, entry: ArchiveFetch, noun: str) -> None:
    known = "" if entry.stored or not entry.rows else ", which were stored before"
    write_out(f"{before}{counted(entry.rows, noun)}{known}\n".encode())


def _rescue(error: ArchiveError, archive: str) -> None:
    """Saves books that could not be stored, because the service will not have them tomorrow."""
    now = datetime.now(UTC)
    for book in error.books:
        name = f"tradingdata.{type(book).__name__}.{now:%Y%m%dT%H%M%S%f}.json"
        for folder in (os.path.expanduser("~"), os.getcwd(), tempfile.gettempdir()):
            path = Path(folder, name)
            try:
                book.save(path)
            except OSError:
                continue
            remark(f"saved: add it with tradingdata archive add {archive} {path}", "yellow")
            break
        else:
            remark(f"the {name} could not be saved elsewhere either", "red")


@archive.command
@_path
@click.argument(
    *("saved",), type=PATH, nargs=-1, required=True, metavar="SAVED...", help="Files of save()."
)
@parameters.keep_personal_data
@option("--account LABEL", "Account of the books, if the files do not name it.")
def add(given: Given) -> None:
    """Add books that were saved to files.

    Rows that were stored before are not stored again.

    Examples:
    tradingdata archive add books orders.json trades.json
    tradingdata archive add books old.json --account desk1
    """
    from tradingdata.archive import Archive

    saved, keep = given["saved"], given["keep_personal_data"]
    books = [_load(file, keep) for file in saved]
    target = Archive(given["path"], keep_personal_data=keep)
    for file, book in zip(saved, books, strict=True):
        entry = fitting(partial(target.add, book, **_account(given)))
        _report(f"{file}: ", entry, entry.book.removesuffix("s"))


def _load(path: Path, keep: bool) -> OrderBook | TradeBook:
    for kind in (TradeBook, OrderBook):
        with suppress(ValueError):
            return kind.load(path, keep_personal_data=keep)
    raise UsageError(f"{path} is not a saved book: give files written by save()")


_book_options = together(_stored, parameters.selection, parameters.book_output, _range)


@archive.command
@_book_options
def trades(given: Given) -> None:
    """Show the trades of some days, or save them.

    Shows the newest state of each. A day that was never fetched is an error, so that it is not
    mistaken for one without trades.

    Examples:
    tradingdata archive trades books 2026-11-20
    tradingdata archive trades books -o all.parquet
    """
    book_destination("Trade", given).take(read_days(given, "trades"))


@archive.command
@_book_options
def orders(given: Given) -> None:
    """Show the orders of some days, or save them.

    Shows the newest state of each. A day that was never fetched is an error, so that it is not
    mistaken for one without orders.

    Examples:
    tradingdata archive orders books 2026-11-20
    tradingdata archive orders books -o all.parquet
    """
    book_destination("Order", given).take(read_days(given, "orders"))


@archive.command
@_stored
@click.argument("start", metavar="START", help="First day, such as 2026-11-01.")
@click.argument("end", required=False, metavar="[END]", help="Last day (default: today).")
@account
@holidays
@option("--after TIME", "Count only fetches at this time of day or later.")
def missing(given: Given) -> Code | None:
    """Show weekdays without a fetch.

    A day counts as missing if one of the two books was not fetched. Ends with 9 if there are any,
    and prints nothing if there are none.

    Examples:
    tradingdata archive missing books 2026-11-01 2026-11-20
    tradingdata archive missing books 2026-11-09 2026-11-13 --holidays 2026-11-10 --after 15:30
    """
    books, start = open_archive(given), given["start"]
    last = given["end"] or max(start, str(datetime.now(books.tz).date()))
    gaps = fitting(lambda: books.missing(start, last, after=given["after"], **_account(given)))
    if not gaps:
        return None
    rows = [(gap.day, gap.account, ", ".join(gap.books)) for gap in gaps]
    write_lines(("day", "account", "books"), rows)
    return Code.FILE


@archive.command
@_stored
@click.argument("query", metavar="QUERY", help="An SQL query (DuckDB).")
@parameters.output
@_range
def sql(given: Given) -> None:
    """Query the archive in SQL.

    The views trades, orders, order_states and fetches have the days asked for. The first three have
    the service's fields, and account, day and received_at.

    Examples:
    tradingdata archive sql books "SELECT received_at, day, book, rows, error FROM fetches"
    tradingdata archive sql books "SELECT day, count(*) FROM trades GROUP BY day"
    """
    Destination(given).take(read_days(given, "sql", given["query"]))


@archive.command
@_stored
def verify(given: Given) -> None:
    """Verify every file.

    Examples:
    tradingdata archive verify books
    """
    rows = counted(open_archive(given).verify(), "row")
    write_out(f"{rows} verified\n".encode())


@archive.command
@_stored
@click.argument("to", metavar="FOLDER", help="A folder, new or empty.")
def copy(given: Given) -> None:
    """Copy the archive to another folder.

    Examples:
    tradingdata archive copy books /mnt/backup/books
    """
    copied = fitting(lambda: open_archive(given).copy(given["to"]))
    write_out(f"{counted(copied.verify(), 'row')} copied and verified\n".encode())


@archive.command
@_stored
@click.argument("label", metavar="LABEL", help="The account's label.")
@option("--yes", "Do not ask.")
def erase(given: Given) -> None:
    """Erase everything of an account.

    Its rows, its responses and its label. Backups keep them: erase them too.

    Examples:
    tradingdata archive erase books desk1 --yes
    """
    books, label = open_archive(given), given["label"]
    if not given["yes"]:
        click.confirm(f"Erase everything of {label} in {books.path}?", abort=True, err=True)
    erased = counted(fitting(lambda: books.erase(label)), "response")
    write_out(f"{erased} erased\n".encode())
