"""Writes rows to the terminal, a pipe or a file, in the selected format."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradingdata import _core
from tradingdata._util.atomic_file import whole_file
from tradingdata.display.preview import NOUNS

from .exit_codes import UsageError
from .exportable import Table
from .filter_args import RowChoice, chosen_columns
from .options import Columns, Filter, Format, Output
from .tables import counted, plain_rows, print_issues, print_rows, record_text
from .terminal import remark, screen, write_out

if TYPE_CHECKING:
    from tradingdata.books.book import Book

_STDOUT = Path("-")
_BINARY = {Format.PARQUET, Format.XLSX}
_SUFFIXES = {
    ".csv": Format.CSV,
    ".json": Format.JSON,
    ".ndjson": Format.NDJSON,
    ".jsonl": Format.NDJSON,
    ".parquet": Format.PARQUET,
    ".xlsx": Format.XLSX,
}


class Destination:
    """Destination of a command's rows, validated before any request.

    ``columns`` are the selected ones, None if none were selected; ``extra`` includes the fields
    that the service does not document.
    """

    def __init__(
        self, output: Output, *, columns: list[str] | None = None, extra: bool = False
    ) -> None:
        self._columns = columns
        self._extra = extra
        self._rows = output.rows
        if output.rows is not None and output.rows < 0:
            raise UsageError("--rows is 0 or more, and 0 shows all")
        self._path = None if output.output in (None, _STDOUT) else output.output
        self._force = output.force
        if self._path is not None:
            self._refuse_to_overwrite(self._path)
        self._format = output.format or _format_of(self._path)
        if self._path is None and self._format in _BINARY and screen() is not None:
            raise UsageError(
                f"{self._format.value} is binary: write a file with -o FILE.{self._format.value}"
            )
        if self._format is Format.XLSX and self._path is not None:
            _expect_suffix(self._path, ".xlsx")

    @property
    def as_table(self) -> bool:
        """Whether the output is a table with default columns."""
        return self._path is None and self._format is Format.TABLE and self._columns is None

    def take(self, table: Table) -> None:
        """Writes the rows and reports the issues of their response."""
        console = screen()
        if self._path is not None:
            self._write(self._path, table)
        elif self._format in _BINARY:
            self._stream(table)
        elif self._format is Format.TABLE and console is not None:
            asked = self._columns is not None
            names = self._names(table) or []
            print_rows(console, table, names, asked=asked, rows=self._rows)
            tell = partial(console.print, markup=False)
            print_issues(table, lambda text, style: tell(text, style=style), lost_only=False)
        else:
            self._print(table)

    def _print(self, table: Table) -> None:
        write_out(self._text(table).encode())
        hidden = len(table._kinds) - len(table._display_columns())
        if self.as_table and hidden:
            remark(f"+{hidden} more columns: --columns")
        print_issues(table, remark, lost_only=True)

    def _write(self, path: Path, table: Table) -> None:
        try:
            self._write_file(path, table, overwrite=self._force)
        except FileExistsError:
            raise _taken(path) from None
        except OSError as error:
            if error.strerror is None:
                raise
            # The original error names the temporary file.
            raise OSError(error.errno, error.strerror, str(path)) from None
        remark(f"wrote {counted(table)} to {path}")
        print_issues(table, remark, lost_only=True)

    def _stream(self, table: Table) -> None:
        """Writes a format to standard output that libraries can only write to files."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"book.{self._format.value}")
            self._write_file(path, table, overwrite=False)
            write_out(path.read_bytes())
        print_issues(table, remark, lost_only=True)

    def _write_file(self, path: Path, table: Table, *, overwrite: bool) -> None:
        """Writes the rows to a file atomically."""
        names, extra = self._names(table), self._extra
        if self._format is Format.PARQUET:
            table.to_parquet(path, names, extra=extra, overwrite=overwrite)
        elif self._format is Format.XLSX:
            table.to_excel(path, names, extra=extra, overwrite=overwrite)
        else:
            with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
                file.write(self._text(table).encode())

    def _text(self, table: Table) -> str:
        """Returns the rows in a text format."""
        names, extra = self._names(table), self._extra
        if self._format is Format.TABLE:
            return plain_rows(table, names or [])
        if self._format is Format.CSV:
            return table.to_csv(None, names, extra=extra)
        return table.to_json(None, names, extra=extra, lines=self._format is Format.NDJSON)

    def _names(self, table: Table) -> list[str] | None:
        """Returns the selected columns, the key columns of a table, or None for all."""
        if self._format is not Format.TABLE:
            return self._columns
        names = list(table._display_columns()) if self._columns is None else self._columns
        return [*names, *getattr(table, "extra_fields", ())] if self._extra else names

    def _refuse_to_overwrite(self, path: Path) -> None:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: name a file in it")
        if path.exists() and not path.is_file():
            raise FileExistsError(f"{path} is not a regular file: write to it with > {path}")
        if path.is_symlink() or path.exists():
            if not self._force:
                raise _taken(path)
        elif not path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent}: create it first")


class BookDestination:
    """Destination of a book, of which options may select rows."""

    def __init__(
        self, record: str, output: Output, columns: Columns, only: Filter | None = None
    ) -> None:
        self._rows = RowChoice(record, Filter() if only is None else only)
        chosen = chosen_columns(f"{record.lower()}s", _core.names_of(record), columns.columns)
        self._destination = Destination(output, columns=chosen, extra=columns.extra)

    def take(self, book: Book[Any]) -> None:
        """Writes the selected rows and reports the issues of the response."""
        part = self._rows.rows_of(book)
        self._destination.take(part)
        remark_notes(part)

    def take_one(self, book: Book[Any]) -> None:
        """Writes a book of one record: field by field if it is a table, else as any book."""
        if self._destination.as_table:
            write_out(record_text(book[0]).encode())
        else:
            self.take(book)


def remark_notes(book: Book[Any]) -> None:
    """Explains on standard error why the filter matched nothing."""
    for note in book.notes:
        remark(f"no {NOUNS[book._record][0]} matches: {note}", "yellow")


def _taken(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} already exists: --force replaces it")


def _format_of(path: Path | None) -> Format:
    if path is None:
        return Format.TABLE
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        raise UsageError(
            f"-o {path.name}: the name does not say which format; end it in one of {known}, or add "
            "--format"
        )
    return _SUFFIXES[suffix]


def _expect_suffix(path: Path, suffix: str) -> None:
    if path.suffix.lower() != suffix:
        raise UsageError(f"-o {path.name}: a workbook's name ends in {suffix}")
