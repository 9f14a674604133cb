"""What leaves a book: its rows, the chosen columns in their order, and how text is to leave."""

from __future__ import annotations

from .. import _core
from .._util.suggestions import no_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any, Literal

    from ..books.book import Book
    from .files import FileExport
    from .frames import FrameExport

    Text = Literal["view", "small", "large"]


def checked_names(argument: str, names: Collection[str]) -> list[str]:
    """The names as a list. Raises TypeError for a text, ValueError for a name that comes twice."""
    if isinstance(names, str):
        raise TypeError(f"{argument}= takes a list of names, not the text {names!r}")
    chosen = list(names)
    for name in chosen:
        if chosen.count(name) > 1:
            raise ValueError(f"{argument}= names {name!r} twice")
    return chosen


def checked_columns(record: str, columns: Collection[str] | None) -> list[str]:
    """Returns the names of the chosen fields, all of them for None.

    Raises:
        TypeError: ``columns`` is text rather than a list of names.
        KeyError: The record has no such field.
    """
    known = _core.names_of(record)
    if columns is None:
        return known
    chosen = list(checked_names("columns", columns))
    for name in chosen:
        if name not in known:
            raise KeyError(no_field(record, name))
    return chosen


class Choice:
    """Rows and columns of a book. Arrow libraries take it as it is.

    Rows ``start`` to ``stop`` of ``table`` leave. ``kinds`` are the chosen fields, in order, with
    the kind of each; ``extra`` names the unknown fields that leave behind them, as their JSON text;
    ``categories`` are the text fields that leave as categories.
    """

    __slots__ = ("categories", "extra", "kinds", "start", "stop", "table", "text")

    def __init__(
        self,
        book: Book[Any] | FrameExport | FileExport,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
        text: Text = "view",
    ) -> None:
        table = book._table
        known = {name: kind for name, kind, _, _ in _core.fields_of(table.record)}
        chosen = checked_columns(table.record, columns)
        coded = checked_names("categories", categories)
        for name in coded:
            if name not in known:
                raise KeyError(no_field(table.record, name))
            if known[name] != "text":
                raise TypeError(f"{name} holds no text, so it has no categories")
        self.table = table
        self.start = book._start
        self.stop = book._stop
        self.kinds = {name: known[name] for name in chosen}
        self.extra = table.extra_names(self.start, self.stop) if extra else []
        self.categories = coded
        self.text = text

    def __len__(self) -> int:
        return self.stop - self.start

    def only(self, columns: Collection[str], text: Text) -> Choice:
        """Some of the columns, the unknown ones among them, with text in another form."""
        part = object.__new__(Choice)
        part.table, part.start, part.stop = self.table, self.start, self.stop
        part.kinds = {name: kind for name, kind in self.kinds.items() if name in columns}
        part.extra = [name for name in self.extra if name in columns]
        part.categories, part.text = self.categories, text
        return part

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.arrow_stream(
            self.start,
            self.stop,
            list(self.kinds),
            self.extra,
            self.categories,
            self.text,
            requested_schema,
        )
