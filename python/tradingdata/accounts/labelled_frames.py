"""Exports the books of several accounts as one table whose first column is the account label."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._util.optional_imports import require
from ..books.book import OrderBook, TradeBook, concat
from ..export.pandas_dtypes import text_dtype
from ..export.selection import Selection
from ..export.table_export import TableExport

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import tzinfo

    import pandas as pd
    import polars as pl
    import pyarrow as pa

ACCOUNT = "account"

AnyBook = TypeVar("AnyBook", bound=TradeBook | OrderBook)


class Labelled(TableExport, Generic[AnyBook]):
    """Books by account label, whose rows are exported together, in the order of the labels.

    ``account`` is always the first column, whether or not it is among the selected columns.
    """

    def __init__(self, kind: type[AnyBook], books: Mapping[str, AnyBook]) -> None:
        several: Any = list(books.values())
        self._book: AnyBook = concat(several) if several else kind()
        self._labels = list(books)
        self._counts = [len(book) for book in books.values()]

    def _selection(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> Selection:
        book = self._book._selection(_fields(columns), extra=extra, categories=_fields(categories))
        return LabelledSelection(book, self._labels, self._counts, coded=ACCOUNT in categories)


class LabelledSelection(Selection):
    """The selection of a book, preceded by a column of labels."""

    __slots__ = ("_book", "_coded", "_counts", "_labels")

    def __init__(
        self, book: Selection, labels: list[str], counts: list[int], *, coded: bool
    ) -> None:
        self.title, self.zone, self.categories = book.title, book.zone, book.categories
        self.kinds = {ACCOUNT: "text", **book.kinds}
        self._book, self._labels, self._counts, self._coded = book, labels, counts, coded

    def __len__(self) -> int:
        return len(self._book)

    def localized(self, zone: tzinfo) -> LabelledSelection:
        """Returns the selection with its naive times declared to be in a zone."""
        book = self._book.localized(zone)
        return LabelledSelection(book, self._labels, self._counts, coded=self._coded)

    def _column(self) -> list[str]:
        return list(chain.from_iterable(map(repeat, self._labels, self._counts)))

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column."""
        return {ACCOUNT: self._column(), **self._book.lists()}

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column, unknown fields as their JSON text."""
        return {ACCOUNT: self._column(), **self._book.cells()}

    def dicts(self) -> list[dict[str, Any]]:
        """Returns a dict for each row, with the unknown fields that the row has."""
        rows = zip(self._column(), self._book.dicts(), strict=True)
        return [{ACCOUNT: label, **row} for label, row in rows]

    def pandas(self) -> pd.DataFrame:
        """Returns the book's DataFrame with the labels in front."""
        frame = self._book.pandas()
        pandas = require("pandas", "pandas", "to_pandas()")
        numpy = require("numpy", "pandas", "to_pandas()")
        text = text_dtype(pandas, numpy)
        if self._coded:  # the labels of all accounts, so that the dtype does not depend on the rows
            labels = sorted(self._labels)
            codes = numpy.repeat([labels.index(label) for label in self._labels], self._counts)
            made = pandas.Categorical.from_codes(
                codes.astype("int32"), pandas.Index(labels, dtype=text)
            )
        else:
            made = pandas.array(
                numpy.repeat(numpy.array(self._labels, dtype=object), self._counts), dtype=text
            )
        frame.insert(0, ACCOUNT, made)
        return frame

    def polars(self) -> pl.DataFrame:
        """Returns the book's DataFrame with the labels in front."""
        polars = require("polars", "polars", "to_polars()")
        kind = polars.Categorical if self._coded else polars.String
        labels = polars.Series(ACCOUNT, self._column(), dtype=kind)
        return self._book.polars().insert_column(0, labels)

    def arrow(self) -> pa.Table:
        """Returns the book's Table with the labels in front."""
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        labels = pyarrow.array(self._column(), pyarrow.string())
        if self._coded:
            labels = labels.dictionary_encode()
        return self._book.arrow().add_column(0, ACCOUNT, labels)


def _fields(names: Collection[str] | None) -> Any:
    """Returns the selected names that are fields of the record."""
    if isinstance(names, str):
        raise TypeError(f"a list of names is required, not the text {names!r}")
    return None if names is None else [name for name in names if name != ACCOUNT]
