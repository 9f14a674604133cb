"""Tables that commands write: their rows, and their heading and notes on a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tradingdata import _core
from tradingdata.books.column_table import ColumnTable
from tradingdata.display.plain_table import group
from tradingdata.display.preview import (
    KEY_COLUMNS,
    NOUNS,
    Shown,
    common_day,
    heading,
    issue_lines,
    shown_book,
)

if TYPE_CHECKING:
    from datetime import tzinfo

    from tradingdata.books.book import Book
    from tradingdata.export.table_export import TableExport


class Source:
    """A table with its heading and notes.

    Attributes:
        table: The rows.
        kinds: The kind of each column.
        key_columns: The columns to show if none are selected.
        unknown: Fields that the service does not document.
    """

    def __init__(
        self,
        table: TableExport,
        kinds: Mapping[str, str],
        *,
        noun: tuple[str, str],
        key_columns: Sequence[str],
        unknown: Sequence[str] = (),
    ) -> None:
        self.table = table
        self.kinds = kinds
        self.key_columns = key_columns
        self.unknown = unknown
        self._noun = noun

    def __len__(self) -> int:
        raise NotImplementedError

    def counted(self) -> str:
        """Returns the number of rows with a noun, such as ``1 order``."""
        return f"{group(len(self))} {self._noun[len(self) != 1]}"

    def heading(self, day: str) -> str:
        """Returns the line above the table; ``day`` is the common day of its times, if any."""
        raise NotImplementedError

    def shown(self, names: Sequence[str], ends: int) -> Shown:
        """Returns the table with this many rows at either end."""
        raise NotImplementedError

    def common_day(self, names: Sequence[str]) -> str:
        """Returns the day that all times in these columns share, or empty text."""
        raise NotImplementedError

    def issues(self, *, lost_only: bool) -> list[str]:
        """Returns a line for each value of the response that did not fit."""
        return []


class BookSource(Source):
    """A book."""

    def __init__(self, book: Book[Any]) -> None:
        self._book = book
        super().__init__(
            book,
            {name: kind for name, kind, _, _ in _core.fields_of(book._record)},
            noun=NOUNS[book._record],
            key_columns=KEY_COLUMNS[book._record],
            unknown=book.extra_fields,
        )

    def __len__(self) -> int:
        return len(self._book)

    def heading(self, day: str) -> str:
        """Returns the number of records, the account, and the time received."""
        return heading(self._book, day)

    def shown(self, names: Sequence[str], ends: int) -> Shown:
        """Returns the table with this many rows at either end."""
        return shown_book(self._book, names, ends=ends)

    def common_day(self, names: Sequence[str]) -> str:
        """Returns the day that all times in these fields share, or empty text."""
        return common_day(self._book, names)

    def issues(self, *, lost_only: bool) -> list[str]:
        """Returns a line for each value of the response that did not fit."""
        lines = zip(issue_lines(self._book), self._book.issues, strict=True)
        return [line for line, issue in lines if issue.lost or not lost_only]


class Sheet(Source):
    """A table other than a book: the result of a calculation or a query, or a log."""

    def __init__(self, table: ColumnTable) -> None:
        self._columns = table
        names = table._display_columns()
        super().__init__(table, table._kinds, noun=table._noun, key_columns=names)

    def __len__(self) -> int:
        return len(self._columns)

    def heading(self, day: str) -> str:
        """Returns the table's own heading, with the common day of the times."""
        title = re.sub(r" \(see \.\w+\)", "", self._columns._heading())  # attributes, in Python
        return f"{title} of {day}" if day else title

    def shown(self, names: Sequence[str], ends: int) -> Shown:
        """Returns the table with this many rows at either end."""
        return self._columns._shown(names, ends=ends)

    def common_day(self, names: Sequence[str]) -> str:
        """Returns the day that all times in these columns share, or empty text."""
        lists = self._columns._lists
        days = {str(value.date()) for name in names for value in lists[name] if value is not None}
        return days.pop() if len(days) == 1 else ""


class ListTable(ColumnTable):
    """A table made of lists by a command.

    ``noun`` says in two words what one row is and what several are, ``title`` what stands above
    them unless their count does, and the ``essential`` columns fit any screen.
    """

    def __init__(
        self,
        columns: Mapping[str, list[Any]],
        kinds: Mapping[str, str],
        noun: tuple[str, str],
        *,
        title: str = "",
        essential: Sequence[str] = (),
    ) -> None:
        self._given = columns, kinds, title, essential
        self._noun = noun

    @property
    def _lists(self) -> Mapping[str, list[Any]]:
        return self._given[0]

    @property
    def _kinds(self) -> Mapping[str, str]:
        return self._given[1]

    @property
    def _title(self) -> str:
        return self._noun[1]

    def _heading(self) -> str:
        return self._given[2] or super()._heading()

    @property
    def _essential(self) -> Sequence[str]:
        return self._given[3]

    @cached_property
    def _time_zone(self) -> tzinfo | None:
        """The zone of the first time; a table has one."""
        times = (
            value
            for name, kind in self._kinds.items()
            if kind == "timestamp"
            for value in self._lists[name]
        )
        return next((time.tzinfo for time in times if time is not None), None)
