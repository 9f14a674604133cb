"""Tables of results: what a display shows of them, and their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from math import isinf
from typing import Any, Self

from .. import _core
from .._util.declarations import kinds_of
from ..display.text import ENDS, Ends, Shown, group
from ..display.view import View
from ..table.rows import declared
from ..table.table import Record, Table
from .keys import KEY, ORDER_SIDE, Keyed, OfOrder

# More than any sum of floats has, whose digits are between 1e-324 and 1e309.
_ALL_DIGITS = 1000


def exact_sum(values: Sequence[float | None]) -> float:
    """Returns the float nearest to the exact sum; ``None`` values are ignored."""
    from decimal import Context, Decimal, localcontext  # imported here because it is slow to import

    with localcontext(Context(prec=_ALL_DIGITS)):
        total = float(sum(Decimal(repr(value)) for value in values if value is not None))
    if isinf(total):
        raise OverflowError("the sum of a column of amounts is larger than a float can be")
    return total


# For rows about contracts: a symbol may have many expiries, a display name has one.
BY_CONTRACT = View(
    names=("display_name", "symbol", "security_id"),
    apart=tuple("account exchange product client_id segment expiry_date security_id".split()),
)
# For rows about one side of an order.
BY_ORDER = View(
    "order",
    names=("order_no",),
    apart=("account", "exchange", "txn_type", "client_id", "day", "segment"),
)


class ResultTable(Table[Record]):
    """The result of a calculation: rows of one type, with a schema independent of the data.

    Indexed, iterated, filtered, sorted and exported like a book. Unknown values are ``None``. What
    ``filter`` returns has the issues, lots and matches of its rows.
    """

    _view = BY_CONTRACT

    _issues: ResultTable[Any] | None

    @property
    def issues(self) -> ResultTable[Any]:
        """What the result leaves out or could not prove: ``problem``, ``count`` and ``detail``."""
        issues: ResultTable[Any] | None = self.__dict__.get("_issues")
        return self._issues_of([]) if issues is None else issues

    @classmethod
    def _issues_of(cls, rows: Iterable[tuple[Any, ...]]) -> ResultTable[Any]:
        return (OrderIssues if issubclass(cls._row, OfOrder) else ResultIssues)._of(rows)

    def _keys(self) -> list[tuple[Any, ...]]:
        """Returns the key of each row."""
        names = ORDER_SIDE if issubclass(self._row, OfOrder) else KEY
        return list(zip(*map(self._column, names), strict=True))

    def _of_keys(self, kept: set[tuple[Any, ...]]) -> Self:
        """Returns the rows of some keys, and those that have none."""
        keys = self._keys()
        width = len(next(iter(kept), ()))  # the key of some results is the account alone
        rows = [row for row, key in enumerate(keys) if key[:width] in kept or not any(key)]
        return self if len(rows) == len(keys) else self._taken(rows)

    def _part(self, rows: _core.Slice) -> Self:
        part = super()._part(rows)
        belonging = {
            name: table for name, table in vars(part).items() if isinstance(table, ResultTable)
        }
        if belonging:
            kept = set(part._keys())
            vars(part).update({name: table._of_keys(kept) for name, table in belonging.items()})
        return part

    def _preview(
        self, columns: Sequence[str] | None = None, ends: Ends = ENDS
    ) -> tuple[str, Shown | None]:
        text, shown = super()._preview(columns, ends)
        problems: Counter[str] = Counter()
        for problem, count in zip(*map(self.issues._column, ("problem", "count")), strict=True):
            problems[problem] += count
        parts = [text, *(f"{problem}: {group(count)}" for problem, count in problems.items())]
        return ", ".join(parts) + (" (see .issues)" if problems else ""), shown

    @classmethod
    def _of(
        cls,
        rows: Iterable[tuple[Any, ...]],
        zone: tzinfo | None = None,
        leads: Sequence[Any] = (),
    ) -> Self:
        """Returns a table of rows given as tuples; ``zone`` is that of the times.

        ``leads`` are the columns before those of the tuples.
        """
        columns = [list(column) for column in zip(*rows, strict=True)]
        if not columns:
            return cls._of_columns([[] for _ in kinds_of(cls._row)], zone)
        return cls._of_columns([*leads, *columns], zone)

    @classmethod
    def _of_columns(cls, columns: Sequence[Any], zone: tzinfo | None = None) -> Self:
        """Returns a table of columns, sorted by rank; ``zone`` is that of the times."""
        table = super()._of_columns(columns, zone)
        ranks = table._ranks()
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        return table if order == list(range(len(ranks))) else cls._over(table._rows.take(order))

    def _ranks(self) -> list[Any]:
        """Returns the rank of each row, the most important least; empty to keep their order."""
        rank, zero = self._view.rank, self._view.zero
        if not rank:
            return []
        sizes = [-abs(size or 0) for size in self._column(rank)]
        if not zero:
            return sizes
        return [(not held, size) for size, held in zip(sizes, self._column(zero), strict=True)]

    def _sum(self, name: str) -> float:
        return exact_sum(self._column(name))

    def _view_of_rows(self) -> View:
        view = self._view
        known = (name for name in view.names if any(self._column(name)))
        shown = [next(known, view.names[-1])]
        distinct = len(set(self._column(shown[0])))
        for name in view.apart:
            keys = len(set(zip(*map(self._column, (*shown, name)), strict=True)))
            if keys > distinct:
                shown.append(name)
                distinct = keys
        return view._replace(
            columns=tuple(dict.fromkeys((*shown, *view.columns))),
            narrow=(*shown, *(view.narrow or view.columns[:2])),
        )


@declared
class ResultIssue(Keyed):
    """What a result leaves out or could not prove in one row; see also ``Keyed``.

    Attributes:
        problem: The kind of problem, such as ``without a price``.
        count: Number of trades, lots or keys that have it.
        detail: Which ones, and what to do.
    """

    problem: str
    count: int
    detail: str


class ResultIssues(ResultTable[ResultIssue]):
    """The ``issues`` of a result by contract; what concerns all of it has no key."""

    _row = ResultIssue
    _view = BY_CONTRACT._replace(noun="issue", columns=("problem", "count", "detail"))


@declared
class OrderIssue(OfOrder):
    """What a result leaves out or could not prove of one side of an order; see also ``OfOrder``.

    Attributes:
        problem: The kind of problem, such as ``multiplier not proved``.
        count: Number of trades or orders that have it.
        detail: Which ones, and what to do.
    """

    problem: str
    count: int
    detail: str


class OrderIssues(ResultTable[OrderIssue]):
    """The ``issues`` of a result by order."""

    _row = OrderIssue
    _view = BY_ORDER._replace(noun="issue", columns=("problem", "count", "detail"))
