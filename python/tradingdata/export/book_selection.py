"""Exports of a book's selected columns, which the core converts column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.optional_imports import require
from .book_columns import BookColumns
from .selection import Selection

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class BookSelection(BookColumns, Selection):
    """A slice of a book's rows in the selected columns."""

    __slots__ = ()

    def pandas(self) -> pd.DataFrame:
        """Returns a pandas DataFrame of NumPy arrays that the core fills."""
        from .to_pandas import to_pandas

        return to_pandas(self)

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
