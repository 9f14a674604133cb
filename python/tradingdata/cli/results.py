"""The commands that calculate from books: positions, P&L, reconciliation and quality."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tradingdata import analysis
from tradingdata._util import validate
from tradingdata._util.declarations import kinds_of
from tradingdata._util.plans import Result
from tradingdata.errors import BooksDisagreeError

from .archive import DayRange, Stored
from .errors import Code, DataError, UsageError, fitting, for_a_terminal
from .options import (
    Chosen,
    Connection,
    Filter,
    Output,
    RowChoice,
    chosen_columns,
    command,
    option,
    parsed,
    received,
    switch,
)
from .output import Destination

if TYPE_CHECKING:
    from tradingdata.books.book import OrderBook, TradeBook


@dataclass(frozen=True, kw_only=True)
class Asked(Output, DayRange, Connection):
    """Origin of the books, the service or some days of an archive; and the output."""

    archive: Annotated[
        str | None, option("Take the books from this archive, not from the service.", "ARCHIVE")
    ] = None
    start: Annotated[str | None, option("First day to include (with --archive).", "DAY")] = None
    end: Annotated[str | None, option("Last day to include (default: same as --start).", "DAY")] = (
        None
    )
    columns: Chosen = None
    strict: Annotated[bool, switch("--strict", "End with code 10 if the result has issues.")] = (
        False
    )

    def destination(self, name: str, row: type) -> Destination:
        """Returns the destination of a result with rows of this class."""
        return Destination(self, columns=chosen_columns(name, list(kinds_of(row)), self.columns))

    def trades(self, day: str | None, only: Filter | None = None) -> tuple[TradeBook, date | None]:
        """Returns today's trades from the service or those of an archive, and the day to show.

        That is None if the calculation decides. Without days, an archive must be complete from its
        first day to its last, because a position or a profit across a day that was never fetched
        would be wrong.
        """
        choice, stored = RowChoice("Trade", only or Filter()), self._stored()
        at = None if day in (None, "latest") else self._day(day)
        if stored is not None:
            trades = choice.apply(self.read(stored, "trades"))
        else:
            with self.client() as client:
                trades = choice.apply(received(client.trade_book))
        if day == "latest":
            days = [time.date() for time in trades.column("exch_trade_time") if time is not None]
            if len(trades) and not days:
                raise DataError("--day latest: no trade has a time; leave --day out for all trades")
            at = max(days, default=None)
        return trades, at

    def books(self, only: Filter | None = None) -> tuple[OrderBook, TradeBook]:
        """Returns orders and trades, fetched so that they agree unless the service's do not."""
        choice, stored = RowChoice("Order", only or Filter()), self._stored()
        if stored is not None:
            return choice.apply(self.read(stored, "orders")), self.read(stored, "trades")
        with self.client() as client:
            try:
                orders, trades = received(client.books)
            except BooksDisagreeError as error:
                orders, trades = error.books
        return choice.apply(orders), trades

    def _day(self, day: str) -> date:
        at = fitting(lambda: validate.day("day", day))
        first = self.start and fitting(lambda: validate.day("start", self.start))
        last = fitting(lambda: validate.day("end", self.end)) if self.end else first
        if (first or at) <= at <= (last or at):
            return at
        raise UsageError(f"--day {at} is not one of the days that --start and --end read")

    def _stored(self) -> Stored | None:
        if self.archive is not None:
            return Stored(path=self.archive)
        if self.start or self.end or self.account or self.missing_ok:
            raise UsageError("--start, --end, --account and --missing-ok need --archive")
        return None


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The codes of purchases and sales, which the service does not document."""

    buy: Annotated[str, option("txn_type of a purchase.", "CODE")] = "B"
    sell: Annotated[str, option("txn_type of a sale.", "CODE")] = "S"


ShownDay = Annotated[
    str | None,
    option("Only this day: YYYY-MM-DD, or latest (default: all days of the trades).", "DAY"),
]


@command(
    "positions",
    """
tradingdata positions
tradingdata positions -o positions.xlsx
tradingdata positions -w "exch_trade_time>=13:30"
tradingdata positions --archive books --day latest
""",
)
def positions(asked: Asked, only: Filter, sides: Sides, day: ShownDay = None) -> int:
    """Show the net position in each security.

    Adds up the trades, or those of --day, by account, security and product, before charges.
    Holdings from before these trades are not included.
    """
    destination = asked.destination("positions", analysis.Position)
    trades, at = asked.trades(day, only)
    work = partial(analysis.positions, trades, day=at, **vars(sides))
    return _calculated(asked, destination, work)


@command(
    "pnl",
    """
tradingdata pnl
tradingdata pnl --shorts I,M -o pnl.xlsx
tradingdata pnl --prices closes.csv --charges charges.toml
tradingdata pnl --archive books --day latest
""",
)
def pnl(
    asked: Asked,
    sides: Sides,
    day: ShownDay = None,
    shorts: Annotated[
        str,
        option("Products in which sales may open short positions: all, none, or I,M,...", "CODES"),
    ] = "all",
    prices: Annotated[
        Path | None, option("Value what is open: a CSV file with security_id and price.", "FILE")
    ] = None,
    charges: Annotated[
        Path | None, option("Deduct charges at the rates of this TOML file.", "FILE")
    ] = None,
    changes: Annotated[
        Path | None, option("Change open lots as this TOML file says: splits, new ISINs.", "FILE")
    ] = None,
    match_by: Annotated[
        str, option("What is one security: security_id, or isin across exchanges.", "FIELD")
    ] = "security_id",
) -> int:
    """Show the realised profit and loss.

    Matches trades first in, first out. A trade closes open lots of the other side; what remains of
    it opens a lot. A sale that may not open a short position counts as unmatched. With --day,
    trades of earlier days are matched first, and only what closes on the day counts. With --prices
    or --charges, the result is the realised and unrealised profit, charges and net of --day, or
    else of the latest day.
    """
    if match_by not in ("security_id", "isin"):
        raise UsageError(f"--match-by takes security_id or isin, not {validate.shown(match_by)}")
    whole = prices is not None or charges is not None
    row = analysis.DayRow if whole else analysis.Realised
    destination = asked.destination("pnl", row)
    more: dict[str, Any] = {"shorts": _products(shorts), "match_by": match_by, **vars(sides)}
    if changes is not None:
        more["changes"] = _from_file("--changes", changes, analysis.LotChange.load)
    if whole:
        more["prices"] = prices and _from_file("--prices", prices, _prices)
        more["charges"] = charges and _from_file("--charges", charges, analysis.ChargeRate.load)
    trades, at = asked.trades(day)
    work = analysis.day_pnl if whole else analysis.realised_pnl
    return _calculated(asked, destination, partial(work, trades, day=at, **more))


@command(
    "reconcile",
    """
tradingdata reconcile
tradingdata reconcile --archive books --start 2026-11-20
tradingdata reconcile -o differences.xlsx
""",
)
def reconcile(
    asked: Asked,
    tolerance: Annotated[
        float, option("Largest difference of average prices that still agrees.", "AMOUNT", min=0)
    ] = 0.01,
) -> int:
    """Compare each order with its trades.

    Compares side, security, product, quantity and average price. Differences come first.
    """
    destination = asked.destination("reconcile", analysis.OrderCheck)
    orders, trades = asked.books()
    work = partial(analysis.reconcile, orders, trades, tolerance=tolerance)
    return _calculated(asked, destination, work)


@command(
    "quality",
    """
tradingdata quality
tradingdata quality -w "order_date_time>=10:00"
tradingdata quality --archive books --start 2026-11-20 -o quality.parquet
""",
)
def quality(asked: Asked, only: Filter, sides: Sides) -> int:
    """Show how orders were filled.

    Shows the filled part, the seconds until the fills, and the price against that of the order.
    """
    destination = asked.destination("quality", analysis.OrderExecution)
    orders, trades = asked.books(only)
    work = partial(analysis.execution_quality, orders, trades, **vars(sides))
    return _calculated(asked, destination, work)


def _calculated(asked: Asked, destination: Destination, work: Callable[[], Any]) -> int:
    """Writes a result and its issues; unusable trades are an error of the data, not of the user."""
    try:
        result = received(work)
    except ValueError as error:
        raise DataError(for_a_terminal(error)) from None
    destination.take(result)
    return Code.ISSUES if asked.strict and len(result.issues) else Code.OK


def _products(shorts: str) -> bool | list[str]:
    """Returns the products in which sales may open short positions."""
    codes: bool | list[str] = [code.strip() for code in shorts.split(",")]
    return {"all": True, "none": False}.get(shorts, codes)


def _from_file(name: str, path: Path, reader: Callable[[Path], Result]) -> Result:
    """Returns what the file of an option contains."""
    try:
        return reader(path)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _expiry(path: Path, text: str) -> date | None:
    return fitting(lambda: validate.day(f"{path}: expiry_date", text)) if text else None


def _prices(path: Path) -> dict[Any, float]:
    """Reads prices from a CSV file, by security and, if it has them, expiry, exchange, segment."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        names = set(rows.fieldnames or ())
        if not {"security_id", "price"} <= names:
            raise UsageError(f"{path} needs the columns security_id and price")
        key = ["security_id", *(["expiry_date"] if "expiry_date" in names else [])]
        key = ["exchange", "segment", *key] if {"exchange", "segment"} <= names else key
        prices: dict[Any, float] = {}
        for row in rows:
            values = [
                _expiry(path, row[name]) if name == "expiry_date" else row[name] for name in key
            ]
            security: Any = tuple(values) if len(values) > 1 else row["security_id"]
            if security in prices:
                raise UsageError(f"{path} has {row['security_id']} twice: keep one of its rows")
            if row["price"]:
                prices[security] = parsed(f"{path}: price", "number", row["price"])
        return prices
