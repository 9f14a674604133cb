"""File formats of saved books: the response's JSON with a member for metadata, Parquet, CSV."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import datetime, tzinfo
from importlib.util import find_spec, module_from_spec
from typing import Any, TextIO

from .. import _core
from .._util import validate
from .._util.platform import whole_file
from .._util.time_zones import zone_as_text, zone_of_text
from ..table.rows import row_type
from ..table.selection import parquet_library
from .response import Facts

_VERSION = 2
# The metadata are the last member, so that the body around them stays as it was received. JSON
# escapes quotation marks in text, so the marker occurs neither in the metadata nor in a value.
_MEMBER = b',"_tradingdata":'
# A body that is a list of rows, not an object, becomes a member of an object.
_WRAPPED = b'{"data":'


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Returns the format that the name of a file asks for: ``.json``, ``.parquet`` or ``.csv``.

    Raises ValueError for another name.
    """
    name = validate.path("path", path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in (".json", ".parquet", ".csv"):
        raise ValueError(
            f"`path` must end in .json, .parquet or .csv, not {os.path.basename(name)!r}"
        )
    return suffix


def write(
    path: str | os.PathLike[str],
    facts: Facts,
    body: bytes,
    zone: tzinfo | None,
    *,
    overwrite: bool,
) -> None:
    """Writes a book to a JSON file atomically."""
    facts = {"version": _VERSION, **facts, "zone": zone_as_text(zone)}
    facts["sha256"] = hashlib.sha256(body).hexdigest()
    facts["facts_sha256"] = _digest(facts)
    document = _WRAPPED + body + b"}" if facts["wrapped"] else body
    end = document.rindex(b"}")
    member = _MEMBER + json.dumps(facts, default=datetime.isoformat).encode()
    with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
        view = memoryview(document)  # not copied: it may have hundreds of megabytes
        file.writelines((view[:end], member, view[end:]))


def read(
    path: str | os.PathLike[str], book: str, record: str
) -> tuple[Facts, bytes, tzinfo | None]:
    """Returns the arguments of ``write``.

    Raises:
        ValueError: The file does not hold a ``book`` of this record, or is damaged.
    """
    with open(validate.path("path", path), "rb") as file:
        before, marker, rest = file.read().rpartition(_MEMBER)
    # Each byte is a character; the metadata are ASCII. Without them, rest is the whole file.
    text = rest.decode("latin-1") if marker else ""
    try:
        facts, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        facts, end = None, 0
    if not isinstance(facts, dict):
        raise ValueError(
            f"{path} was not written by save(): to decode a response body, use {book}.from_json"
        )
    after = rest[end:]
    if facts.get("version") != _VERSION:
        raise ValueError(
            f"{path} was written by another version of tradingdata: read it with that version"
        )
    facts_digest = facts.pop("facts_sha256", None)
    body = before + after
    if facts.get("wrapped") and after == b"}" and before.startswith(_WRAPPED):
        body = before[len(_WRAPPED) :]
    if facts_digest != _digest(facts) or hashlib.sha256(body).hexdigest() != facts["sha256"]:
        raise ValueError(f"{path} is damaged or was edited: its content has another checksum")
    if facts["record"] != record:
        raise ValueError(f"{path} holds {facts['record']} records, not {record}")
    response = facts.get("response", {})
    for name in ("received_at", "served_at"):
        if response.get(name) is not None:
            response[name] = datetime.fromisoformat(response[name])
    zone = facts["zone"]
    return facts, body, None if zone is None else zone_of_text(zone)


def read_parquet(path: str | os.PathLike[str], needed: set[str], book: str) -> Any:
    """Returns the table of a Parquet file.

    Raises:
        ValueError: The file lacks one of the ``needed`` columns.
    """
    name = validate.path("path", path)
    table = parquet_library("reading Parquet").ParquetFile(name).read()
    _check_columns(path, needed, table.column_names, book)
    return table


def read_csv(path: str | os.PathLike[str], needed: set[str], book: str) -> Any:
    """Returns the table of a CSV file, all of which is text.

    Raises:
        ValueError: The file is for a spreadsheet, is no table, is damaged, or lacks a ``needed``
            column.
    """
    try:
        with open(validate.path("path", path), encoding="utf-8", newline="") as file:
            if file.read(1) == "\ufeff":
                raise ValueError(
                    f"{path} is for a spreadsheet, which changes text: save without `spreadsheet`, "
                    f"or read it with a library and use {book}.from_arrow"
                )
            file.seek(0)
            names, *lines = _csv_lines(file, path) or [[]]
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is damaged: it is not UTF-8: {error}") from None
    _check_columns(path, needed, names, book)
    columns = [[cell or None for cell in column] for column in zip(*lines, strict=True)]
    kind = row_type("Cells", [(name, "text", "") for name in names])
    return _Cells(_core.table_of(kind, columns or [[] for _ in names], None), names)


def _csv_lines(file: TextIO, path: str | os.PathLike[str]) -> list[list[str]]:
    """Returns the cells of each line, which all have equally many; empty lines are skipped."""
    reader_module = _csv_module()
    reader = reader_module.reader(file, strict=True)
    lines: list[list[str]] = []
    while True:
        first = reader.line_num + 1  # a line that ends within quotes continues on the next one
        try:
            line = next(reader, None)
        except reader_module.Error as error:
            raise ValueError(f"{path} is damaged: line {first} is no CSV: {error}") from None
        if line is None:
            return lines
        if line and lines and len(line) != len(lines[0]):
            raise ValueError(
                f"{path} is damaged: line {first} has {len(line)} cells, and the first one "
                f"{len(lines[0])}"
            )
        if line:
            lines.append(line)


def _csv_module() -> Any:
    """Returns a copy of the module behind ``csv`` without its limit of a cell's length.

    The limit of ``csv`` itself is shared by the process.
    """
    spec = find_spec("_csv")
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.field_size_limit(2**31 - 1)
    return module


class _Cells:
    """A table of text, as Arrow."""

    def __init__(self, rows: _core.Slice, names: list[str]) -> None:
        self._rows, self._names = rows, names

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rows.arrow_stream(self._names)


def _check_columns(
    path: str | os.PathLike[str], needed: set[str], columns: list[str], book: str
) -> None:
    if lacking := sorted(needed.difference(columns)):
        raise ValueError(
            f"{path} is no saved {book}, since it has no column {lacking[0]!r}: to read a table "
            f"that lacks columns, use {book}.from_arrow"
        )


def _digest(facts: Facts) -> str:
    text = json.dumps(facts, sort_keys=True, default=datetime.isoformat)
    return hashlib.sha256(text.encode()).hexdigest()
