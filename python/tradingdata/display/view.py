"""What a display shows of the tables of a class: one value for each class."""

from __future__ import annotations

from typing import NamedTuple

from .._util.declarations import RECORDS


class View(NamedTuple):
    """What a display shows of the tables of a class.

    Attributes:
        noun: What a row is. Several have an s at the end.
        columns: The columns, the most important first; all if empty. Others are only counted.
        narrow: The columns that are the last to be omitted on a narrow screen; the first of
            ``columns`` if empty.
        sums: The amounts of money whose sums are a last row.
        rank: The column by which the rows are sorted, the largest amount first; none if empty.
        zero: The column whose zeros put a row behind the others; ``rank`` if empty.
        names: The columns that can name a row, of which the first known one is shown.
        apart: The columns that are shown if they distinguish rows of one name.
        silent: The columns that are not even counted, since they say nothing.
    """

    noun: str = "row"
    columns: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    rank: str = ""
    zero: str = ""
    names: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()


VIEWS = {
    name: View(record["noun"][0], tuple(record["display"]), tuple(record["narrow"]))
    for name, record in RECORDS.items()
}
"""The views of the service's records."""
