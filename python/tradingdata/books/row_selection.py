"""Filtering and sorting of books; the core does both over columns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .. import _core
from .._util.suggestions import no_field
from ..export.book_selection import checked_columns
from .filter import matching, parse_conditions
from .sequence import Record, RecordSequence

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from .filter import Condition


class RowSelection(RecordSequence[Record]):
    """The methods of a book that filter and sort; each returns a book."""

    __slots__ = ()

    def filter(
        self, predicate: Callable[[Record], object] | None = None, /, **conditions: Any
    ) -> Self:
        """Returns the rows that meet all conditions, in order.

        A condition is a keyword: ``symbol="INFY"`` tests equality, a set matches any of its members
        and ``None`` a missing value. ``field__gt=`` compares, likewise ``__ge``, ``__lt``, ``__le``
        and ``__ne``; ``field__between=(low, high)`` includes both ends. A missing value is neither
        greater nor less than any other. A timestamp can be compared with a datetime, a date (that
        day) or a time (on any day). A function of the row expresses everything else.

        If nothing matches, ``notes`` of the empty result lists the values that exist.

        Args:
            predicate: Called with each row that meets the conditions; rows for which it returns a
                false value are left out.
            **conditions: Required values of fields.

        Returns:
            A book of the matching rows.

        Raises:
            TypeError: The record has no such field, there is no such comparison, or a value is of
                a type that the field never has.
            ValueError: A number is not finite or cannot be held exactly.

        Example:
            >>> trades.filter(symbol={"INFY", "TCS"}, quantity__ge=100)
            >>> trades.filter(expiry_date__ne=None, exch_trade_time__lt=time(10, 0))
            >>> trades.filter(lambda trade: trade.quantity % trade.lot_size)
        """
        found = self
        if conditions:
            names, unknown = _core.names_of(self._record), partial(no_field, self._record)
            found = self._where(parse_conditions(names, unknown, conditions))
        if predicate is None:
            return found
        rows = [row for row, record in enumerate(found) if predicate(record)]
        return found._part(found._rows.take(rows))

    def _where(self, conditions: list[Condition]) -> Self:
        part = self._part(matching(self._rows, conditions))
        if not len(part):
            part._filtered = (self._rows, conditions) if len(self) else self._filtered
        return part

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a filter matched nothing: for each field, the values that exist.

        Empty for a book with rows. A book with notes keeps the filtered book alive.
        """
        if self._filtered is None:
            return ()
        from .match_notes import match_notes

        return match_notes(*self._filtered)

    def sort(self, *fields: str, reverse: bool = False) -> Self:
        """Returns the rows sorted by one or more fields.

        The sort is stable, and rows without a value are last in either direction. Text is compared
        by code points, and times by their clock time.

        Args:
            *fields: Wire names, the primary key first. A minus sign before a name sorts by this
                field in descending order.
            reverse: Whether to reverse the order of all fields.

        Returns:
            A sorted book.

        Raises:
            KeyError: The record has no such field.
            ValueError: A field is named twice.
            TypeError: No field is given.

        Example:
            >>> trades.sort("symbol", "-traded_price")
        """
        if not fields:
            raise TypeError("sort takes at least one field: sort('traded_price')")
        keys = [(field.removeprefix("-"), field.startswith("-") != reverse) for field in fields]
        return self._sorted(keys)

    def _sorted(self, keys: list[tuple[str, bool]]) -> Self:
        checked_columns(self._record, [name for name, _ in keys])
        return self._part(self._rows.sorted(keys))
