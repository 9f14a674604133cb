"""Where a book goes: the terminal, a pipe or a file, in the format that was asked for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradingdata._tables import group
from tradingdata.shown import KEY_COLUMNS, NOUNS

from .choosing import chosen_columns, conditions
from .codes import UsageError
from .formats import BINARY, SUFFIXES, as_text, write_file
from .layout import print_book, print_issues, record_text
from .options import Columns, Filter, Format, Output
from .terminal import remark, screen, write_out

if TYPE_CHECKING:
    from tradingdata.books import Book

_STDOUT = Path("-")


class Destination:
    """Where a command's book is to go; made before any request, so that a mistake costs none."""

    def __init__(
        self, record: str, output: Output, columns: Columns, rows: Filter | None = None
    ) -> None:
        self._columns = chosen_columns(record, columns.columns)
        self._conditions = conditions(record, rows.where or ()) if rows is not None else {}
        self._extra = columns.extra
        self._rows = output.rows
        if output.rows is not None and output.rows < 0:
            raise UsageError("--rows is 0 or more, and 0 shows all")
        self._path = None if output.output in (None, _STDOUT) else output.output
        self._force = output.force
        if self._path is not None:
            self._refuse_to_overwrite(self._path)
        self._format = output.format or _format_of(self._path)
        if self._path is None and self._format in BINARY and screen() is not None:
            raise UsageError(
                f"{self._format.value} is no text for a terminal: add -o FILE.{self._format.value}"
            )
        if self._format is Format.XLSX and self._path is not None:
            _expect_suffix(self._path, ".xlsx")

    def take(self, book: Book[Any]) -> None:
        """Writes the rows that were asked for, and tells what did not fit in the answer."""
        if self._conditions:
            book = book.filter(**self._conditions)
        if self._path is not None:
            self._write(self._path, book)
        elif self._format in BINARY:
            self._stream(book)
        elif self._format is Format.TABLE:
            self._show(book)
        else:
            self._print(book)

    def take_one(self, book: Book[Any]) -> None:
        """Writes a book of one record: as a table field by field, else as any book."""
        if self._path is not None or self._format is not Format.TABLE or self._columns is not None:
            self.take(book)
        else:
            write_out(record_text(book[0]).encode())

    def _show(self, book: Book[Any]) -> None:
        console = screen()
        if console is None:
            self._print(book)
            return
        asked = self._columns is not None
        print_book(console, book, self._names(book), asked=asked, rows=self._rows)
        print_issues(book, lambda text, style: console.print(text, style=style), lost_only=False)

    def _print(self, book: Book[Any]) -> None:
        text = as_text(book, self._format, self._names(book), extra=self._extra)
        write_out(text.encode())
        if self._format is Format.TABLE and self._columns is None:
            hidden = len(book.columns) - len(KEY_COLUMNS[book._record])
            remark(f"+{hidden} more columns: --columns")
        print_issues(book, remark, lost_only=True)

    def _write(self, path: Path, book: Book[Any]) -> None:
        try:
            self._write_file(path, book, overwrite=self._force)
        except FileExistsError:
            raise _taken(path) from None
        one, many = NOUNS[book._record]
        remark(f"wrote {group(len(book))} {one if len(book) == 1 else many} to {path}")
        print_issues(book, remark, lost_only=True)

    def _stream(self, book: Book[Any]) -> None:
        """Writes what libraries write to files only to standard output."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"book.{self._format.value}")
            self._write_file(path, book, overwrite=False)
            write_out(path.read_bytes())
        print_issues(book, remark, lost_only=True)

    def _write_file(self, path: Path, book: Book[Any], *, overwrite: bool) -> None:
        names = self._names(book)
        write_file(book, path, self._format, names, extra=self._extra, overwrite=overwrite)

    def _names(self, book: Book[Any]) -> list[str] | None:
        """The columns: those that were asked for, the key ones of a table, else all."""
        if self._format is not Format.TABLE:
            return self._columns
        names = KEY_COLUMNS[book._record] if self._columns is None else self._columns
        return [*names, *book.extra_fields] if self._extra else names

    def _refuse_to_overwrite(self, path: Path) -> None:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file in it")
        if path.is_symlink() or path.exists():
            if not self._force:
                raise _taken(path)
        elif not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent}: make it first")


def _taken(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} is there already: --force replaces it")


def _format_of(path: Path | None) -> Format:
    if path is None:
        return Format.TABLE
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise UsageError(
            f"-o {path.name}: the name does not say which format; end it in one of {known}, or add "
            "--format"
        )
    return SUFFIXES[suffix]


def _expect_suffix(path: Path, suffix: str) -> None:
    if path.suffix.lower() != suffix:
        raise UsageError(f"-o {path.name}: a workbook's name ends in {suffix}")
