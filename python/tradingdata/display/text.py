"""Text displays of books and records; their HTML is in ``html``, which notebooks import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .._core import Order, Stock, Trade

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .preview import Shown

_MOST_ISSUES = 5


class BookDisplay:
    """The displays of a book: its first and last rows, never a complete account number."""

    __slots__ = ()
    _record: ClassVar[str]

    @property
    def _noun(self) -> tuple[str, str]:
        from .preview import NOUNS

        return NOUNS[self._record]

    @property
    def _kinds(self) -> Mapping[str, str]:
        from .preview import kinds_of

        return kinds_of(self._record)

    def _display_columns(self) -> list[str]:
        from .preview import KEY_COLUMNS

        return KEY_COLUMNS[self._record]

    def _shown(self, names: Sequence[str], *, ends: int) -> Shown:
        from .preview import shown_book

        return shown_book(self, names, ends=ends)

    def _common_day(self, names: Sequence[str]) -> str:
        from .preview import common_day

        return common_day(self, names)

    def __repr__(self) -> str:
        return book_text(self)

    def _repr_html_(self) -> str:
        from .html import book_html

        return book_html(self)


def book_text(book: Any) -> str:
    """Returns the text of a book: a title, its first and last rows, and its issues."""
    from .plain_table import group
    from .preview import book_preview, issue_lines

    title, shown = book_preview(book)
    title = titled(book, title)
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


def _record_html(self: Trade | Order | Stock) -> str:
    from .html import record_html

    return record_html(self)


# The core implements a record's repr. Methods of records start with an underscore, because the
# service may add a field of any name.
for _type in (Trade, Order, Stock):
    _extend: Any = _type
    _extend._repr_html_ = _record_html
