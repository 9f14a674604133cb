"""The forms of a table's chosen columns: data frames, Arrow and text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .columns import Columns

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Selection(Columns):
    """Makes every form from lists of Python values.

    A table whose columns are elsewhere overrides what it can do faster.
    """

    __slots__ = ()

    def pandas(self) -> pd.DataFrame:
        """Returns a pandas DataFrame."""
        from .list_frames import pandas_frame

        return pandas_frame(self)

    def polars(self) -> pl.DataFrame:
        """Returns a polars DataFrame."""
        from .list_frames import polars_frame

        return polars_frame(self)

    def arrow(self) -> pa.Table:
        """Returns a pyarrow Table."""
        from .list_frames import arrow_table

        return arrow_table(self)

    def csv(self, *, spreadsheet: bool) -> bytes:
        """Returns comma-separated values."""
        from .list_text import csv_text

        return csv_text(self, spreadsheet=spreadsheet).encode()

    def json(self, *, lines: bool) -> bytes:
        """Returns an array of objects, or one object per line."""
        from .list_text import json_text

        return json_text(self, lines=lines).encode()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.arrow().schema.__arrow_c_schema__()
