"""Writes rows to the terminal, a pipe or a file, in the selected format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from tradingdata import _core
from tradingdata._util.files import target_of, whole_file
from tradingdata.books.book import Book
from tradingdata.display import text as display
from tradingdata.display.text import Layout, Shown, aligned, counted, printable

from . import terminal
from .errors import DataError, UsageError
from .parameters import FORMATS, Given, RowChoice, chosen_columns
from .terminal import Screen, remark, write_out

if TYPE_CHECKING:
    from tradingdata.table.table import Table

_AROUND = 9  # lines of a screen that are not rows: heading, names, remarks, prompt
_MOST_ISSUES = 5


class Destination:
    """Destination of a command's rows, validated before any request.

    ``columns`` are the selected ones, None if none were selected; ``choice`` selects rows of a
    book.
    """

    def __init__(
        self, given: Given, columns: list[str] | None = None, choice: RowChoice | None = None
    ) -> None:
        self._columns, self._choice = columns, choice
        self._extra, self._force = given.get("extra", False), given["force"]
        self._path: Path | None = None if given["output"] == Path("-") else given["output"]
        if self._path is not None:
            target_of(self._path, overwrite=self._force)  # raises before any request
        suffix = "table" if self._path is None else self._path.suffix.lower()[1:]
        name: str = given["format"] or suffix
        if name not in FORMATS or (name == "table" and self._path and not given["format"]):
            known = ", ".join(f".{known}" for known in FORMATS[1:])
            end = f"the name does not say which format; end it in one of {known}, or add --format"
            raise UsageError(f"-o {self._path and self._path.name}: {end}")
        self._format = "ndjson" if name == "jsonl" else name
        if name in ("parquet", "xlsx") and self._path is None and terminal.screen() is not None:
            raise UsageError(f"{name} is binary: write a file with -o FILE.{name}")
        if name == "xlsx" and self._path and self._path.suffix.lower() != ".xlsx":
            raise UsageError(f"-o {self._path.name}: a workbook's name ends in .xlsx")

    def take(self, table: Table[Any]) -> None:
        """Writes the selected rows, and reports the issues of their response."""
        if self._choice is not None:
            table = self._choice.apply(table)  # type: ignore[type-var]
        screen = terminal.screen() if self._path is None and self._format == "table" else None
        if screen is not None:
            print_rows(screen, table, self._names(table) or [], chosen=self._columns is not None)
            for line in issue_texts(table, lost_only=False):
                screen.show(screen.fit(line), "yellow")
            return
        self._write(table)
        if is_result(table) or table._why_none():
            remark(heading(table) + table._why_none())  # names the day, and what no sum includes
        for line in issue_texts(table, lost_only=True):
            remark(line, "yellow")

    def take_one(self, book: Book[Any]) -> None:
        """Writes a book of one record: field by field if it is a table, else as any book."""
        if self._path is None and self._format == "table" and self._columns is None:
            fields = [field[:2] for field in display.set_fields(book[0])]
            write_lines(("field", "value"), fields)
        else:
            self.take(book)

    def _write(self, table: Table[Any]) -> None:
        """Writes the rows to the file, or else to standard output."""
        if self._path is not None:
            with display.for_a_file(), whole_file(self._path, overwrite=self._force) as draft:
                Path(draft).write_bytes(self._content(table))
            remark(f"wrote {counted(len(table), table._view.noun)} to {self._path}")
            return
        write_out(self._content(table))
        hidden = len(table._kinds) - len(table._view_of_rows().columns)
        if self._format == "table" and self._columns is None and hidden:
            remark(f"+{counted(hidden, 'more column')}: --columns")

    def _content(self, table: Table[Any]) -> bytes:
        """Returns the rows in the format."""
        names, extra = self._names(table), self._extra
        match self._format:
            case "table":
                return plain_rows(table, names or []).encode()
            case "csv":
                return table.to_csv(None, names, extra=extra).encode()
            case "json" | "ndjson" as name:
                return table.to_json(None, names, extra=extra, lines=name == "ndjson").encode()
            case "parquet":
                return _through_file(table.to_parquet, names, extra, ".parquet")
            case _:
                return _through_file(table.to_excel, names, extra, ".xlsx")

    def _names(self, table: Table[Any]) -> list[str] | None:
        """Returns the selected columns, the key columns of a table, or None for all."""
        if self._format != "table":
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
        try:
            export(path, names, extra=extra)
        except ValueError as error:  # what the format cannot hold
            raise DataError(str(error)) from None
        return path.read_bytes()


def book_destination(record: str, given: Given) -> Destination:
    """Returns the destination of a book, of which options may select rows and columns."""
    columns = chosen_columns(f"{record.lower()}s", _core.names_of(record), given)
    return Destination(given, columns, RowChoice(record, given))


def write_lines(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Writes a short list to standard output: aligned text, and nothing where a cell is None.

    On a terminal, the last column is wrapped.
    """
    texts = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    screen, right = terminal.screen(), [False] * len(names)
    if screen is None:
        write_out(aligned(names, texts, right).encode() + b"\n")
        return
    columns = zip(names[:-1], *(row[:-1] for row in texts), strict=True)
    used = sum(2 + max(map(display.cell_width, column)) for column in columns)
    lines = []
    for *first, last in texts:
        for piece in wrap(last, max(screen.width - used - 2, 10)) or [""]:
            lines.append([*first, piece])
            first = [""] * len(first)
    screen.show(aligned(names, lines, right).splitlines())


def heading(table: Table[Any], day: str = "") -> str:
    """Returns the line above a table; ``day`` is the common day of its times, if any."""
    if isinstance(table, Book):
        return display.book_heading(table, table._accounts(), day)
    title = table._heading()
    return f"{title} of {day}" if day else title


def plain_rows(table: Table[Any], names: Sequence[str]) -> str:
    """Returns the complete table as text: every row and the total, without truncated cells."""
    shown = Shown(table, names, ends=len(table))
    rows = [row[1] for row in shown.rows if row is not None] + [shown.total or []]
    return aligned(shown.names, [row for row in rows if row], shown.right) + "\n"


def print_rows(screen: Screen, table: Table[Any], names: Sequence[str], *, chosen: bool) -> None:
    """Prints the part of the table that fits the terminal, and what it omits."""
    if not len(table):
        screen.show(screen.fit(heading(table) + table._why_none()), "bold")
        return
    shown = Shown(table, names, ends=max(display.ENDS, (screen.height - _AROUND) // 2))
    title = heading(table, shown.without_common_day(table))
    screen.show(display.wrapped(title, screen.width).splitlines(), "bold")
    layout = Layout(shown, screen.width)
    screen.show(unindented(display.laid_out(layout, screen.paint)))
    # In a pipe, the output has every row and every requested column.
    hidden = len(layout.missing) + (0 if chosen else len(shown.hidden))
    more = "--columns" if shown.hidden and not chosen else "in a pipe"
    notes = [f"+{counted(hidden, 'more column')}: {more}"] if hidden else []
    notes += ["all rows: in a pipe"] if shown.skipped else []
    screen.show(screen.fit("; ".join(notes)), "dim")


def unindented(text: str) -> list[str]:
    """Returns the lines of a table that has the width of the screen."""
    return [line[2:] for line in text.splitlines()]


def is_result(table: Table[Any]) -> bool:
    """Returns whether a table is the result of a calculation, which names its issues."""
    return not isinstance(table, Book) and hasattr(table, "issues")


def issue_texts(table: Table[Any], *, lost_only: bool) -> list[str]:
    """Returns lines about the issues of the response, or all of those of a result."""
    issues: Any = getattr(table, "issues", ())
    if is_result(table):
        lines = [f"issue: {issue.problem}: {issue.detail}" for issue in issues]
    else:
        shown = zip(display.issue_lines(table), issues, strict=True)
        lines = [f"issue: {line}" for line, issue in shown if issue.lost or not lost_only]
    more = len(lines) - _MOST_ISSUES
    return [*lines[:_MOST_ISSUES], *([f"+{counted(more, 'more issue')}"] if more > 0 else [])]
