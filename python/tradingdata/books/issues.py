"""The issues of a book: values that do not fit their documented type, and their warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core import Slice


_NAMED = 3  # of the fields in a warning


class Issue(NamedTuple):
    """Values of a field that do not fit its documented type, by field and problem.

    Attributes:
        field: Wire name of the field.
        problem: Description of the problem.
        count: Number of values affected.
        row: Row of the first one, counted from 0 in the response.
        raw: JSON text of the first one, cut to 64 bytes; ``""`` for personal and missing values.
        lost: Whether the values became ``None``; otherwise the conversion was lossless.
    """

    field: str
    problem: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    row: int
    raw: str
    lost: bool


def decode_issues(rows: Slice) -> tuple[Issue, ...]:
    """Returns the issues that the decoder found in single values and in the book."""
    return tuple(Issue(*issue) for issue in rows.issues)


def warn_of_lost(issues: Iterable[Issue], record: str, *, stacklevel: int) -> None:
    """Warns once for all fields that lost values; the text is constant, so a loop warns once."""
    fields = [f"{record}.{name}" for name in dict.fromkeys(i.field for i in issues if i.lost)]
    if not fields:
        return
    named = ", ".join(fields[:_NAMED]) + (", ..." if len(fields) > _NAMED else "")
    count = f"values of {len(fields)} fields" if len(fields) > 1 else "values"
    warnings.warn(
        f"{count} were lost or missing ({named}): the result's .issues says which",
        DataWarning,
        stacklevel=stacklevel + 1,
    )
