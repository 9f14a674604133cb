"""The export methods of every table: plain Python, data frames, Arrow and files.

The classes behind `_selection` do the work; this module documents the methods and imports lazily.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, overload

from .._util.optional_imports import LazyModule, require
from .._util.platform import whole_file
from .._util.validate import count, flag, method_keywords
from .csv import csv_text
from .selection import DtypeBackend, Selection, write_excel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
else:
    pd, pl, pa = map(LazyModule, ("pandas", "polars", "pyarrow"))

Path = str | os.PathLike[str]


class ArrowStream(Protocol):
    """A table that exports itself over Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A batch of rows that exports itself over Arrow's PyCapsule interface."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...


ArrowTable = ArrowStream | ArrowArray


# What to use in place of keywords of data frames.
KEYWORDS = {
    "the names of columns alone: .sort('symbol')": "by key on",
    "reverse=True, or a minus sign before a name": "descending ascending desc",
    "rows=": "n",
    "columns=": "usecols cols fields names",
    "lines=True for one object in each line": "orient",
    ".to_pandas().to_csv(...) for this": "index sep header na_rep date_format",
}


@method_keywords(KEYWORDS)
class TableExport:
    """Exports of a table with named, typed columns; subclasses select the columns.

    Every method takes ``columns``, the names of the columns in the desired order, and all but
    ``to_html`` take ``extra``, whether to include fields that the service does not document (only
    books have them).
    """

    __slots__ = ()

    def _selection(self, columns: Sequence[str] | None = None, *, extra: bool = False) -> Selection:
        """Returns the chosen columns. Raises KeyError for a column that the table does not have."""
        raise NotImplementedError

    # -- plain Python --

    def to_dicts(
        self, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> list[dict[str, Any]]:
        """Returns a dict for each row.

        Args:
            columns: The columns, in this order; all if None.
            extra: Whether to add the unknown fields that a row has.

        Raises:
            KeyError: The table has no such column.
        """
        selection = self._selection(columns, extra=extra)
        return selection.rows.to_dicts(selection.names, extra)

    def to_dict(
        self, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> dict[str, list[Any]]:
        """Returns a list for each column.

        Args:
            columns: The columns, in this order; all if None.
            extra: Whether to add the unknown fields; a row without one has ``None``.

        Raises:
            KeyError: The table has no such column.
        """
        return self._selection(columns, extra=extra).lists()

    # -- data frames --

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        dtype_backend: DtypeBackend = "numpy_nullable",
    ) -> pd.DataFrame:
        """Returns a pandas DataFrame with a row for each row of the table.

        The dtypes never depend on the data: text is ``str`` (``string`` in pandas 2.2), integers
        ``Int64``, numbers ``float64``, times ``datetime64[us]`` (with the zone of a localized
        book), dates ``datetime64[us]``. Such a column compares with text and ``pd.Timestamp``;
        pandas finds no row that equals a ``datetime.date``: pass ``pd.Timestamp(day)``.

        Args:
            columns: The columns, in this order; all if None.
            extra: Whether to add a text column ``extra``: the unknown fields of a row as a JSON
                object, which ``from_arrow`` reads back.
            dtype_backend: ``"numpy_nullable"``: as above. ``"numpy"``: integers are ``float64``,
                since any of them may be missing, so that ``.to_numpy()`` of numeric columns is
                numeric (and text is ``object`` in pandas 2.2). ``"pyarrow"``: every column has its
                Arrow type, dates ``date32[day][pyarrow]``.

        Raises:
            KeyError: The table has no such column.
            ConfigurationError: There is no such backend.
            ValueError: An integer beyond 2^53 is not exact as ``float64``, with ``"numpy"``.
            ImportError: pandas or pyarrow is not installed, or pandas is older than 2.2.
        """
        return self._selection(columns, extra=extra).pandas(dtype_backend)

    def to_polars(
        self, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> pl.DataFrame:
        """Returns a polars DataFrame, which shares the table's memory and keeps it alive.

        Args:
            columns: The columns, in this order; all if None.
            extra: Whether to add a text column ``extra``: the unknown fields of a row as a JSON
                object, which ``from_arrow`` reads back.

        Raises:
            KeyError: The table has no such column.
            ImportError: polars is not installed or older than 1.3.
        """
        polars = require("polars", "polars", "to_polars()")
        frame: pl.DataFrame = polars.DataFrame(self._selection(columns, extra=extra))
        return frame

    def to_arrow(self, columns: Sequence[str] | None = None, *, extra: bool = False) -> pa.Table:
        """Returns a pyarrow Table: text as ``string``, times ``timestamp[us]``, dates ``date32``.

        Args:
            columns: The columns, in this order; all if None.
            extra: Whether to add a text column ``extra``: the unknown fields of a row as a JSON
                object, which ``from_arrow`` reads back.

        Raises:
            KeyError: The table has no such column.
            ImportError: pyarrow is not installed or older than 16.
        """
        return self._selection(columns, extra=extra).arrow("plain", "arrow", "to_arrow()")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports to a library that reads Arrow streams, as in ``pl.DataFrame(book)``.

        The columns share the table's memory and keep it alive. Text is string views, whatever
        ``requested_schema`` asks for; pyarrow computes little on these: ``to_arrow()`` has plain
        strings.
        """
        return self._selection().__arrow_c_stream__(requested_schema)

    # -- files --

    @overload
    def to_csv(
        self,
        path: None = None,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        spreadsheet: bool = False,
    ) -> str: ...
    @overload
    def to_csv(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        spreadsheet: bool = False,
        overwrite: bool = False,
    ) -> None: ...
    def to_csv(
        self,
        path: Path | None = None,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        spreadsheet: bool = False,
        overwrite: bool = False,
    ) -> str | None:
        """Writes comma-separated values in UTF-8, or returns the text if there is no path.

        The first line has the names. A missing value is an empty cell, empty text is ``""``,
        numbers read back to the same value, and times are written as the service writes them, with
        an offset in a localized book.

        Args:
            path: The file; None returns the text.
            columns: The columns, in this order; all if None.
            extra: Whether to add a text column ``extra``: the unknown fields of a row as a JSON
                object, which ``from_arrow`` reads back.
            spreadsheet: Whether the file is for Excel or another spreadsheet, which evaluates text
                and converts it. An apostrophe, which Excel displays, is then put before text that
                it would evaluate (``=``, ``+``, ``-``, ``@``, ``#``) or read as another value:
                numbers of 15 and more digits or with leading zeros, ``1E5``, dates such as ``5/10``
                and ``MAR1``, ``TRUE``. The file begins with a byte order mark, and its lines end in
                CR LF.
            overwrite: Whether to replace an existing file.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
            KeyError: The table has no such column.
            ValueError: ``columns`` is empty: a line without cells is no row.
        """
        selected = self._selection(columns, extra=extra)
        is_for_excel = flag("spreadsheet", spreadsheet)
        content = csv_text(selected.exported, selected.kinds, spreadsheet=is_for_excel)
        return _written(content, path, overwrite=overwrite)

    @overload
    def to_json(
        self,
        path: None = None,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        lines: bool = False,
    ) -> str: ...
    @overload
    def to_json(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        lines: bool = False,
        overwrite: bool = False,
    ) -> None: ...
    def to_json(
        self,
        path: Path | None = None,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        lines: bool = False,
        overwrite: bool = False,
    ) -> str | None:
        """Writes the rows as JSON in UTF-8, or returns the text if there is no path.

        The document is an array with one object per row. Missing values are ``null``, numbers read
        back to the same value, times are written as the service writes them, with an offset in a
        localized book. To keep a response itself, use ``save``.

        Args:
            path: The file; None returns the text.
            columns: The columns, in this order; all if None.
            extra: Whether to add the unknown fields that a row has, as sent.
            lines: Whether to write newline-delimited JSON: one object per line, without an array.
            overwrite: Whether to replace an existing file.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
            KeyError: The table has no such column.
        """
        selection = self._selection(columns, extra=extra)
        content = selection.rows.export_json(selection.names, extra, flag("lines", lines))
        return _written(content.decode(), path, overwrite=overwrite)

    def to_parquet(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Writes a Parquet file (zstd) through pyarrow.

        Args:
            path: The file.
            columns: The columns, in this order; all if None.
            extra: Whether to add a text column ``extra``: the unknown fields of a row as a JSON
                object, which ``from_arrow`` reads back.
            overwrite: Whether to replace an existing file.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
            KeyError: The table has no such column.
            ImportError: pyarrow is not installed or older than 16.
        """
        self._selection(columns, extra=extra).write_parquet(path, overwrite=overwrite)

    def to_html(self, columns: Sequence[str] | None = None, *, rows: int | None = None) -> str:
        """Returns the table as a notebook displays it, for a page or a mail.

        Everything is escaped, PANs are masked, and there are no scripts, links or
        pictures.

        Args:
            columns: The columns, in this order; the key columns if None.
            rows: The most rows to show, of which half are the last ones; all if None. Others are
                counted.

        Returns:
            A ``div`` with the heading, the table and its issues, and their style.

        Raises:
            KeyError: The table has no such column.

        Example:
            >>> message.add_alternative(day.to_html(), subtype="html")
        """
        from ..display import table_html

        names = None if columns is None else self._selection(columns).names
        most = len(self._selection()) if rows is None else count("rows", rows)
        return table_html(self, names, (most - most // 2, most // 2))

    def to_excel(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Writes an Excel workbook (.xlsx) with one sheet, through XlsxWriter.

        Digits of numbers are grouped as the reader's computer does (in India 12,34,567.50), times
        and dates are Excel's, and columns are as wide as their contents. Text remains text, so
        order numbers keep all their digits and nothing is evaluated as a formula. Integers of 16
        and more digits become text for the same reason. Times show the clock time of the table,
        because a workbook has no time zones.

        Args:
            path: The file, whose name ends in .xlsx.
            columns: The columns, in this order; all if None.
            extra: Whether to add a text column ``extra``: the unknown fields of a row as a JSON
                object, which ``from_arrow`` reads back.
            overwrite: Whether to replace an existing file.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
            KeyError: The table has no such column.
            ValueError: The name does not end in .xlsx, or a sheet cannot hold the table (more than
                1,048,575 rows, text of more than 32,767 characters).
            ImportError: XlsxWriter is not installed.
        """
        write_excel(self._selection(columns, extra=extra), path, overwrite=overwrite)


def _written(content: str, path: Path | None, *, overwrite: bool) -> str | None:
    if path is None:
        return content
    with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
        file.write(content.encode())
    return None
