"""The forms of a table's chosen columns: plain values, data frames, Arrow, text and workbooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from math import isfinite, nan
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, get_args

from .. import _core
from .._util import validate
from .._util.optional_imports import require
from .._util.platform import whole_file
from .._util.validate import flag, shown
from ..display import group, shared_decimals
from ..errors import ConfigurationError
from .rows import with_extra

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

DtypeBackend = Literal["numpy_nullable", "numpy", "pyarrow"]


def checked_names(names: object) -> list[str]:
    """Returns the argument ``columns`` as a list.

    Raises:
        TypeError: It is not a list of names.
        ValueError: A name appears twice.
    """
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    chosen = list(names) if isinstance(names, Iterable) else []
    if not is_list or not all(isinstance(name, str) for name in chosen):
        raise TypeError(f"columns= takes a list of names, not {shown(names)}")
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"columns= names {name!r} twice")
    return chosen


class Selection:
    """A slice of a core table, restricted to the selected columns.

    Attributes:
        table: The table, which has a title and the message for an unknown column.
        rows: The slice.
        names: The selected columns, in order.
        extra: Whether unknown fields are selected too: plain Python and JSON have them one by one,
            everything else has them as one JSON object in a column ``extra``.
        kinds: The kind of each column, that of unknown fields included: text, integer, number,
            timestamp or date.
        exported: The slice, with unknown fields as a column ``extra`` if they are selected.
    """

    __slots__ = ("_types", "exported", "extra", "kinds", "names", "rows", "table")

    def __init__(
        self, table: Any, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> None:
        known = table._kinds
        self.names = list(known) if columns is None else checked_names(columns)
        for name in self.names:
            if name not in known:
                raise KeyError(table._no_column(name))
        self.kinds: dict[str, str] = {name: known[name] for name in self.names}
        self.table = table
        self.rows: _core.Slice = table._rows
        self.extra = flag("extra", extra) and "extra" not in known
        self.exported: _core.Slice = self.rows
        if self.extra:
            self.exported = self.rows.with_extra_column(with_extra(self.rows.row_type))
            self.kinds["extra"] = "text"
        self._types = "shared"

    def __len__(self) -> int:
        return len(self.rows)

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column; a row without an unknown field has ``None``."""
        lists = {name: self.rows.column(name) for name in self.names}
        if self.extra:
            extras = [_core.row_extras(row) for row in self.rows]
            names = self.rows.extra_names()
            for name in names:  # a local field takes precedence over an unknown one
                lists.setdefault(name, [values.get(name) for values in extras])
        return lists

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column, unknown fields as a JSON object."""
        return {name: self.exported.column(name) for name in self.kinds}

    def pandas(self, dtype_backend: DtypeBackend = "numpy_nullable") -> pd.DataFrame:
        """Returns a pandas DataFrame, made by pyarrow, with the dtypes of a backend."""
        pandas = require("pandas", "pandas", "to_pandas()")
        if dtype_backend not in get_args(DtypeBackend):
            known = ", ".join(map(repr, get_args(DtypeBackend)))
            raise ConfigurationError(
                f"dtype_backend must be one of {known}, not {shown(dtype_backend)}"
            )
        if dtype_backend == "pyarrow":
            table = self.arrow("plain", "pandas", "to_pandas()")
            return _frame(table, pandas.ArrowDtype)
        table = self.arrow("pandas", "pandas", "to_pandas()")
        dtypes: dict[str, object] = {}
        if dtype_backend == "numpy":
            dtypes["text"] = _text_dtype(pandas, nullable=False)
        else:
            dtypes |= {"text": _text_dtype(pandas), "integer": pandas.Int64Dtype()}
        if zone := self.rows.zone:
            # pandas 2 makes a pytz zone of a name, and never considers it equal to a ZoneInfo. So
            # the zone is passed by name, if it has one.
            dtypes["timestamp"] = pandas.DatetimeTZDtype("us", getattr(zone, "key", None) or zone)
        mapped = {}
        for at, (name, kind) in enumerate(self.kinds.items()):
            if kind == "integer" and dtype_backend == "numpy":
                table = table.set_column(at, name, _as_floats(table.column(at), name))
            elif kind in dtypes:
                mapped[table.schema.field(at).type] = dtypes[kind]
        return _frame(table, mapped.get)

    def arrow(self, types: str, extra: str, what: str) -> pa.Table:
        """Returns a pyarrow Table, with text as plain strings or as pandas takes it."""
        pyarrow = require("pyarrow", extra, what)
        self._types = types
        table: pa.Table = pyarrow.table(self)
        return table

    def write_parquet(self, path: str | os.PathLike[str], *, overwrite: bool) -> None:
        """Writes a Parquet file through pyarrow."""
        parquet = parquet_library("writing Parquet")
        with whole_file(path, overwrite=overwrite) as draft:
            parquet.write_table(self.arrow("plain", "arrow", "Parquet"), draft, compression="zstd")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.exported.arrow_stream(list(self.kinds), self._types)


def parquet_library(what: str) -> ModuleType:
    """Returns the module of pyarrow for Parquet files."""
    require("pyarrow", "arrow", what)  # names what is missing
    return require("pyarrow.parquet", "arrow", what)


def _frame(table: pa.Table, dtype_of: Callable[..., object]) -> pd.DataFrame:
    # Threads take more time to start than they save.
    frame: pd.DataFrame = table.to_pandas(types_mapper=dtype_of, use_threads=False)
    return frame


def _as_floats(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Returns a column of integers as floats, which must hold every value of it exactly."""
    try:
        return column.cast("float64")
    except ValueError as error:  # an integer beyond 2^53
        raise ValueError(
            f"a float64 does not hold every {name!r} of this table: use "
            "dtype_backend='numpy_nullable'"
        ) from error


def _text_dtype(pandas: ModuleType, *, nullable: bool = True) -> object:
    """Returns ``str``, or in pandas 2.2 ``string`` in the storage that pandas is set to.

    The latter has NA, where NumPy needs objects: None is returned.
    """
    try:
        return pandas.StringDtype(na_value=nan)
    except TypeError:  # pandas 2.2 takes the storage only
        return pandas.StringDtype() if nullable else None


_MOST_ROWS = 1_048_576 - 1  # of a sheet, below the header
_MOST_TEXT = 32_767  # characters in a cell
_EXACT = 10**15  # a cell holds 15 digits
_FIRST_YEAR = 1900  # workbooks cannot represent earlier dates
_FORMATS = {"timestamp": "yyyy-mm-dd hh:mm:ss", "date": "yyyy-mm-dd"}
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
        columns = selection.cells()
        for at, (name, values) in enumerate(columns.items()):
            kind = selection.kinds[name]
            sheet.write_string(0, at, name, bold)
            decimals = shared_decimals(name, kind, values)
            # Where a computer groups digits the Indian way, its spreadsheets do for this format.
            grouped = "#,##0" + ("." + "0" * decimals if decimals else "")
            code = _FORMATS.get(kind, "" if kind == "text" else grouped)
            shape = workbook.add_format({"num_format": code}) if code else None
            widths = [
                _write(sheet, row, at, value, kind, shape, decimals)
                for row, value in enumerate(values, 1)
                if value is not None
            ]
            sheet.set_column(at, at, min(max([len(name), *widths]), _WIDEST) + 2)
        sheet.freeze_panes(1, 0)
        if columns:
            sheet.autofilter(0, 0, len(selection), len(columns) - 1)


def _write(
    sheet: Any, row: int, at: int, value: Any, kind: str, shape: object, decimals: int
) -> int:
    """Writes a cell; returns the length of its text, for the width of the column."""
    text = str(value)
    if kind in _FORMATS and value.year >= _FIRST_YEAR:
        sheet.write_datetime(row, at, value, shape)
    elif (kind == "number" and isfinite(value)) or (kind == "integer" and abs(value) < _EXACT):
        sheet.write_number(row, at, value, shape)
        return len(group(value, decimals))
    elif len(text) > _MOST_TEXT:
        raise ValueError(
            f"a cell has at most {_MOST_TEXT:,} characters, but column {at} of row {row - 1} "
            f"has {len(text):,}: write a Parquet or CSV file"
        )
    else:
        sheet.write_string(row, at, text)
    return len(text)
