"""Tables of results: records that can be looked at, and columns that become frames."""

from __future__ import annotations

import operator
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from .._util.optional_imports import require
from ..display.preview import Shown
from ..export.selection import checked_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo
    from typing import SupportsIndex

    import pandas as pd
    import polars as pl
    import pyarrow as pa

Row = TypeVar("Row")

_KINDS = {
    "str": "text",
    "int": "integer",
    "float": "number",
    "date": "date",
    "datetime": "timestamp",
}


@lru_cache(32)
def kinds_of(row: type) -> dict[str, str]:
    """The columns of a dataclass of results, each with its kind, as the annotations say."""
    return {field.name: _KINDS[str(field.type).partition(" |")[0]] for field in fields(row)}


class ResultTable(Generic[Row]):
    """A result: rows of one type, held in columns, in a fixed schema.

    It has a length, is indexed and iterated as a list of its rows is, and leaves as a frame. What a
    row cannot know is ``None``. Two are equal where their rows are.
    """

    __slots__ = ("_columns", "_zone")

    _row: ClassVar[type]
    _asides: ClassVar[tuple[str, ...]] = ()  # columns that a display counts instead of showing
    _columns: dict[str, list[Any]]
    _zone: tzinfo | None

    @classmethod
    def _of(cls, rows: Iterable[tuple[Any, ...]], zone: tzinfo | None = None) -> Self:
        """A table of rows as tuples in the order of the columns; ``zone`` is that of the times."""
        self = object.__new__(cls)
        kinds = kinds_of(cls._row)
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in kinds]
        self._columns = dict(zip(kinds, columns, strict=True))
        self._zone = zone
        return self

    # -- a sequence --

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    @overload
    def __getitem__(self, index: SupportsIndex) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: SupportsIndex | slice) -> Row | list[Row]:
        if isinstance(index, slice):
            return [self._row_at(at) for at in range(*index.indices(len(self)))]
        at = operator.index(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"row {at} of a result of {len(self)}")
        return self._row_at(at)

    def __iter__(self) -> Iterator[Row]:
        return map(self._row_at, range(len(self)))

    def _row_at(self, at: int) -> Row:
        row: Row = self._row(**{name: values[at] for name, values in self._columns.items()})
        return row

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._columns == other._columns

    __hash__ = None  # type: ignore[assignment]  # as a list's

    # -- frames and plain Python --

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order; they do not depend on the data."""
        return list(self._columns)

    def _chosen(self, columns: Sequence[str] | None) -> dict[str, list[Any]]:
        names = self.columns if columns is None else checked_names("columns", columns)
        for name in names:
            if name not in self._columns:
                raise KeyError(f"{type(self).__name__} has no column {name!r}")
        return {name: self._columns[name] for name in names}

    def _kinds(self, columns: Iterable[str]) -> dict[str, str]:
        kinds = kinds_of(self._row)
        return {name: kinds[name] for name in columns}

    def to_dicts(self, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """A dict for each row. Raises KeyError for a column that the result does not have."""
        chosen = self._chosen(columns)
        if not chosen:
            return [{} for _ in range(len(self))]
        return [dict(zip(chosen, row, strict=True)) for row in zip(*chosen.values(), strict=True)]

    def to_dict(self, columns: Sequence[str] | None = None) -> dict[str, list[Any]]:
        """A list for each column. Raises KeyError for one that the result does not have."""
        return {name: list(values) for name, values in self._chosen(columns).items()}

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """A pandas data frame; its dtypes are those of a book's and never depend on the data.

        Raises KeyError for a column that the result does not have, and ImportError without pandas
        3.
        """
        from ..export.from_columns import pandas_frame

        chosen = self._chosen(columns)
        return pandas_frame(chosen, self._kinds(chosen), self._zone, len(self))

    def to_polars(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """A polars data frame, with the types of a book's.

        Raises KeyError for a column that the result does not have, and ImportError without polars.
        """
        from ..export.from_columns import polars_frame

        chosen = self._chosen(columns)
        return polars_frame(chosen, self._kinds(chosen), self._zone)

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """A pyarrow table, with the types of a book's.

        Raises KeyError for a column that the result does not have, and ImportError without pyarrow.
        """
        from ..export.from_columns import arrow_table

        chosen = self._chosen(columns)
        return arrow_table(chosen, self._kinds(chosen), self._zone)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Gives the result to a library that speaks Arrow, through pyarrow."""
        require("pyarrow", "arrow", "the Arrow stream of a result")
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    # -- how it looks --

    def _heading(self) -> str:
        from ..display.plain_table import group

        return f"{group(len(self))} {'row' if len(self) == 1 else 'rows'}"

    def _shown(self) -> Shown:
        def values(name: str, numbers: list[int]) -> list[Any]:
            return [self._columns[name][number] for number in numbers]

        kinds = kinds_of(self._row)
        told = {name: kind for name, kind in kinds.items() if name not in self._asides}
        return Shown(told, len(self), values, self._asides)

    def __repr__(self) -> str:
        from ..display.text import shown_lines

        title = f"{type(self).__name__}: {self._heading()}"
        return "\n".join([title, *(shown_lines(self._shown()) if len(self) else [])])

    def _repr_html_(self) -> str:
        from html import escape

        from ..display.html import box, shown_html

        title = f"<b>{type(self).__name__}</b>: {escape(self._heading())}"
        return box(title, shown_html(self._shown()) if len(self) else "")
