"""The declarations of records and calls that the core exports, by name."""

from __future__ import annotations

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
