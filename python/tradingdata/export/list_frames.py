"""Data frames from lists of Python values, with the same dtypes as the frames of books."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._util.optional_imports import require
from .pandas_dtypes import text_dtype, time_zone

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from .columns import Columns


def pandas_frame(selection: Columns) -> pd.DataFrame:
    """Returns a pandas DataFrame."""
    pandas = require("pandas", "pandas", "to_pandas()")
    numpy = require("numpy", "pandas", "to_pandas()")
    naive = numpy.dtype("datetime64[us]")
    zone = selection.zone
    dtypes = {
        "text": text_dtype(pandas, numpy),
        "integer": pandas.Int64Dtype(),
        "number": numpy.dtype("float64"),
        "date": naive,
        "timestamp": pandas.DatetimeTZDtype("us", time_zone(zone)) if zone else naive,
    }
    made = {
        name: pandas.Series(values, dtype=dtypes[selection.kinds[name]])
        for name, values in _typed(selection).items()
    }
    for name in selection.categories:
        if name in made:
            made[name] = made[name].astype("category")
    index = pandas.RangeIndex(len(selection))
    return pandas.DataFrame(made, index=index)  # type: ignore[no-any-return]


def polars_frame(selection: Columns) -> pl.DataFrame:
    """Returns a polars DataFrame."""
    polars = require("polars", "polars", "to_polars()")
    types = {
        "text": polars.String,
        "integer": polars.Int64,
        "number": polars.Float64,
        "date": polars.Date,
        "timestamp": polars.Datetime("us", str(selection.zone) if selection.zone else None),
    }
    schema = {name: types[kind] for name, kind in selection.kinds.items()}
    frame = polars.DataFrame(_typed(selection), schema=schema)
    coded = [name for name in selection.categories if name in schema]
    return frame.cast(dict.fromkeys(coded, polars.Categorical))  # type: ignore[no-any-return]


def arrow_table(selection: Columns) -> pa.Table:
    """Returns a pyarrow Table."""
    pyarrow = require("pyarrow", "arrow", "to_arrow()")
    types = {
        "text": pyarrow.string(),
        "integer": pyarrow.int64(),
        "number": pyarrow.float64(),
        "date": pyarrow.date32(),
        "timestamp": pyarrow.timestamp("us", tz=str(selection.zone) if selection.zone else None),
    }
    schema = pyarrow.schema([(name, types[kind]) for name, kind in selection.kinds.items()])
    table = pyarrow.table(_typed(selection), schema=schema)
    for at, name in enumerate(table.column_names):
        if name in selection.categories:
            table = table.set_column(at, name, table.column(at).dictionary_encode())
    return table


def _typed(selection: Columns) -> dict[str, list[Any]]:
    """Returns the values of each column; a text column may come from a query with other values."""
    return {
        name: [value if value is None or isinstance(value, str) else str(value) for value in values]
        if selection.kinds[name] == "text"
        else values
        for name, values in selection.cells().items()
    }
