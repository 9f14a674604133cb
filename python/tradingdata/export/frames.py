"""Books as data frames: the columns leave as they stand, without a Python object for each value."""

from __future__ import annotations

from .._util.optional_imports import require
from .files import FileExport
from .selection import Choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from .._core import Table


class FrameExport(FileExport):
    """What a book offers to data frames, Arrow and files."""

    __slots__ = ()

    if TYPE_CHECKING:
        _table: Table
        _start: int
        _stop: int

        @property
        def columns(self) -> list[str]: ...  # noqa: D102

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Gives the book to a library that speaks Arrow, as in ``pl.DataFrame(book)``.

        Text leaves as string views, which share the book's memory. pyarrow computes little on
        these: ``to_arrow()`` gives plain strings.
        """
        return self._table.arrow_stream(
            self._start, self._stop, self.columns, requested_schema=requested_schema
        )

    def __arrow_c_schema__(self) -> object:
        """The schema of what ``__arrow_c_stream__`` gives; it is the same for every answer."""
        return self._table.arrow_schema(self.columns)

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> pd.DataFrame:
        """A pandas data frame with a row for each record, in the book's order.

        ``columns`` picks and orders the fields; ``extra=True`` adds the unknown ones as their JSON
        text; text fields in ``categories`` become ``category``, its categories sorted. The dtypes
        never depend on the data: text is ``str``, integers ``Int64``, numbers ``float64``, times
        ``datetime64[us]`` (with the zone of a localized book), dates ``datetime64[us]`` at
        midnight.

        Raises KeyError for a field that the record does not have, and ImportError without pandas 3.
        """
        from .to_pandas import to_pandas

        return to_pandas(Choice(self, columns, extra=extra, categories=categories))

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> pl.DataFrame:
        """A polars data frame with a row for each record, in the book's order.

        The arguments are those of ``to_pandas``. Text is ``String`` or ``Categorical``, times are
        ``Datetime("us")``, dates ``Date``. Large books share their memory with the frame.

        Raises KeyError for a field that the record does not have, and ImportError without polars.
        """
        polars = require("polars", "polars", "to_polars()")
        choice = Choice(self, columns, extra=extra, categories=categories)
        return polars.DataFrame(choice)  # type: ignore[no-any-return]

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> pa.Table:
        """A pyarrow table with a row for each record, in the book's order.

        The arguments are those of ``to_pandas``. Text is ``string`` or a dictionary of it, times
        are ``timestamp[us]``, dates ``date32``.

        Raises KeyError for a field that the record does not have, and ImportError without pyarrow.
        """
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        choice = Choice(self, columns, extra=extra, categories=categories, text="small")
        table: pa.Table = pyarrow.table(choice)
        return table
