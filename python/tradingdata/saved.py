"""Books as files and pickles: one line that describes the body, then the body byte for byte."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from . import _core
from .atomic import whole_file
from .issues import Issue
from .response import Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, TypeVar

    from .books import Book

    AnyBook = TypeVar("AnyBook", bound=Book[Any])

_FORMAT = "tradingdata book"
_VERSION = 1


def pack(book: Book[Any]) -> tuple[dict[str, Any], bytes, Any]:
    """What a book is made again from: its facts, the body or the rows, and its zone."""
    whole = book.response is not None
    facts = {
        "format": _FORMAT,
        "version": _VERSION,
        "record": book._record,
        "content": "answer" if whole else "rows",
        "masked": book._table.masked,
    }
    if book.response is not None:
        facts["response"] = book.response.facts()
        return facts, book.response.content, book._table.zone
    facts["issues"] = [list(issue) for issue in book.issues]
    return facts, book._table.to_json(book._start, book._stop), book._table.zone


def unpack(kind: type[AnyBook], facts: dict[str, Any], body: bytes, zone: Any) -> AnyBook:
    """The book that ``pack`` took apart."""
    keep = not facts["masked"]
    if facts["content"] == "answer":
        table = kind._decode(body, False, keep)
        response = dict(facts["response"])
        if response["received_at"] is not None:
            response["received_at"] = datetime.fromisoformat(response["received_at"])
        book = kind._of(table, response=Response(table, **response))
    else:
        table = _core.decode_list(kind._record, body, False, keep)
        book = kind._of(table, issues=tuple(Issue(*issue) for issue in facts["issues"]))
    return book if zone is None else book.localize(zone)


def save(book: Book[Any], path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Writes a book to a file, whole or not at all."""
    facts, body, zone = pack(book)
    facts["zone"] = None if zone is None else getattr(zone, "key", str(zone))
    facts["sha256"] = hashlib.sha256(body).hexdigest()
    with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
        file.write(json.dumps(facts).encode() + b"\n")
        file.write(body)


def load(kind: type[AnyBook], path: str | os.PathLike[str]) -> AnyBook:
    """Reads a book from a file and proves that it is whole."""
    with open(path, "rb") as file:
        try:
            facts = json.loads(file.readline())
            known = facts["format"] == _FORMAT
        except (ValueError, KeyError, TypeError):
            known = False
        body = file.read()
    if not known:
        raise ValueError(
            f"{path} was not written by save(); for a bare answer use {kind.__name__}.from_json"
        )
    if facts["version"] > _VERSION:
        raise ValueError(f"{path} was written by a later version of tradingdata; update it to read")
    if facts["record"] != kind._record:
        raise ValueError(f"{path} holds {facts['record']} records, not {kind._record}")
    if hashlib.sha256(body).hexdigest() != facts["sha256"]:
        raise ValueError(f"{path} is damaged: its content does not match its checksum")
    return unpack(kind, facts, body, facts["zone"])
