"""Text displays of tables; their HTML is in ``html``, which notebooks import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .preview import Shown

_MOST_ISSUES = 5


def table_text(table: Any) -> str:
    """Returns the text of a table: a title, its first and last rows, and its issues."""
    from .plain_table import group
    from .preview import issue_lines

    title, shown = table._preview()
    title = titled(table, title)
    if shown is None:
        notes = [f"    {note}" for note in getattr(table, "notes", ())]
        return "\n".join([title, *(["  nothing matches:"] if notes else []), *notes])
    lines = [title, *shown_lines(shown)]
    issues = issue_lines(table)
    if issues:
        lines.append(f"  {group(len(issues))} {'issue' if len(issues) == 1 else 'issues'}:")
        lines += [f"    {line}" for line in issues[:_MOST_ISSUES]]
        if len(issues) > _MOST_ISSUES:
            lines.append(f"    +{len(issues) - _MOST_ISSUES} more in .issues")
    return "\n".join(lines)


def titled(table: object, heading: str) -> str:
    """Returns the title of a table, wrapped to the width of the terminal."""
    from .layout import wrapped

    return wrapped(f"{type(table).__name__}: {heading}", _screen())


def _screen() -> int:
    from shutil import get_terminal_size

    return get_terminal_size((100, 24)).columns


def shown_lines(shown: Shown) -> list[str]:
    """Returns a table that fits the terminal, and the number of columns it omits."""
    from .layout import Layout
    from .plain_table import table

    layout = Layout(shown, _screen() - 2)
    rows = [cells for _, cells in layout.rows]
    rows += [layout.total] if layout.total else []
    right = "".join("r" if number else "l" for number in layout.right)
    lines = [table(layout.names, rows, right=right)]
    hidden = len(layout.missing) + len(shown.hidden)
    if hidden:
        lines.append(f"  +{hidden} more {'column' if hidden == 1 else 'columns'}")
    return lines
