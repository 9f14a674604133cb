"""Saving, loading and pickling of books: metadata, and the response body or the rows."""

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
    """The methods of a book that save, load and pickle it."""

    __slots__ = ()

    @classmethod
    def _decode(
        cls, data: bytes | bytearray | memoryview, strict: bool, keep_personal_data: bool
    ) -> _core.Slice:
        return _core.decode_book(cls._record, data, strict, keep_personal_data)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Saves the response with its metadata, or the rows of a partial book.

        The file contains one line of JSON metadata, followed by the body byte for byte. Only its
        owner may read it.

        Args:
            path: The file.
            overwrite: Whether to replace an existing file.

        Raises:
            FileExistsError: The file exists and ``overwrite`` is false.
        """
        from . import saved_file

        saved_file.write(path, *self._packed(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, keep_personal_data: bool = False) -> Self:
        """Loads a book saved by ``save`` and verifies its checksum.

        Args:
            path: The file.
            keep_personal_data: Whether to keep account numbers (PAN) in the file instead of masking
                them.

        Returns:
            The book.

        Raises:
            ValueError: The file was not written by ``save`` for this type of book, was written by a
                later version, or is damaged.
        """
        from . import saved_file

        facts, body, zone = saved_file.read(path, cls.__name__, cls._record)
        return cls._unpacked(facts, body, zone, keep_personal_data and not facts["masked"])

    def __reduce__(self) -> tuple[Any, ...]:
        return self._unpacked, (*self._packed(), not self._rows.masked)

    def _packed(self) -> tuple[dict[str, Any], bytes, tzinfo | None]:
        """Returns the metadata of the book, its body or else its rows, and its time zone."""
        facts: dict[str, Any] = {"record": self._record, "masked": self._rows.masked}
        # Masking rewrites personal values, so decoding the masked body misses some of the issues.
        facts["issues"] = [list(issue) for issue in self.issues]
        if self._response is None:
            return {**facts, "content": "rows"}, self._rows.to_json(), self._rows.zone
        facts |= {"content": "answer", "response": self._response.facts()}
        return facts, self._response.content, self._rows.zone

    @classmethod
    def _unpacked(
        cls, facts: dict[str, Any], body: bytes, zone: tzinfo | None, keep_personal_data: bool
    ) -> Self:
        """Restores a book from the result of ``_packed``."""
        response = None
        if facts["content"] == "answer":
            rows = cls._decode(body, False, keep_personal_data)
            response = Response(rows, **facts["response"])
        else:
            rows = _core.decode_list(cls._record, body, False, keep_personal_data)
        issues = tuple(Issue(*issue) for issue in facts["issues"]) if "issues" in facts else None
        # Saved times are naive; the zone is stored separately.
        return cls._of(rows.with_zone(zone), response=response, issues=issues)
