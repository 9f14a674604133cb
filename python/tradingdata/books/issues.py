"""The issues of a book: values that do not fit their documented type, and their warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core import Slice


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
    """Warns once for each field that lost values; the text is constant, so a loop warns once."""
    for field in dict.fromkeys(issue.field for issue in issues if issue.lost):
        message = f"{record}.{field}: values were lost or missing; the result's .issues says which"
        warnings.warn(message, DataWarning, stacklevel=stacklevel + 1)
