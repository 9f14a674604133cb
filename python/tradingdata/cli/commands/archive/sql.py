"""`tradingdata archive sql`: a query over the archive."""

from __future__ import annotations

import sqlite3
from typing import Annotated

import typer

from tradingdata.cli.exit_codes import UsageError
from tradingdata.cli.options import Debug, Output
from tradingdata.cli.output import Destination

from .arguments import File, MissingOk, opened, read

EXAMPLES = r"""
tradingdata archive sql books.sqlite \
  "SELECT day, count(*) FROM trades GROUP BY day"
"""

Query = Annotated[
    str,
    typer.Argument(metavar="QUERY", help="An SQL query that only reads."),
]


def sql(
    file: File, query: Query, output: Output, missing_ok: MissingOk = False, debug: Debug = False
) -> None:
    """Query the archive in SQL.

    The views trades and orders have the service's fields, and account, day and seen_at.
    """
    destination = Destination(output)
    archive = opened(file)
    try:
        result = read(lambda lenient: archive.sql(query, missing_ok=lenient), missing_ok=missing_ok)
    except sqlite3.Error as error:
        raise UsageError(f"SQLite rejects the query: {error}") from None
    destination.take(result)
