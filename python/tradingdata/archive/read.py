"""Reads books from an archive by decoding the stored JSON with this version's decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..books.book import concat
from ..books.issues import decode_issues, warn_of_lost
from . import checksums
from .record_key import BOOKS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from .days import Days

_MOST_BYTES = 2**28  # decoded at once; the decoder's limit is 2 GiB


def read_rows(
    connection: sqlite3.Connection, name: str, days: Days, account: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yields the account and the JSON of each record's newest state, by day and time.

    Raises:
        Damage: After the last row, if rows are missing or were altered.
    """
    seals = checksums.read_days(connection, name, days, account)
    query = f"""SELECT r.account, r.day, {checksums.JSON}
        FROM records r JOIN states s ON s.id = r.state
        WHERE r.book = ? AND r.day BETWEEN ? AND ? AND r.account = coalesce(?, r.account)
        ORDER BY r.day, r.time, r.id"""
    found = connection.execute(query, (name, *days.as_texts(), account))
    return checksums.checked(name, found, seals)


def book_of(name: str, rows: Iterable[bytes], *, keep: bool, stacklevel: int) -> Any:
    """Decodes records into a book.

    Args:
        name: ``"trades"`` or ``"orders"``.
        rows: The JSON of each record.
        keep: Whether personal values are returned rather than masked.
        stacklevel: The caller to which warnings about lost values point.
    """
    kind = BOOKS[name]
    books = []
    for part in _parts(rows):
        table = _core.decode_list(
            kind._record, b"[" + b",".join(part) + b"]", keep_personal_data=keep
        )
        books.append(kind._of(table, issues=decode_issues(table)))
    book: Any = concat(books) if len(books) > 1 else books[0]  # type: ignore[type-var]
    warn_of_lost(book.issues, kind._record, stacklevel=stacklevel + 1)
    return book


def _parts(rows: Iterable[bytes]) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for row in rows:
        part.append(row)
        size += len(row)
        if size > _MOST_BYTES:
            yield part
            part, size = [], 0
    yield part
