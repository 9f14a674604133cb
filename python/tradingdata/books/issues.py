"""The issues of a book: values that do not fit their documented type, or each other.

The decoder finds the former. Of the latter, ``issues`` of a book has those that are errors of the
response; ``check()`` finds the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from .._util.declarations import RECORDS
from ..errors import DataWarning, warn_user

# Field, problem, and the number and the value of each row that has it
Finding = tuple[str, str, list[tuple[int, Any]]]


_NAMED = 3  # fields named in a warning, at most


class Issue(NamedTuple):
    """Values of a field that do not fit its documented type, by field and problem.

    Attributes:
        field: Wire name of the field.
        problem: Description of the problem.
        count: Number of values affected.
        row: Row of the first one, counted from 0 in the response; of a concatenation, in the book
            that it made.
        raw: JSON text of the first one, cut to 64 bytes; ``""`` for personal and missing values,
            and where rows are wrong only together: a second client, a repeated trade.
        lost: Whether the values became ``None``; otherwise the conversion was lossless.
    """

    field: str
    problem: str
    count: int  # type: ignore[assignment]  # hides tuple.count
    row: int
    raw: str
    lost: bool


def decode_issues(rows: Slice) -> tuple[Issue, ...]:
    """Returns the issues that the decoder found in single values."""
    return tuple(Issue(*issue) for issue in rows.issues)


def response_issues(rows: Slice) -> tuple[Issue, ...]:
    """Returns the issues of a complete response in several values: clients, and repeated trades.

    Those do not show the value, in which a service may have sent the access token: only the decoder
    knows it.
    """
    findings: list[tuple[str, str, list[int]]] = []
    if "client_id" in _core.names_of(rows.record):
        findings.append(("client_id", "more than one client in a book", _of_other_clients(rows)))
    if rows.record == "Trade":
        again = [row for _, row in repeated(rows, RECORDS["Trade"]["identity"])]
        findings.append(("trade_no", "the same trade more than once", again))
    return tuple(
        Issue(field, problem, len(odd), odd[0], "", False)
        for field, problem, odd in findings
        if odd
    )


def _of_other_clients(rows: Slice) -> list[int]:
    if len(rows.distinct("client_id")) <= 1:
        return []
    known = [(row, client) for row, (client,) in _rows(rows, "client_id") if client is not None]
    return [row for row, client in known if client != known[0][1]]


_FEW = 4  # number, account, client and exchange


def repeated(trades: Slice, identity: Sequence[str]) -> list[tuple[int, int]]:
    """Returns the first row and the row of each trade that a book contains once more.

    A trade without a number, the first field of the identity, is never recognised.
    """
    for fields in (identity[:_FEW], identity):  # mostly few of them distinguish all trades
        groups = _core.Groups([trades], fields)
        if len(groups) == len(trades):
            return []
    first, numbers = groups.first(), trades.column(identity[0])
    return [
        (first[group], row)
        for row, group in enumerate(groups.numbers())
        if row != first[group] and numbers[row]
    ]


_kept: ContextVar[list[str] | None] = ContextVar("_kept", default=None)


@contextmanager
def warnings_kept(messages: list[str]) -> Iterator[None]:
    """Appends the warnings of a block to a list, for what is to be stored before anybody knows."""
    token = _kept.set(messages)
    try:
        yield
    finally:
        _kept.reset(token)


def warn_of_lost(issues: Iterable[Issue], record: str) -> None:
    """Warns once for all fields that lost values; the text is constant, so a loop warns once."""
    fields = [f"{record}.{name}" for name in dict.fromkeys(i.field for i in issues if i.lost)]
    if not fields:
        return
    named = ", ".join(fields[:_NAMED]) + (", ..." if len(fields) > _NAMED else "")
    count = f"values of {len(fields)} fields" if len(fields) > 1 else "values"
    message = f"{count} were lost or missing ({named}): the result's .issues says which"
    kept = _kept.get()
    if kept is None:
        warn_user(DataWarning(message))
    else:
        kept.append(message)


_HALF_A_PAISA = 0.005  # prices and values are rounded to two decimals
_A_PAISA = 0.01


def disagreements(rows: Slice, *, is_whole: bool) -> tuple[Issue, ...]:
    """Returns the issues that ``check()`` finds in rows, which may be a complete response."""
    import json

    findings = _of_trades(rows) if rows.record == "Trade" else _of_orders(rows)
    if is_whole:  # row numbers of a part have gaps, and those of a concatenation repeat
        findings += _of_row_numbers(rows)
    return tuple(
        Issue(field, problem, len(odd), odd[0][0], json.dumps(odd[0][1]), False)
        for field, problem, odd in findings
        if odd
    )


def _of_trades(trades: Slice) -> list[Finding]:
    odd, free = [], []
    names = ("quantity", "traded_price", "trade_value", "lot_size")
    for row, (quantity, price, value, lot) in _rows(trades, *names):
        if price == 0:
            free.append((row, price))
        if None in (quantity, price, value):
            continue
        # The service says "shares or contracts", so a contract may count for a lot of shares.
        shares = [quantity, *([quantity * lot] if lot else [])]
        if all(abs(value - n * price) > abs(n) * _HALF_A_PAISA + _A_PAISA for n in shares):
            odd.append((row, value))
    problem = "differs from quantity times traded_price, and from that times lot_size"
    return [("trade_value", problem, odd), ("traded_price", "is 0", free)]


def _of_orders(orders: Slice) -> list[Finding]:
    names = ("quantity", "remaining_quantity", "traded_qty", "rem_qty_tot_qty")
    differs, too_many = [], []
    for row, (quantity, remaining, traded, pair) in _rows(orders, *names):
        if None in (quantity, remaining):
            continue
        if pair and _numbers(pair) != [remaining, quantity]:
            differs.append((row, pair))
        if traded is not None and remaining + traded > quantity:
            too_many.append((row, traded))
    return [
        ("rem_qty_tot_qty", "differs from remaining_quantity and quantity", differs),
        ("traded_qty", "is, with remaining_quantity, more than quantity", too_many),
    ]


def _numbers(pair: str) -> list[float] | None:
    """Returns the numbers of a text such as ``5/10``."""
    try:
        return [float(text) for text in pair.split("/", 1)]
    except ValueError:
        return None


def _of_row_numbers(book: Slice) -> list[Finding]:
    rows = [(row, number) for row, (number,) in _rows(book, "row_no") if number is not None]
    first: dict[int, int] = {}
    for row, number in rows:
        first.setdefault(number, row)
    again = [(row, number) for row, number in rows if first[number] != row]
    numbers = pairwise(sorted(first))
    behind = [(first[number], number) for before, number in numbers if number > before + 1]
    return [
        ("row_no", "comes more than once", again),
        ("row_no", "numbers before it are left out", behind),
    ]


def _rows(book: Slice, *names: str) -> Iterable[tuple[int, tuple[Any, ...]]]:
    return enumerate(zip(*map(book.column, names), strict=True))
