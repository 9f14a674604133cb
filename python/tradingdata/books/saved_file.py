"""File format of saved books: one line of JSON metadata, then the body byte for byte."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import TYPE_CHECKING

from .._util import validate
from .._util.atomic_file import whole_file
from .._util.time_zones import zone_as_text, zone_of_text

if TYPE_CHECKING:
    import os
    from datetime import tzinfo
    from typing import Any

_FORMAT = "tradingdata book"
_VERSION = 1


def write(
    path: str | os.PathLike[str],
    facts: dict[str, Any],
    body: bytes,
    zone: tzinfo | None,
    *,
    overwrite: bool,
) -> None:
    """Writes a book to a file atomically."""
    header = {"format": _FORMAT, "version": _VERSION, **facts, "zone": zone_as_text(zone)}
    header["sha256"] = hashlib.sha256(body).hexdigest()
    header["header_sha256"] = _digest(header)
    line = json.dumps(header, default=datetime.isoformat).encode()
    with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
        file.write(line + b"\n")
        file.write(body)


def read(
    path: str | os.PathLike[str], book: str, record: str
) -> tuple[dict[str, Any], bytes, tzinfo | None]:
    """Returns the arguments of ``write``.

    Raises:
        ValueError: The file does not hold a ``book`` of this record, or is damaged.
    """
    with open(validate.path("path", path), "rb") as file:
        header = _header(file.readline())
        body = file.read()
    if header is None:
        raise ValueError(
            f"{path} was not written by save(): to decode a response body, use {book}.from_json"
        )
    if header.get("version") != _VERSION:
        raise ValueError(
            f"{path} was written by a later version of tradingdata: update the package to read it"
        )
    given = header.pop("header_sha256", None)
    if given != _digest(header) or hashlib.sha256(body).hexdigest() != header["sha256"]:
        raise ValueError(f"{path} is damaged: its content does not match its checksum")
    if header["record"] != record:
        raise ValueError(f"{path} holds {header['record']} records, not {record}")
    if header["content"] == "answer":
        response = header["response"]
        if response["received_at"] is not None:
            response["received_at"] = datetime.fromisoformat(response["received_at"])
    return header, body, zone_of_text(header["zone"])


def _header(line: bytes) -> dict[str, Any] | None:
    """Parses the first line of a file; returns None if save() did not write it."""
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return None
    ours = isinstance(header, dict) and header.get("format") == _FORMAT
    return header if ours else None


def _digest(header: dict[str, Any]) -> str:
    text = json.dumps(header, sort_keys=True, default=datetime.isoformat)
    return hashlib.sha256(text.encode()).hexdigest()
