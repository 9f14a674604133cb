"""What did not fit in an answer: the ``issues`` of a book, and the warning that points to them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DataWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core import Slice


class Issue(NamedTuple):
    """A field's values that did not fit, one entry for each field and problem.

    Attributes:
        field: the field's wire name.
        problem: what was wrong, in words.
        count: how many values.
        row: the first of them, counted from 0 in the answer.
        raw: the first one's JSON text, cut to 64 bytes; ``""`` for personal and missing values.
        lost: whether the values are ``None`` now; otherwise the conversion lost nothing.
    """

    field: str
    problem: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    row: int
    raw: str
    lost: bool


def decode_issues(rows: Slice) -> tuple[Issue, ...]:
    """What the decoder met, in single values and in the book as a whole."""
    return tuple(Issue(*issue) for issue in rows.issues)


def warn_of_lost(issues: Iterable[Issue], record: str, *, stacklevel: int) -> None:
    """Warns once for each field that lost values; the text is constant, so a loop warns once."""
    for field in dict.fromkeys(issue.field for issue in issues if issue.lost):
        message = f"{record}.{field}: values were lost or missing; the result's .issues says which"
        warnings.warn(message, DataWarning, stacklevel=stacklevel + 1)
