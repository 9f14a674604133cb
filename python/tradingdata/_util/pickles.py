"""Restores what was pickled.

A pickle names `restore` and public classes only. This module does not move, so that all others can.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

FORMAT = 1  # changes when what a pickle has to contain changes

# The function that restores each kind, from the state that `reduced` was given.
_RESTORERS = {
    "records": "table.rows.restored_records",
    "rows": "table.rows.restored_rows",
    "row": "table.rows.restored_row",
    "table": "table.table.restored_table",
    "book": "books.book.restored_book",
    "response": "books.response.restored_response",
}

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def reduced(kind: str, *state: Any) -> Reduced:
    """Returns what ``__reduce__`` returns."""
    return restore, (FORMAT, kind, *state)


def restore(version: int, kind: str, *state: Any) -> Any:
    """Restores an object from its pickle.

    Raises:
        ValueError: Another version of the package wrote the pickle.
    """
    if version != FORMAT or kind not in _RESTORERS:
        raise ValueError(
            "the pickle was written by another version of tradingdata: read it with that version, "
            "and keep books as JSON or Parquet, by `save`"
        )
    module, _, name = _RESTORERS[kind].rpartition(".")
    return getattr(import_module(f"tradingdata.{module}"), name)(*state)
