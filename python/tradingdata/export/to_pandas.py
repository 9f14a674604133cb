"""pandas data frames of a book: NumPy arrays that the core fills, and text as pandas stores it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.optional_imports import require
from .pandas_dtypes import text_dtype, time_zone

if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from .book_columns import BookColumns


def to_pandas(selection: BookColumns) -> pd.DataFrame:
    """Returns the selection as a data frame; ``TableExport.to_pandas`` documents the dtypes."""
    pandas = require("pandas", "pandas", "to_pandas()")
    numpy = require("numpy", "pandas", "to_pandas()")
    made = _texts(selection, pandas, numpy)
    for name, kind in selection.kinds.items():
        if name not in made:
            made[name] = _array(selection, name, kind, pandas, numpy)
    ordered = {name: made[name] for name in (*selection.kinds, *selection.extra)}
    index = pandas.RangeIndex(len(selection))
    return pandas.DataFrame(ordered, index=index)  # type: ignore[no-any-return]


def _texts(selection: BookColumns, pandas: Any, numpy: Any) -> dict[str, Any]:
    """Returns text columns: Arrow's if pandas stores text in pyarrow, otherwise object arrays."""
    coded = set(selection.categories)
    plain = [name for name, kind in selection.kinds.items() if kind == "text" and name not in coded]
    plain += selection.extra
    dtype = text_dtype(pandas, numpy)
    if not plain:
        return {}
    if dtype.storage == "pyarrow":
        arrow = require("pyarrow", "arrow", "to_pandas()").table(selection.only(plain, "large"))
        return {name: dtype.__from_arrow__(arrow.column(i)) for i, name in enumerate(plain)}
    return {name: _objects(selection, name, dtype, pandas, numpy) for name in plain}


def _objects(selection: BookColumns, name: str, dtype: Any, pandas: Any, numpy: Any) -> Any:
    values = numpy.full(len(selection), numpy.nan, dtype=object)
    selection.rows.fill_text(name, values)
    return pandas.array(values, dtype=dtype, copy=False)


def _array(selection: BookColumns, name: str, kind: str, pandas: Any, numpy: Any) -> Any:
    if kind == "text":
        codes, values = selection.rows.codes(name)
        categories = pandas.Index(values, dtype=text_dtype(pandas, numpy))
        return pandas.Categorical.from_codes(numpy.frombuffer(codes, "int32"), categories)
    values, missing = selection.rows.array(name)
    if kind == "integer":
        mask = numpy.frombuffer(missing, "bool")
        return pandas.arrays.IntegerArray(numpy.frombuffer(values, "int64"), mask)
    if kind == "number":
        return numpy.frombuffer(values, "float64")
    times = numpy.frombuffer(values, "datetime64[us]")
    if kind == "date" or selection.zone is None:
        return times
    zone = time_zone(selection.zone)
    return pandas.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone)
