"""Plain text tables for terminals, with Indian digit grouping."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from unicodedata import category, east_asian_width


def group(value: float | None, decimals: int = 0) -> str:
    """Formats a number with Indian digit grouping: 1234567.5 becomes "12,34,567.50".

    `None` is an empty text.
    """
    if value is None:
        return ""
    whole, _, fraction = f"{abs(value):.{decimals}f}".partition(".")
    head, last = whole[:-3], whole[-3:]
    first = len(head) % 2
    pairs = [head[:first], *(head[i : i + 2] for i in range(first, len(head), 2)), last]
    text = ",".join(part for part in pairs if part)
    negative = value < 0 and text.strip("0,") + fraction.strip("0") != ""
    return ("-" if negative else "") + text + ("." + fraction if fraction else "")


def encodable(text: str) -> bool:
    """Returns whether standard output, where most displays are printed, can encode the text."""
    if text.isascii():
        return True
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def counted(number: int, noun: str) -> str:
    """Formats a number of things: "1 trade", "2 trades"."""
    return f"{group(number)} {noun}" if number == 1 else f"{group(number)} {noun}s"


def cell_width(text: str) -> int:
    """Returns the width of text in terminal columns: ideographs and emoji take two."""
    if text.isascii():
        return len(text)
    return sum(
        2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
        if category(character) not in ("Mn", "Me")
    )


def cut(text: str, most: int) -> str:
    """Returns the text, truncated with an ellipsis if it is wider."""
    if cell_width(text) <= most:
        return text
    text = text[: most - 1]
    while cell_width(text) >= most:
        text = text[:-1]
    return text + ("…" if encodable("…") else "~")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Formats rows of text under headings, with columns two spaces apart.

    `right` says for each column whether it is aligned to the right. The lines are indented by two
    spaces and carry none at their end.
    """
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(map(cell_width, column)) for column in columns]
    rule = ["-" * width for width in widths]

    def line(cells: Sequence[str]) -> str:
        aligned = []
        for cell, width, is_right in zip(cells, widths, right, strict=True):
            space = " " * (width - cell_width(cell))
            aligned.append(space + cell if is_right else cell + space)
        return ("  " + "  ".join(aligned)).rstrip()

    return "\n".join(line(cells) for cells in (headings, rule, *rows))
