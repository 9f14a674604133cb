"""Which rows and columns a command writes: to the terminal, a pipe or a file, in which format."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradingdata import _core, display
from tradingdata._core import printable
from tradingdata._util.declarations import RECORDS, kinds_of
from tradingdata._util.platform import target_of, whole_file
from tradingdata._util.validate import did_you_mean
from tradingdata.books.book import Book
from tradingdata.display import Shown, aligned, counted
from tradingdata.table.conditions import Condition, value_in

from . import terminal
from .parameters import FORMATS, Given
from .terminal import DataError, Screen, UsageError, fitting, remark, write_out

if TYPE_CHECKING:
    from tradingdata.books.book import AnyBook
    from tradingdata.table.table import Table

    Rows = Table[Any]

_AROUND = 9  # lines of a screen that are not rows: heading, names, remarks, prompt
_MOST_ISSUES = 5

_CONDITION = re.compile(r"\s*([^<>=!\s]+)\s*(!=|<=|>=|==|=|<|>)(.*)", re.DOTALL)
_COMPARISONS = {"=": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_GROUPED = re.compile(r"-?\d{1,3}(,\d\d)*,\d{3}|-?\d{1,3}(,\d{3})+")  # as tables show numbers


class RowChoice:
    """The rows that options select, validated before any request.

    Raises:
        UsageError: An option names an unknown field, or a value that its field cannot have.
    """

    def __init__(self, record: str, given: Given) -> None:
        texts = given.get("where", ())
        self.conditions = [fitting(partial(_condition, record, text)) for text in texts]
        self._limit, sort = given.get("limit"), given.get("sort")
        noun, known = RECORDS[record]["noun"][1], kinds_of(record)
        names = [] if sort is None else _listed(noun, known, "--sort", [sort])
        self._keys = [(name.removeprefix("-"), name.startswith("-")) for name in names]

    def apply(self, book: AnyBook) -> AnyBook:
        """Returns the rows, sorted and limited."""
        part = book._where(self.conditions) if self.conditions else book
        part = part._sorted(self._keys) if self._keys and len(part) else part
        return part if self._limit is None or len(part) <= self._limit else part[: self._limit]


def chosen_columns(what: str, known: Collection[str], given: Given) -> list[str] | None:
    """Returns the selected columns, or None if the format decides."""
    texts = given["columns"]
    if not texts:
        return None
    return list(known) if "all" in texts else _listed(what, known, "--columns", texts)


def _listed(what: str, known: Collection[str], option: str, texts: Sequence[str]) -> list[str]:
    """Returns the columns that an option lists; those of `--sort` may begin with a minus."""
    names = [name.strip() for name in ",".join(texts).split(",") if name.strip()]
    if not names:
        rest = "; 'all' is all of them" if option == "--columns" else ""
        raise UsageError(f"{option} names no column{rest}")
    plain = [name.removeprefix("-") if option == "--sort" else name for name in names]
    for name in plain:
        if name not in known:
            field, colon, _ = name.partition(":")
            hint = f"; write {field} or -{field}" if colon else did_you_mean(name, known)
            raise UsageError(f"{option}: {what} have no field {name!r}{hint}")
        if plain.count(name) > 1:
            raise UsageError(f"{option} names {name} twice")
    return names


def _condition(record: str, text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UsageError(
            "--where takes NAME=VALUE, or another of != < <= > >= in place of =: symbol=INFY, "
            "'traded_price>100'"
        )
    name, sign, values = match.groups()
    kinds, noun = kinds_of(record), RECORDS[record]["noun"][1]
    if name not in kinds:
        raise UsageError(f"--where: {noun} have no field {name!r}{did_you_mean(name, kinds)}")
    what, kind, comparison = f"--where: {name}", kinds[name], _COMPARISONS[sign]
    if values[:1] in ("<", ">", "=", "!"):
        raise UsageError(f"{what}{sign}{values[0]} is no comparison: write one of = != < <= > >=")
    if comparison not in ("eq", "ne"):
        return Condition(name, comparison, value_in(what, kind, values))
    parts = values.split(",")
    listed = [value_in(what, kind, part) for part in parts if part.strip()]
    if len(set(map(type, listed))) > 1:
        raise UsageError(f"--where: {name} takes times or days, not both at once")
    if kind in ("integer", "number") and _GROUPED.fullmatch(values.strip()):
        one = f"for one number, write {name}{sign}{values.replace(',', '').strip()}"
        remark(f"{what} is {' or '.join(map(str, listed))}; {one}", "yellow")
    # An empty value matches missing values and, in text fields, empty text.
    none = {None, ""} if kind == "text" else {None}
    return Condition(name, comparison, {*listed, *(none if len(listed) < len(parts) else ())})


class Destination:
    """Destination of a command's rows, validated before any request.

    ``columns`` are the selected ones, None if none were selected; ``choice`` selects rows of a
    book.
    """

    def __init__(
        self, given: Given, columns: list[str] | None = None, choice: RowChoice | None = None
    ) -> None:
        self._columns, self._choice = columns, choice
        self._extra, self._force = given.get("extra", False), given["force"]
        self._path: Path | None = None if given["output"] == Path("-") else given["output"]
        suffix = "table"
        if self._path is not None:
            target_of(self._path, overwrite=self._force)  # raises before any request
            suffix = self._path.suffix.lower()[1:]
        name: str = given["format"] or suffix
        if name not in FORMATS or (name == "table" and self._path and not given["format"]):
            known = ", ".join(f".{known}" for known in FORMATS[1:])
            end = f"the name does not say which format; end it in one of {known}, or add --format"
            raise UsageError(f"-o {self._path and self._path.name}: {end}")
        self._format = "ndjson" if name == "jsonl" else name
        if name in ("parquet", "xlsx") and self._path is None and terminal.screen() is not None:
            raise UsageError(f"{name} is binary: write a file with -o FILE.{name}")
        if name == "xlsx" and self._path and suffix != "xlsx":
            raise UsageError(f"-o {self._path.name}: a workbook's name ends in .xlsx")

    def take(self, table: Rows) -> None:
        """Writes the selected rows, and reports the issues of their response."""
        if self._choice is not None:
            table = self._choice.apply(table)  # type: ignore[type-var]
        names, screen = self._names(table), terminal.screen()
        if screen is not None and self._path is None and self._format == "table":
            print_rows(screen, table, names or [], chosen=self._columns is not None)
            for line in issue_texts(table, lost_only=False):
                screen.show(screen.fit(line), "yellow")
            return
        if self._path is not None:
            with whole_file(self._path, overwrite=self._force) as draft:
                Path(draft).write_bytes(self._content(table, names))
            remark(f"wrote {counted(len(table), table._view.noun)} to {self._path}")
        else:
            write_out(self._content(table, names))
            hidden = len(table._kinds) - len(table._view_of_rows().columns)
            if self._format == "table" and self._columns is None and hidden:
                remark(f"+{counted(hidden, 'more column')}: --columns")
        if is_result(table) or table._why_none():
            remark(heading(table) + table._why_none())  # names the day, and what no sum includes
        for line in issue_texts(table, lost_only=True):
            remark(line, "yellow")

    def take_one(self, book: Book[Any]) -> None:
        """Writes a book of one record: field by field if it is a table, else as any book."""
        if self._path is None and self._format == "table" and self._columns is None:
            write_lines(("field", "value"), [field[:2] for field in display.set_fields(book[0])])
        else:
            self.take(book)

    def _content(self, table: Rows, names: list[str] | None) -> bytes:
        """Returns the rows in the format."""
        if self._format == "table":
            return plain_rows(table, names or []).encode()
        if self._format == "csv":
            return table.to_csv(None, names, extra=self._extra).encode()
        if self._format in ("json", "ndjson"):
            lines = self._format == "ndjson"
            return table.to_json(None, names, extra=self._extra, lines=lines).encode()
        from tempfile import TemporaryDirectory  # takes 3 ms to import

        export = table.to_parquet if self._format == "parquet" else table.to_excel
        with TemporaryDirectory() as folder:  # these only write files
            path = Path(folder, f"book.{self._format}")
            try:
                export(path, names, extra=self._extra)
            except ValueError as error:  # what the format cannot hold
                raise DataError(str(error)) from None
            return path.read_bytes()

    def _names(self, table: Rows) -> list[str] | None:
        """Returns the selected columns, the key columns of a table, or None for all."""
        if self._format != "table":
            return self._columns
        names = list(table._view_of_rows().columns) if self._columns is None else self._columns
        return [*names, *getattr(table, "extra_fields", ())] if self._extra else names


def book_destination(record: str, given: Given) -> Destination:
    """Returns the destination of a book, of which options may select rows and columns."""
    columns = chosen_columns(f"{record.lower()}s", _core.names_of(record), given)
    return Destination(given, columns, RowChoice(record, given))


def write_lines(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Writes a short list to standard output: aligned text, and nothing where a cell is None.

    On a terminal, the last column is wrapped.
    """
    texts = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    screen, right = terminal.screen(), [False] * len(names)
    if screen is None:
        write_out(aligned(names, texts, right).encode() + b"\n")
        return
    columns = zip(names[:-1], *(row[:-1] for row in texts), strict=True)
    used = sum(2 + max(map(display.cell_width, column)) for column in columns)
    lines = []
    for *first, last in texts:
        for piece in display.folded(last, max(screen.width - used - 2, 10)) or [""]:
            lines.append([*first, piece])
            first = [""] * len(first)
    screen.show(aligned(names, lines, right).splitlines())


def heading(table: Rows, day: str = "") -> str:
    """Returns the line above a table; ``day`` is the common day of its times, if any."""
    if isinstance(table, Book):
        return display.book_heading(table, table._accounts(), day)
    return f"{table._heading()} of {day}" if day else table._heading()


def plain_rows(table: Rows, names: Sequence[str]) -> str:
    """Returns the complete table as text: every row and the total, without truncated cells."""
    shown = Shown(table, names, ends=len(table))
    rows = [row[1] for row in shown.rows if row is not None] + [shown.total or []]
    return aligned(shown.names, [row for row in rows if row], shown.right) + "\n"


def print_rows(screen: Screen, table: Rows, names: Sequence[str], *, chosen: bool) -> None:
    """Prints the part of the table that fits the terminal, and what it omits."""
    if not len(table):
        screen.show(screen.fit(heading(table) + table._why_none()), "bold")
        return
    shown = Shown(table, names, ends=max(display.ENDS, (screen.height - _AROUND) // 2))
    title = heading(table, shown.without_common_day(table))
    screen.show(display.wrapped(title, screen.width).splitlines(), "bold")
    rows, missing = display.laid_out(shown, screen.width, screen.paint)
    screen.show(rows.splitlines())
    # In a pipe, the output has every row and every requested column.
    hidden = missing + (0 if chosen else len(shown.hidden))
    more = "--columns" if shown.hidden and not chosen else "in a pipe"
    notes = [f"+{counted(hidden, 'more column')}: {more}"] if hidden else []
    notes += ["all rows: in a pipe"] if shown.skipped else []
    screen.show(screen.fit("; ".join(notes)), "dim")


def is_result(table: Rows) -> bool:
    """Returns whether a table is the result of a calculation, which names its issues."""
    return not isinstance(table, Book) and hasattr(table, "issues")


def issue_texts(table: Rows, *, lost_only: bool) -> list[str]:
    """Returns lines about the issues of the response, or all of those of a result."""
    issues: Any = getattr(table, "issues", ())
    if is_result(table):
        lines = [f"issue: {issue.problem}: {issue.detail}" for issue in issues]
    else:
        shown = zip(display.issue_lines(table), issues, strict=True)
        lines = [f"issue: {line}" for line, issue in shown if issue.lost or not lost_only]
    more = len(lines) - _MOST_ISSUES
    return [*lines[:_MOST_ISSUES], *([f"+{counted(more, 'more issue')}"] if more > 0 else [])]
