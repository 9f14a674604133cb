"""`tradingdata archive`: fetches and stores each day's books, and reads those of any days."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradingdata.books.book import OrderBook, TradeBook
from tradingdata.display.text import counted
from tradingdata.errors import ArchiveError

from .errors import UsageError, fitting
from .options import (
    GROUPS,
    BookOutput,
    Connection,
    Keep,
    Output,
    RowOptions,
    argument,
    command,
    option,
    received,
    switch,
)
from .output import Destination, book_destination, write_lines
from .terminal import remark, write_out

if TYPE_CHECKING:
    from tradingdata.archive import Archive

GROUPS["archive"] = (
    "Keep every day's books in an archive.\n\nThe service clears its order book after the session.",
    """
tradingdata archive fetch books
tradingdata archive trades books 2026-11-20
tradingdata archive missing books 2026-11-01 2026-11-20
""",
)
Holidays = Annotated[str, option("Weekdays on which the exchanges were closed.", "DAY,...")]
Account = Annotated[str | None, option("Only this account (default: all).", "LABEL")]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An existing archive."""

    path: Annotated[str, argument("The archive's folder or address.", "ARCHIVE")]
    keep_personal_data: Keep = False

    def open(self, holidays: str = "") -> Archive:
        """Opens it; never creates one."""
        from tradingdata.archive import Archive

        closed = [day.strip() for day in holidays.split(",") if day.strip()]
        keep = self.keep_personal_data
        return fitting(
            lambda: Archive(self.path, create=False, keep_personal_data=keep, holidays=closed)
        )


@dataclass(frozen=True, kw_only=True)
class DayRange:
    """Days and accounts of an archive."""

    start: Annotated[
        str | None, argument("First day, such as 2026-11-20 (default: all days).", "START")
    ] = None
    end: Annotated[str | None, argument("Last day (default: same as START).", "END")] = None
    account: Account = None
    missing_ok: Annotated[
        bool, switch("--missing-ok", "Only warn about days that were never fetched.")
    ] = False
    holidays: Holidays = ""

    def read(self, stored: Stored, name: str, *arguments: Any) -> Any:
        """Returns the result of a method of the archive for these days.

        Missing days are an error, or a warning on standard error with ``missing_ok``.
        """
        work = getattr(stored.open(self.holidays), name)
        work = partial(work, *arguments, self.start, self.end, account=self.account)
        try:
            return received(lambda: fitting(work))
        except ArchiveError as error:
            if not (self.missing_ok and error.missing):
                raise
            from tradingdata.archive.coverage import describe

            remark(f"warning: never fetched: {describe(error.missing)}", "yellow")
        return received(lambda: fitting(partial(work, missing_ok=True)))


@command(
    "archive fetch",
    """
tradingdata archive fetch books
tradingdata archive fetch books --profile desk1
""",
)
def fetch(
    path: Annotated[str, argument("The archive's folder; created if needed.", "ARCHIVE")],
    connection: Connection,
    tz: Annotated[str | None, option("Time zone of the days (Asia/Kolkata).", "ZONE")] = None,
    keep_personal_data: Keep = False,
) -> None:
    """Fetch and keep today's orders and trades.

    For a cron job after the close. Fetches both books even if one fails, and logs each response
    and each failure in the archive.
    """
    from tradingdata.archive import Archive

    archive = fitting(lambda: Archive(path, tz=tz, keep_personal_data=keep_personal_data))
    with connection.client(keep_personal_data=keep_personal_data) as client:
        try:
            fetched = received(lambda: archive.fetch(client))
        except ArchiveError as error:
            _rescue(error, path)
            raise
    for entry in fetched:
        days, rows = ", ".join(map(str, entry.days)), counted(entry.rows, "row")
        known = "" if entry.stored or not entry.rows else ", which were stored before"
        write_out(f"{entry.book:<6}  {days}  {rows}{known}\n".encode())


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


@command(
    "archive add",
    """
tradingdata archive add books orders.json trades.json
tradingdata archive add books old.json --account desk1
""",
)
def add(
    stored: Stored,
    saved: Annotated[
        list[Path], argument("Files written by the save() method of a book.", "SAVED...")
    ],
    account: Annotated[
        str | None, option("Account of the books, if the files do not name it.", "LABEL")
    ] = None,
) -> None:
    """Add books that were saved to files.

    Rows that were stored before are not stored again.
    """
    from tradingdata.archive import Archive

    books = [_load(file, stored.keep_personal_data) for file in saved]
    archive = Archive(stored.path, keep_personal_data=stored.keep_personal_data)
    for file, book in zip(saved, books, strict=True):
        entry = fitting(lambda book=book: archive.add(book, account=account))  # type: ignore[misc]
        known = "" if entry.stored or not entry.rows else ", which were stored before"
        line = f"{file}: {counted(entry.rows, entry.book.removesuffix('s'))}{known}\n"
        write_out(line.encode())


def _load(path: Path, keep: bool) -> OrderBook | TradeBook:
    for kind in (TradeBook, OrderBook):
        with suppress(ValueError):
            return kind.load(path, keep_personal_data=keep)
    raise UsageError(f"{path} is not a saved book: give files written by save()")


def _register_book(name: str, record: str) -> None:
    """Registers the command that shows the trades or the orders of some days."""

    def show(stored: Stored, only: RowOptions, output: BookOutput, days: DayRange) -> None:
        destination = book_destination(record, output, only)
        destination.take(days.read(stored, name))

    show.__doc__ = (
        f"Show the {name} of some days, or save them.\n\nShows the newest state of each. A day "
        f"that was never fetched is an error, so that it is not mistaken for one without {name}."
    )
    examples = (
        f"tradingdata archive {name} books 2026-11-20\n"
        f"tradingdata archive {name} books -o all.parquet"
    )
    command(f"archive {name}", examples)(show)


_register_book("trades", "Trade")
_register_book("orders", "Order")


@command(
    "archive missing",
    r"""
tradingdata archive missing books 2026-11-01 2026-11-20
tradingdata archive missing books 2026-11-09 2026-11-13 \
  --holidays 2026-11-10 --after 15:30
""",
)
def missing(
    stored: Stored,
    start: Annotated[str, argument("First day, such as 2026-11-01.", "START")],
    end: Annotated[str | None, argument("Last day (default: same as START).", "END")] = None,
    account: Account = None,
    holidays: Holidays = "",
    after: Annotated[
        str | None, option("Count only fetches at this time of day or later.", "TIME")
    ] = None,
) -> None:
    """Show weekdays without a fetch.

    A day counts as missing if one of the two books was not fetched.
    """
    archive = stored.open(holidays)
    gaps = fitting(lambda: archive.missing(start, end, after=after, account=account))
    rows = [(gap.day, gap.account, ", ".join(gap.books)) for gap in gaps]
    write_lines(("day", "account", "books"), rows)


@command(
    "archive sql",
    r"""
tradingdata archive sql books \
  "SELECT received_at, day, book, rows, error FROM fetches"
tradingdata archive sql books \
  "SELECT day, count(*) FROM trades GROUP BY day"
""",
)
def sql(
    stored: Stored,
    query: Annotated[str, argument("An SQL query (DuckDB).", "QUERY")],
    output: Output,
    days: DayRange,
) -> None:
    """Query the archive in SQL.

    The views trades, orders, order_states and fetches have the days asked for. The first three have
    the service's fields, and account, day and received_at.
    """
    destination = Destination(output)
    destination.take(days.read(stored, "sql", query))


@command("archive verify", "tradingdata archive verify books")
def verify(stored: Stored) -> None:
    """Verify every byte of every file."""
    rows = counted(stored.open().verify(), "row")
    write_out(f"{rows} verified\n".encode())


@command("archive compact", "tradingdata archive compact books")
def compact(stored: Stored) -> None:
    """Merge small files.

    Run it monthly. Keeps all states of all records. Deletes files that were merged a day ago, and
    what killed programs left.
    """
    files = counted(max(stored.open().compact(), 0), "fewer file")
    write_out(f"{files}\n".encode())
