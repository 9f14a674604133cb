"""Text displays of tables, fitted to the width of a terminal: which columns, and how wide."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from .plain_table import cell_width, counted, encodable, group
from .plain_table import table as plain_table
from .preview import Shown, issue_lines

GAP = 2  # spaces between columns
_NO_BREAK = "\u00a0"
_TEXT = 28  # width of a text column until the other columns have been placed
_LEAST = 14  # minimum width of a text column if important columns need the space


class Layout:
    """The columns of a table that fit a width, with each cell cut to its column.

    Attributes:
        names: The columns that fit, in the order of the table.
        missing: The columns that do not fit.
        right: Whether a column is aligned to the right, for each name.
        rows: The number of each row, or None for the line that counts omitted rows, and its cells.
        total: The cells of a last row with sums, or None.
        at: The position in the table of each column that fits.
    """

    def __init__(self, shown: Shown, width: int) -> None:
        mark = "…" if encodable("…") else "..."
        skipped = [f"{mark} {group(shown.skipped)} more", *[""] * (len(shown.names) - 1)]
        rows = [(None, skipped) if row is None else row for row in shown.rows]
        everything = [shown.names, *(cells for _, cells in rows)]
        everything += [shown.total] if shown.total else []
        natural = [max(map(cell_width, cells)) for cells in zip(*everything, strict=True)]
        least = [
            full if right else min(full, max(_LEAST if spaced else _TEXT, cell_width(name)))
            for full, right, name, spaced in zip(
                natural, shown.right, shown.names, _prose(rows), strict=True
            )
        ]
        widths = fitted(natural, least, shown.by_importance, shown.essential, width)
        self.at = sorted(widths)
        self.names = [shown.names[at] for at in self.at]
        self.missing = [name for at, name in enumerate(shown.names) if at not in widths]
        self.right = [shown.right[at] for at in self.at]
        self.rows = [
            (number, [shown.cut(at, cells[at], widths[at]) for at in self.at])
            for number, cells in rows
        ]
        total = [shown.total[at] for at in self.at] if shown.total else []
        self.total = total if sum(map(bool, total)) > 1 else None


def _prose(rows: Sequence[tuple[object, Sequence[str]]]) -> list[bool]:
    """Returns whether each column contains words; a truncated code could be another code."""
    cells = [cells for number, cells in rows if number is not None]
    return [any(" " in cell for cell in column) for column in zip(*cells, strict=True)]


def wrapped(heading: str, width: int) -> str:
    """Wraps a heading between its parts."""
    parts = heading.replace(" ", _NO_BREAK).replace(f",{_NO_BREAK}", ", ")
    lines = wrap(parts, width, subsequent_indent="  ", break_long_words=False)
    return "\n".join(lines).replace(_NO_BREAK, " ")


def fitted(
    natural: Sequence[int], least: Sequence[int], order: Sequence[int], essential: int, room: int
) -> dict[int, int]:
    """Returns the width of each column that fits; there is at least one.

    The most important columns are placed first. Long texts are truncated so that the essential
    columns fit, and get the remaining space at the end.

    Args:
        natural: The width of each column without truncation.
        least: The minimum width of each column.
        order: The columns, the most important first.
        essential: The number of leading columns for which texts are truncated.
        room: The width of the table.
    """
    widths = [max(low, min(full, _TEXT)) for full, low in zip(natural, least, strict=True)]
    first = list(order[:essential])
    while sum(widths[at] + GAP for at in first) - GAP > room:
        widest = max(first, key=lambda at: widths[at] - least[at])
        if widths[widest] == least[widest]:
            break
        widths[widest] -= 1
    chosen: dict[int, int] = {}
    room += GAP
    for at in order:
        if widths[at] + GAP > room and chosen:
            break
        chosen[at] = widths[at]
        room -= widths[at] + GAP
    for at in sorted(chosen):
        more = min(natural[at] - chosen[at], max(0, room))
        chosen[at] += more
        room -= more
    return chosen


_MOST_ISSUES = 5


def table_text(table: Any) -> str:
    """Returns the text of a table: a title, its first and last rows, and its issues."""
    title, shown = table._preview()
    title = wrapped(f"{type(table).__name__}: {title}", _screen())
    if shown is None:
        notes = [f"    {note}" for note in getattr(table, "notes", ())]
        return "\n".join([title, *(["  nothing matches:"] if notes else []), *notes])
    lines = [title, *shown_lines(shown)]
    issues = issue_lines(table)
    if issues:
        lines.append(f"  {counted(len(issues), 'issue')}:")
        lines += [f"    {line}" for line in issues[:_MOST_ISSUES]]
        if len(issues) > _MOST_ISSUES:
            lines.append(f"    +{len(issues) - _MOST_ISSUES} more in .issues")
    return "\n".join(lines)


def _screen() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def shown_lines(shown: Shown) -> list[str]:
    """Returns a table that fits the terminal, and the number of columns it omits."""
    layout = Layout(shown, _screen() - 2)
    rows = [cells for _, cells in layout.rows]
    rows += [layout.total] if layout.total else []
    lines = [plain_table(layout.names, rows, layout.right)]
    hidden = len(layout.missing) + len(shown.hidden)
    if hidden:
        lines.append(f"  +{hidden} more {'column' if hidden == 1 else 'columns'}")
    return lines
