"""Books as files and pickles: one line that describes the body, then the body byte for byte."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from .. import _core
from .._util.atomic_file import whole_file
from .._util.time_zones import zone_as_text, zone_of_text
from .issues import Issue
from .response import Response

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from datetime import tzinfo
    from typing import Any, TypeVar

    from .book import Book

    AnyBook = TypeVar("AnyBook", bound=Book[Any])

_FORMAT = "tradingdata book"
_VERSION = 1


def pack(book: Book[Any]) -> tuple[dict[str, Any], bytes, tzinfo | None]:
    """What a book is made again from: its facts, the body or the rows, and its zone."""
    facts: dict[str, Any] = {"record": book._record, "masked": book._table.masked}
    # Masking rewrites personal values, so decoding the kept body does not find all issues again.
    facts["issues"] = [list(issue) for issue in book.issues]
    if book.response is not None:
        facts |= {"content": "answer", "response": book.response.facts()}
        return facts, book.response.content, book._table.zone
    facts["content"] = "rows"
    return facts, book._table.to_json(book._start, book._stop), book._table.zone


def unpack(
    kind: type[AnyBook],
    facts: dict[str, Any],
    body: bytes,
    zone: tzinfo | None,
    keep_personal_data: bool | None = None,
) -> AnyBook:
    """The book that ``pack`` took apart, with personal values as they are unless told otherwise."""
    keep = not facts["masked"] if keep_personal_data is None else keep_personal_data
    response = None
    if facts["content"] == "answer":
        table = kind._decode(body, False, keep)
        response = Response(table, **facts["response"])
    else:
        table = _core.decode_list(kind._record, body, False, keep)
    issues = tuple(Issue(*issue) for issue in facts["issues"]) if "issues" in facts else None
    return kind._of(table, response=response, issues=issues).localize(zone)


def save(book: Book[Any], path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Writes a book to a file, whole or not at all."""
    facts, body, zone = pack(book)
    header = {"format": _FORMAT, "version": _VERSION, **facts, "zone": zone_as_text(zone)}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    header["header_sha256"] = _digest(header)
    line = json.dumps(header, default=datetime.isoformat).encode()
    with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
        file.write(line + b"\n")
        file.write(body)


def load(kind: type[AnyBook], path: str | os.PathLike[str], *, keep_personal_data: bool) -> AnyBook:
    """Reads a book from a file and proves that it is whole."""
    with open(path, "rb") as file:
        header = _header(file.readline())
        body = file.read()
    if header is None:
        raise ValueError(
            f"{path} was not written by save(); for a bare answer use {kind.__name__}.from_json"
        )
    if header.get("version") != _VERSION:
        raise ValueError(f"{path} was written by a later version of tradingdata; update it to read")
    given = header.pop("header_sha256", None)
    if given != _digest(header) or hashlib.sha256(body).hexdigest() != header["sha256"]:
        raise ValueError(f"{path} is damaged: its content does not match its checksum")
    if header["record"] != kind._record:
        raise ValueError(f"{path} holds {header['record']} records, not {kind._record}")
    if header["content"] == "answer":
        response = header["response"]
        if response["received_at"] is not None:
            response["received_at"] = datetime.fromisoformat(response["received_at"])
    keep = keep_personal_data and not header["masked"]
    return unpack(kind, header, body, zone_of_text(header["zone"]), keep)


def _header(line: bytes) -> dict[str, Any] | None:
    """The first line of a file, where it is one that save() writes."""
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return None
    ours = isinstance(header, dict) and header.get("format") == _FORMAT
    return header if ours else None


def _digest(header: dict[str, Any]) -> str:
    text = json.dumps(header, sort_keys=True, default=datetime.isoformat)
    return hashlib.sha256(text.encode()).hexdigest()
