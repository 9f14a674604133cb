"""Books of several accounts as one frame, with the account's label as the first column."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._util.optional_imports import require
from ..books.book import OrderBook, TradeBook, concat

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa

ACCOUNT = "account"

AnyBook = TypeVar("AnyBook", bound=TradeBook | OrderBook)


class Labelled(Generic[AnyBook]):
    """Books by label; the rows of all of them, in the order of the labels, leave together.

    ``columns`` and ``categories`` are those of a book; ``account`` may be among the categories, and
    is the first column whether it is among the columns or not.
    """

    def __init__(self, kind: type[AnyBook], books: Mapping[str, AnyBook]) -> None:
        several: Any = list(books.values())
        self._book: AnyBook = concat(several) if several else kind()
        self._labels = list(books)
        self._counts = [len(book) for book in books.values()]

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> pd.DataFrame:
        """A pandas data frame."""
        fields, coded = _fields(columns), _fields(categories)
        frame = self._book.to_pandas(fields, extra=extra, categories=coded)
        pandas = require("pandas", "pandas", "to_pandas()", major=3)
        numpy = require("numpy", "pandas", "to_pandas()")
        text = pandas.StringDtype(na_value=numpy.nan)
        if ACCOUNT in categories:
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

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> pl.DataFrame:
        """A polars data frame."""
        frame = self._book.to_polars(_fields(columns), extra=extra, categories=_fields(categories))
        polars = require("polars", "polars", "to_polars()")
        kind = polars.Categorical if ACCOUNT in categories else polars.String
        return frame.insert_column(0, polars.Series(ACCOUNT, self._column(), dtype=kind))

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> pa.Table:
        """A pyarrow table."""
        table = self._book.to_arrow(_fields(columns), extra=extra, categories=_fields(categories))
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        labels = pyarrow.array(self._column(), pyarrow.string())
        if ACCOUNT in categories:
            labels = labels.dictionary_encode()
        return table.add_column(0, ACCOUNT, labels)

    def to_dicts(
        self, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> list[dict[str, Any]]:
        """A dict for each row."""
        rows = self._book.to_dicts(_fields(columns), extra=extra)
        return [{ACCOUNT: label, **row} for label, row in zip(self._column(), rows, strict=True)]

    def to_dict(
        self, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> dict[str, list[Any]]:
        """A list for each column."""
        return {ACCOUNT: self._column(), **self._book.to_dict(_fields(columns), extra=extra)}

    def _column(self) -> list[str]:
        return list(chain.from_iterable(map(repeat, self._labels, self._counts)))


@overload
def _fields(names: None) -> None: ...
@overload
def _fields(names: Collection[str]) -> list[str]: ...


def _fields(names: Collection[str] | None) -> list[str] | None:
    """The names of the record's fields among those that were asked for."""
    if isinstance(names, str):
        raise TypeError(f"a list of names is wanted, not the text {names!r}")
    return None if names is None else [name for name in names if name != ACCOUNT]
