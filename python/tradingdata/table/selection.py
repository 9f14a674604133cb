"""The forms of a table's chosen columns: plain values, data frames, Arrow, text and workbooks."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from copy import copy
from datetime import tzinfo
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, Self

from .. import _core
from .._util import validate
from .._util.files import whole_file
from .._util.optional_imports import require
from .._util.validate import flag, shown
from .rows import with_extra

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Text = Literal["view", "small", "large"]


def checked_names(names: Any) -> list[str]:
    """Returns the argument ``columns`` as a list.

    Raises:
        TypeError: It is not a list of names.
        ValueError: A name appears twice.
    """
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    chosen = list(names) if is_list else [names]
    if not is_list or not all(isinstance(name, str) for name in chosen):
        raise TypeError(f"columns= takes a list of names, not {shown(names)}")
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"columns= names {name!r} twice")
    return chosen


class Selection:
    """A slice of a core table, restricted to the selected columns.

    Attributes:
        rows: The slice.
        table: The table, which has a title and the message for an unknown column.
        kinds: The kind of each selected column, in order: text, integer, number, timestamp or date.
        extra: ``["extra"]`` if that column follows the others: the unknown fields of a row as a
            JSON object. Plain Python and JSON have them one by one instead.
        text: The Arrow type of text: string views share memory, but few libraries compute on them.
    """

    __slots__ = ("_exported", "extra", "kinds", "rows", "table", "text")

    def __init__(
        self, table: Any, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> None:
        known = table._kinds
        names = list(known) if columns is None else checked_names(columns)
        for name in names:
            if name not in known:
                raise KeyError(table._no_column(name))
        self.kinds = {name: known[name] for name in names}
        self.table = table
        self.rows: _core.Slice = table._rows
        self.extra = ["extra"] if flag("extra", extra) and "extra" not in known else []
        self.text: Text = "view"
        self._exported: _core.Slice = self.rows
        if self.extra:
            self._exported = self.rows.with_extra_column(with_extra(self.rows.row_type))

    def __len__(self) -> int:
        return len(self.rows)

    def _only(self, columns: Collection[str], text: Text) -> Self:
        """Returns some of the columns, unknown fields included, with another type of text."""
        part = copy(self)
        part.kinds = {name: kind for name, kind in self.kinds.items() if name in columns}
        part.extra = [name for name in self.extra if name in columns]
        part.text = text
        return part

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column; a row without an unknown field has ``None``."""
        found = self.rows.to_dict(list(self.kinds))
        if self.extra:
            extras = [_core.row_extras(row) for row in self.rows]
            names = self.rows.extra_names()
            found |= {name: [values.get(name) for values in extras] for name in names}
        return found

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column, unknown fields as a JSON object."""
        return self._exported.to_dict([*self.kinds, *self.extra])

    def pandas(self) -> pd.DataFrame:
        """Returns a pandas DataFrame of arrays that the core fills."""
        pandas = require("pandas", "pandas", "to_pandas()")
        numpy = require("numpy", "pandas", "to_pandas()")
        made = self._texts(pandas, numpy)
        names = [name for name, kind in self.kinds.items() if kind != "text"]
        for name, (values, missing) in zip(names, self.rows.arrays(names), strict=True):
            made[name] = self._array(self.kinds[name], values, missing, pandas, numpy)
        ordered = {name: made[name] for name in (*self.kinds, *self.extra)}
        index = pandas.RangeIndex(len(self))
        # No other owner has these arrays, so pandas need not copy them into blocks.
        frame: pd.DataFrame = pandas.DataFrame(ordered, index=index, copy=False)
        return frame

    def _texts(self, pandas: Any, numpy: Any) -> dict[str, Any]:
        """Returns text columns: Arrow's if pandas stores text in pyarrow, else object arrays."""
        plain = [name for name, kind in self.kinds.items() if kind == "text"] + self.extra
        dtype = _text_dtype(pandas, numpy)
        if not plain:
            return {}
        if dtype.storage == "pyarrow":
            arrow = require("pyarrow", "arrow", "to_pandas()").table(self._only(plain, "large"))
            return {name: dtype.__from_arrow__(arrow.column(i)) for i, name in enumerate(plain)}
        made = {}
        for name in plain:
            values = numpy.full(len(self), numpy.nan, dtype=object)
            self._exported.fill_text(name, values)
            made[name] = pandas.array(values, dtype=dtype, copy=False)
        return made

    def _array(self, kind: str, values: Any, missing: Any, pandas: Any, numpy: Any) -> Any:
        if kind == "integer":
            mask = numpy.frombuffer(missing, "bool")
            return pandas.arrays.IntegerArray(numpy.frombuffer(values, "int64"), mask)
        if kind == "number":
            return numpy.frombuffer(values, "float64")
        times = numpy.frombuffer(values, "datetime64[us]")
        zone = _pandas_zone(self.rows.zone)
        if kind == "date" or zone is None:
            return times
        return pandas.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone)

    def polars(self) -> pl.DataFrame:
        """Returns a polars DataFrame, which shares the memory of large books."""
        polars = require("polars", "polars", "to_polars()")
        frame: pl.DataFrame = polars.DataFrame(self)
        return frame

    def arrow(self) -> pa.Table:
        """Returns a pyarrow Table with plain strings, which pyarrow computes on."""
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        table: pa.Table = pyarrow.table(self._only({*self.kinds, *self.extra}, "small"))
        return table

    def csv(self, *, spreadsheet: bool) -> bytes:
        """Returns comma-separated values."""
        flag("spreadsheet", spreadsheet)
        return self._exported.to_csv([*self.kinds, *self.extra], spreadsheet)

    def write_parquet(self, path: str | os.PathLike[str], *, overwrite: bool) -> None:
        """Writes a file through pyarrow or, if that is missing, polars."""
        library = parquet_library("writing Parquet")
        with whole_file(path, overwrite=overwrite) as draft:
            if library.__name__ == "polars":
                self.polars().write_parquet(draft, compression="zstd")
            else:
                library.write_table(self.arrow(), draft, compression="zstd")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._exported.arrow_stream([*self.kinds, *self.extra], self.text, requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._exported.arrow_schema([*self.kinds, *self.extra])


def parquet_library(what: str) -> Any:
    """Returns pyarrow's module for Parquet or, if that is missing, polars."""
    try:
        require("pyarrow", "arrow", what)
        return require("pyarrow.parquet", "arrow", what)
    except ImportError:
        with suppress(ImportError):
            return require("polars", "polars", what)
        raise


def _text_dtype(pandas: Any, numpy: Any) -> Any:
    """Returns ``str``, or in pandas 2.2 ``string`` in the storage that pandas is set to."""
    try:
        return pandas.StringDtype(na_value=numpy.nan)
    except TypeError:  # pandas 2.2 takes the storage only
        return pandas.StringDtype()


def _pandas_zone(zone: tzinfo | None) -> str | tzinfo | None:
    """Returns the zone as pandas is to take it: by name, if it has one.

    pandas 2 makes pytz zones of names, and never considers one of these equal to a ``ZoneInfo``.
    """
    return getattr(zone, "key", None) or zone


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
        sheet = workbook.add_worksheet(selection.table._title)
        bold = workbook.add_format({"bold": True})
        formats = {
            kind: workbook.add_format({"num_format": each}) for kind, each in _FORMATS.items()
        }
        columns = selection.cells()
        for at, (name, values) in enumerate(columns.items()):
            kind = selection.kinds.get(name, "text")
            sheet.write_string(0, at, name, bold)
            widths = [
                _write(sheet, row, at, value, kind, formats.get(kind))
                for row, value in enumerate(values, 1)
                if value is not None
            ]
            sheet.set_column(at, at, min(max([len(name), *widths]), _WIDEST) + 2)
        sheet.freeze_panes(1, 0)
        if columns:
            sheet.autofilter(0, 0, len(selection), len(columns) - 1)


def _write(sheet: Any, row: int, at: int, value: Any, kind: str, shape: Any) -> int:
    """Writes a cell; returns the length of its text, for the width of the column."""
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
    return len(text)
