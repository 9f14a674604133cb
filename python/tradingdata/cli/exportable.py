"""What a command writes: a book, or a sheet of other rows, through the same few methods."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tradingdata import _core
from tradingdata._util.atomic_file import whole_file
from tradingdata._util.optional_imports import require
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
from tradingdata.export.from_columns import arrow_table
from tradingdata.export.to_excel import write_columns

if TYPE_CHECKING:
    from tradingdata.books.book import Book

Names = Sequence[str] | None  # None stands for all


class Source(Protocol):
    """Rows with names and kinds."""

    key_columns: Sequence[str]
    """The columns of a table for which none were asked."""

    unknown: Sequence[str]
    """The fields that the service's document does not know."""

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each column."""

    def __len__(self) -> int: ...

    def counted(self) -> str:
        """How many rows, in words."""

    def heading(self, day: str) -> str:
        """What a terminal shows above the table."""

    def shown(self, names: Sequence[str], ends: int) -> Shown:
        """The table, with so many rows at either end."""

    def common_day(self, names: Sequence[str]) -> str:
        """The day that all times in these columns share, or empty text."""

    def json(self, names: Names, *, extra: bool, lines: bool) -> str:
        """An array with a record per line, or an object per line."""

    def csv(self, names: Names, *, extra: bool) -> str:
        """Comma-separated values."""

    def parquet(self, path: Path, names: Names, *, extra: bool, overwrite: bool) -> None:
        """Writes a Parquet file."""

    def excel(self, path: Path, names: Names, *, extra: bool, overwrite: bool) -> None:
        """Writes a workbook."""

    def issues(self, *, lost_only: bool) -> list[str]:
        """What did not fit in the answer, a line each."""


class BookSource:
    """A book."""

    def __init__(self, book: Book[Any]) -> None:
        self._book = book
        self.key_columns: Sequence[str] = KEY_COLUMNS[book._record]
        self.unknown: Sequence[str] = book.extra_fields

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each field."""
        return {name: kind for name, kind, _, _ in _core.fields_of(self._book._record)}

    def __len__(self) -> int:
        return len(self._book)

    def counted(self) -> str:
        """How many records."""
        one, many = NOUNS[self._book._record]
        return f"{group(len(self))} {one if len(self) == 1 else many}"

    def heading(self, day: str) -> str:
        """How many records, of whom, and since when they are known."""
        return heading(self._book, day)

    def shown(self, names: Sequence[str], ends: int) -> Shown:
        """The table, with so many rows at either end."""
        return shown_book(self._book, names, ends=ends)

    def common_day(self, names: Sequence[str]) -> str:
        """The day that all times in these fields share, or empty text."""
        return common_day(self._book, names)

    def json(self, names: Names, *, extra: bool, lines: bool) -> str:
        """An array with a record per line, or an object per line."""
        return self._book.to_json(None, names, extra=extra, lines=lines)

    def csv(self, names: Names, *, extra: bool) -> str:
        """Comma-separated values."""
        return self._book.to_csv(None, names, extra=extra)

    def parquet(self, path: Path, names: Names, *, extra: bool, overwrite: bool) -> None:
        """Writes a Parquet file."""
        self._book.to_parquet(path, names, extra=extra, overwrite=overwrite)

    def excel(self, path: Path, names: Names, *, extra: bool, overwrite: bool) -> None:
        """Writes a workbook."""
        self._book.to_excel(path, names, extra=extra, overwrite=overwrite)

    def issues(self, *, lost_only: bool) -> list[str]:
        """What did not fit in the answer, a line each."""
        told = zip(issue_lines(self._book), self._book.issues, strict=True)
        return [line for line, issue in told if issue.lost or not lost_only]


class Sheet:
    """Rows that are no book: what a calculation gives, a query, a log.

    ``columns`` has the values of each column, ``kinds`` its kind, ``title`` is the heading, and
    ``noun`` says in two words what one row is and what many are.
    """

    unknown: Sequence[str] = ()

    def __init__(
        self,
        columns: dict[str, list[Any]],
        kinds: Mapping[str, str],
        *,
        title: str,
        noun: tuple[str, str],
        key_columns: Sequence[str] | None = None,
    ) -> None:
        self._columns = columns
        self._title = title
        self._noun = noun
        self.kinds = kinds
        self.key_columns: Sequence[str] = list(columns) if key_columns is None else key_columns

    def __len__(self) -> int:
        return max(map(len, self._columns.values()), default=0)

    def counted(self) -> str:
        """How many rows."""
        return f"{group(len(self))} {self._noun[len(self) != 1]}"

    def heading(self, day: str) -> str:
        """The title, with the day that all its times have in common."""
        return f"{self._title} of {day}" if day else self._title

    def shown(self, names: Sequence[str], ends: int) -> Shown:
        """The table, with so many rows at either end."""

        def values(name: str, rows: list[int]) -> list[Any]:
            return [self._columns[name][row] for row in rows]

        kinds = {name: self.kinds[name] for name in names}
        hidden = [name for name in self._columns if name not in names]
        return Shown(kinds, len(self), values, hidden, ends=ends)

    def common_day(self, names: Sequence[str]) -> str:
        """The day that all times in these columns share, or empty text."""
        times = [value for name in names for value in self._columns[name] if value is not None]
        days = {str(time.date()) for time in times}
        return days.pop() if len(days) == 1 else ""

    def json(self, names: Names, *, extra: bool, lines: bool) -> str:
        """An array with a row per line, or an object per line."""
        chosen = self._chosen(names)
        rows = zip(*chosen.values(), strict=True)
        objects = [
            json.dumps(dict(zip(chosen, row, strict=True)), ensure_ascii=False, default=str)
            for row in rows
        ]
        if lines:
            return "".join(line + "\n" for line in objects)
        return "[\n" + ",\n".join(objects) + "\n]\n" if objects else "[]\n"

    def csv(self, names: Names, *, extra: bool) -> str:
        """Comma-separated values, an empty cell for no value."""
        chosen = self._chosen(names)
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(chosen)
        writer.writerows(zip(*chosen.values(), strict=True))
        return written.getvalue()

    def parquet(self, path: Path, names: Names, *, extra: bool, overwrite: bool) -> None:
        """Writes a Parquet file, through pyarrow; the types are those of the kinds."""
        writer = require("pyarrow.parquet", "arrow", "a Parquet file")
        chosen = self._chosen(names)
        for name, values in chosen.items():
            if self.kinds[name] == "text":
                chosen[name] = [None if value is None else str(value) for value in values]
        zones = [
            value.tzinfo
            for name, values in chosen.items()
            for value in values
            if self.kinds[name] == "timestamp" and value is not None
        ]
        table = arrow_table(chosen, dict(self.kinds), next(iter(zones), None))
        with whole_file(path, overwrite=overwrite) as draft:
            writer.write_table(table, draft, compression="zstd")

    def excel(self, path: Path, names: Names, *, extra: bool, overwrite: bool) -> None:
        """Writes a workbook, its one sheet named after the rows."""
        chosen = self._chosen(names)
        write_columns(chosen, self.kinds, path, sheet=self._noun[1], overwrite=overwrite)

    def issues(self, *, lost_only: bool) -> list[str]:
        """None: these rows are no answer of the service."""
        return []

    def _chosen(self, names: Names) -> dict[str, list[Any]]:
        return {name: self._columns[name] for name in (self._columns if names is None else names)}
