"""The field tables of the service document, read from the project's own copy of it."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "service.md"
HEADING = re.compile(r"^### (\w+) record\b.*$", re.MULTILINE)
ROW = re.compile(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
FURTHER = re.compile(r"also carries these fields, with the types given: ([^.]+)\.")
FURTHER_FIELD = re.compile(r"(\w+) \(([^)]+)\)")
TABLE_HEAD = "Field"


@dataclass(frozen=True)
class Field:
    """One row of a table: the wire name, the type in the document's words, the meaning or ""."""

    name: str
    type: str
    meaning: str


@functools.cache
def fields(record: str) -> tuple[Field, ...]:
    """Return the fields of "trade", "order" or "stock" in the order of the document."""
    text = _section(record)
    rows = [Field(*(cell.strip() for cell in match.groups())) for match in ROW.finditer(text)]
    found = [field for field in rows if field.name != TABLE_HEAD]
    if further := FURTHER.search(text):
        found += [Field(name, kind, "") for name, kind in FURTHER_FIELD.findall(further[1])]
    return tuple(found)


def names(record: str) -> list[str]:
    """Return the wire names of a record in the order of the document."""
    return [field.name for field in fields(record)]


def _section(record: str) -> str:
    text = DOCUMENT.read_text(encoding="utf-8")
    for heading in HEADING.finditer(text):
        if heading[1].lower() == record:
            return re.split(r"^#", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]
    raise LookupError(f"the service document has no section of the {record} record")
