"""Base of tables that hold Python values in typed columns: results of calculations and queries."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

from .._util.suggestions import did_you_mean
from ..display.plain_table import group
from ..display.preview import ENDS, Shown
from ..export.selection import Selection
from ..export.table_export import TableExport
from .filter import core_conditions, parse_conditions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo
    from typing import Self

    from .filter import CoreCondition

_TYPES: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (int, float),
}


class ColumnTable(TableExport):
    """A table whose columns are lists; subclasses define the columns and how to select rows."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def _take(self, rows: Sequence[int]) -> Self:
        raise NotImplementedError

    @property
    def _lists(self) -> Mapping[str, list[Any]]:
        raise NotImplementedError

    @property
    def _kinds(self) -> Mapping[str, str]:
        raise NotImplementedError

    @property
    def _title(self) -> str:
        return type(self).__name__

    @property
    def _time_zone(self) -> tzinfo | None:
        return None

    _noun = ("row", "rows")  # one and several

    def __len__(self) -> int:
        return max(map(len, self._lists.values()), default=0)

    def _heading(self) -> str:
        """Returns what a display says above the rows."""
        return f"{group(len(self))} {self._noun[len(self) != 1]}"

    def _display_columns(self) -> list[str]:
        """Returns the columns that a display shows."""
        return list(self._lists)

    def _total(self) -> dict[str, float]:
        """Returns the sums that a display shows below the rows."""
        return {}

    @property
    def _is_ranked(self) -> bool:
        """Whether the rows that matter most come first."""
        return False

    @property
    def _essential(self) -> Sequence[str]:
        """The columns that a narrow screen shows."""
        return ()

    def _shown(self, names: Sequence[str] | None = None, *, ends: int = ENDS) -> Shown:
        """Returns the table as text, with this many rows at either end.

        All selected columns are essential.
        """
        lists, kinds, best = self._lists, self._kinds, self._display_columns()
        chosen = best if names is None else names
        return Shown(
            {name: kinds[name] for name in chosen},
            len(self),
            lambda name, rows: [lists[name][row] for row in rows],
            [name for name in lists if name not in chosen],
            ends=ends,
            total={name: value for name, value in self._total().items() if name in chosen},
            tail=not self._is_ranked,
            essential=self._essential if list(chosen) == best else chosen,
        )

    def _common_day(self, names: Sequence[str]) -> str:
        """Returns the day that all times in these columns share, or empty text."""
        lists = self._lists
        days = {str(value.date()) for name in names for value in lists[name] if value is not None}
        return days.pop() if len(days) == 1 else ""

    def _selection(
        self,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> Selection:
        return Selection(
            self._title,
            self._kinds,
            self._lists,
            columns=columns,
            categories=categories,
            zone=self._time_zone,
        )

    def filter(
        self, predicate: Callable[[Any], object] | None = None, /, **conditions: Any
    ) -> Self:
        """Returns the rows that meet all conditions, in order.

        Conditions are written as for books: ``exchange="NSE"``, a set for any of its members,
        ``None`` for a missing value, ``realised__lt=0`` and likewise ``__gt``, ``__ge``, ``__le``,
        ``__ne`` and ``__between``.

        Args:
            predicate: Called with each row that meets the conditions; rows for which it returns a
                false value are left out.
            **conditions: Required values of columns.

        Returns:
            A table of the same type.

        Raises:
            TypeError: There is no such column or comparison, or a value is of a type that the
                column never has.

        Example:
            >>> pnl.filter(product="I", realised__lt=0)
        """
        unknown = partial(_no_column, self._title, self._lists)
        rows = matching_rows(self._lists, self._kinds, self._time_zone, unknown, conditions)
        if predicate is not None:
            records = list(self)
            rows = [row for row in rows if predicate(records[row])]
        return self._take(rows)


def _no_column(table: str, known: Iterable[str], name: str) -> str:
    return f"{table} has no column {name!r}{did_you_mean(name, known)}"


def matching_rows(
    lists: Mapping[str, list[Any]],
    kinds: Mapping[str, str],
    zone: tzinfo | None,
    unknown: Callable[[str], str],
    keywords: Mapping[str, Any],
) -> list[int]:
    """Returns the numbers of the rows that meet the keywords of ``filter``."""
    rows = list(range(max(map(len, lists.values()), default=0)))
    parsed = parse_conditions(lists.keys(), unknown, keywords)
    for condition in core_conditions(kinds, zone, parsed):
        rows = _rows_where(lists, kinds, condition, rows)
    return rows


def _rows_where(
    lists: Mapping[str, list[Any]],
    kinds: Mapping[str, str],
    condition: CoreCondition,
    rows: list[int],
) -> list[int]:
    """Returns the rows that meet a condition, by the same rules as the core for a book."""
    name, comparison, part, null_wanted, wanted = condition
    values = lists[name]
    types = _TYPES.get(kinds[name])
    for value in wanted:
        if types and (not isinstance(value, types) or isinstance(value, bool)):
            raise TypeError(f"{name} holds {kinds[name]}, so it cannot be compared with {value!r}")
    if comparison in ("eq", "ne"):
        among = comparison == "eq"
        return [
            row
            for row in rows
            if (null_wanted if values[row] is None else _part(values[row], part) in wanted) == among
        ]
    compare = getattr(operator, comparison)
    return [
        row
        for row in rows
        if values[row] is not None and compare(_part(values[row], part), wanted[0])
    ]


def _part(value: Any, part: str) -> Any:
    """Returns the part of a timestamp that a condition compares."""
    if part == "day":
        return value.date()
    if part == "clock":
        clock = value.time()
        seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second
        return seconds * 1_000_000 + clock.microsecond
    return value
