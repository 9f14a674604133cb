"""Saving, loading and pickling a book: its facts, and the body or the rows it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _core
from .issues import Issue
from .response import Response
from .sequence import Record, RecordSequence

if TYPE_CHECKING:
    import os
    from datetime import tzinfo
    from typing import Any, Self


class BookStorage(RecordSequence[Record]):
    """The methods of a book that write it and read it back."""

    __slots__ = ()

    @classmethod
    def _decode(
        cls, data: bytes | bytearray | memoryview, strict: bool, keep_personal_data: bool
    ) -> _core.Slice:
        return _core.decode_book(cls._record, data, strict, keep_personal_data)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the answer as it was kept, with its facts; of a part, its rows.

        The file is one line of JSON that describes it, then the body byte for byte; only the user
        may read it. Raises FileExistsError unless ``overwrite``.
        """
        from . import saved_file

        saved_file.write(path, *self._packed(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, keep_personal_data: bool = False) -> Self:
        """Reads what ``save`` wrote, and proves that it is whole.

        Personal values that the file holds are masked unless ``keep_personal_data``. Raises
        ValueError where the file is of another kind, of a later version, or damaged.
        """
        from . import saved_file

        facts, body, zone = saved_file.read(path, cls.__name__, cls._record)
        return cls._unpacked(facts, body, zone, keep_personal_data and not facts["masked"])

    def __reduce__(self) -> tuple[Any, ...]:
        return self._unpacked, (*self._packed(), not self._rows.masked)

    def _packed(self) -> tuple[dict[str, Any], bytes, tzinfo | None]:
        """Returns the facts of the book, its body or else its rows, and its zone."""
        facts: dict[str, Any] = {"record": self._record, "masked": self._rows.masked}
        # Masking rewrites personal values, so decoding the kept body misses some of the issues.
        facts["issues"] = [list(issue) for issue in self.issues]
        if self._response is None:
            return {**facts, "content": "rows"}, self._rows.to_json(), self._rows.zone
        facts |= {"content": "answer", "response": self._response.facts()}
        return facts, self._response.content, self._rows.zone

    @classmethod
    def _unpacked(
        cls, facts: dict[str, Any], body: bytes, zone: tzinfo | None, keep_personal_data: bool
    ) -> Self:
        """Returns the book that ``_packed`` took apart."""
        response = None
        if facts["content"] == "answer":
            rows = cls._decode(body, False, keep_personal_data)
            response = Response(rows, **facts["response"])
        else:
            rows = _core.decode_list(cls._record, body, False, keep_personal_data)
        issues = tuple(Issue(*issue) for issue in facts["issues"]) if "issues" in facts else None
        # What was saved is naive, whatever its zone.
        return cls._of(rows.with_zone(zone), response=response, issues=issues)
