"""Formats rows as a table: as much as fits on a terminal, all rows as plain text elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table as RichTable
from rich.text import Text

from tradingdata import _core
from tradingdata.books.book import Book
from tradingdata.display.layout import Layout, wrapped
from tradingdata.display.plain_table import cell_width, group
from tradingdata.display.plain_table import table as plain_table
from tradingdata.display.preview import (
    ENDS,
    Shown,
    book_heading,
    field_text,
    issue_lines,
    printable,
)

from .exportable import Table

if TYPE_CHECKING:
    from rich.console import Console


_AROUND = 8  # lines of a screen that are not rows: heading, names, remarks, prompt
_MOST_ISSUES = 5
_MOST_NAMES = 3
TONE_STYLES = {"error": "red", "pending": "yellow", "success": "green"}


def counted(table: Table) -> str:
    """Returns the number of rows with a noun, such as ``1 order``."""
    return f"{group(len(table))} {table._noun[len(table) != 1]}"


def heading(table: Table, day: str = "") -> str:
    """Returns the line above a table; ``day`` is the common day of its times, if any."""
    if isinstance(table, Book):
        return book_heading(table, day)
    title = re.sub(r" \(see \.\w+\)", "", table._heading())  # attributes, in Python
    return f"{title} of {day}" if day else title


def plain_rows(table: Table, names: Sequence[str]) -> str:
    """Returns the complete table as text: every row and the total, without truncated cells."""
    shown = table._shown(names, ends=len(table))
    rows = [row[1] for row in shown.rows if row is not None]
    rows += [shown.total] if shown.total else []
    right = "".join("r" if number else "l" for number in shown.right)
    return plain_table(shown.names, rows, right=right) + "\n"


def print_rows(
    console: Console, table: Table, names: Sequence[str], *, asked: bool, rows: int | None
) -> None:
    """Prints the part of the table that fits the terminal, and what it omits."""
    if not len(table):
        console.print(wrapped(heading(table), console.width), style="bold")
        return
    shown = table._shown(names, ends=_ends(len(table), console.height, rows))
    day = without_common_day(table, shown)
    console.print(wrapped(heading(table, day), console.width), style="bold")
    layout = Layout(shown, console.width)
    console.print(fitting_table(layout, shown))
    _print_left_out(console, shown, layout.missing, asked=asked)


def print_issues(table: Table, tell: Any, *, lost_only: bool) -> None:
    """Reports the issues of the response."""
    if not isinstance(table, Book):
        return
    found = zip(issue_lines(table), table.issues, strict=True)
    lines = [line for line, issue in found if issue.lost or not lost_only]
    for line in lines[:_MOST_ISSUES]:
        tell(f"issue: {line}", "yellow")
    if len(lines) > _MOST_ISSUES:
        tell(f"+{len(lines) - _MOST_ISSUES} more issues", "yellow")


def fitting_table(
    layout: Layout, shown: Shown, styles: Mapping[int, str] | None = None
) -> RichTable:
    """Returns the rows of a layout as a rich table; ``styles`` are those of rows."""
    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold cyan")
    for name, right in zip(layout.names, layout.right, strict=True):
        table.add_column(
            Text(name), justify="right" if right else "left", no_wrap=True, overflow="ellipsis"
        )
    for number, cells in layout.rows:
        if number is None:
            table.add_row(*map(Text, cells), style="dim")
            continue
        tones = [
            TONE_STYLES.get(shown.tone(at, cell), "")
            for at, cell in zip(layout.at, cells, strict=True)
        ]
        table.add_row(*map(Text, cells, tones), style=(styles or {}).get(number))
    if layout.total:
        table.add_row(*map(Text, layout.total), style="bold")
    return table


def record_text(record: Any) -> str:
    """Returns a record as text, with one line for each field that is set."""
    lines = []
    kind = type(record).__name__
    for name in _core.names_of(kind):
        value = record[name]
        if value is not None and value != "":
            lines.append((name, field_text(kind, name, value)))
    extras = _core.row_extras(record).items()
    lines += [(printable(name), field_text(kind, name, value)) for name, value in extras]
    width = max((cell_width(name) for name, _ in lines), default=0)
    return "".join(f"{name}{' ' * (width - cell_width(name))}  {text}\n" for name, text in lines)


def _ends(length: int, height: int, rows: int | None) -> int:
    """Returns the number of rows to show at either end."""
    if rows == 0:
        return length
    most = max(2 * ENDS, height - _AROUND) if rows is None else rows
    return length if length <= most else max(1, most // 2)


def without_common_day(table: Table, shown: Shown) -> str:
    """Removes the day from the times if all share one; returns it, else ""."""
    day = table._common_day([shown.names[at] for at in shown.times])
    shown.without_day(day)
    return day


def _print_left_out(console: Console, shown: Shown, missing: Sequence[str], *, asked: bool) -> None:
    if asked and missing:
        some = ", ".join(missing[:_MOST_NAMES]) + (", ..." if len(missing) > _MOST_NAMES else "")
        console.print(
            f"{len(missing)} of the columns do not fit: {some}; a pipe or -o takes all",
            style="yellow",
        )
    notes = []
    hidden = len(missing) + len(shown.hidden)
    if hidden and not asked:
        # Where a command leaves none out by itself, it has no --columns.
        notes.append(f"+{hidden} more columns: {'--columns' if shown.hidden else '-o FILE'}")
    if shown.skipped:
        notes.append("all rows: --rows 0")
    if notes:
        console.print("; ".join(notes), style="dim", soft_wrap=True)
