"""Chosen rows and columns of a book, which the core turns into arrays, text and Arrow streams."""

from __future__ import annotations

from .. import _core
from .._util.optional_imports import require
from .._util.suggestions import no_field
from .selection import Selection, checked_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, Literal

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    Text = Literal["view", "small", "large"]


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


class BookSelection(Selection):
    """Rows ``start`` to ``stop`` of a table of the core, in the chosen columns.

    Attributes:
        extra: Names of the unknown fields that follow the columns, as their JSON text.
        text: The Arrow type of text: string views share memory, but few libraries compute on them.
    """

    __slots__ = ("extra", "start", "stop", "table", "text")

    def __init__(
        self,
        table: _core.Table,
        start: int,
        stop: int,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
    ) -> None:
        known = {name: kind for name, kind, _, _ in _core.fields_of(table.record)}
        self._choose(table.record, known, columns, categories)
        self.zone = table.zone
        self.table, self.start, self.stop = table, start, stop
        self.extra = table.extra_names(start, stop) if extra else []
        self.text: Text = "view"

    def _missing(self, title: str, name: str, known: Mapping[str, str]) -> str:
        return no_field(title, name)

    def __len__(self) -> int:
        return self.stop - self.start

    def only(self, columns: Collection[str], text: Text) -> BookSelection:
        """Returns some of the columns, unknown fields included, with another type of text."""
        part = object.__new__(BookSelection)
        part.title, part.zone, part.categories = self.title, self.zone, self.categories
        part.table, part.start, part.stop = self.table, self.start, self.stop
        part.kinds = {name: kind for name, kind in self.kinds.items() if name in columns}
        part.extra = [name for name in self.extra if name in columns]
        part.text = text
        return part

    def lists(self) -> dict[str, list[Any]]:
        """Returns the values of each column; a row without an unknown field has ``None``."""
        found = self.table.to_dict(self.start, self.stop, list(self.kinds))
        if self.extra:
            extras = [_core.row_extras(row) for row in self.table.rows(self.start, self.stop)]
            found |= {name: [values.get(name) for values in extras] for name in self.extra}
        return found

    def cells(self) -> dict[str, list[Any]]:
        """Returns the values of each column, unknown fields as their JSON text."""
        found = self.table.to_dict(self.start, self.stop, list(self.kinds))
        for name in self.extra:
            found[name] = self.table.extra_texts(name, self.start, self.stop)
        return found

    def dicts(self) -> list[dict[str, Any]]:
        """Returns a dict for each row, with the unknown fields that the row has."""
        return self.table.to_dicts(self.start, self.stop, list(self.kinds), bool(self.extra))

    def pandas(self) -> pd.DataFrame:
        """Returns a pandas DataFrame of NumPy arrays that the core fills."""
        from .to_pandas import to_pandas

        return to_pandas(self)

    def polars(self) -> pl.DataFrame:
        """Returns a polars DataFrame, which shares the memory of large books."""
        polars = require("polars", "polars", "to_polars()")
        return polars.DataFrame(self)  # type: ignore[no-any-return]

    def arrow(self) -> pa.Table:
        """Returns a pyarrow Table with plain strings, which pyarrow computes on."""
        pyarrow = require("pyarrow", "arrow", "to_arrow()")
        table: pa.Table = pyarrow.table(self.only({*self.kinds, *self.extra}, "small"))
        return table

    def csv(self, *, spreadsheet: bool) -> bytes:
        """Returns comma-separated values."""
        names = list(self.kinds)
        return self.table.to_csv(self.start, self.stop, names, self.extra, spreadsheet)

    def json(self, *, lines: bool) -> bytes:
        """Returns an array of objects, or one object per line, unknown fields as sent."""
        names = list(self.kinds)
        return self.table.export_json(self.start, self.stop, names, bool(self.extra), lines)

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

    def __arrow_c_schema__(self) -> object:
        return self.table.arrow_schema(list(self.kinds))
