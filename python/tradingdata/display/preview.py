"""What a display shows of a book or a result: which rows and columns, and how a value looks."""

from __future__ import annotations

from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

from .. import _core
from .plain_table import cell_width, cut, group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    class _Book(Protocol):
        """What a preview reads of a book; the books themselves are a layer above this one."""

        @property
        def _record(self) -> str: ...
        @property
        def _rows(self) -> _core.Slice: ...
        @property
        def response(self) -> Any: ...
        @property
        def issues(self) -> tuple[Any, ...]: ...
        @property
        def extra_fields(self) -> tuple[str, ...]: ...
        @property
        def notes(self) -> tuple[str, ...]: ...
        def filter(self, **conditions: Any) -> _Book: ...
        def __len__(self) -> int: ...
        def __getitem__(self, row: int) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...


# The columns that a display shows, the most important first; all others are counted. The name comes
# before the symbol, which all expiries and strikes of an underlying share.
KEY_COLUMNS = {
    "Trade": (
        "display_name txn_type quantity traded_price exch_trade_time trade_value exchange symbol"
    ).split(),
    "Order": (
        "display_name txn_type quantity price status traded_qty order_date_time exchange symbol"
    ).split(),
    "Stock": "nsesymbol bsecode companyname isin mcaptype mcap sectorname".split(),
}
# What is shown on a narrow screen, if need be with a shorter name.
ESSENTIAL = {
    "Trade": "display_name txn_type quantity traded_price".split(),
    "Order": "display_name txn_type quantity status price".split(),
    "Stock": "nsesymbol companyname mcap".split(),
}
STATUSES = ("error", "pending", "success")  # those that the service names, each with its colour
NOUNS = {
    "Trade": ("trade", "trades"),
    "Order": ("order", "orders"),
    "Stock": ("stock", "stocks"),
}
ENDS = 5  # rows shown at the head and at the tail
_PRICE = ("Order", "price")
_MOST_DECIMALS = 4  # what exchanges quote in


class Shown:
    """The part of a table that a display shows, its values as text.

    ``kinds`` has the kind of each column shown, by name, and ``values`` gives a column's values at
    some rows. ``names`` are the columns shown, ``hidden`` all others; ``right`` says by column
    whether it holds numbers. ``rows`` has a row's number and its texts; ``None`` stands where
    ``skipped`` rows are left out, between ``ends`` of them at either end, or behind twice as many
    with ``tail=False``. ``total`` has the texts of a last row with sums, if there is one. The
    ``essential`` columns, the first if none are named, are the last to go on a narrow screen.
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
        self.names = [printable(name) for name in kinds]  # unknown fields have names of their own
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
            self.skipped = 0  # the line that says so takes as much room
        if self.skipped:
            numbers = numbers[:ends] + numbers[length - ends :] if tail else numbers[: 2 * ends]
        sums = total or {}
        # With its column, so that a sum has the decimals of what it adds up.
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
        """Returns which of STATUSES a cell of a column ``status`` says, or empty text."""
        return tone_of(text) if self.names[column] == "status" else ""

    def cut(self, column: int, text: str, most: int) -> str:
        """Returns a cell, cut to a width; a name in the middle, since options differ at the end."""
        if self.names[column] != "display_name" or cell_width(text) <= most:
            return cut(text, most)
        end = text[len(text) - most * 3 // 4 :]
        while cell_width(end) > most * 3 // 4:
            end = end[1:]
        return cut(text, most - cell_width(end)) + end

    def without_day(self, day: str) -> None:
        """Takes the day that all times share out of their cells: the heading has it."""
        for _, texts in filter(None, self.rows):
            for at in self.times:
                texts[at] = texts[at].removeprefix(day).lstrip()


def _labelled(sums: list[str]) -> list[str]:
    """Names a row of sums where it has none: in the first column without one, else before it."""
    at = sums.index("") if "" in sums else 0
    return [*sums[:at], f"total {sums[at]}".rstrip(), *sums[at + 1 :]]


def tone_of(status: str | None) -> str:
    """Returns which of STATUSES this is, in whatever case, or empty text."""
    folded = (status or "").casefold()
    return folded if folded in STATUSES else ""


def shown_book(book: _Book, names: Sequence[str] | None = None, *, ends: int = ENDS) -> Shown:
    """The part of a book that a display shows: its key columns, unless others are named."""
    kinds = _kinds(book._record)
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


def book_preview(book: _Book) -> tuple[str, Shown | None]:
    """Returns what stands above a book's table, and the table; None for an empty book."""
    if not len(book):
        return heading(book), None
    day = common_day(book, KEY_COLUMNS[book._record])
    shown = shown_book(book)
    shown.without_day(day)
    return heading(book, day), shown


def value_of(record: Any, name: str) -> Any:
    """A field of a row; an unknown field need not stand in every one."""
    try:
        return record[name]
    except KeyError:
        return None


def instrument_name(record: Any) -> str | None:
    """Returns what a trade or an order is of: its display name, else symbol, expiry and strike.

    The symbol alone does not tell a future or an option from its underlying.
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


def common_day(book: _Book, names: Sequence[str]) -> str:
    """Returns the day of all times in these fields, or empty text where they have several."""
    kinds = {name: kind for name, kind, _, _ in _core.fields_of(book._record)}
    times = [name for name in names if kinds.get(name) == "timestamp"]
    first = next((row[name] for row in book for name in times if row[name] is not None), None)
    if first is None:
        return ""
    day = first.date()
    if any(len(book.filter(**{f"{name}__ne": {day, None}})) for name in times):
        return ""
    return str(day)


def heading(book: _Book, day: str = "") -> str:
    """How many rows the book has, of which day and account, and when they were received."""
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
    """Returns an aware time to the second: in the zone of the table it is shown with, or in UTC."""
    from datetime import UTC

    if zone is None:
        return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return when.astimezone(zone).isoformat(" ", "seconds")


def issue_lines(book: _Book) -> list[str]:
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


def field_text(record: str, name: str, value: Any) -> str:
    """Returns the value of a field, also of an unknown one, without the personal data in it."""
    kind = _kinds(record).get(name)
    if value is not None and (kind is None or _core.is_personal(name)):
        return _masked(name, value)
    return plain(kind or "text", _price(value) if (record, name) == _PRICE else value)


def _price(value: float | None) -> float | str | None:
    """An order without a price of its own has 0, which is no price to show."""
    return "at market" if value == 0 else value


def _masked(name: str, value: Any) -> str:
    return _core.displayed(name, printable(str(value)))


@lru_cache(4)
def _kinds(record: str) -> dict[str, str]:
    return {name: kind for name, kind, _, _ in _core.fields_of(record)}


def _texts(kind: str, values: list[Any]) -> list[str]:
    """A column's values; its numbers share their decimals: none if all are whole, else 2 to 4.

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
    """Text without control characters and the like, which would change the display around it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
