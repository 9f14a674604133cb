"""Tables that commands write, and those that they make themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tradingdata.books.book import Book
from tradingdata.books.column_table import ColumnTable

if TYPE_CHECKING:
    from datetime import tzinfo

Table = Book[Any] | ColumnTable


class ListTable(ColumnTable):
    """A table made of dicts by a command.

    ``noun`` is the singular and the plural of a row, ``title`` the heading unless that is the
    number of rows, and the ``essential`` columns fit any screen.
    """

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]],
        kinds: Mapping[str, str],
        noun: tuple[str, str],
        *,
        title: str = "",
        essential: Sequence[str] = (),
    ) -> None:
        self._given = {name: [row[name] for row in rows] for name in kinds}, kinds, essential
        self._noun = noun
        self._heading_given = title

    @property
    def _lists(self) -> Mapping[str, list[Any]]:
        return self._given[0]

    @property
    def _kinds(self) -> Mapping[str, str]:
        return self._given[1]

    @property
    def _essential(self) -> Sequence[str]:
        return self._given[2]

    @property
    def _title(self) -> str:
        return self._noun[1]

    def _heading(self) -> str:
        return self._heading_given or super()._heading()

    @property
    def _time_zone(self) -> tzinfo | None:
        """The zone of the first time; a table has one."""
        times = [name for name, kind in self._kinds.items() if kind == "timestamp"]
        known = (time for name in times for time in self._lists[name] if time is not None)
        return next((time.tzinfo for time in known), None)
