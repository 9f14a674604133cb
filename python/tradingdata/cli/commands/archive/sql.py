"""`tradingdata archive sql`: a query over the archive."""

from __future__ import annotations

import sqlite3
from math import isfinite
from typing import Annotated, Any

import typer

from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.exportable import Sheet
from tradingdata.cli.options import Debug, Output
from tradingdata.cli.output import Destination
from tradingdata.display.plain_table import group

from .arguments import File, MissingOk, opened, read

EXAMPLES = """
tradingdata archive sql books.sqlite "SELECT day, sum(trade_value) FROM trades GROUP BY day"
"""

Query = Annotated[
    str,
    typer.Argument(metavar="QUERY", help="SQL over the views trades and orders, for reading only."),
]


def sql(
    file: File, query: Query, output: Output, missing_ok: MissingOk = False, debug: Debug = False
) -> None:
    """Show the result of a query. The views have the service's fields, account, day and seen_at."""
    destination = Destination(output)
    archive = opened(file)
    try:
        result = read(lambda lenient: archive.sql(query, missing_ok=lenient), missing_ok=missing_ok)
    except sqlite3.Error as error:
        raise UsageError(f"SQLite rejects the query: {error}") from None
    values: dict[str, list[Any]] = {}
    for at, name in enumerate(result.columns):
        values[name if name not in values else f"{name}_{at}"] = [_value(row[at]) for row in result]
    kinds = {name: _kind(column) for name, column in values.items()}
    title = f"{group(len(result))} {'row' if len(result) == 1 else 'rows'}"
    destination.take(Sheet(values, kinds, title=title, noun=("row", "rows")))


def _value(value: Any) -> Any:
    """Returns infinity as text, since neither JSON nor a workbook has it as a number."""
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _kind(column: list[Any]) -> str:
    """Returns the kind that all values of a column have, since SQLite does not type a result."""
    known = [value for value in column if value is not None]
    if known and all(isinstance(value, int) for value in known):
        return "integer"
    if known and all(isinstance(value, int | float) for value in known):
        return "number"
    return "text"
