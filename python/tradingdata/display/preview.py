"""Selects the rows and columns that displays show, and formats their values."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from .. import _core
from .plain_table import cell_width, cut, group

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime, tzinfo

# The columns of a display, the most important first; all others are only counted. The name precedes
# the symbol, which all expiries and strikes of an underlying share.
KEY_COLUMNS = {
    "Trade": (
        "display_name txn_type quantity traded_price exch_trade_time trade_value exchange symbol"
    ).split(),
    "Order": (
        "display_name txn_type quantity price status traded_qty order_date_time exchange symbol"
    ).split(),
    "Stock": "nsesymbol bsecode companyname isin mcaptype mcap sectorname".split(),
}
# The columns of a narrow screen, with truncated names if necessary.
ESSENTIAL = {
    "Trade": "display_name txn_type quantity traded_price".split(),
    "Order": "display_name txn_type quantity status price".split(),
    "Stock": "nsesymbol companyname mcap".split(),
}
STATUSES = ("error", "pending", "success")  # the documented ones, each with its own colour
NOUNS = {
    "Trade": ("trade", "trades"),
    "Order": ("order", "orders"),
    "Stock": ("stock", "stocks"),
}
ENDS = 5  # rows shown at either end
_PRICE = ("Order", "price")
_MOST_DECIMALS = 4  # the precision of exchange quotes


class Shown:
    """The part of a table that a display shows, with its values as text.

    ``kinds`` maps each displayed column to its kind, and ``values`` returns a column's values for
    given rows. ``names`` are the displayed columns, ``hidden`` all others; ``right`` says for each
    column whether it contains numbers. ``rows`` has the number and the texts of each row; ``None``
    takes the place of ``skipped`` omitted rows, between ``ends`` rows at either end, or after twice
    as many with ``tail=False``. ``total`` has the texts of a last row with sums, if there is one.
    The ``essential`` columns, by default the first one, are the last to be omitted on a narrow
    screen.
    """

    def __init__(
        self,
        kinds: dict[str, str],
        length: int,
        values: Callable[[str, list[int]], list[Any]],
        hidden: Sequence[str] = (),
        *,
        ends: int = ENDS,
        total: Mapping[str, float] | None = None,
        tail: bool = True,
        essential: Sequence[str] = (),
    ) -> None:
        self.names = [printable(name) for name in kinds]  # unknown fields may have any name
        self.hidden = [printable(name) for name in hidden]
        names = list(kinds)
        first = [names.index(name) for name in essential if name in kinds] or [0]
        self.essential = len(first)
        self.by_importance = [*first, *(at for at in range(len(names)) if at not in first)]
        self.right = [kind in ("integer", "number") for kind in kinds.values()]
        self.times = [at for at, kind in enumerate(kinds.values()) if kind == "timestamp"]
        numbers = list(range(length))
        self.skipped = max(0, length - 2 * ends)
        if self.skipped == 1:
            self.skipped = 0  # the line that counts omitted rows would take the same space
        if self.skipped:
            numbers = numbers[:ends] + numbers[length - ends :] if tail else numbers[: 2 * ends]
        sums = total or {}
        # Formatted with its column, so that a sum has the same number of decimals.
        columns = [
            _texts(kind, [*values(name, numbers), sums.get(name)]) for name, kind in kinds.items()
        ]
        self.total = _labelled([texts[-1] for texts in columns]) if total else None
        columns = [texts[:-1] for texts in columns]
        self.rows: list[tuple[int, list[str]] | None] = [
            (number, list(cells)) for number, *cells in zip(numbers, *columns, strict=True)
        ]
        if self.skipped:
            self.rows.insert(ends if tail else 2 * ends, None)

    def tone(self, column: int, text: str) -> str:
        """Returns which of STATUSES a cell of the column ``status`` contains, or empty text."""
        return tone_of(text) if self.names[column] == "status" else ""

    def cut(self, column: int, text: str, most: int) -> str:
        """Truncates a cell; names in the middle, because names of options differ at the end."""
        if self.names[column] != "display_name" or cell_width(text) <= most:
            return cut(text, most)
        end = text[len(text) - most * 3 // 4 :]
        while cell_width(end) > most * 3 // 4:
            end = end[1:]
        return cut(text, most - cell_width(end)) + end

    def without_day(self, day: str) -> None:
        """Removes the day that all times share from the cells, since the heading shows it."""
        for _, texts in filter(None, self.rows):
            for at in self.times:
                texts[at] = texts[at].removeprefix(day).lstrip()


def _labelled(sums: list[str]) -> list[str]:
    """Labels a row of sums in the first column without a sum, else before the first sum."""
    at = sums.index("") if "" in sums else 0
    return [*sums[:at], f"total {sums[at]}".rstrip(), *sums[at + 1 :]]


def tone_of(status: str | None) -> str:
    """Returns which of STATUSES this is, ignoring case, or empty text."""
    folded = (status or "").casefold()
    return folded if folded in STATUSES else ""


def shown_book(book: Any, names: Sequence[str] | None = None, *, ends: int = ENDS) -> Shown:
    """Returns the part of a book to display; by default, its key columns."""
    kinds = kinds_of(book._record)
    chosen = KEY_COLUMNS[book._record] if names is None else names

    def values(name: str, numbers: list[int]) -> list[Any]:
        if name == "display_name":
            return [instrument_name(book[number]) for number in numbers]
        found = [value_of(book[number], name) for number in numbers]
        if (book._record, name) == _PRICE:
            return [_price(value) for value in found]
        if name in kinds and not _core.is_personal(name):
            return found
        return [value if value is None else _masked(name, value) for value in found]

    return Shown(
        {name: kinds.get(name, "text") for name in chosen},
        len(book),
        values,
        [name for name in (*kinds, *book.extra_fields) if name not in chosen],
        ends=ends,
        essential=ESSENTIAL[book._record] if chosen == KEY_COLUMNS[book._record] else chosen,
    )


def book_preview(book: Any) -> tuple[str, Shown | None]:
    """Returns the heading of a book and its table, which is None for an empty book."""
    if not len(book):
        return book_heading(book), None
    day = common_day(book, KEY_COLUMNS[book._record])
    shown = shown_book(book)
    shown.without_day(day)
    return book_heading(book, day), shown


def value_of(record: Any, name: str) -> Any:
    """Returns a field of a row, None for an unknown field that the row lacks."""
    try:
        return record[name]
    except KeyError:
        return None


def instrument_name(record: Any) -> str | None:
    """Returns the instrument of a trade or an order: display name, else symbol, expiry and strike.

    The symbol alone does not distinguish a future or an option from its underlying.
    """
    if record.display_name and not record.display_name.isspace():
        name: str = record.display_name
        return name
    words = [record.symbol]
    if record.expiry_date is not None:
        words.append(f"{record.expiry_date:%Y-%m-%d}")
        if record.strike_price:
            words += [f"{record.strike_price:.2f}".removesuffix(".00"), record.opt_type]
    return " ".join(filter(None, words)) or None


def common_day(book: Any, names: Sequence[str]) -> str:
    """Returns the day that all times in these fields share, or empty text."""
    kinds = kinds_of(book._record)
    times = [name for name in names if kinds.get(name) == "timestamp"]
    first = next((row[name] for row in book for name in times if row[name] is not None), None)
    if first is None:
        return ""
    day = first.date()
    if any(len(book.filter(**{f"{name}__ne": {day, None}})) for name in times):
        return ""
    return str(day)


def book_heading(book: Any, day: str = "") -> str:
    """Returns the number of rows of a book, its day and account, and when it was received."""
    one, many = NOUNS[book._record]
    of_day = f" of {day}" if day else ""
    parts = [f"{group(len(book))} {one if len(book) == 1 else many}{of_day}"]
    response = book.response
    if response is not None and response.account:
        parts.append(f"account {response.account}")
    if response is not None and response.received_at is not None:
        parts.append(f"received {instant(response.received_at, book._rows.zone)}")
    if book._rows.zone is not None:
        parts.append(f"times in {getattr(book._rows.zone, 'key', book._rows.zone)}")
    return ", ".join(parts)


def instant(when: datetime, zone: tzinfo | None = None) -> str:
    """Returns an aware time to the second, in the given zone or in UTC."""
    from datetime import UTC

    if zone is None:
        return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return when.astimezone(zone).isoformat(" ", "seconds")


def issue_lines(book: Any) -> list[str]:
    """Returns a line for each of the book's issues."""
    return [
        f"{issue.field}: {issue.problem}, {group(issue.count)} "
        f"{'value' if issue.count == 1 else 'values'}{' lost' if issue.lost else ''}"
        f"{f', first {issue.raw}' if issue.raw else ''} (row {issue.row})"
        for issue in book.issues
    ]


def plain(kind: str, value: Any) -> str:
    """Formats one value as a display does."""
    return _texts(kind, [value])[0]


def field_text(record: str, name: str, value: Any) -> str:
    """Returns the text of a field, also of an unknown one, with personal data masked."""
    kind = kinds_of(record).get(name)
    if value is not None and (kind is None or _core.is_personal(name)):
        return _masked(name, value)
    return plain(kind or "text", _price(value) if (record, name) == _PRICE else value)


def _price(value: float | None) -> float | str | None:
    """Replaces the price of an order without one, which the service sends as 0."""
    return "at market" if value == 0 else value


def _masked(name: str, value: Any) -> str:
    return _core.displayed(name, printable(str(value)))


@lru_cache(4)
def kinds_of(record: str) -> dict[str, str]:
    """Returns the fields of a record, each with its kind."""
    return {name: kind for name, kind, _, _ in _core.fields_of(record)}


def _texts(kind: str, values: list[Any]) -> list[str]:
    """Formats the values of a column; numbers share their decimals: none for integers, else 2 to 4.

    Text in place of a number is kept.
    """
    if kind in ("integer", "number"):
        numbers = (value for value in values if value is not None and not isinstance(value, str))
        decimals = max(map(_decimals, numbers), default=0)
        return [v if isinstance(v, str) else group(v, decimals) for v in values]
    return ["" if value is None else printable(str(value)) for value in values]


def _decimals(value: float) -> int:
    if not isfinite(value) or value == int(value):
        return 0
    written = f"{value:.{_MOST_DECIMALS}f}".rstrip("0").partition(".")[2]
    return max(2, len(written))


def printable(text: str) -> str:
    """Escapes control characters and the like, which would disturb the display."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
