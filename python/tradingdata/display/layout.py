"""Fits a table to a width: which columns it shows, and how wide each is."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from .plain_table import cell_width, group

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .preview import Shown

GAP = 2  # spaces between columns
_NO_BREAK = "\u00a0"
_TEXT = 28  # characters of a text until the other columns have their room
_LEAST = 14  # characters that a text keeps where important columns need the room


class Layout:
    """The columns of a table that fit a width, with each cell cut to its column.

    Attributes:
        names: The columns that fit, in the order of the table.
        missing: The columns that do not fit.
        right: Whether a column is aligned to the right, for each name.
        rows: The number of a row, or None for the line that counts the rows left out; and its
            cells.
        total: The cells of a last row with sums, or None.
        at: The position in the table of each column that fits.
    """

    def __init__(self, shown: Shown, width: int) -> None:
        skipped = [f"… {group(shown.skipped)} more", *[""] * (len(shown.names) - 1)]
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
    """Whether each column holds words; part of a code would be another code."""
    cells = [cells for number, cells in rows if number is not None]
    return [any(" " in cell for cell in column) for column in zip(*cells, strict=True)]


def wrapped(heading: str, width: int) -> str:
    """Breaks a heading where it does not fit, between its parts."""
    parts = heading.replace(" ", _NO_BREAK).replace(f",{_NO_BREAK}", ", ")
    lines = wrap(parts, width, subsequent_indent="  ", break_long_words=False)
    return "\n".join(lines).replace(_NO_BREAK, " ")


def fitted(
    natural: Sequence[int], least: Sequence[int], order: Sequence[int], essential: int, room: int
) -> dict[int, int]:
    """Returns the width of each column that fits into the room; at least one does.

    The most important columns are taken first. Long texts are cut so that the essential columns
    fit, and get the room that is left at the end.

    Args:
        natural: The width of each column if nothing is cut.
        least: The width down to which it may be cut.
        order: The columns, the most important first.
        essential: How many of these are worth cutting texts for.
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
