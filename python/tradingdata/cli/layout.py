"""A book as a table: on a terminal what fits it, anywhere else all rows as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tradingdata import _core
from tradingdata._tables import group
from tradingdata._tables import table as plain_table
from tradingdata.shown import (
    ENDS,
    Shown,
    heading,
    issue_lines,
    plain,
    shown_book,
    without_account_number,
)

if TYPE_CHECKING:
    from rich.console import Console

    from tradingdata.books import Book

_AROUND = 8  # lines of a screen that are not rows: heading, names, remarks, prompt
_MOST_ISSUES = 5
_MOST_NAMES = 3
_WIDE_SCREEN = 120


def plain_book(book: Book[Any], names: Sequence[str] | None) -> str:
    """The table as text: every row, and no cell cut."""
    shown = shown_book(book, names, ends=len(book))
    rows = [row[1] for row in shown.rows if row is not None]
    right = "".join("r" if number else "l" for number in shown.right)
    return plain_table(shown.names, rows, right=right) + "\n"


def print_book(
    console: Console,
    book: Book[Any],
    names: Sequence[str] | None,
    *,
    asked: bool,
    rows: int | None,
) -> None:
    """Prints the table that fits the terminal, with what is left out of it."""
    if not len(book):
        console.print(heading(book), style="bold")
        return
    shown = shown_book(book, names, ends=_ends(len(book), console.height, rows))
    day = _one_day(book, shown)
    console.print(heading(book, day), style="bold", soft_wrap=True)
    cells = [row if row is None else _cells(row[1], console.width) for row in shown.rows]
    count = _that_fit(shown.names, cells, console.width)
    console.print(_rich_table(shown, cells, count))
    _print_left_out(console, shown, count, asked=asked)


def print_issues(book: Book[Any], tell: Any, *, lost_only: bool) -> None:
    """Tells what did not fit in the answer."""
    lines = [
        line
        for line, issue in zip(issue_lines(book), book.issues, strict=True)
        if issue.lost or not lost_only
    ]
    for line in lines[:_MOST_ISSUES]:
        tell(f"issue: {line}", "yellow")
    if len(lines) > _MOST_ISSUES:
        tell(f"+{len(lines) - _MOST_ISSUES} more issues", "yellow")


def record_text(record: Any) -> str:
    """A record as text, a line for each field that is set."""
    lines = []
    for name, kind, _, personal in _core.fields_of(type(record).__name__):
        value = record[name]
        if value is not None and value != "":
            text = without_account_number(value) if personal else plain(kind, value)
            lines.append((name, text))
    lines += [(name, plain("text", value)) for name, value in _core.row_extras(record).items()]
    width = max((len(name) for name, _ in lines), default=0)
    return "".join(f"{name:<{width}}  {text}\n" for name, text in lines)


def _ends(length: int, height: int, rows: int | None) -> int:
    """How many rows are shown at either end."""
    if rows == 0:
        return length
    most = max(2 * ENDS, height - _AROUND) if rows is None else rows
    return length if length <= most else max(1, most // 2)


def _one_day(book: Book[Any], shown: Shown) -> str:
    """Takes the day out of the times of columns that all have the same; returns it."""
    kinds = {name: kind for name, kind, _, _ in _core.fields_of(book._record)}
    times = [at for at, name in enumerate(shown.names) if kinds.get(name) == "timestamp"]
    values = book.to_dict([shown.names[at] for at in times])
    days = {value.date() for column in values.values() for value in column if value is not None}
    if len(days) != 1:
        return ""
    day = str(days.pop())
    for _, texts in filter(None, shown.rows):
        for at in times:
            texts[at] = texts[at].removeprefix(day).lstrip()
    return day


def _cells(texts: Sequence[str], width: int) -> list[str]:
    most = 28 if width < _WIDE_SCREEN else 48
    return [text if len(text) <= most else text[: most - 1] + "…" for text in texts]


def _that_fit(names: Sequence[str], rows: Sequence[list[str] | None], width: int) -> int:
    """How many leading columns fit, at least one."""
    from rich.cells import cell_len

    room = width + 2
    for at, name in enumerate(names):
        room -= 2 + max(cell_len(name), *(cell_len(row[at]) for row in rows if row is not None))
        if room < 0:
            return max(at, 1)
    return len(names)


def _rich_table(shown: Shown, rows: Sequence[list[str] | None], count: int) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold cyan")
    for name, right in zip(shown.names[:count], shown.right, strict=False):
        table.add_column(
            Text(name), justify="right" if right else "left", no_wrap=True, overflow="ellipsis"
        )
    for row in rows:
        if row is None:
            table.add_row(Text(f"… {group(shown.skipped)} more", style="dim"))
        else:
            table.add_row(*map(Text, row[:count]))
    return table


def _print_left_out(console: Console, shown: Shown, count: int, *, asked: bool) -> None:
    missing = shown.names[count:]
    if asked and missing:
        some = ", ".join(missing[:_MOST_NAMES]) + (", ..." if len(missing) > _MOST_NAMES else "")
        console.print(
            f"{len(missing)} of the columns do not fit: {some}; a pipe or -o takes all",
            style="yellow",
        )
    notes = []
    if not asked:
        notes.append(f"+{len(missing) + len(shown.hidden)} more columns: --columns")
    if shown.skipped:
        notes.append("all rows: --rows 0")
    if notes:
        console.print("; ".join(notes), style="dim", soft_wrap=True)
