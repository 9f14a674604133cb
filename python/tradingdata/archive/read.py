"""From the archive back to books: the JSON that was kept, through the decoder of this version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..books.book import concat
from ..books.issues import decode_issues, warn_of_lost
from .record_key import BOOKS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from .days import Days
    from .record_key import AnyBook

_MOST_TEXT = 2**28  # characters decoded at once; the decoder takes 2 GiB


def read_book(
    connection: sqlite3.Connection, name: str, days: Days, account: str | None, *, keep: bool
) -> AnyBook:
    """The newest state of each record of these days, by day and time."""
    query = """SELECT s.json FROM records r JOIN states s ON s.id = r.state
        WHERE r.book = ? AND r.day BETWEEN ? AND ? AND r.account = coalesce(?, r.account)
        ORDER BY r.day, r.time, r.id"""
    found = connection.execute(query, (name, *days.as_texts(), account))
    book: AnyBook = book_of(name, (text for (text,) in found), keep=keep, stacklevel=4)
    return book


def book_of(name: str, texts: Iterable[str], *, keep: bool, stacklevel: int) -> Any:
    """A book of records, each as JSON text; ``stacklevel`` says whom to warn of lost values."""
    kind = BOOKS[name]
    books = []
    for part in _parts(texts):
        data = f"[{','.join(part)}]".encode()
        table = _core.decode_list(kind._record, data, keep_personal_data=keep)
        books.append(kind._of(table, issues=decode_issues(table)))
    book: Any = concat(books) if len(books) > 1 else books[0]  # type: ignore[type-var]
    warn_of_lost(book.issues, kind._record, stacklevel=stacklevel + 1)
    return book


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size > _MOST_TEXT:
            yield part
            part, size = [], 0
    yield part
