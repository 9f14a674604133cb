"""pandas data frames: NumPy arrays filled in the core, and text the way pandas itself holds it."""

from __future__ import annotations

from .._util.optional_imports import require

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from .selection import Choice


def to_pandas(choice: Choice) -> pd.DataFrame:
    """The chosen rows and columns; see ``FrameExport.to_pandas`` for the dtypes."""
    pandas = require("pandas", "pandas", "to_pandas()", major=3)
    numpy = require("numpy", "pandas", "to_pandas()")
    made = _texts(choice, pandas, numpy)
    for name, kind in choice.kinds.items():
        if name not in made:
            made[name] = _array(choice, name, kind, pandas, numpy)
    ordered = {name: made[name] for name in (*choice.kinds, *choice.extra)}
    index = pandas.RangeIndex(len(choice))
    return pandas.DataFrame(ordered, index=index)  # type: ignore[no-any-return]


def _texts(choice: Choice, pandas: Any, numpy: Any) -> dict[str, Any]:
    """Text columns: Arrow's where pandas holds text in pyarrow, and arrays of objects elsewhere."""
    coded = set(choice.categories)
    plain = [name for name, kind in choice.kinds.items() if kind == "text" and name not in coded]
    plain += choice.extra
    dtype = pandas.StringDtype(na_value=numpy.nan)
    if not plain:
        return {}
    if dtype.storage == "pyarrow":
        arrow = require("pyarrow", "arrow", "to_pandas()").table(choice.only(plain, "large"))
        return {name: dtype.__from_arrow__(arrow.column(i)) for i, name in enumerate(plain)}
    return {name: _objects(choice, name, dtype, pandas, numpy) for name in plain}


def _objects(choice: Choice, name: str, dtype: Any, pandas: Any, numpy: Any) -> Any:
    values = numpy.full(len(choice), numpy.nan, dtype=object)
    choice.table.fill_text(name, choice.start, choice.stop, values)
    return pandas.array(values, dtype=dtype, copy=False)


def _array(choice: Choice, name: str, kind: str, pandas: Any, numpy: Any) -> Any:
    if kind == "text":
        codes, values = choice.table.codes(name, choice.start, choice.stop)
        categories = pandas.Index(values, dtype=pandas.StringDtype(na_value=numpy.nan))
        return pandas.Categorical.from_codes(numpy.frombuffer(codes, "int32"), categories)
    values, missing = choice.table.array(name, choice.start, choice.stop)
    if kind == "integer":
        mask = numpy.frombuffer(missing, "bool")
        return pandas.arrays.IntegerArray(numpy.frombuffer(values, "int64"), mask)
    if kind == "number":
        return numpy.frombuffer(values, "float64")
    times = numpy.frombuffer(values, "datetime64[us]")
    if kind == "date" or choice.table.zone is None:
        return times
    return pandas.DatetimeIndex(times).tz_localize("UTC").tz_convert(choice.table.zone)
