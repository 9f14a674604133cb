"""What is declared: records and calls by the core, public names, and how objects are pickled.

A pickle names ``restore`` of this module and public classes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, get_type_hints

from .. import _core

RECORDS = {record["name"]: record for record in _core.records()}

CALLS = {call["name"]: call for call in _core.calls()}

CALL_OF = {call["record"]: call["name"] for call in _core.calls()}
"""The name of the call that returns each record."""

BOOK_CALLS = {name: call for name, call in CALLS.items() if call["form"] == "envelope"}
"""The calls that return a book of an account."""


def kinds_of(record: str | type) -> dict[str, str]:
    """Returns the fields of a record, or the columns of a type of rows, each with its kind."""
    return {name: kind for name, kind, _, _ in _core.fields_of(record)}


FORMAT = 1  # changes when what a pickle has to contain changes

# The function that restores each kind, from the state that `reduced` was given.
_RESTORERS = {
    "records": "table.rows.restored_records",
    "rows": "table.rows.restored_rows",
    "row": "table.rows.restored_row",
    "table": "table.table.restored_table",
    "book": "books.book.restored_book",
    "response": "books.response.restored_response",
    "tuple": "_util.declarations.restored_tuple",
}

Reduced = tuple[Callable[..., Any], tuple[Any, ...]]


def publish(kinds: Iterable[object], module: str) -> None:
    """Names types after the module that exports them, in pickles, tracebacks and displays.

    Their annotations are evaluated before, with the names of the module that has the source.
    """
    for kind in kinds:
        if isinstance(kind, type) and kind.__module__.startswith("tradingdata."):
            annotations = vars(kind).get("__annotations__", {})
            hints = get_type_hints(kind) if annotations else {}
            annotations |= {name: hints[name] for name in annotations}
            kind.__module__ = module
            if issubclass(kind, tuple):
                kind.__reduce__ = _reduce_tuple  # type: ignore[assignment]


def _reduce_tuple(values: tuple[object, ...]) -> Reduced:
    return reduced("tuple", type(values), *values)


def restored_tuple(kind: Callable[..., object], *values: object) -> object:
    """Restores a named tuple from its pickle."""
    return kind(*values)


def reduced(kind: str, *state: object) -> Reduced:
    """Returns what ``__reduce__`` returns."""
    return restore, (FORMAT, kind, *state)


def restore(version: int, kind: str, *state: object) -> object:
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
