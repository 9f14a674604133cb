"""Exports of a book's selected columns, whose values remain in the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._util.optional_imports import require
from .._util.suggestions import no_field
from .._util.validate import flag
from .columns import checked_names
from .pandas_dtypes import text_dtype, time_zone
from .selection import Selection

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import tzinfo
    from typing import Any, Literal, Self

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Text = Literal["view", "small", "large"]


def checked_columns(record: str, columns: Collection[str] | None) -> list[str]:
    """Returns the names of the selected fields, all of them for None.

    Raises:
        TypeError: ``columns`` is text rather than a list of names.
        KeyError: The record has no such field.
    """
    known = _core.names_of(record)
    if columns is None:
        return known
    chosen = list(checked_names("columns", columns))
    for name in chosen:
        if name not in known:
            raise KeyError(no_field(record, name))
    return chosen


class BookSelection(Selection):
    """A slice of a core table, restricted to the selected columns.

    Attributes:
        rows: The slice.
        extra: Names of the unknown fields that follow the columns, as their JSON text.
        text: The Arrow type of text: string views share memory, but few libraries compute on them.
    """

    __slots__ = ("extra", "rows", "text")

    def __init__(
        self,
        rows: _core.Slice,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> None:
        known = {name: kind for name, kind, _, _ in _core.fields_of(rows.record)}
        self._choose(rows.record, known, columns, categories)
        self.zone = rows.zone
        self.rows = rows
        self.extra = rows.extra_names() if flag("extra", extra) else []
        self.text: Text = "view"

    def _missing(self, title: str, name: str, known: Mapping[str, str]) -> str:
        return no_field(title, name)

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, columns: Collection[str], text: Text) -> Self:
        """Returns some of the columns, unknown fields included, with another type of text."""
        part = object.__new__(type(self))
        part.title, part.zone, part.categories = self.title, self.zone, self.categories
        part.rows = self.rows
        part.kinds = {name: kind for name, kind in self.kinds.items() if name in columns}
        part.extra = [name for name in self.extra if name in columns]
        part.text = text
        return part

    def localized(self, zone: tzinfo) -> Self:
        """Returns the columns with their naive times declared to be in a zone."""
        made = self.only({*self.kinds, *self.extra}, self.text)
        made.rows, made.zone = self.rows.with_zone(zone), zone
        return made

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column; a row without an unknown field has ``None``."""
        found = self.rows.to_dict(list(self.kinds))
        if self.extra:
            extras = [_core.row_extras(row) for row in self.rows]
            found |= {name: [values.get(name) for values in extras] for name in self.extra}
        return found

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column, unknown fields as their JSON text."""
        found = self.rows.to_dict(list(self.kinds))
        for name in self.extra:
            found[name] = self.rows.extra_texts(name)
        return found

    def dicts(self) -> list[dict[str, Any]]:
        """Returns a dict for each row, with the unknown fields that the row has."""
        return self.rows.to_dicts(list(self.kinds), bool(self.extra))

    def pandas(self) -> pd.DataFrame:
        """Returns a pandas DataFrame of arrays that the core fills."""
        pandas = require("pandas", "pandas", "to_pandas()")
        numpy = require("numpy", "pandas", "to_pandas()")
        made = self._texts(pandas, numpy) | self._arrays(pandas, numpy)
        ordered = {name: made[name] for name in (*self.kinds, *self.extra)}
        index = pandas.RangeIndex(len(self))
        # No other owner has these arrays, so pandas need not copy them into blocks.
        return pandas.DataFrame(ordered, index=index, copy=False)  # type: ignore[no-any-return]

    def _texts(self, pandas: Any, numpy: Any) -> dict[str, Any]:
        """Returns text columns: Arrow's if pandas stores text in pyarrow, else object arrays."""
        coded = set(self.categories)
        plain = [name for name, kind in self.kinds.items() if kind == "text" and name not in coded]
        plain += self.extra
        dtype = text_dtype(pandas, numpy)
        if not plain:
            return {}
        if dtype.storage == "pyarrow":
            arrow = require("pyarrow", "arrow", "to_pandas()").table(self.only(plain, "large"))
            return {name: dtype.__from_arrow__(arrow.column(i)) for i, name in enumerate(plain)}
        return {name: self._objects(name, dtype, pandas, numpy) for name in plain}

    def _objects(self, name: str, dtype: Any, pandas: Any, numpy: Any) -> Any:
        values = numpy.full(len(self), numpy.nan, dtype=object)
        self.rows.fill_text(name, values)
        return pandas.array(values, dtype=dtype, copy=False)

    def _arrays(self, pandas: Any, numpy: Any) -> dict[str, Any]:
        """Returns the columns that are not plain text."""
        made = {}
        for name in self.kinds.keys() & self.categories:
            codes, values = self.rows.codes(name)
            categories = pandas.Index(values, dtype=text_dtype(pandas, numpy))
            made[name] = pandas.Categorical.from_codes(numpy.frombuffer(codes, "int32"), categories)
        names = [name for name, kind in self.kinds.items() if kind != "text"]
        for name, (values, missing) in zip(names, self.rows.arrays(names), strict=True):
            made[name] = self._array(self.kinds[name], values, missing, pandas, numpy)
        return made

    def _array(self, kind: str, values: Any, missing: Any, pandas: Any, numpy: Any) -> Any:
        if kind == "integer":
            mask = numpy.frombuffer(missing, "bool")
            return pandas.arrays.IntegerArray(numpy.frombuffer(values, "int64"), mask)
        if kind == "number":
            return numpy.frombuffer(values, "float64")
        times = numpy.frombuffer(values, "datetime64[us]")
        if kind == "date" or self.zone is None:
            return times
        zone = time_zone(self.zone)
        return pandas.DatetimeIndex(times).tz_localize("UTC").tz_convert(zone)

    def polars(self) -> pl.DataFrame:
        """Returns a polars DataFrame, which shares the memory of large books."""
        polars = require("polars", "polars", "to_polars()")
        return polars.DataFrame(self)  # type: ignore[no-any-return]

    def arrow(self) -> pa.Table:
        """Returns a pyarrow Table with plain strings, which pyarrow computes on."""
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        table: pa.Table = pyarrow.table(self.only({*self.kinds, *self.extra}, "small"))
        return table

    def csv(self, *, spreadsheet: bool) -> bytes:
        """Returns comma-separated values."""
        return self.rows.to_csv(list(self.kinds), self.extra, spreadsheet)

    def json(self, *, lines: bool) -> bytes:
        """Returns an array of objects, or one object per line, unknown fields as sent."""
        return self.rows.export_json(list(self.kinds), bool(self.extra), lines)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.arrow_stream(
            list(self.kinds), self.extra, self.categories, self.text, requested_schema
        )

    def __arrow_c_schema__(self) -> object:
        return self.rows.arrow_schema(list(self.kinds))
