"""Excel workbooks with one sheet, in which text never becomes a formula or a number."""

from __future__ import annotations

import os
from math import isfinite
from typing import TYPE_CHECKING, Any

from .._util import validate
from .._util.files import whole_file
from .._util.optional_imports import require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .selection import Selection

_MOST_ROWS = 1_048_576 - 1  # of a sheet, below the header
_MOST_TEXT = 32_767  # characters in a cell
_EXACT = 10**15  # a cell holds 15 digits
_FIRST_YEAR = 1900  # workbooks cannot represent earlier dates
_FORMATS = {
    "timestamp": "yyyy-mm-dd hh:mm:ss",
    "date": "yyyy-mm-dd",
}
_WIDEST = 40


def write_excel(selection: Selection, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Writes the selection to a workbook of one sheet, named after the table."""
    target = validate.path("path", path)
    if not target.lower().endswith(".xlsx"):
        raise ValueError(f"a workbook's name ends in .xlsx, not {os.path.basename(target)!r}")
    if len(selection) > _MOST_ROWS:
        raise ValueError(
            f"a sheet has at most {_MOST_ROWS:,} rows, but the table has {len(selection):,}: write "
            "a Parquet or CSV file"
        )
    xlsxwriter = require("xlsxwriter", "excel", "writing Excel files")
    with (
        whole_file(target, overwrite=overwrite) as draft,
        xlsxwriter.Workbook(draft, {"remove_timezone": True}) as workbook,
    ):
        _write_sheet(workbook, selection.title, selection.cells(), selection.kinds)


def _write_sheet(
    workbook: Any, title: str, columns: dict[str, list[Any]], kinds: Mapping[str, str]
) -> None:
    sheet = workbook.add_worksheet(title)
    bold = workbook.add_format({"bold": True})
    formats = {kind: workbook.add_format({"num_format": shape}) for kind, shape in _FORMATS.items()}
    rows = 0
    for at, (name, values) in enumerate(columns.items()):
        kind = kinds.get(name, "text")
        sheet.write_string(0, at, name, bold)
        widest = len(name)
        rows = len(values)
        for row, value in enumerate(values, 1):
            if value is not None:
                text = _write(sheet, row, at, value, kind, formats.get(kind))
                widest = max(widest, len(text))
        sheet.set_column(at, at, min(widest, _WIDEST) + 2)
    sheet.freeze_panes(1, 0)
    if columns:
        sheet.autofilter(0, 0, rows, len(columns) - 1)


def _write(sheet: Any, row: int, at: int, value: Any, kind: str, shape: Any) -> str:
    """Writes a cell; returns its text, for the width of the column."""
    text = str(value)
    if kind in _FORMATS and value.year >= _FIRST_YEAR:
        sheet.write_datetime(row, at, value, shape)
    elif (kind == "number" and isfinite(value)) or (kind == "integer" and abs(value) < _EXACT):
        sheet.write_number(row, at, value)
    elif len(text) > _MOST_TEXT:
        raise ValueError(
            f"a cell has at most {_MOST_TEXT:,} characters, but column {at} of row {row - 1} "
            f"has {len(text):,}: write a Parquet or CSV file"
        )
    else:
        sheet.write_string(row, at, text)
    return text
