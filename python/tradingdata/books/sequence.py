"""Base of books: a sequence over a slice of a core table, with its response and issues."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, SupportsIndex, TypeVar, overload

from .. import _core
from .._util.suggestions import closest, did_you_mean, no_field
from .issues import Issue, decode_issues
from .records import Order, Stock, Trade

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .filter import Condition
    from .response import Response

Record = TypeVar("Record", bound=Trade | Order | Stock)


class RecordSequence(Generic[Record]):
    """An immutable sequence of records of one type; the base of every book."""

    __slots__ = ("__weakref__", "_filtered", "_issues", "_response", "_rows")

    _record: ClassVar[str]
    _rows: _core.Slice
    _response: Response | None
    _issues: tuple[Issue, ...] | None
    _filtered: tuple[_core.Slice, list[Condition]] | None  # the input of a filter without result

    def __new__(cls, records: Iterable[Record] = ()) -> Self:
        """Constructs a book from records of its type.

        Args:
            records: The records.

        Raises:
            TypeError: ``records`` is not an iterable of such records.
        """
        if not hasattr(type(records), "__iter__"):
            raise TypeError(f"{cls.__name__} takes {cls._record} records, not {records!r}")
        return cls._of(_core.from_rows(cls._record, iter(records)), issues=())

    @classmethod
    def _of(
        cls,
        rows: _core.Slice,
        *,
        response: Response | None = None,
        issues: tuple[Issue, ...] | None = None,
    ) -> Self:
        self = object.__new__(cls)
        self._rows = rows
        self._response = response
        self._issues = issues
        self._filtered = None
        return self

    def _part(self, rows: _core.Slice) -> Self:
        return self._of(rows, issues=self.issues)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Record | Self:
        if isinstance(index, slice):
            return self._part(self._rows[index])
        if isinstance(index, str):
            raise TypeError(self._no_column(index))
        row: Record = self._rows[index]
        return row

    if not TYPE_CHECKING:  # otherwise type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(self._no_column(name), name=name, obj=self)

    def _no_column(self, name: str) -> str:
        """Returns the message for a book that is used like a data frame."""
        kind: type = type(self)
        if name.startswith("_"):
            return f"{kind.__name__} has no attribute {name!r}"
        if name not in _core.names_of(self._record):
            return _no_attribute(kind, self._record, name)
        return (
            f"a {kind.__name__} is a sequence of rows: read a column with .to_dict()[{name!r}] or "
            f".to_pandas()[{name!r}]"
        )

    def __iter__(self) -> Iterator[Record]:
        return iter(self._rows)

    def __reversed__(self) -> Iterator[Record]:
        return reversed(self._rows)

    def __contains__(self, record: object) -> bool:
        return bool(self._rows.find(record))

    def index(self, record: Record, start: int = 0, stop: int | None = None, /) -> int:
        """Returns the position of the first row that equals a record.

        Args:
            record: The record to find.
            start: First position to search.
            stop: Position before which the search ends; the end of the book if None.

        Raises:
            ValueError: No such row equals the record.
        """
        first, last, _ = slice(start, stop).indices(len(self))
        found = self._rows[first:last].find(record)
        if not found:
            raise ValueError("no row of the book equals that record")
        return first + found[0]

    def count(self, record: Record) -> int:
        """Returns the number of rows that equal a record.

        Args:
            record: The record to count.
        """
        return len(self._rows.find(record))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._rows == other._rows

    def __hash__(self) -> int:
        ends = (self[0], self[-1]) if len(self) else ()
        return hash((type(self).__name__, len(self), ends))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Values of the response that did not fit; a slice has the issues of its response."""
        if self._issues is None:
            self._issues = decode_issues(self._rows)
        return self._issues

    @property
    def response(self) -> Response | None:
        """The response, if this book is a complete one; ``None`` for slices, concatenations etc."""
        return self._response


@lru_cache(256)
def _no_attribute(kind: type, record: str, name: str) -> str:
    """Returns the message for an unknown name, with the closest attribute or field.

    Cached, because libraries probe for the same few names again and again.
    """
    public = [attribute for attribute in dir(kind) if not attribute.startswith("_")]
    if name not in public and closest(name, public):
        return f"{kind.__name__} has no attribute {name!r}{did_you_mean(name, public)}"
    return f"{kind.__name__} has no {name!r}: {no_field(record, name)}"
