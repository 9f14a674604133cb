"""Tables of results: sequences of rows with typed columns and a fixed schema."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from ..books.column_table import ColumnTable
from .exact_sums import exact_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo
    from typing import SupportsIndex

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
    """Returns the columns of a dataclass of results, each with the kind of its annotation."""
    return {field.name: _KINDS[str(field.type).partition(" |")[0]] for field in fields(row)}


class ResultTable(ColumnTable, Generic[Row]):
    """The result of a calculation: rows of one type, with a schema independent of the data.

    Indexed and iterated like a list of rows, and exported like a book. Unknown values are ``None``.
    Two results are equal if their rows are.
    """

    __slots__ = ("_columns", "_zone")

    _row: ClassVar[type]
    _lead: ClassVar[tuple[str, ...]]  # columns that name a row; a display uses the first known
    _apart: ClassVar[tuple[str, ...]]  # columns that distinguish rows of the same name
    _key_columns: ClassVar[tuple[str, ...]]  # columns in a display, the most important first
    _summed: ClassVar[tuple[str, ...]] = ()
    _leading = 2  # number of key columns shown on any screen
    _size: ClassVar[str] = ""  # column by which rows are sorted, the largest amount first
    _zero: ClassVar[str] = ""  # rows with zero in this column come last; defaults to _size
    _columns: dict[str, list[Any]]
    _zone: tzinfo | None

    @classmethod
    def _of(cls, rows: Iterable[tuple[Any, ...]], zone: tzinfo | None = None) -> Self:
        """Returns a table of rows given as tuples; ``zone`` is that of the times."""
        self = object.__new__(cls)
        kinds = kinds_of(cls._row)
        if cls._size:
            names = list(kinds)
            size, zero = names.index(cls._size), names.index(cls._zero or cls._size)
            rows = sorted(rows, key=lambda row: (not row[zero], -abs(row[size] or 0)))
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in kinds]
        self._columns = dict(zip(kinds, columns, strict=True))
        self._zone = zone
        return self

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._columns)

    @property
    def _lists(self) -> dict[str, list[Any]]:
        return self._columns

    @property
    def _kinds(self) -> dict[str, str]:
        return kinds_of(self._row)

    @property
    def _time_zone(self) -> tzinfo | None:
        return self._zone

    def _take(self, rows: Sequence[int]) -> Self:
        made = object.__new__(type(self))
        made._columns = {
            name: [values[row] for row in rows] for name, values in self._columns.items()
        }
        made._zone = self._zone
        return made

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

    __hash__ = None  # type: ignore[assignment]  # unhashable, like a list

    # -- display --

    def _total(self) -> dict[str, float]:
        return {name: exact_sum(self._columns[name]) for name in self._summed if len(self) > 1}

    @property
    def _is_ranked(self) -> bool:
        return bool(self._size)

    def _display_columns(self) -> list[str]:
        """Returns the columns of a display: a name, distinguishing columns, then the results."""
        known = (name for name in self._lead if any(self._columns[name]))
        shown = [next(known, self._lead[-1])]
        seen = len(set(self._columns[shown[0]]))
        for name in self._apart:
            found = len(set(zip(*(self._columns[each] for each in (*shown, name)), strict=True)))
            if found > seen:
                shown.append(name)
                seen = found
        return [*shown, *(name for name in self._key_columns if name not in shown)]

    @property
    def _essential(self) -> list[str]:
        return [self._display_columns()[0], *self._key_columns[: self._leading]]

    def __repr__(self) -> str:
        from ..display.text import shown_lines, titled

        title = titled(self, self._heading())
        return "\n".join([title, *(shown_lines(self._shown()) if len(self) else [])])

    def _repr_html_(self) -> str:
        from html import escape

        from ..display.html import box, shown_html

        title = f"<b>{type(self).__name__}</b>: {escape(self._heading())}"
        return box(title, shown_html(self._shown()) if len(self) else "")
