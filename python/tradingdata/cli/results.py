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
from tradingdata._util.validate import did_you_mean
from tradingdata.analysis.inputs import rows_by_day
from tradingdata.analysis.keys import CONTRACT
from tradingdata.errors import BooksDisagreeError
from tradingdata.table.conditions import value_in

from . import archive, parameters
from .output import Destination, RowChoice, chosen_columns
from .parameters import AMOUNT, PATH, Command, Given, client_of, option, received, together
from .terminal import Code, DataError, UsageError, fitting, for_a_terminal

if TYPE_CHECKING:
    from tradingdata.analysis.results import ResultTable
    from tradingdata.books.book import OrderBook, TradeBook

_options = together(
    parameters.connection,
    option("--start DAY", "First day to include (with --archive)."),
    option("--end DAY", "Last day to include (default: same as --start)."),
    archive.days,
    parameters.output,
    option("--archive ARCHIVE", "Take the books from this archive, not from the service."),
    parameters.columns,
    option("--strict", "End with code 10 if the result has issues."),
)
_sides = together(
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
        self._destination = Destination(given, chosen_columns("results", kinds_of(row), given))
        of_archive = ("start", "end", "account", "missing_ok")
        if given["archive"] is None and any(map(given.get, of_archive)):
            raise UsageError("--start, --end, --account and --missing-ok need --archive")

    def trades(self) -> tuple[TradeBook, date | None]:
        """Returns the trades, and the day to show; None if the calculation decides."""
        day = self._given["day"]
        at = None if day in (None, "latest") else self._day()
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

    def show(
        self, work: Callable[..., ResultTable[Any]], *arguments: object, **options: object
    ) -> int:
        """Writes a result; unusable trades are an error of the data, not of the user."""
        options |= {name: self._given[name] for name in ("buy", "sell") if name in self._given}
        try:
            result = received(partial(work, *arguments, **options))
        except ValueError as error:
            raise DataError(for_a_terminal(error)) from None
        self._destination.take(result)
        return Code.ISSUES if self._given["strict"] and len(result.issues) else Code.OK

    def _read(self, name: str, call: str = "") -> Any:
        if self._given["archive"] is not None:
            return archive.read_days(self._given, name)
        with client_of(self._given) as client:
            return received(getattr(client, call))

    def _day(self) -> date:
        """Returns the day to show, which must be one of those that are read."""
        day, start, end = (
            self._given[name] and fitting(partial(validate.day, name, self._given[name]))
            for name in ("day", "start", "end")
        )
        if not (start or day) <= day <= (end or start or day):
            raise UsageError(f"--day {day} is not one of the days that --start and --end read")
        return day


@click.command(cls=Command)
@_options
@parameters.where
@_sides
@_day
def positions(given: Given) -> int:
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
_PRICES = "Value what is open: a CSV file with security_id, price and, of several days, day."
_CHANGES = "Change open lots as this TOML file says: splits, new ISINs."
_MATCH_BY = "What is one security: security_id, or isin across exchanges."
_OPENING = "Lots that were open before: a CSV file as open_lots.to_csv() writes it."
_MULTIPLIERS = "Multipliers that trades do not prove: a CSV file with security_id and multiplier."
_SETTLE = "Close expired contracts: a CSV file with security_id, expiry_date and price."
_BY = "Match lots within each value of this field, such as algo_id."
_DAILY = "Show each day, whose net adds up; needs --prices with the column day."


@click.command(cls=Command)
@_options
@_sides
@_day
@option("--shorts CODES", _SHORTS, default="all")
@option("--opening FILE", _OPENING, PATH)
@option("--prices FILE", _PRICES, PATH)
@option("--settle FILE", _SETTLE, PATH)
@option("--multipliers FILE", _MULTIPLIERS, PATH)
@option("--charges FILE", "Deduct charges at the rates of this TOML file.", PATH)
@option("--changes FILE", _CHANGES, PATH)
@option("--match-by FIELD", _MATCH_BY, default="security_id")
@option("--by FIELD", _BY)
@option("--daily", _DAILY)
def pnl(given: Given) -> int:
    """Show the realised profit and loss.

    Matches trades first in, first out. A trade closes open lots of the other side; what remains of
    it opens a lot. A sale that may not open a short position counts as unmatched. With --day,
    trades of earlier days are matched first, and only what closes on the day counts. With --prices
    or --charges, the result is the realised and unrealised profit, charges and net of --day, or
    else of the latest day; with --daily, of each day.

    Examples:
    tradingdata pnl
    tradingdata pnl --shorts I,M -o pnl.xlsx
    tradingdata pnl --prices closes.csv --charges charges.toml
    tradingdata pnl --archive books --day latest
    tradingdata pnl --archive books --prices closes.csv --daily --by algo_id
    """
    shorts, daily = given["shorts"], given["daily"]
    if (field := given["match_by"]) not in ("security_id", "isin"):
        raise UsageError(f"--match-by takes security_id or isin, not {validate.shown(field)}")
    if daily and (given["prices"] is None or given["day"] is not None):
        raise UsageError("--daily needs --prices, and shows all days: leave --day out")
    whole = given["prices"] is not None or given["charges"] is not None
    row = analysis.DailyRow if daily else analysis.DayRow if whole else analysis.Realised
    calculation = Calculation(row, given)
    codes = [code.strip() for code in shorts.split(",")]
    options: dict[str, object] = {"shorts": {"all": True, "none": False}.get(shorts, codes)}
    options |= {name: given[name] for name in ("match_by", "by")}
    for name, reader in _FILES.items():
        if given[name] is not None:
            options[name] = fitting(partial(reader, given[name]))
    trades, at = calculation.trades()
    if daily:
        return calculation.show(analysis.daily_pnl, trades, **options)
    work = analysis.day_pnl if whole else analysis.realised_pnl
    return calculation.show(work, trades, day=at, **options)


_TOLERANCE = "Largest difference of average prices that still agrees."


@click.command(cls=Command)
@_options
@option("--tolerance AMOUNT", _TOLERANCE, AMOUNT, default=0.01)
def reconcile(given: Given) -> int:
    """Compare each order with its trades.

    Compares side, security, product, quantity and average price. Differences come first.

    Examples:
    tradingdata reconcile
    tradingdata reconcile --archive books --start 2026-11-20
    tradingdata reconcile -o differences.xlsx
    """
    calculation = Calculation(analysis.OrderCheck, given, "Order")
    return calculation.show(analysis.reconcile, *calculation.books(), tolerance=given["tolerance"])


@click.command(cls=Command)
@_options
@parameters.where
@_sides
def quality(given: Given) -> int:
    """Show how orders were filled.

    Shows the filled part, the seconds until the fills, and the price against that of the order.

    Examples:
    tradingdata quality
    tradingdata quality -w "order_date_time>=10:00"
    tradingdata quality --archive books --start 2026-11-20 -o quality.parquet
    """
    calculation = Calculation(analysis.OrderExecution, given, "Order")
    return calculation.show(analysis.execution_quality, *calculation.books())


def _rows(path: Path, kinds: dict[str, str], *needed: str) -> list[dict[str, Any]]:
    """Returns the rows of a CSV file; columns of no given kind are text, an empty cell is None.

    Raises ValueError, which names the line, for what is no such value, and for a file that is no
    CSV or lacks a needed column.
    """
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows, values = csv.DictReader(file, strict=True), []
        try:
            if not {*needed} <= {*(rows.fieldnames or ())}:
                raise ValueError(f"{path} needs the columns {' and '.join(needed)}")
            for row in rows:
                where = f"line {rows.line_num} of {path}"
                if None in row or None in row.values():
                    raise ValueError(f"{where} has not as many values as the first line names")
                values.append(
                    {
                        name: value_in(f"{where}: {name}", kinds.get(name, "text"), text)
                        if text or name == "day"
                        else None
                        for name, text in row.items()
                    }
                )
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not UTF-8: save it as CSV in UTF-8") from None
        except csv.Error as error:
            raise ValueError(f"line {rows.line_num + 1} of {path} is no CSV: {error}") from None
    return values


def _prices(path: Path) -> list[dict[str, Any]]:
    """Returns prices as calculations take them."""
    kinds = {"expiry_date": "date", "day": "date", "price": "number"}
    prices = _rows(path, kinds, "security_id", "price")
    rows_by_day(str(path), prices)  # raises for a contract with two prices
    return prices


def _settlements(path: Path) -> list[dict[str, Any]]:
    """Returns prices that are of no day."""
    prices = _prices(path)
    if any("day" in row for row in prices):
        raise ValueError(f"{path} has the column day, but these are of no day: leave it out")
    return prices


def _multipliers(path: Path) -> dict[Any, Any]:
    """Returns multipliers by contract."""
    kinds = {"expiry_date": "date", "multiplier": "integer"}
    rows = _rows(path, kinds, "security_id", "multiplier")
    known = [{name: row[name] for name in CONTRACT if name in row} for row in rows]
    priced = [{**key, "price": row["multiplier"]} for key, row in zip(known, rows, strict=True)]
    return rows_by_day(str(path), priced).get(None, {})


def _lots(path: Path) -> list[dict[str, Any]]:
    """Returns lots, whose columns are those of ``open_lots``."""
    kinds = kinds_of(analysis.Lot)
    lots = _rows(path, kinds, "security_id", "quantity", "value")
    for name in {name for row in lots for name in row} - kinds.keys():
        raise ValueError(f"{path} has the column {name!r}{did_you_mean(name, kinds)}")
    return [{name: value for name, value in row.items() if value is not None} for row in lots]


_FILES: dict[str, Callable[[Path], object]] = {
    "opening": _lots,
    "prices": _prices,
    "settle": _settlements,
    "multipliers": _multipliers,
    "charges": analysis.ChargeRate.load,
    "changes": analysis.LotChange.load,
}
