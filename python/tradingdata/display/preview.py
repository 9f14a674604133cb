"""What a display shows of a book or a result: which rows and columns, and how a value looks."""

from __future__ import annotations

import re

from .. import _core
from .plain_table import group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from typing import Any

    from ..books.book import Book

# The columns that tell most, by record, the first ones more; all others are counted, not shown.
KEY_COLUMNS = {
    "Trade": "exch_trade_time symbol txn_type quantity traded_price trade_value exchange".split(),
    "Order": "order_date_time symbol txn_type quantity price status traded_qty exchange".split(),
    "Stock": "nsesymbol bsecode companyname isin mcaptype mcap sectorname".split(),
}
NOUNS = {
    "Trade": ("trade", "trades"),
    "Order": ("order", "orders"),
    "Stock": ("stock", "stocks"),
}
ENDS = 5  # rows shown at the head and at the tail
_MOST_DECIMALS = 4  # what exchanges quote in


class Shown:
    """The part of a table that a display shows, its values as text.

    ``kinds`` has the kind of each column shown, by name, and ``values`` gives a column's values at
    some rows. ``names`` are the columns shown, ``hidden`` all others; ``right`` says by column
    whether it holds numbers. ``rows`` has a row's number and its texts; ``None`` stands where
    ``skipped`` rows are left out, between ``ends`` of them at either end.
    """

    def __init__(
        self,
        kinds: dict[str, str],
        length: int,
        values: Callable[[str, list[int]], list[Any]],
        hidden: Sequence[str] = (),
        *,
        ends: int = ENDS,
    ) -> None:
        self.names = [printable(name) for name in kinds]  # unknown fields have names of their own
        self.hidden = [printable(name) for name in hidden]
        self.right = [kind in ("integer", "number") for kind in kinds.values()]
        numbers = list(range(length))
        self.skipped = max(0, length - 2 * ends)
        if self.skipped == 1:
            self.skipped = 0  # the line that says so takes as much room
        if self.skipped:
            numbers = numbers[:ends] + numbers[length - ends :]
        columns = [_texts(kind, values(name, numbers)) for name, kind in kinds.items()]
        self.rows: list[tuple[int, list[str]] | None] = [
            (number, list(cells)) for number, *cells in zip(numbers, *columns, strict=True)
        ]
        if self.skipped:
            self.rows.insert(ends, None)


def shown_book(book: Book[Any], names: Sequence[str] | None = None, *, ends: int = ENDS) -> Shown:
    """The part of a book that a display shows: its key columns, unless others are named."""
    fields = _core.fields_of(book._record)
    kinds = {name: kind for name, kind, _, _ in fields}
    personal = {name for name, _, _, secret in fields if secret}
    chosen = KEY_COLUMNS[book._record] if names is None else names

    def values(name: str, numbers: list[int]) -> list[Any]:
        found = [value_of(book[number], name) for number in numbers]
        if name in personal:
            return [value and without_account_number(value) for value in found]
        return found

    return Shown(
        {name: kinds.get(name, "text") for name in chosen},
        len(book),
        values,
        [name for name in (*kinds, *book.extra_fields) if name not in chosen],
        ends=ends,
    )


def value_of(record: Any, name: str) -> Any:
    """A field of a row; an unknown field need not stand in every one."""
    try:
        return record[name]
    except KeyError:
        return None


def heading(book: Book[Any], day: str = "") -> str:
    """How many rows the book has, of which day and account, and when they were received."""
    one, many = NOUNS[book._record]
    of_day = f" of {day}" if day else ""
    parts = [f"{group(len(book))} {one if len(book) == 1 else many}{of_day}"]
    response = book.response
    if response is not None and response.account:
        parts.append(f"account {response.account}")
    if response is not None and response.received_at is not None:
        parts.append(f"received {instant(response.received_at)}")
    if book._table.zone is not None:
        parts.append(f"times in {getattr(book._table.zone, 'key', book._table.zone)}")
    return ", ".join(parts)


def instant(when: datetime) -> str:
    """An aware time in UTC, to the second."""
    from datetime import UTC

    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def issue_lines(book: Book[Any]) -> list[str]:
    """A line for each of the book's issues."""
    return [
        f"{issue.field}: {issue.problem}, {group(issue.count)} "
        f"{'value' if issue.count == 1 else 'values'}{' lost' if issue.lost else ''}"
        f"{f', first {issue.raw}' if issue.raw else ''} (row {issue.row})"
        for issue in book.issues
    ]


def plain(kind: str, value: Any) -> str:
    """One value as a display shows it."""
    return _texts(kind, [value])[0]


def _texts(kind: str, values: list[Any]) -> list[str]:
    """A column's values; its numbers share their decimals: none if all are whole, else 2 to 4."""
    if kind in ("integer", "number"):
        decimals = max((_decimals(value) for value in values if value is not None), default=0)
        return [group(value, decimals) for value in values]
    return ["" if value is None else printable(str(value)) for value in values]


def _decimals(value: float) -> int:
    if value == int(value):
        return 0
    written = f"{value:.{_MOST_DECIMALS}f}".rstrip("0").partition(".")[2]
    return max(2, len(written))


def printable(text: str) -> str:
    """Text without control characters and the like, which would change the display around it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def without_account_number(text: str) -> str:
    """A personal value as a display shows it, also where the book keeps it whole."""
    if re.fullmatch("[A-Za-z]{5}[0-9]{4}[A-Za-z]", text):
        return text[:2] + "XXXXXX" + text[-2:]
    return text if re.fullmatch("..XXXXXX..", text) else "X" * len(text)
