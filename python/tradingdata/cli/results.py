"""The commands that calculate from books: positions, P&L, reconciliation and quality."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tradingdata import analysis
from tradingdata._util import validate
from tradingdata._util.declarations import kinds_of
from tradingdata._util.plans import Result
from tradingdata.errors import BooksDisagreeError

from . import archive, parameters
from .errors import Code, DataError, UsageError, fitting, for_a_terminal
from .output import Destination
from .parameters import PATH, Command, Given, RowChoice, client_of, option, parsed, received

if TYPE_CHECKING:
    from tradingdata.books.book import OrderBook, TradeBook

_options = parameters.together(
    parameters.connection,
    option("--start DAY", "First day to include (with --archive)."),
    option("--end DAY", "Last day to include (default: same as --start)."),
    archive.days,
    parameters.output,
    option("--archive ARCHIVE", "Take the books from this archive, not from the service."),
    parameters.columns,
    option("--strict", "End with code 10 if the result has issues."),
)
_sides = parameters.together(
    option("--buy CODE", "txn_type of a purchase.", default="B"),
    option("--sell CODE", "txn_type of a sale.", default="S"),
)
_day = option(
    "--day DAY", "Only this day: YYYY-MM-DD, or latest (default: all days of the trades)."
)


class Calculation:
    """What a command calculates from, and where its result goes; validated before any request.

    The books are those of the service or of some days of an archive. Without days, an archive must
    be complete from its first day to its last, because a position or a profit across a day that was
    never fetched would be wrong.
    """

    def __init__(self, row: type, given: Given, record: str = "Trade") -> None:
        self._given, self._choice = given, RowChoice(record, given)
        columns = parameters.chosen_columns("results", list(kinds_of(row)), given)
        self._destination = Destination(given, columns)
        needed = any(given[name] for name in ("start", "end", "account", "missing_ok"))
        if needed and given["archive"] is None:
            raise UsageError("--start, --end, --account and --missing-ok need --archive")

    def trades(self) -> tuple[TradeBook, date | None]:
        """Returns the trades, and the day to show; None if the calculation decides."""
        day = self._given["day"]
        at = None if day in (None, "latest") else self._one_day(day)
        trades = self._choice.apply(self._read("trades", "trade_book"))
        if day == "latest":
            days = [time.date() for time in trades.column("exch_trade_time") if time is not None]
            if len(trades) and not days:
                raise DataError("--day latest: no trade has a time; leave --day out for all trades")
            at = max(days, default=None)
        return trades, at

    def books(self) -> tuple[OrderBook, TradeBook]:
        """Returns orders and trades, fetched so that they agree unless the service's do not."""
        if self._given["archive"] is not None:
            orders, trades = self._read("orders"), self._read("trades")
        else:
            try:
                orders, trades = self._read("", "books")
            except BooksDisagreeError as error:
                orders, trades = error.books
        return self._choice.apply(orders), trades

    def show(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> int:
        """Writes a result; unusable trades are an error of the data, not of the user."""
        sides = {name: self._given[name] for name in ("buy", "sell") if name in self._given}
        try:
            result = received(partial(work, *arguments, **options, **sides))
        except ValueError as error:
            raise DataError(for_a_terminal(error)) from None
        self._destination.take(result)
        return Code.ISSUES if self._given["strict"] and len(result.issues) else Code.OK

    def _read(self, name: str, call: str = "") -> Any:
        if self._given["archive"] is not None:
            return archive.read_days(self._given, self._given["archive"], name)
        with client_of(self._given) as client:
            return received(getattr(client, call))

    def _one_day(self, day: str) -> date:
        at, start, end = _day_of("day", day), self._given["start"], self._given["end"]
        first = _day_of("start", start) if start else None
        last = _day_of("end", end) if end else first
        if (first or at) <= at <= (last or at):
            return at
        raise UsageError(f"--day {at} is not one of the days that --start and --end read")


@click.command(cls=Command)
@_options
@parameters.where
@_sides
@_day
def positions(**given: Any) -> int:
    """Show the net position in each security.

    Adds up the trades, or those of --day, by account, security and product, before charges.
    Holdings from before these trades are not included.

    Examples:
    tradingdata positions
    tradingdata positions -o positions.xlsx
    tradingdata positions -w "exch_trade_time>=13:30"
    tradingdata positions --archive books --day latest
    """
    calculation = Calculation(analysis.Position, given)
    trades, at = calculation.trades()
    return calculation.show(analysis.positions, trades, day=at)


_SHORTS = "Products in which sales may open short positions: all, none, or I,M,..."
_PRICES = "Value what is open: a CSV file with security_id and price."
_CHANGES = "Change open lots as this TOML file says: splits, new ISINs."
_MATCH_BY = "What is one security: security_id, or isin across exchanges."


@click.command(cls=Command)
@_options
@_sides
@_day
@option("--shorts CODES", _SHORTS, default="all")
@option("--prices FILE", _PRICES, PATH)
@option("--charges FILE", "Deduct charges at the rates of this TOML file.", PATH)
@option("--changes FILE", _CHANGES, PATH)
@option("--match-by FIELD", _MATCH_BY, default="security_id")
def pnl(
    shorts: str, prices: Path | None, charges: Path | None, changes: Path | None, **given: Any
) -> int:
    """Show the realised profit and loss.

    Matches trades first in, first out. A trade closes open lots of the other side; what remains of
    it opens a lot. A sale that may not open a short position counts as unmatched. With --day,
    trades of earlier days are matched first, and only what closes on the day counts. With --prices
    or --charges, the result is the realised and unrealised profit, charges and net of --day, or
    else of the latest day.

    Examples:
    tradingdata pnl
    tradingdata pnl --shorts I,M -o pnl.xlsx
    tradingdata pnl --prices closes.csv --charges charges.toml
    tradingdata pnl --archive books --day latest
    """
    if (field := given["match_by"]) not in ("security_id", "isin"):
        raise UsageError(f"--match-by takes security_id or isin, not {validate.shown(field)}")
    whole = prices is not None or charges is not None
    calculation = Calculation(analysis.DayRow if whole else analysis.Realised, given)
    codes: bool | list[str] = [code.strip() for code in shorts.split(",")]
    options: dict[str, Any] = {"shorts": {"all": True, "none": False}.get(shorts, codes)}
    options["match_by"] = given["match_by"]
    if changes is not None:
        options["changes"] = _from_file("--changes", changes, analysis.LotChange.load)
    if whole:
        options["prices"] = prices and _from_file("--prices", prices, _prices)
        options["charges"] = charges and _from_file("--charges", charges, analysis.ChargeRate.load)
    trades, at = calculation.trades()
    work = analysis.day_pnl if whole else analysis.realised_pnl
    return calculation.show(work, trades, day=at, **options)


_TOLERANCE = "Largest difference of average prices that still agrees."


@click.command(cls=Command)
@_options
@option("--tolerance AMOUNT", _TOLERANCE, parameters.AMOUNT, default=0.01)
def reconcile(tolerance: float, **given: Any) -> int:
    """Compare each order with its trades.

    Compares side, security, product, quantity and average price. Differences come first.

    Examples:
    tradingdata reconcile
    tradingdata reconcile --archive books --start 2026-11-20
    tradingdata reconcile -o differences.xlsx
    """
    calculation = Calculation(analysis.OrderCheck, given, "Order")
    return calculation.show(analysis.reconcile, *calculation.books(), tolerance=tolerance)


@click.command(cls=Command)
@_options
@parameters.where
@_sides
def quality(**given: Any) -> int:
    """Show how orders were filled.

    Shows the filled part, the seconds until the fills, and the price against that of the order.

    Examples:
    tradingdata quality
    tradingdata quality -w "order_date_time>=10:00"
    tradingdata quality --archive books --start 2026-11-20 -o quality.parquet
    """
    calculation = Calculation(analysis.OrderExecution, given, "Order")
    return calculation.show(analysis.execution_quality, *calculation.books())


def _day_of(name: str, text: str) -> date:
    """Returns the day that an option names."""
    return fitting(lambda: validate.day(name, text))


def _from_file(name: str, path: Path, reader: Callable[[Path], Result]) -> Result:
    """Returns what the file of an option contains."""
    try:
        return reader(path)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _prices(path: Path) -> dict[Any, float]:
    """Reads prices from a CSV file, by security and, if it has them, expiry, exchange, segment."""
    prices: dict[Any, float] = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file, strict=True)
        names = set(rows.fieldnames or ())
        if not {"security_id", "price"} <= names:
            raise UsageError(f"{path} needs the columns security_id and price")
        key = ["exchange", "segment"] if {"exchange", "segment"} <= names else []
        try:
            for row in rows:
                where = f"line {rows.line_num} of {path}"
                if None in row or None in row.values():
                    raise UsageError(f"{where} has not as many values as the first line names")
                values: list[Any] = [row[name] for name in (*key, "security_id")]
                if "expiry_date" in names:
                    expiry = row["expiry_date"]
                    values.append(
                        parsed(f"{where}: expiry_date", "date", expiry) if expiry else None
                    )
                security = tuple(values) if len(values) > 1 else values[0]
                if security in prices:
                    raise UsageError(
                        f"{where} has {row['security_id']} twice: keep one of its rows"
                    )
                if row["price"]:
                    prices[security] = parsed(f"{where}: price", "number", row["price"])
        except csv.Error as error:
            raise UsageError(f"line {rows.line_num + 1} of {path} is no CSV: {error}") from None
    return prices
