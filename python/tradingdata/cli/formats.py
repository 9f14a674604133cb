"""A book in each format: as text, or as a file of a format that only libraries write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradingdata.atomic import whole_file

from .layout import plain_book
from .options import Format

if TYPE_CHECKING:
    from tradingdata.books import Book

BINARY = {Format.PARQUET, Format.XLSX}
SUFFIXES = {
    ".txt": Format.TABLE,
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".ndjson": Format.NDJSON,
    ".jsonl": Format.NDJSON,
    ".parquet": Format.PARQUET,
    ".xlsx": Format.XLSX,
}


def as_text(book: Book[Any], form: Format, names: Sequence[str] | None, *, extra: bool) -> str:
    """The book as text in a format that is text."""
    if form is Format.TABLE:
        return plain_book(book, names)
    if form is Format.CSV:
        return book.to_csv(None, names, extra=extra)
    lines = [
        json.dumps(row, ensure_ascii=False, default=str)
        for row in book.to_dicts(names, extra=extra)
    ]
    if form is Format.NDJSON:
        return "".join(line + "\n" for line in lines)
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n"


def write_file(
    book: Book[Any],
    path: Path,
    form: Format,
    names: Sequence[str] | None,
    *,
    extra: bool,
    overwrite: bool,
) -> None:
    """Writes the book to a file, whole or not at all. Raises FileExistsError."""
    if form is Format.PARQUET:
        book.to_parquet(path, names, extra=extra, overwrite=overwrite)
    elif form is Format.XLSX:
        book.to_excel(path, names, extra=extra, overwrite=overwrite)
    else:
        text = as_text(book, form, names, extra=extra)
        with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
            file.write(text.encode())
