"""Writes rows to the terminal, a pipe or a file, in the selected format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from tradingdata import _core
from tradingdata._util.files import target_of, whole_file
from tradingdata.books.book import Book
from tradingdata.display.text import (
    ENDS,
    Layout,
    Shown,
    aligned,
    book_heading,
    counted,
    for_a_file,
    issue_lines,
    printable,
    set_fields,
    tone_of,
    wrapped,
)
from tradingdata.table.table import Table

from .errors import UsageError
from .options import BookOutput, Filter, Format, Output, RowChoice, chosen_columns
from .terminal import remark, screen, write_out

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from tradingdata.analysis.result_table import ResultTable


_STDOUT = Path("-")
_SUFFIXES = {suffix: format for format in Format for suffix in format.suffixes}
_AROUND = 8  # lines of a screen that are not rows: heading, names, remarks, prompt
_MOST_ISSUES = 5
_TONE_STYLES = {"error": "red", "pending": "yellow", "success": "green", "": ""}


class Destination:
    """Destination of a command's rows, validated before any request.

    ``columns`` are the selected ones, None if none were selected; ``extra`` includes the fields
    that the service does not document; ``choice`` selects rows of a book.
    """

    def __init__(
        self,
        output: Output,
        *,
        columns: list[str] | None = None,
        extra: bool = False,
        choice: RowChoice | None = None,
    ) -> None:
        self._columns = columns
        self._extra = extra
        self._choice = choice
        self._path = None if output.output in (None, _STDOUT) else output.output
        self._force = output.force
        if self._path is not None:
            target_of(self._path, overwrite=self._force)  # raises before any request
        self._format = output.format or _format_of(self._path)
        if self._path is None and self._format.is_binary and screen() is not None:
            raise UsageError(
                f"{self._format.value} is binary: write a file with -o FILE.{self._format.value}"
            )
        if self._format is Format.XLSX and self._path and self._path.suffix.lower() != ".xlsx":
            raise UsageError(f"-o {self._path.name}: a workbook's name ends in .xlsx")

    @property
    def _as_table(self) -> bool:
        """Whether the output is a table with default columns."""
        return self._path is None and self._format is Format.TABLE and self._columns is None

    def take(self, table: Any) -> None:
        """Writes the selected rows, and reports the issues of their response."""
        if self._choice is not None:
            table = self._choice.apply(table)
        console = screen() if self._path is None and self._format is Format.TABLE else None
        if console is not None:
            names = self._names(table) or []
            print_rows(console, table, names, asked=self._columns is not None)
            for line in issue_texts(table, lost_only=False):
                console.print(line, style="yellow")
        else:
            self._write(table)
            if _is_result(table):
                remark(heading(table))  # names the day, and what no sum includes
            for line in issue_texts(table, lost_only=True):
                remark(line, "yellow")

    def take_one(self, book: Book[Any]) -> None:
        """Writes a book of one record: field by field if it is a table, else as any book."""
        if self._as_table:
            write_lines(("field", "value"), [field[:2] for field in set_fields(book[0])])
        else:
            self.take(book)

    def _write(self, table: Table[Any]) -> None:
        """Writes the rows to the file, or else to standard output."""
        if self._path is None:
            write_out(self._content(table))
            hidden = len(table._kinds) - len(table._view_of_rows().columns)
            if self._as_table and hidden:
                remark(f"+{counted(hidden, 'more column')}: --columns")
            return
        with (
            for_a_file(),
            whole_file(self._path, overwrite=self._force) as draft,
            open(draft, "wb") as file,
        ):
            file.write(self._content(table))
        remark(f"wrote {counted(len(table), table._view.noun)} to {self._path}")

    def _content(self, table: Table[Any]) -> bytes:
        """Returns the rows in the format."""
        names, extra = self._names(table), self._extra
        match self._format:
            case Format.TABLE:
                return plain_rows(table, names or []).encode()
            case Format.CSV:
                return table.to_csv(None, names, extra=extra).encode()
            case Format.JSON:
                return table.to_json(None, names, extra=extra).encode()
            case Format.NDJSON:
                return table.to_json(None, names, extra=extra, lines=True).encode()
            case Format.PARQUET:
                return _through_file(table.to_parquet, names, extra, ".parquet")
            case Format.XLSX:
                return _through_file(table.to_excel, names, extra, ".xlsx")

    def _names(self, table: Table[Any]) -> list[str] | None:
        """Returns the selected columns, the key columns of a table, or None for all."""
        if self._format is not Format.TABLE:
            return self._columns
        names = self._columns
        if names is None:
            names = list(table._view_of_rows().columns)
        return [*names, *getattr(table, "extra_fields", ())] if self._extra else names


def _through_file(
    export: Callable[..., object], names: list[str] | None, extra: bool, suffix: str
) -> bytes:
    """Returns what an export writes that can only write files."""
    from tempfile import TemporaryDirectory  # takes 3 ms to import

    with TemporaryDirectory() as folder:
        path = Path(folder, f"book{suffix}")
        export(path, names, extra=extra)
        return path.read_bytes()


def book_destination(record: str, output: BookOutput, only: Filter | None = None) -> Destination:
    """Returns the destination of a book, of which options may select rows."""
    choice = RowChoice(record, Filter() if only is None else only)
    chosen = chosen_columns(f"{record.lower()}s", _core.names_of(record), output.columns)
    return Destination(output, columns=chosen, extra=output.extra, choice=choice)


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


def write_lines(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Writes a short list to standard output: aligned text, and nothing where a cell is None."""
    texts = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    write_out(aligned(names, texts, [False] * len(names)).encode() + b"\n")


def heading(table: Table[Any], day: str = "") -> str:
    """Returns the line above a table; ``day`` is the common day of its times, if any."""
    if isinstance(table, Book):
        return book_heading(table, table._accounts(), day)
    title = table._heading()
    return f"{title} of {day}" if day else title


def plain_rows(table: Table[Any], names: Sequence[str]) -> str:
    """Returns the complete table as text: every row and the total, without truncated cells."""
    shown = Shown(table, names, ends=len(table))
    rows = [row[1] for row in shown.rows if row is not None]
    rows += [shown.total] if shown.total else []
    return aligned(shown.names, rows, shown.right) + "\n"


def print_rows(console: Console, table: Table[Any], names: Sequence[str], *, asked: bool) -> None:
    """Prints the part of the table that fits the terminal, and what it omits."""
    if not len(table):
        console.print(wrapped(heading(table), console.width), style="bold")
        return
    shown = Shown(table, names, ends=max(ENDS, (console.height - _AROUND) // 2))
    day = shown.without_common_day(table)
    console.print(wrapped(heading(table, day), console.width), style="bold")
    layout = Layout(shown, console.width)
    console.print(fitting_table(layout, shown))
    # In a pipe, the output has every row and every requested column.
    hidden = len(layout.missing) + (0 if asked else len(shown.hidden))
    more = "--columns" if shown.hidden and not asked else "in a pipe"
    notes = [f"+{counted(hidden, 'more column')}: {more}"] if hidden else []
    notes += ["all rows: in a pipe"] if shown.skipped else []
    if notes:
        console.print("; ".join(notes), style="dim", soft_wrap=True)


def _is_result(table: Table[Any]) -> TypeGuard[ResultTable[Any]]:
    """Returns whether a table is the result of a calculation; books need no such import."""
    if isinstance(table, Book):
        return False
    from tradingdata.analysis.result_table import ResultTable

    return isinstance(table, ResultTable)


def issue_texts(table: Table[Any], *, lost_only: bool) -> list[str]:
    """Returns lines about the issues of the response, or all of those of a result."""
    if _is_result(table):
        lines = [f"issue: {issue.problem}: {issue.detail}" for issue in table.issues]
    else:
        issues = zip(issue_lines(table), getattr(table, "issues", ()), strict=True)
        lines = [f"issue: {line}" for line, issue in issues if issue.lost or not lost_only]
    more = len(lines) - _MOST_ISSUES
    return [*lines[:_MOST_ISSUES], *([f"+{counted(more, 'more issue')}"] if more > 0 else [])]


def fitting_table(
    layout: Layout, shown: Shown, styles: Mapping[int, str] | None = None
) -> RichTable:
    """Returns the rows of a layout as a rich table; ``styles`` are those of rows."""
    from rich.table import Table as RichTable
    from rich.text import Text

    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold cyan")
    for name, right in zip(layout.names, layout.right, strict=True):
        table.add_column(
            Text(name), justify="right" if right else "left", no_wrap=True, overflow="ellipsis"
        )
    for number, cells in layout.rows:
        tones = map(tone_style, layout.names, cells)
        style = "dim" if number is None else (styles or {}).get(number)
        table.add_row(*map(Text, cells, tones), style=style)
    if layout.total:
        table.add_row(*map(Text, layout.total), style="bold")
    return table


def tone_style(name: str, text: str | None) -> str:
    """Returns the style of a cell of this column: the colour of a status, or none."""
    return _TONE_STYLES[tone_of(name, text)]
