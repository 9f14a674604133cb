"""What did not fit in an answer: the ``issues`` of a book, and the warning that points to them."""

from __future__ import annotations

import warnings
from collections import Counter, namedtuple

from .errors import DataWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from ._core import Table

    class _IssueFields(NamedTuple):
        field: str
        problem: str
        count: int  # type: ignore[assignment]  # hides tuple.count
        row: int
        raw: str
        lost: bool
else:
    _IssueFields = namedtuple("Issue", "field problem count row raw lost")


class Issue(_IssueFields):
    """A field's values that did not fit, one entry for each field and problem.

    Attributes:
        field: the field's wire name.
        problem: what was wrong, in words.
        count: how many values.
        row: the first of them, counted from 0 in the answer.
        raw: the first one's JSON text, cut to 64 bytes; ``""`` for personal and missing values.
        lost: whether the values are ``None`` now; otherwise the conversion lost nothing.
    """

    __slots__ = ()


# Fields that tell of a mix-up when their values differ, or agree, over a whole book.
_ONE_FOR_ALL = "client_id"
_ONE_EACH = "trade_no"


def decode_issues(table: Table) -> tuple[Issue, ...]:
    """What the decoder met."""
    return tuple(Issue(*issue) for issue in table.issues)


def whole_book_issues(table: Table, columns: Iterable[str]) -> tuple[Issue, ...]:
    """What only a look at all rows shows: several clients in a book, a trade told twice."""
    found = []
    rows = len(table)
    if _ONE_FOR_ALL in columns:
        clients = table.column(_ONE_FOR_ALL, 0, rows)
        known = [client for client in clients if client is not None]
        if len(set(known)) > 1:
            other = next(i for i, client in enumerate(clients) if client not in (None, known[0]))
            count = len(set(known))
            found.append(
                Issue(_ONE_FOR_ALL, "more than one client in a book", count, other, "", False)
            )
    if _ONE_EACH in columns:
        trades = [trade for trade in table.column(_ONE_EACH, 0, rows) if trade]
        repeated = {trade: times for trade, times in Counter(trades).items() if times > 1}
        if repeated:
            trade = next(iter(repeated))
            row = table.column(_ONE_EACH, 0, rows).index(trade)
            count = sum(repeated.values()) - len(repeated)
            found.append(
                Issue(_ONE_EACH, "the same trade more than once", count, row, f'"{trade}"', False)
            )
    return tuple(found)


def warn_of_lost(issues: Iterable[Issue], record: str, *, stacklevel: int) -> None:
    """Warns once for each field that lost values; the text is constant, so a loop warns once."""
    for field in dict.fromkeys(issue.field for issue in issues if issue.lost):
        message = f"{record}.{field}: values were lost or missing; the result's .issues says which"
        warnings.warn(message, DataWarning, stacklevel=stacklevel + 1)
