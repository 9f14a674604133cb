"""How books and records look: in a terminal, and as HTML in a notebook."""

from __future__ import annotations

from .._core import Order, Stock, Trade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .preview import Shown

_WIDE_TEXT = 28  # characters of a text in a terminal
_MOST_ISSUES = 5


class BookDisplay:
    """The displays of a book. Both show its head and tail, and never a whole account number."""

    __slots__ = ()

    def __repr__(self) -> str:
        return book_text(self)

    def _repr_html_(self) -> str:
        from .html import book_html

        return book_html(self)


def book_text(book: Any) -> str:
    """A book for a terminal: what it is, its head and tail, and what did not fit."""
    from .plain_table import group
    from .preview import book_preview, issue_lines

    title, shown = book_preview(book)
    title = f"{type(book).__name__}: {title}"
    if shown is None:
        notes = [f"    {note}" for note in book.notes]
        return "\n".join([title, *(["  nothing matches:"] if notes else []), *notes])
    lines = [title, *shown_lines(shown)]
    issues = issue_lines(book)
    if issues:
        lines.append(f"  {group(len(issues))} {'issue' if len(issues) == 1 else 'issues'}:")
        lines += [f"    {line}" for line in issues[:_MOST_ISSUES]]
        if len(issues) > _MOST_ISSUES:
            lines.append(f"    +{len(issues) - _MOST_ISSUES} more in .issues")
    return "\n".join(lines)


def shown_lines(shown: Shown) -> list[str]:
    """A table for a terminal, as wide as that is, and how many columns it leaves out."""
    rows = [_cells(shown, row) for row in shown.rows]
    rows += [shown.total] if shown.total else []
    names = _that_fit(shown.names, rows)
    lines = [_table(names, [row[: len(names)] for row in rows], shown.right)]
    hidden = len(shown.names) - len(names) + len(shown.hidden)
    if hidden:
        lines.append(f"  +{hidden} more {'column' if hidden == 1 else 'columns'}")
    return lines


def _cells(shown: Shown, row: tuple[int, list[str]] | None) -> list[str]:
    from .plain_table import group

    if row is None:
        return [f"... {group(shown.skipped)} more", *[""] * (len(shown.names) - 1)]
    return shown.shortened(row[1], _WIDE_TEXT)


def _that_fit(names: list[str], rows: list[list[str]]) -> list[str]:
    """The leading columns that fit the terminal, at least one."""
    from shutil import get_terminal_size

    room = get_terminal_size((100, 24)).columns - 2
    fitting = []
    for i, name in enumerate(names):
        room -= max(len(name), *(len(row[i]) for row in rows)) + (2 if i else 0)
        if room < 0 and i:
            break
        fitting.append(name)
    return fitting


def _table(names: list[str], rows: list[list[str]], right: list[bool]) -> str:
    from .plain_table import table

    return table(names, rows, right="".join("r" if number else "l" for number in right))


def _record_html(self: Trade | Order | Stock) -> str:
    from .html import record_html

    return record_html(self)


# A record's repr is made in the core; its methods stay out of the way of field names.
for _type in (Trade, Order, Stock):
    _extend: Any = _type
    _extend._repr_html_ = _record_html
