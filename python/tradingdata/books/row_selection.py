"""Rows of a book chosen by their values, and sorted."""

from __future__ import annotations

from functools import partial

from .. import _core
from .._util.suggestions import no_field
from ..export.book_selection import checked_columns
from .records import Order, Stock, Trade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ClassVar, Generic, Self, TypeVar

    from .._core import Table
    from .filter import Condition

    Record = TypeVar("Record", bound=Trade | Order | Stock)

    class _Of(Generic[Record]):
        pass
else:

    class _Of:
        """Stands in for typing.Generic, whose import alone takes longer than all of this one."""

        __slots__ = ()

        def __class_getitem__(cls, record):
            return cls

    Record = None


class RowSelection(_Of[Record]):
    """What a book offers to choose rows; each result is a book."""

    __slots__ = ()

    if TYPE_CHECKING:
        _record: ClassVar[str]
        _table: Table
        _start: int
        _stop: int
        _filtered: tuple[Self, list[Condition]] | None  # of an empty result: from what, and how

        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Record]: ...
        def _part(self, table: Table, start: int = 0, stop: int | None = None) -> Self: ...

    def filter(
        self, predicate: Callable[[Record], object] | None = None, /, **conditions: Any
    ) -> Self:
        """Returns the rows that meet all conditions, in order.

        A condition is a keyword: ``symbol="INFY"`` is equality, a set stands for any of its members
        and ``None`` for no value. ``field__gt=`` compares, likewise ``__ge``, ``__lt``, ``__le``
        and ``__ne``; ``field__between=(low, high)`` includes both ends. A missing value is neither
        greater nor less than anything. A timestamp is compared with a datetime, with a date (that
        day) or with a time (of any day). For anything else there is a function of the row.

        Where nothing matches, ``notes`` of the empty result says which values there are.

        Args:
            predicate: Called with each row that meets the conditions; it stays if that is true.
            conditions: What the fields must be.

        Raises:
            TypeError: The record has no such field, there is no such comparison, or a value is of
                a type that the field never has.
            ValueError: A number is not finite or cannot be held exactly.

        Example:
            >>> trades.filter(symbol={"INFY", "TCS"}, quantity__ge=100)
            >>> trades.filter(expiry_date__ne=None, exch_trade_time__lt=time(10, 0))
            >>> trades.filter(lambda trade: trade.quantity % trade.lot_size)
        """
        from .filter import parse_conditions

        found = self
        if conditions:
            names, unknown = _core.names_of(self._record), partial(no_field, self._record)
            found = self._where(parse_conditions(names, unknown, conditions))
        if predicate is None:
            return found
        rows = [row for row, record in enumerate(found, found._start) if predicate(record)]
        return found._part(found._table.take(rows))

    def _where(self, conditions: list[Condition]) -> Self:
        from .filter import core_conditions

        kinds = {name: kind for name, kind, _, _ in _core.fields_of(self._record)}
        checked = core_conditions(kinds, self._table.zone, conditions)
        part = self._part(self._table.where(self._start, self._stop, checked))
        if not len(part):
            part._filtered = (self, conditions) if len(self) else self._filtered
        return part

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a filter matched nothing: by field, the values that there are.

        Empty for a book with rows. A book with notes keeps the storage of the book that was
        filtered.
        """
        if self._filtered is None:
            return ()
        from .match_notes import match_notes

        return match_notes(*self._filtered)

    def sort(self, *fields: str, reverse: bool = False) -> Self:
        """Returns the rows sorted by one field or by several, the first one first.

        The sort is stable, and rows without a value are last in either direction. Text is compared
        by code points, times by their clock time.

        Args:
            fields: Wire names.
            reverse: Whether the largest values come first.

        Raises:
            KeyError: The record has no such field.
            ValueError: A field is named twice.
            TypeError: No field is given.
        """
        if not fields:
            raise TypeError("sort takes at least one field: sort('traded_price')")
        return self._sorted([(name, reverse) for name in fields])

    def _sorted(self, keys: list[tuple[str, bool]]) -> Self:
        checked_columns(self._record, [name for name, _ in keys])
        return self._part(self._table.sorted(self._start, self._stop, keys))


def no_column(book: RowSelection[Any], name: str) -> str:
    """Returns the message for a book that is read as if it were a data frame."""
    kind = type(book).__name__
    if name.startswith("_"):
        return f"{kind} has no attribute {name!r}"
    if name not in checked_columns(book._record, None):
        return f"{kind} has no {name!r}: {no_field(book._record, name)}"
    return (
        f"a {kind} is a sequence of rows: read a column with .to_dict()[{name!r}] or "
        f".to_pandas()[{name!r}]"
    )
