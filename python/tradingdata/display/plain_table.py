"""Plain text tables for terminals, with numbers grouped the Indian way."""

from __future__ import annotations

from collections.abc import Sequence


def group(value: float | None, decimals: int = 0) -> str:
    """Write a number with Indian grouping: 1234567.5 with two decimals is "12,34,567.50".

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


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, right: str = "") -> str:
    """Lay out rows of text under headings, columns two spaces apart.

    `right` has one letter a column: "r" aligns it to the right, anything else to the left; it may
    be shorter than the columns. The lines are indented by two spaces and carry none at their end.
    """
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    rule = ["-" * width for width in widths]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.rjust(width) if right[i : i + 1] == "r" else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return ("  " + "  ".join(aligned)).rstrip()

    return "\n".join(line(cells) for cells in (headings, rule, *rows))
