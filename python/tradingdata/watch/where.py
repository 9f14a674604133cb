"""Restricts what a watch reports to some records, in the terms of ``filter`` of a book."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..books.book import OrderBook, TradeBook

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..books.diff import OrderChange
    from ..table.rows import Order, Trade

Record = TypeVar("Record", "Order", "Trade")


class Where(Generic[Record]):
    """Conditions on the records of a book.

    Args:
        kind: The type of the book.
        where: Keywords of ``filter`` as a mapping, or a function of a record; None for all.

    Raises:
        TypeError: ``where`` is neither, or names a field or comparison that does not exist.
    """

    def __init__(
        self,
        kind: type[OrderBook | TradeBook],
        where: Mapping[str, Any] | Callable[[Record], object] | None,
    ) -> None:
        if where is not None and not callable(where) and not hasattr(where, "keys"):
            raise TypeError(
                "where= takes a dict of conditions as filter() does, such as "
                f"{{'symbol': 'INFY'}}, or a function, not {type(where).__name__}"
            )
        self._kind: Any = kind
        self._where: Mapping[str, Any] | Callable[[Record], object] | None = where
        self._matching([])  # reports a wrong name before the first request

    def of(self, records: Sequence[Record]) -> tuple[Record, ...]:
        """Returns the records that match."""
        if self._where is None:
            return tuple(records)
        matching = self._matching(records)
        return tuple(record for record in records if record in matching)

    def changes(self, changes: Sequence[OrderChange]) -> tuple[OrderChange, ...]:
        """Returns the changes of orders that match before or after the change."""
        if self._where is None:
            return tuple(changes)
        states: list[Any] = [
            state for change in changes for state in (change.order, change.previous)
        ]
        matching = self._matching([state for state in states if state is not None])
        return tuple(
            change for change in changes if change.order in matching or change.previous in matching
        )

    def _matching(self, records: Sequence[Any]) -> Collection[Any]:
        book = self._kind(records)
        if callable(self._where):
            return set(book.filter(self._where))
        return set(book.filter(**(self._where or {})))
