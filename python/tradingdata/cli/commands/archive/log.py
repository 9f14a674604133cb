"""`tradingdata archive log`: every response and every failure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tradingdata.archive import ArchiveFetch
from tradingdata.cli.exportable import ListTable
from tradingdata.cli.options import Debug, Output
from tradingdata.cli.output import Destination

from .arguments import Account, File, opened

EXAMPLES = """
tradingdata archive log books.sqlite
tradingdata archive log books.sqlite -f ndjson | tail -n 2
"""

_KINDS = {
    "at": "timestamp",
    "account": "text",
    "book": "text",
    "days": "text",
    "rows": "integer",
    "new": "integer",
    "changed": "integer",
    "error": "text",
    "message": "text",
}
_ESSENTIAL = ("at", "book", "rows", "error")


def log(file: File, output: Output, account: Account = None, debug: Debug = False) -> None:
    """Show every fetch.

    Shows what was received, how much of it was new, and what failed.
    """
    destination = Destination(output)
    entries = opened(file).fetches(account=account)
    rows = [_row(entry) for entry in entries]
    destination.take(ListTable(rows, _KINDS, ("fetch", "fetches"), essential=_ESSENTIAL))


def _row(entry: ArchiveFetch) -> dict[str, Any]:
    at = entry.at and entry.at.replace(microsecond=0)
    return {**asdict(entry), "at": at, "days": ", ".join(map(str, entry.days))}
