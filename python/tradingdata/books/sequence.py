"""Base of books: a table with its response and issues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from .. import _core
from .._util.shown import shown
from .._util.suggestions import no_field
from ..display.preview import ESSENTIAL, KEY_COLUMNS, NOUNS, book_cells, book_preview
from ..table.table import Record, Table
from .issues import Issue, decode_issues

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..display.preview import Shown
    from ..table.conditions import Condition
    from .response import Response


class ResponseTable(Table[Record]):
    """An immutable sequence of records of the service; the base of every book."""

    __slots__ = ("_filtered", "_issues", "_response")

    _record: ClassVar[str]
    _response: Response | None
    _issues: tuple[Issue, ...] | None
    _filtered: tuple[_core.Slice, list[Condition]] | None  # the input of a filter without result

    def __new__(cls, records: Iterable[Record] = ()) -> Self:
        """Constructs a book from records of its type.

        Args:
            records: The records.

        Raises:
            TypeError: ``records`` is not an iterable of such records.
        """
        if not hasattr(type(records), "__iter__"):
            raise TypeError(f"{cls.__name__} takes {cls._record} records, not {shown(records)}")
        return cls._of(_core.from_rows(cls._record, list(records)), issues=())

    @classmethod
    def _of(
        cls,
        rows: _core.Slice,
        *,
        response: Response | None = None,
        issues: tuple[Issue, ...] | None = None,
    ) -> Self:
        self = cls._over(rows)
        self._response = response
        self._issues = issues
        self._filtered = None
        return self

    def _part(self, rows: _core.Slice) -> Self:
        return self._of(rows, issues=self.issues)

    @property
    def issues(self) -> tuple[Issue, ...]:
        """Values of the response that did not fit; a slice has the issues of its response."""
        if self._issues is None:
            self._issues = decode_issues(self._rows)
        return self._issues

    @property
    def response(self) -> Response | None:
        """The response, if this book is a complete one; ``None`` for slices, concatenations etc."""
        return self._response

    def _where(self, conditions: list[Condition]) -> Self:
        part = super()._where(conditions)
        if not len(part):
            part._filtered = (self._rows, conditions) if len(self) else self._filtered
        return part

    @property
    def notes(self) -> tuple[str, ...]:
        """Why a filter matched nothing: for each field, the values that exist.

        Empty for a book with rows. A book with notes keeps the filtered book alive.
        """
        if self._filtered is None:
            return ()
        from ..table.match_notes import match_notes

        return match_notes(*self._filtered)

    @property
    def columns(self) -> list[str]:
        """The names of the record's fields, in the service's order."""
        return _core.names_of(self._record)

    @property
    def _title(self) -> str:
        return self._record

    def _no_column(self, name: str) -> str:
        return no_field(self._record, self.columns, name)

    @property
    def _noun(self) -> tuple[str, str]:  # type: ignore[override]
        return NOUNS[self._record]

    def _display_columns(self) -> list[str]:
        return KEY_COLUMNS[self._record]

    @property
    def _essential(self) -> Sequence[str]:
        return ESSENTIAL[self._record]

    def _cells(self, name: str, rows: list[int]) -> list[Any]:
        return book_cells(self, name, rows)

    def _preview(self) -> tuple[str, Shown | None]:
        return book_preview(self)
