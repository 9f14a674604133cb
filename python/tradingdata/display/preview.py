"""Selects the rows and columns that displays show, and formats their values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import Any

from .. import _core
from .._util.declarations import RECORDS
from .plain_table import cell_width, cut, encodable, group

# The columns of a display, the most important first; all others are only counted. The name precedes
# the symbol, which all expiries and strikes of an underlying share.
KEY_COLUMNS = {name: list(record["display"]) for name, record in RECORDS.items()}
STATUSES = ("error", "pending", "success")  # the documented ones, each with its own colour
NOUNS = {name: record["noun"] for name, record in RECORDS.items()}
ENDS = 5  # rows shown at either end
_PRICE = ("Order", "price")
_MOST_DECIMALS = 4  # the precision of exchange quotes
_PAISE = 2  # decimals of an amount of money


class Shown:
    """The part of a table that a display shows, with its values as text.

    ``names`` are the displayed columns, by default the table's key columns, and ``hidden`` all
    others; ``right`` says for each column whether it contains numbers. ``rows`` has the number and
    the texts of each row; ``None`` takes the place of ``skipped`` omitted rows, between ``ends``
    rows at either end, or after twice as many of a ranked table. ``total`` has the texts of a last
    row with sums, if there is one. The ``essential`` columns, by default the first one, are the
    last to be omitted on a narrow screen.
    """

    def __init__(
        self, table: Any, columns: Sequence[str] | None = None, *, ends: int = ENDS
    ) -> None:
        known, best = table._kinds, table._display_columns()
        names = list(best if columns is None else columns)
        kinds = [known.get(name, "text") for name in names]
        hidden = [name for name in (*known, *table._rows.extra_names()) if name not in names]
        self.names = [printable(name) for name in names]  # unknown fields may have any name
        self.hidden = [printable(name) for name in hidden]
        essential = table._essential if names == list(best) else names
        first = [names.index(name) for name in essential if name in names] or [0]
        self.essential = len(first)
        self.by_importance = [*first, *(at for at in range(len(names)) if at not in first)]
        self.right = [kind in ("integer", "number") for kind in kinds]
        self.times = [at for at, kind in enumerate(kinds) if kind == "timestamp"]
        numbers = list(range(len(table)))
        self.skipped = max(0, len(numbers) - 2 * ends)
        if self.skipped == 1:
            self.skipped = 0  # the line that counts omitted rows would take the same space
        at = 2 * ends if table._is_ranked else ends  # where rows are omitted
        if self.skipped:
            del numbers[at : at + self.skipped]
        # Formatted with its column, so that a sum has the same number of decimals.
        sums = {name: value for name, value in table._total().items() if name in names}
        formatted = [
            _texts(
                kind,
                [*table._cells(name, numbers), sums.get(name)],
                _PAISE if name in table._summed else _MOST_DECIMALS,
            )
            for name, kind in zip(names, kinds, strict=True)
        ]
        total = [texts.pop() for texts in formatted]
        self.total = _labelled(total) if sums else None
        self.rows: list[tuple[int, list[str]] | None] = [
            (number, list(cells)) for number, *cells in zip(numbers, *formatted, strict=True)
        ]
        if self.skipped:
            self.rows.insert(at, None)

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


def book_cells(book: Any, name: str, numbers: list[int]) -> list[Any]:
    """Returns what a display shows of a column of a book, also of an unknown field."""
    rows = [book[number] for number in numbers]
    if name == "display_name" and "strike_price" in book._kinds:
        return [instrument_name(row) for row in rows]
    if (book._record, name) == _PRICE:
        return [_price_of(row) for row in rows]
    found = [value_of(row, name) for row in rows]
    if name in book._kinds and not _core.is_personal(name):
        return found
    return [value if value is None else _masked(name, value) for value in found]


def book_preview(book: Any) -> tuple[str, Shown | None]:
    """Returns the heading of a book and its table, which is None for an empty book."""
    if not len(book):
        return book_heading(book), None
    day = common_day(book, KEY_COLUMNS[book._record])
    shown = Shown(book)
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


def common_day(table: Any, names: Sequence[str]) -> str:
    """Returns the day that all times in these columns share, or empty text."""
    kinds = table._kinds
    times = [name for name in names if kinds.get(name) == "timestamp"]
    first = next((row[name] for row in table for name in times if row[name] is not None), None)
    if first is None:
        return ""
    day = first.date()
    if any(len(table.filter(**{f"{name}__ne": {day, None}})) for name in times):
        return ""
    return str(day)


def book_heading(book: Any, day: str = "") -> str:
    """Returns the number of rows of a book, its day and account, and when it was received."""
    parts = [f"{book._heading()} of {day}" if day else book._heading()]
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
    if zone is None:
        return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return when.astimezone(zone).isoformat(" ", "seconds")


def issue_lines(book: Any) -> list[str]:
    """Returns a line for each of the book's issues; other tables have none."""
    return [
        f"{issue.field}: {issue.problem}, {group(issue.count)} "
        f"{'value' if issue.count == 1 else 'values'}{' lost' if issue.lost else ''}"
        f"{f', first {issue.raw}' if issue.raw else ''} (row {issue.row})"
        for issue in getattr(book, "issues", ())
    ]


def plain(kind: str, value: Any) -> str:
    """Formats one value as a display does."""
    return _texts(kind, [value])[0]


def field_text(record: type | str, name: str, value: Any) -> str:
    """Returns the text of a field, also of an unknown one, with personal data masked."""
    kind = {known: kind for known, kind, _, _ in _core.fields_of(record)}.get(name)
    if value is not None and (kind is None or _core.is_personal(name)):
        return _masked(name, value)
    is_price = record in (_core.Order, "Order") and name == _PRICE[1]
    return plain(kind or "text", _price(value) if is_price else value)


def set_fields(record: Any) -> list[tuple[str, str, str]]:
    """Returns the name, the text and the meaning of each field of a record that is set."""
    kind = type(record)
    found = [
        (name, field_text(kind, name, record[name]), doc)
        for name, _, doc, _ in _core.fields_of(kind)
        if record[name] not in (None, "")
    ]
    return found + [
        (printable(name), field_text(kind, name, value), "not in the service's document")
        for name, value in _core.row_extras(record).items()
    ]


def _price_of(order: Any) -> float | str | None:
    """Returns the price of an order; a stop order without one waits for its trigger."""
    if order.price == 0 and order.trigger_price and not order.traded_qty:
        return f"trigger {plain('number', order.trigger_price)}"
    return _price(order.price)


def _price(value: float | None) -> float | str | None:
    """Replaces the price of an order without one, which the service sends as 0."""
    return "at market" if value == 0 else value


def _masked(name: str, value: Any) -> str:
    return _core.displayed(name, printable(str(value)))


def _texts(kind: str, values: list[Any], most: int = _MOST_DECIMALS) -> list[str]:
    """Formats the values of a column. Text in place of a number is kept.

    Numbers share their decimals: none for integers, else two to ``most``.
    """
    if kind in ("integer", "number"):
        numbers = (value for value in values if value is not None and not isinstance(value, str))
        decimals = max((_decimals(value, most) for value in numbers), default=0)
        return [v if isinstance(v, str) else group(v, decimals) for v in values]
    return ["" if value is None else printable(str(value)) for value in values]


def _decimals(value: float, most: int) -> int:
    if not isfinite(value) or value == int(value):
        return 0
    written = f"{value:.{most}f}".rstrip("0").partition(".")[2]
    return max(2, len(written))


def printable(text: str) -> str:
    """Escapes control characters and the like, and what standard output cannot encode."""
    if text.isprintable() and encodable(text):
        return text
    return "".join(
        c if c.isprintable() and encodable(c) else c.encode("unicode_escape").decode() for c in text
    )
