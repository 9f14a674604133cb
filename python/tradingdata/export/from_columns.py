"""Columns of Python values as frames, in the types that a book's frames have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._util.optional_imports import require

if TYPE_CHECKING:
    from datetime import tzinfo

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Columns = dict[str, list[Any]]


def pandas_frame(
    columns: Columns, kinds: dict[str, str], zone: tzinfo | None, rows: int
) -> pd.DataFrame:
    """A pandas data frame of the columns."""
    pandas = require("pandas", "pandas", "to_pandas()", major=3)
    numpy = require("numpy", "pandas", "to_pandas()")
    dtypes = {
        "text": pandas.StringDtype(na_value=numpy.nan),
        "integer": pandas.Int64Dtype(),
        "number": numpy.dtype("float64"),
        "date": numpy.dtype("datetime64[us]"),
        "timestamp": pandas.DatetimeTZDtype("us", zone) if zone else numpy.dtype("datetime64[us]"),
    }
    made = {
        name: pandas.Series(values, dtype=dtypes[kinds[name]]) for name, values in columns.items()
    }
    return pandas.DataFrame(made, index=pandas.RangeIndex(rows))  # type: ignore[no-any-return]


def polars_frame(columns: Columns, kinds: dict[str, str], zone: tzinfo | None) -> pl.DataFrame:
    """A polars data frame of the columns."""
    polars = require("polars", "polars", "to_polars()")
    types = {
        "text": polars.String,
        "integer": polars.Int64,
        "number": polars.Float64,
        "date": polars.Date,
        "timestamp": polars.Datetime("us", str(zone) if zone else None),
    }
    schema = {name: types[kinds[name]] for name in columns}
    return polars.DataFrame(columns, schema=schema)  # type: ignore[no-any-return]


def arrow_table(columns: Columns, kinds: dict[str, str], zone: tzinfo | None) -> pa.Table:
    """A pyarrow table of the columns."""
    pyarrow = require("pyarrow", "arrow", "to_arrow()")
    types = {
        "text": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "date": pyarrow.date32(),
        "timestamp": pyarrow.timestamp("us", tz=str(zone) if zone else None),
    }
    schema = pyarrow.schema([(name, types[kinds[name]]) for name in columns])
    return pyarrow.table(columns, schema=schema)
