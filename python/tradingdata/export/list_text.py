"""CSV and JSON from lists of Python values, in the same formats that the core writes for books."""

from __future__ import annotations

import json
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from .. import _core

if TYPE_CHECKING:
    from .columns import Columns


def csv_text(selection: Columns, *, spreadsheet: bool) -> str:
    """Returns a line of names, then a line for each row."""
    cells = selection.cells()
    rows = [list(cells), *zip(*cells.values(), strict=True)]
    end = "\r\n" if spreadsheet else "\n"
    lines = [",".join(_cell(value, spreadsheet=spreadsheet) for value in row) for row in rows]
    # Readers skip blank lines, which would lose a row without values in a table of one column.
    return ("\ufeff" if spreadsheet else "") + "".join((line or '""') + end for line in lines)


def _cell(value: Any, *, spreadsheet: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float, date)):
        return str(value)
    return _core.csv_text(str(value), spreadsheet=spreadsheet)


def json_text(selection: Columns, *, lines: bool) -> str:
    """Returns an array with a row on each line, or the rows alone."""
    rows = [
        json.dumps(
            {name: json_value(value) for name, value in row.items()},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for row in selection.dicts()
    ]
    if lines:
        return "".join(row + "\n" for row in rows)
    return "[\n" + ",\n".join(rows) + "\n]\n" if rows else "[]\n"


def json_value(value: Any) -> Any:
    """Returns a value that JSON has: times as text, and infinity, which JSON lacks, as text too."""
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    is_plain = value is None or isinstance(value, (str, int, list, dict))
    return value if is_plain else str(value)
