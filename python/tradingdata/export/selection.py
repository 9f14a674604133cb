"""The forms of a table's chosen columns, made from lists of values: data frames, Arrow and text."""

from __future__ import annotations

from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from .. import _core
from .._util.optional_imports import require
from .columns import Columns
from .pandas_dtypes import text_dtype, time_zone

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Selection(Columns):
    """Makes every form, frames with the same dtypes as those of books.

    A table whose columns are elsewhere overrides what it can do faster.
    """

    __slots__ = ()

    def pandas(self) -> pd.DataFrame:
        """Returns a pandas DataFrame."""
        pandas = require("pandas", "pandas", "to_pandas()")
        numpy = require("numpy", "pandas", "to_pandas()")
        naive = numpy.dtype("datetime64[us]")
        zone = self.zone
        dtypes = {
            "text": text_dtype(pandas, numpy),
            "integer": pandas.Int64Dtype(),
            "number": numpy.dtype("float64"),
            "date": naive,
            "timestamp": pandas.DatetimeTZDtype("us", time_zone(zone)) if zone else naive,
        }
        made = {
            name: pandas.Series(values, dtype=dtypes[self.kinds[name]])
            for name, values in self._typed().items()
        }
        for name in self.categories:
            if name in made:
                made[name] = made[name].astype("category")
        index = pandas.RangeIndex(len(self))
        return pandas.DataFrame(made, index=index)  # type: ignore[no-any-return]

    def polars(self) -> pl.DataFrame:
        """Returns a polars DataFrame."""
        polars = require("polars", "polars", "to_polars()")
        types = {
            "text": polars.String,
            "integer": polars.Int64,
            "number": polars.Float64,
            "date": polars.Date,
            "timestamp": polars.Datetime("us", str(self.zone) if self.zone else None),
        }
        schema = {name: types[kind] for name, kind in self.kinds.items()}
        frame = polars.DataFrame(self._typed(), schema=schema)
        coded = [name for name in self.categories if name in schema]
        return frame.cast(dict.fromkeys(coded, polars.Categorical))  # type: ignore[no-any-return]

    def arrow(self) -> pa.Table:
        """Returns a pyarrow Table."""
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        types = {
            "text": pyarrow.string(),
            "integer": pyarrow.int64(),
            "number": pyarrow.float64(),
            "date": pyarrow.date32(),
            "timestamp": pyarrow.timestamp("us", tz=str(self.zone) if self.zone else None),
        }
        schema = pyarrow.schema([(name, types[kind]) for name, kind in self.kinds.items()])
        table = pyarrow.table(self._typed(), schema=schema)
        for at, name in enumerate(table.column_names):
            if name in self.categories:
                table = table.set_column(at, name, table.column(at).dictionary_encode())
        return table

    def _typed(self) -> dict[str, list[Any]]:
        """Returns the values of each column; text of a query may be mixed with other values."""
        return {
            name: [v if v is None or isinstance(v, str) else str(v) for v in values]
            if self.kinds[name] == "text"
            else values
            for name, values in self.cells().items()
        }

    def csv(self, *, spreadsheet: bool) -> bytes:
        """Returns a line of names, then a line for each row."""
        cells = self.cells()
        rows = [list(cells), *zip(*cells.values(), strict=True)]
        end = "\r\n" if spreadsheet else "\n"
        lines = [",".join(_cell(value, spreadsheet=spreadsheet) for value in row) for row in rows]
        # Readers skip blank lines, which would lose a row without values in a table of one column.
        text = "".join((line or '""') + end for line in lines)
        return (("\ufeff" if spreadsheet else "") + text).encode()

    def json(self, *, lines: bool) -> bytes:
        """Returns an array with a row on each line, or the rows alone."""
        from json import JSONEncoder

        encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
        rows = [
            encode({name: _json_value(value) for name, value in row.items()})
            for row in self.dicts()
        ]
        if lines:
            return "".join(row + "\n" for row in rows).encode()
        return ("[\n" + ",\n".join(rows) + "\n]\n" if rows else "[]\n").encode()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.arrow().schema.__arrow_c_schema__()


def _cell(value: Any, *, spreadsheet: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, (int, float, date)):
        return str(value)
    return _core.csv_text(str(value), spreadsheet=spreadsheet)


def _json_value(value: Any) -> Any:
    """Returns a value that JSON has: times as text, and infinity, which JSON lacks, as text too."""
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    is_plain = value is None or isinstance(value, (str, int, list, dict))
    return value if is_plain else str(value)
