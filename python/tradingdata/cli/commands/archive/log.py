"""`tradingdata archive log`: every response and every failure."""

from __future__ import annotations

from typing import Any

from tradingdata.archive import ArchiveFetch
from tradingdata.cli.exportable import ListTable, Sheet
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
    columns = {name: [_value(entry, name) for entry in entries] for name in _KINDS}
    noun = ("fetch", "fetches")
    destination.take(Sheet(ListTable(columns, _KINDS, noun, essential=_ESSENTIAL)))


def _value(entry: ArchiveFetch, name: str) -> Any:
    if name == "at":
        return entry.at and entry.at.replace(microsecond=0)
    if name == "days":
        return ", ".join(map(str, entry.days))
    return getattr(entry, name)
