"""An archive as Parquet files by day, which many tools open as one table."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from .._util.atomic_file import whole_file
from .._util.optional_imports import require
from .read import book_of
from .record_key import BOOKS

if TYPE_CHECKING:
    import sqlite3

    import pyarrow as pa

    from .days import Days
    from .record_key import AnyBook


def export(connection: sqlite3.Connection, folder: str, days: Days, *, keep: bool) -> list[str]:
    """Writes the files of these days; returns their paths."""
    require("pyarrow", "arrow", "export()")
    parquet = require("pyarrow.parquet", "arrow", "export()")
    paths = []
    for name in sorted(BOOKS):
        for day in _known_days(connection, name, days):
            place = os.path.join(folder, name, f"day={day}")
            os.makedirs(place, exist_ok=True)
            path = os.path.join(place, f"{name}.parquet")
            table = _table_of(connection, name, day, keep=keep)
            # Not beside its place: some tools take every file of a folder, hidden ones too.
            with whole_file(path, overwrite=True, drafts=folder) as draft:
                parquet.write_table(table, draft, compression="zstd")
            paths.append(path)
    return paths


def _known_days(connection: sqlite3.Connection, name: str, days: Days) -> list[str]:
    """Days of which there are rows, or a whole answer that said there are none."""
    query = """SELECT day FROM records WHERE book = :book
        UNION SELECT value FROM fetches, json_each(days) WHERE book = :book AND whole
        ORDER BY 1"""
    first, last = days.as_texts()
    return [day for (day,) in connection.execute(query, {"book": name}) if first <= day <= last]


def _table_of(connection: sqlite3.Connection, name: str, day: str, *, keep: bool) -> pa.Table:
    query = """SELECT r.account, s.json FROM records r JOIN states s ON s.id = r.state
        WHERE r.book = ? AND r.day = ? ORDER BY r.time, r.id"""
    found = connection.execute(query, (name, day)).fetchall()
    book: AnyBook = book_of(name, (text for _, text in found), keep=keep, stacklevel=4)
    pyarrow = require("pyarrow", "arrow", "export()")
    accounts = pyarrow.array([account or None for account, _ in found], pyarrow.string())
    unknown = pyarrow.array(_unknown_fields(book), pyarrow.string())
    return book.to_arrow().add_column(0, "account", accounts).append_column("extra", unknown)


def _unknown_fields(book: AnyBook) -> list[str | None]:
    """Each row's unknown fields as a JSON object; ``None`` where it has none."""
    names = book.extra_fields
    if not names:
        return [None] * len(book)
    columns = book.to_arrow([], extra=True)
    texts = [columns.column(name).to_pylist() for name in names]
    keys = [json.dumps(name) for name in names]
    return [_object(keys, row) for row in zip(*texts, strict=True)]


def _object(keys: list[str], values: tuple[Any, ...]) -> str | None:
    pairs = [
        f"{key}: {value}" for key, value in zip(keys, values, strict=True) if value is not None
    ]
    return "{" + ", ".join(pairs) + "}" if pairs else None
