"""Selected columns of a book, whose values remain in the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .._util.suggestions import no_field
from .columns import Columns, checked_names

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import tzinfo
    from typing import Any, Literal, Self

    Text = Literal["view", "small", "large"]


def checked_columns(record: str, columns: Collection[str] | None) -> list[str]:
    """Returns the names of the selected fields, all of them for None.

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


class BookColumns(Columns):
    """A slice of a core table, restricted to the selected columns.

    Attributes:
        rows: The slice.
        extra: Names of the unknown fields that follow the columns, as their JSON text.
        text: The Arrow type of text: string views share memory, but few libraries compute on them.
    """

    __slots__ = ("extra", "rows", "text")

    def __init__(
        self,
        rows: _core.Slice,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> None:
        known = {name: kind for name, kind, _, _ in _core.fields_of(rows.record)}
        self._choose(rows.record, known, columns, categories)
        self.zone = rows.zone
        self.rows = rows
        self.extra = rows.extra_names() if extra else []
        self.text: Text = "view"

    def _missing(self, title: str, name: str, known: Mapping[str, str]) -> str:
        return no_field(title, name)

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, columns: Collection[str], text: Text) -> Self:
        """Returns some of the columns, unknown fields included, with another type of text."""
        part = object.__new__(type(self))
        part.title, part.zone, part.categories = self.title, self.zone, self.categories
        part.rows = self.rows
        part.kinds = {name: kind for name, kind in self.kinds.items() if name in columns}
        part.extra = [name for name in self.extra if name in columns]
        part.text = text
        return part

    def localized(self, zone: tzinfo) -> Self:
        """Returns the columns with their naive times declared to be in a zone."""
        made = self.only({*self.kinds, *self.extra}, self.text)
        made.rows, made.zone = self.rows.with_zone(zone), zone
        return made

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column; a row without an unknown field has ``None``."""
        found = self.rows.to_dict(list(self.kinds))
        if self.extra:
            extras = [_core.row_extras(row) for row in self.rows]
            found |= {name: [values.get(name) for values in extras] for name in self.extra}
        return found

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column, unknown fields as their JSON text."""
        found = self.rows.to_dict(list(self.kinds))
        for name in self.extra:
            found[name] = self.rows.extra_texts(name)
        return found

    def dicts(self) -> list[dict[str, Any]]:
        """Returns a dict for each row, with the unknown fields that the row has."""
        return self.rows.to_dicts(list(self.kinds), bool(self.extra))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.rows.arrow_stream(
            list(self.kinds), self.extra, self.categories, self.text, requested_schema
        )

    def __arrow_c_schema__(self) -> object:
        return self.rows.arrow_schema(list(self.kinds))
