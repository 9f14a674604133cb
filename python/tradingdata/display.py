"""How books, records and results are shown: their values as text, in a terminal and as HTML.

Numbers have Indian digit grouping.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, NamedTuple, TextIO
from unicodedata import category, east_asian_width

from . import _core
from ._core import printable
from ._util.declarations import RECORDS, kinds_of

STATUSES = ("error", "pending", "success")  # the documented ones, each with its own colour
ENDS = 5  # rows shown at either end
_PRICE = ("Order", "price")
_MOST_DECIMALS = 4  # the precision of exchange quotes
_PAISE = 2  # decimals of an amount of money
_COUNTED = re.compile("quantity|qty|lot_size|_(no|id)$")  # counts, not amounts of money


class View(NamedTuple):
    """What a display shows of the tables of a class.

    Attributes:
        noun: What a row is. Several have an s at the end.
        columns: The columns, the most important first; all if empty. Others are only counted.
        narrow: The columns that are the last to be omitted on a narrow screen; the first of
            ``columns`` if empty.
        sums: The amounts of money whose sums are a last row.
        rank: The column by which the rows are sorted, the largest amount first; none if empty.
        zero: The column whose zeros put a row behind the others; ``rank`` if empty.
        names: The columns that can name a row, of which the first known one is shown.
        apart: The columns that are shown if they distinguish rows of one name.
        silent: The columns that are not even counted, since they say nothing.
    """

    noun: str = "row"
    columns: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    rank: str = ""
    zero: str = ""
    names: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()


VIEWS = {
    name: View(record["noun"][0], tuple(record["display"]), tuple(record["narrow"]))
    for name, record in RECORDS.items()
}
"""The views of the service's records."""


Ends = int | tuple[int, int]
"""Number of rows at either end, of which one more may be shown; or at the start and at the end."""


class Shown:
    """The part of a table that a display shows, with its values as text.

    ``names`` are the displayed columns, by default those of the view, and ``hidden`` all others;
    ``right`` says for each column whether it contains numbers. ``rows`` has the number and the
    texts of each row; ``None`` takes the place of ``skipped`` omitted rows, between those at the
    ``ends``, or after as many of a ranked table. ``total`` has the texts of a last row
    with sums, if there is one. The ``essential`` columns are the last to be omitted.
    """

    def __init__(
        self,
        table: Any,
        columns: Sequence[str] | None = None,
        *,
        ends: Ends = ENDS,
        view: View | None = None,
    ) -> None:
        known = table._kinds
        view = table._view_of_rows() if view is None else view
        names = list(view.columns if columns is None else columns)
        kinds = [known.get(name, "text") for name in names]
        omitted = {*names, *view.silent}
        hidden = [name for name in (*known, *table._rows.extra_names()) if name not in omitted]
        self.names = [printable(name) for name in names]  # unknown fields may have any name
        self.hidden = [printable(name) for name in hidden]
        essential = view.narrow if names == list(view.columns) else names
        first = [names.index(name) for name in essential if name in names] or [0]
        self.essential = len(first)
        self.by_importance = [*first, *(at for at in range(len(names)) if at not in first)]
        self.right = [kind in ("integer", "number") for kind in kinds]
        self.times = [at for at, kind in enumerate(kinds) if kind == "timestamp"]
        total = len(table)
        first_rows, last_rows = (ends, ends) if isinstance(ends, int) else ends
        self.skipped = max(0, total - first_rows - last_rows)
        if self.skipped == 1 and isinstance(ends, int):
            self.skipped = 0  # the line that counts omitted rows would take the same space
        # Where rows are omitted.
        at = min(total, first_rows + last_rows if view.rank else first_rows)
        numbers = [*range(at), *range(at + self.skipped, total)]
        # A sum is formatted with its column, so that it has the same number of decimals.
        sums = {name: table._total(name) for name in view.sums if name in names and total > 1}
        formatted = [
            _texts(
                name,
                kind,
                [*table._cells(name, numbers), sums.get(name)],
                _PAISE if name in view.sums else _MOST_DECIMALS,
            )
            for name, kind in zip(names, kinds, strict=True)
        ]
        last = [texts.pop() for texts in formatted]
        self.total = _labelled(last) if sums else None
        self.rows: list[tuple[int, list[str]] | None] = [
            (number, list(cells)) for number, *cells in zip(numbers, *formatted, strict=True)
        ]
        if self.skipped:
            self.rows.insert(at, None)

    def cut(self, column: int, text: str, most: int) -> str:
        """Truncates a cell; names in the middle, because names of options differ at the end."""
        if self.names[column] != "display_name" or cell_width(text) <= most:
            return cut(text, most)
        end = text[len(text) - most * 3 // 4 :]
        while cell_width(end) > most * 3 // 4 or not cell_width(end[:1] or " "):
            end = end[1:]
        return cut(text, most - cell_width(end)) + end

    def without_common_day(self, table: Any) -> str:
        """Removes the day that all times share from the cells; returns it, or empty text."""
        names = [self.names[at] for at in self.times]
        shown = (table[number] for number, _ in filter(None, self.rows))
        first = next((row[name] for row in shown for name in names if row[name] is not None), None)
        if first is None:
            return ""
        day = first.date()
        if any({*table._rows.distinct(f"{name}.day")} - {day, None} for name in names):
            return ""
        for _, texts in filter(None, self.rows):
            for at in self.times:
                texts[at] = texts[at].removeprefix(str(day)).lstrip()
        return str(day)


def _labelled(sums: list[str]) -> list[str]:
    """Labels a row of sums in the first column without a sum, else before the first sum."""
    at = sums.index("") if "" in sums else 0
    return [*sums[:at], f"total {sums[at]}".rstrip(), *sums[at + 1 :]]


def tone_of(name: str, text: str | None) -> str:
    """Returns which of STATUSES a cell of a column ``status`` has, ignoring case, or empty text."""
    folded = (text or "").casefold()
    return folded if name == "status" and folded in STATUSES else ""


def book_cells(book: Any, name: str, numbers: list[int]) -> list[Any]:
    """Returns what a display shows of a column of a book, also of an unknown field."""
    rows = [book[number] for number in numbers]
    if name == "display_name" and "strike_price" in book._kinds:
        return [instrument_name(row) for row in rows]
    if (book._record, name) == _PRICE:
        return [_price_of(row) for row in rows]
    values = [value_of(row, name) for row in rows]
    if name in book._kinds and not _core.is_personal(name):
        return values
    return [value if value is None else _masked(name, value) for value in values]


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


def book_heading(book: Any, accounts: Sequence[str | None], day: str = "") -> str:
    """Returns the number of rows of a book, its day and accounts, and when it was received."""
    parts = [f"{book._heading()} of {day}" if day else book._heading()]
    response = book.response
    if len(accounts) > 1:
        parts.append(counted(len(accounts), "account"))
    elif any(accounts):
        parts.append(f"account {accounts[0]}")
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


def issue_lines(book: object) -> list[str]:
    """Returns a line for each of the book's issues; results have theirs in the heading."""
    issues = getattr(book, "issues", ())
    if not isinstance(issues, tuple):
        return []
    return [
        f"{issue.field}: {issue.problem}, {counted(issue.count, 'value')}"
        f"{' lost' if issue.lost else ''}"
        f"{f', first {issue.raw}' if issue.raw else ''} (row {issue.row})"
        for issue in issues
    ]


def impersonal(name: str, value: object) -> object:
    """Returns a value of a result without account numbers, which a query may give any name."""
    if value is not None and _core.is_personal(name):
        return _masked(name, value)
    return _core.without_account_numbers(value) if isinstance(value, str) else value


def field_text(record: type | str, name: str, value: Any) -> str:
    """Returns the text of a field, also of an unknown one, with personal data masked."""
    kind = kinds_of(record).get(name)
    if value is not None and (kind is None or _core.is_personal(name)):
        return _masked(name, value)
    if not isinstance(record, str) and record.__name__ not in RECORDS:
        value = impersonal(name, value)
    is_price = record in (_core.Order, "Order") and name == _PRICE[1]
    return _texts(name, kind or "text", [_price(value) if is_price else value])[0]


def set_fields(record: Any) -> list[tuple[str, str, str]]:
    """Returns the name, the text and the meaning of each field of a record that is set."""
    kind = type(record)
    fields = [
        (name, field_text(kind, name, record[name]), doc)
        for name, _, doc, _ in _core.fields_of(kind)
        if record[name] not in (None, "")
    ]
    return fields + [
        (printable(name), field_text(kind, name, value), "not in the service's document")
        for name, value in _core.row_extras(record).items()
    ]


def _price_of(order: Any) -> float | str | None:
    """Returns the price of an order; a stop order without one waits for its trigger."""
    if order.price == 0 and order.trigger_price and not order.traded_qty:
        return f"trigger {field_text('Order', 'trigger_price', order.trigger_price)}"
    return _price(order.price)


def _price(value: float | None) -> float | str | None:
    """Replaces the price of an order without one, which the service sends as 0."""
    return "at market" if value == 0 else value


def _masked(name: str, value: object) -> str:
    return _core.displayed(name, printable(str(value)))


def _texts(name: str, kind: str, values: list[Any], most: int = _MOST_DECIMALS) -> list[str]:
    """Formats the values of a column. Text in place of a number is kept."""
    if kind in ("integer", "number"):
        decimals = shared_decimals(name, kind, values, most)
        return [v if isinstance(v, str) else group(v, decimals) for v in values]
    return ["" if value is None else printable(str(value)) for value in values]


def shared_decimals(name: str, kind: str, values: Iterable[Any], most: int = _MOST_DECIMALS) -> int:
    """Returns the decimals of the values of a column: as many as one needs, up to ``most``.

    They are two at least, but none in a column of whole numbers that is no money.
    """
    if kind != "number":
        return 0
    numbers = (value for value in values if value is not None and not isinstance(value, str))
    needed = max(
        (len(f"{value:.{most}f}".rstrip("0").partition(".")[2]) for value in numbers), default=0
    )
    return 0 if not needed and _COUNTED.search(name) else max(_PAISE, needed)


def group(value: float | None, decimals: int = 0) -> str:
    """Formats a number with Indian digit grouping: 1234567.5 becomes "12,34,567.50".

    `None` is an empty text.
    """
    if value is None:
        return ""
    whole, _, fraction = f"{abs(value):.{decimals}f}".partition(".")
    head, last = whole[:-3], whole[-3:]
    first = len(head) % 2
    pairs = [head[:first], *(head[i : i + 2] for i in range(first, len(head), 2)), last]
    text = ",".join(part for part in pairs if part)
    negative = value < 0 and text.strip("0,") + fraction.strip("0") != ""
    return ("-" if negative else "") + text + ("." + fraction if fraction else "")


def for_output(text: str, stream: TextIO | None = None) -> str:
    """Escapes what a stream, by default standard output, cannot encode."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        # Before the number of omitted rows there is space; the mark of a cut cell stays one wide.
        dots = re.sub(r"…(?= \d)", "...", text).replace("…", "~")
        return dots.encode(encoding, "backslashreplace").decode(encoding)
    return text


def counted(number: int, noun: str) -> str:
    """Formats a number of things: "1 trade", "2 trades"."""
    return f"{group(number)} {noun}{'s' * (number != 1)}"


def cell_width(text: str) -> int:
    """Returns the width of text in terminal columns: ideographs and emoji take two."""
    if text.isascii():
        return len(text)
    return sum(
        2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
        if category(character) not in ("Mn", "Me")
    )


_MOST_MARKS = 3  # of a letter that is kept with them


def cut(text: str, most: int) -> str:
    """Returns the text, truncated with an ellipsis if it is wider; letters keep their marks."""
    if cell_width(text) <= most:
        return text
    text = text[: most * (1 + _MOST_MARKS)]
    while cell_width(text) >= most:
        text = text[:-1]
    return text + "…"


def aligned(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[bool],
    styled: Sequence[Sequence[str]] | None = None,
    indent: str = "  ",
) -> str:
    """Formats rows of text under headings, with columns two spaces apart.

    `right` says for each column whether it is aligned to the right; `styled` has the rows with
    their styles, which take no space. No line ends in spaces.
    """
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(map(cell_width, column)) for column in columns]
    rule = ["-" * width for width in widths]

    def line(cells: Sequence[str], drawn: Sequence[str]) -> str:
        aligned = []
        for cell, text, width, is_right in zip(cells, drawn, widths, right, strict=True):
            space = " " * (width - cell_width(cell))
            aligned.append(space + text if is_right else text + space)
        return (indent + "  ".join(aligned)).rstrip()

    drawn = (headings, rule, *(rows if styled is None else styled))
    return "\n".join(map(line, (headings, rule, *rows), drawn))


GAP = 2  # spaces between columns
_NO_BREAK = "\u00a0"
_TEXT = 28  # width of a text column until the other columns have been placed
_LEAST = 14  # minimum width of a text column if important columns need the space


def _plain(text: str, style: str) -> str:
    return text


def laid_out(
    shown: Shown,
    width: int,
    style: Callable[[str, str], str] = _plain,
    *,
    indent: str = "",
) -> tuple[str, int]:
    """Returns the text of the columns that fit a width, and the number of those that do not.

    `style` is called with each cell and the name of its style: `dim` for the line that counts
    omitted rows, `bold` for the total, and the colours of statuses.
    """
    skipped = [f"… {group(shown.skipped)} more", *[""] * (len(shown.names) - 1)]
    rows = [skipped if row is None else row[1] for row in shown.rows]
    styles = ["dim" if row is None else "" for row in shown.rows]
    everything = [shown.names, *rows, *([shown.total] if shown.total else [])]
    natural = [max(map(cell_width, cells)) for cells in zip(*everything, strict=True)]
    least = [
        full if right else min(full, max(_LEAST if spaced else _TEXT, cell_width(name)))
        for full, right, name, spaced in zip(
            natural, shown.right, shown.names, _prose(shown), strict=True
        )
    ]
    widths = fitted(natural, least, shown.by_importance, shown.essential, width)
    for at in widths:
        texts = {cells[at] for cells in rows}
        if shown.names[at] == "display_name" and len(texts) > len(
            {shown.cut(at, text, widths[at]) for text in texts}
        ):  # two contracts of one underlying must not look the same
            least[at] = natural[at]
            widths = fitted(natural, least, shown.by_importance, shown.essential, width)
            break
    places = sorted(widths)
    skipped[places[0]] = skipped[0]  # in the first column that fits
    names = [shown.names[at] for at in places]
    table = [[shown.cut(at, cells[at], widths[at]) for at in places] for cells in rows]
    total = [shown.total[at] for at in places] if shown.total else []
    if sum(map(bool, total)) > 1:
        table.append(total)
        styles.append("bold")
    styled = [
        [
            style(cell, _TONES[tone_of(name, cell)] or whole)
            for name, cell in zip(names, cells, strict=True)
        ]
        for whole, cells in zip(styles, table, strict=True)
    ]
    right = [shown.right[at] for at in places]
    return aligned(names, table, right, styled, indent), len(shown.names) - len(places)


def _prose(shown: Shown) -> list[bool]:
    """Returns whether each column contains words; a truncated code could be another code."""
    rows = [row[1] for row in shown.rows if row is not None]
    return [any(" " in cell for cell in column) for column in zip(*rows, strict=True)]


def folded(text: str, width: int, indent: str = "") -> list[str]:
    """Returns text in lines that fit, the later ones indented; words such as paths stay whole."""
    lines: list[str] = []
    for word in re.findall(" *[^ ]+", text):
        if lines and cell_width(lines[-1] + word) <= width:
            lines[-1] += word
        else:
            lines.append(indent + word.lstrip() if lines else word)
    return lines


def wrapped(heading: str, width: int) -> str:
    """Wraps a heading between its parts."""
    parts = re.sub(f"([,:]){_NO_BREAK}", r"\1 ", heading.replace(" ", _NO_BREAK))
    return "\n".join(folded(parts, width, "  ")).replace(_NO_BREAK, " ")


def fitted(
    natural: Sequence[int], least: Sequence[int], order: Sequence[int], essential: int, room: int
) -> dict[int, int]:
    """Returns the width of each column that fits; there is at least one.

    The most important columns are placed first. Long texts are truncated so that the essential
    columns fit, and get the remaining space at the end.

    Args:
        natural: The width of each column without truncation.
        least: The minimum width of each column.
        order: The columns, the most important first.
        essential: The number of leading columns for which texts are truncated.
        room: The width of the table.
    """
    widths = [max(low, min(full, _TEXT)) for full, low in zip(natural, least, strict=True)]
    first = list(order[:essential])
    while sum(widths[at] + GAP for at in first) - GAP > room:
        widest = max(first, key=lambda at: widths[at] - least[at])
        if widths[widest] == least[widest]:
            break
        widths[widest] -= 1
    chosen: dict[int, int] = {}
    room += GAP
    for at in order:
        if widths[at] + GAP > room and chosen:
            break
        chosen[at] = widths[at]
        room -= widths[at] + GAP
    for at in sorted(chosen):
        more = min(natural[at] - chosen[at], max(0, room))
        chosen[at] += more
        room -= more
    return chosen


_MOST_ISSUES = 5
_TONES = {"error": "red", "pending": "yellow", "success": "green", "": ""}


def table_text(table: Any) -> str:
    """Returns the text of a table that fits the terminal: a title, its rows, and its issues."""
    return for_output("\n".join(_lines_of(table)))


def _lines_of(table: Any) -> list[str]:
    from shutil import get_terminal_size

    width = get_terminal_size((100, 24)).columns
    title, shown = table._preview()
    title = wrapped(f"{type(table).__name__}: {title}", width)
    if shown is None:
        return [title]
    rows, missing = laid_out(shown, width - 2, indent="  ")
    lines, hidden = [title, rows], missing + len(shown.hidden)
    if hidden:
        lines.append(f"  +{counted(hidden, 'more column')}")
    issues = issue_lines(table)
    if issues:
        lines.append(f"  {counted(len(issues), 'issue')}:")
        for line in issues[:_MOST_ISSUES]:
            lines += folded(f"    {line}", width, "      ")
        if len(issues) > _MOST_ISSUES:
            lines.append(f"    +{len(issues) - _MOST_ISSUES} more in .issues")
    return lines


# Rules use classes, because a style in each cell would be most of the output. Greys are half of the
# page's text colour, and the colours of statuses are mixed with it, for contrast on light and dark
# pages. A notebook's own stripes and hover effects remain. Naming the class twice takes precedence
# over Jupyter's rule that aligns every cell to the right.
_STYLE = """<style>
.td-book{overflow-x:auto;margin:.3em 0}
.td-book table{border-collapse:collapse;border:0;margin:.3em 0;font-variant-numeric:tabular-nums}
.td-book.td-book table td,.td-book.td-book table th{padding:.25em .7em;text-align:left;\
white-space:nowrap;max-width:24em;overflow:hidden;text-overflow:ellipsis}
.td-book.td-book table tbody tr{border-top:1px solid rgba(128,128,128,.35)}
.td-book.td-book table td.n,.td-book.td-book table th.n{text-align:right}
.td-book.td-book .q{opacity:.6;font-weight:normal}
.td-book.td-book table td.e{color:color-mix(in srgb,currentColor 30%,red)}
.td-book.td-book table td.p{color:color-mix(in srgb,currentColor 30%,darkorange)}
.td-book.td-book table td.s{color:color-mix(in srgb,currentColor 30%,forestgreen)}
</style>"""
_LONG = 30  # cells with more characters also have their text as a tooltip


def _cell(tag: str, text: str, kind: str = "", *, title: str = "") -> str:
    """Returns a cell; `kind` has "n" for a number, "q" for grey, "e", "p" or "s" for a status."""
    from html import escape  # takes a millisecond to import

    classes = f' class="{" ".join(kind)}"' if kind else ""
    hint = f' title="{escape(title)}"' if title else ""
    return f"<{tag}{classes}{hint}>{escape(text)}</{tag}>"


def _cell_of(text: str, right: bool = False, tone: str = "") -> str:
    kind = ("n" if right else "") + tone[:1]
    return _cell("td", text, kind, title=text if len(text) > _LONG else "")


def box(title: str, table: str, below: str = "") -> str:
    """Returns the HTML of a display: a title, a table and details below it."""
    return f'{_STYLE}<div class="td-book"><div>{title}</div>{table}{below}</div>'


def _row(shown: Shown, row: tuple[int, list[str]] | None) -> str:
    if row is None:
        width = len(shown.names) + 1
        return f'<tr><td class="q" colspan="{width}">⋮ {group(shown.skipped)} more</td></tr>'
    number, texts = row
    tones = map(tone_of, shown.names, texts)
    values = "".join(map(_cell_of, texts, shown.right, tones))
    return f"<tr>{_cell('th', group(number), 'nq')}{values}</tr>"


def table_html(table: Any, columns: Sequence[str] | None = None, ends: Ends = ENDS) -> str:
    """Returns the HTML of a table: its first and last rows, key columns first, and its issues.

    Rows are numbered; a line below counts hidden columns, and its tooltip names them.
    """
    from html import escape

    title, shown = table._preview(columns, ends)
    title = f"<b>{type(table).__name__}</b>: {escape(title)}"
    if shown is None:
        return box(title, "")
    names = "".join(
        _cell("th", name, "n" if right else "")
        for name, right in zip(shown.names, shown.right, strict=True)
    )
    head = f"<thead><tr><th></th>{names}</tr></thead>"
    body = "".join(_row(shown, row) for row in shown.rows)
    foot = ""
    if shown.total:
        classes = ("n" if right else "" for right in shown.right)
        cells = "".join(map(partial(_cell, "th"), shown.total, classes))
        foot = f"<tfoot><tr><th></th>{cells}</tr></tfoot>"
    below = _issues(table)
    if shown.hidden:
        more = f"+{counted(len(shown.hidden), 'more column')}"
        below = _cell("div", more, "q", title=", ".join(shown.hidden)) + below
    return box(title, f"<table>{head}<tbody>{body}</tbody>{foot}</table>", below)


def _issues(table: object) -> str:
    from html import escape

    lines = issue_lines(table)
    if not lines:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<details><summary>{counted(len(lines), 'issue')}</summary><ul>{items}</ul></details>"


def record_html(record: Any) -> str:
    """Returns the HTML of a record: the fields that are set, with their meanings as tooltips."""
    kind = type(record)
    rows = [
        _cell("th", name, title=doc) + _cell_of(text, tone=tone_of(name, text))
        for name, text, doc in set_fields(record)
    ]
    noun = VIEWS.get(kind.__name__, View()).noun
    title = f"<b>{kind.__name__}</b>: one {noun}, {counted(len(rows), 'field')} set"
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return box(title, f"<table><tbody>{body}</tbody></table>")
