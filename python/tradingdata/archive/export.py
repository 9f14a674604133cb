"""Exports an archive as Parquet files by day, which many tools open as one table."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

from .._util.atomic_file import whole_file
from .._util.optional_imports import require
from ..client.progress_bar import progress_bar
from . import checksums
from .days import Days
from .read import book_of, read_rows
from .record_key import BOOKS

if TYPE_CHECKING:
    import sqlite3

    import pyarrow as pa

    from .record_key import AnyBook


def export(
    connection: sqlite3.Connection, folder: str, days: Days, *, keep: bool, progress: bool
) -> list[str]:
    """Writes the files of these days; returns their paths."""
    require("pyarrow", "arrow", "writing Parquet")
    parquet = require("pyarrow.parquet", "arrow", "writing Parquet")
    paths = []
    known = [(name, day) for name in sorted(BOOKS) for day in _known_days(connection, name, days)]
    with closing(progress_bar("export", "files", enabled=progress, total=len(known))) as bar:
        for name, day in known:
            place = os.path.join(folder, name, f"day={day}")
            os.makedirs(place, exist_ok=True)
            path = os.path.join(place, f"{name}.parquet")
            table = _table_of(connection, name, day, keep=keep)
            # The draft is in another folder, since some tools read every file beside the target.
            with whole_file(path, overwrite=True, drafts=folder) as draft:
                parquet.write_table(table, draft, compression="zstd")
            paths.append(path)
            bar.update(1)
    return paths


def _known_days(connection: sqlite3.Connection, name: str, days: Days) -> list[str]:
    """Returns the days that were fetched or have rows, in order."""
    seals = checksums.read_days(connection, name, days)
    return sorted({day for (_, day), seal in seals.items() if seal.fetched or seal.records})


def _table_of(connection: sqlite3.Connection, name: str, day: str, *, keep: bool) -> pa.Table:
    found = list(read_rows(connection, name, Days.of_texts(day, day)))
    book: AnyBook = book_of(name, (json for _, json in found), keep=keep, stacklevel=4)
    pyarrow = require("pyarrow", "arrow", "writing Parquet")
    accounts = pyarrow.array([account or None for account, _ in found], pyarrow.string())
    unknown = pyarrow.array(_unknown_fields(book), pyarrow.string())
    return book.to_arrow().add_column(0, "account", accounts).append_column("extra", unknown)


def _unknown_fields(book: AnyBook) -> list[str | None]:
    """Returns each row's unknown fields as a JSON object, or None where it has none."""
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
