"""Writes rows in each format, as text or as a file."""

from __future__ import annotations

from pathlib import Path

from tradingdata._util.atomic_file import whole_file

from .exportable import Table
from .options import Format
from .tables import plain_rows

Names = list[str] | None  # None is all

BINARY = {Format.PARQUET, Format.XLSX}
SUFFIXES = {
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".ndjson": Format.NDJSON,
    ".jsonl": Format.NDJSON,
    ".parquet": Format.PARQUET,
    ".xlsx": Format.XLSX,
}


def as_text(table: Table, form: Format, names: Names, *, extra: bool) -> str:
    """Returns the rows in a text format."""
    if form is Format.TABLE:
        return plain_rows(table, [*table._kinds] if names is None else names)
    if form is Format.CSV:
        return table.to_csv(None, names, extra=extra)
    return table.to_json(None, names, extra=extra, lines=form is Format.NDJSON)


def write_file(
    table: Table, path: Path, form: Format, names: Names, *, extra: bool, overwrite: bool
) -> None:
    """Writes the rows to a file atomically.

    Raises:
        FileExistsError: The file exists and ``overwrite`` is false.
    """
    if form is Format.PARQUET:
        table.to_parquet(path, names, extra=extra, overwrite=overwrite)
    elif form is Format.XLSX:
        table.to_excel(path, names, extra=extra, overwrite=overwrite)
    else:
        text = as_text(table, form, names, extra=extra)
        with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
            file.write(text.encode())
