"""Books as plain Python values and as JSON."""

from __future__ import annotations

from .. import _core
from .selection import checked_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any, overload

    from .._core import Table

    Path = str | os.PathLike[str]


class PlainExport:
    """What a book offers to plain Python and to programs that read JSON."""

    __slots__ = ()

    if TYPE_CHECKING:
        _table: Table
        _start: int
        _stop: int

    def to_dicts(
        self, columns: Sequence[str] | None = None, *, extra: bool = False, json: bool = False
    ) -> list[dict[str, Any]]:
        """Returns a dict for each row, by wire name.

        Args:
            columns: The fields, in the order wanted; all unless given.
            extra: Whether to add the unknown fields that a row has.
            json: Whether times and dates are text, as in ``to_json``, so that ``json.dumps`` takes
                the result.

        Raises:
            KeyError: The record has no such field.
        """
        names = checked_columns(self._table.record, columns)
        rows = self._table.to_dicts(self._start, self._stop, names, extra)
        if json:
            known = _core.fields_of(self._table.record)
            times = [name for name, kind, *_ in known if kind in ("timestamp", "date")]
            times = [name for name in times if name in names]
            for row in rows:
                for name in times:
                    if row[name] is not None:
                        row[name] = str(row[name])
        return rows

    def to_dict(
        self, columns: Sequence[str] | None = None, *, extra: bool = False
    ) -> dict[str, list[Any]]:
        """Returns a list for each column, by wire name.

        Args:
            columns: The fields, in the order wanted; all unless given.
            extra: Whether to add the unknown fields; a row without one has ``None``.

        Raises:
            KeyError: The record has no such field.
        """
        table, start, stop = self._table, self._start, self._stop
        result = table.to_dict(start, stop, checked_columns(table.record, columns))
        unknown = table.extra_names(start, stop) if extra else []
        if unknown:
            extras = [_core.row_extras(row) for row in table.rows(start, stop)]
            for name in unknown:
                result[name] = [values.get(name) for values in extras]
        return result

    if TYPE_CHECKING:

        @overload
        def to_json(
            self,
            path: None = None,
            columns: Sequence[str] | None = None,
            *,
            extra: bool = False,
            lines: bool = False,
        ) -> str: ...
        @overload
        def to_json(
            self,
            path: Path,
            columns: Sequence[str] | None = None,
            *,
            extra: bool = False,
            lines: bool = False,
            overwrite: bool = False,
        ) -> None: ...

    def to_json(
        self,
        path: Path | None = None,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        lines: bool = False,
        overwrite: bool = False,
    ) -> str | None:
        """Writes the rows as JSON in UTF-8, or returns the text if there is no path.

        The document is an array with one object per row. Missing values are ``null``, numbers read
        back to the same value, times are written as the service writes them, with an offset in a
        localized book. To keep a response itself, use ``save``.

        Args:
            path: The file; text is returned unless given.
            columns: The fields, in the order wanted; all unless given.
            extra: Whether to add the unknown fields that a row has, as sent.
            lines: Whether to write newline-delimited JSON: one object per line, without an array.
            overwrite: Whether to replace a file that exists.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
            KeyError: The record has no such field.
        """
        names = checked_columns(self._table.record, columns)
        content = self._table.export_json(self._start, self._stop, names, extra, lines)
        if path is None:
            return content.decode()
        from .._util.atomic_file import whole_file

        with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
            file.write(content)
        return None
