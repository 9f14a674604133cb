"""Books of varied records, and what they hold by Python's json and datetime on the same bytes."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import tradingdata as td
from service import Record, as_json, envelope, fields, samples
from tradingdata import _core

BOOKS: dict[str, Any] = {
    record["name"].lower(): getattr(td, record["book"]) for record in _core.records()
}
KINDS = tuple(BOOKS)
MAKERS: dict[str, Any] = {kind: partial(samples, kind) for kind in KINDS}
FORMS = {call["record"].lower(): call["form"] for call in _core.calls()}
ZERO_DATE = "0001-01-01"
UNKNOWN = "brand_new"
# The fields of a record that no response has, with the type that they would have in the document.
LOCAL = {
    record["name"].lower(): {
        field["name"]: "string" for field in record["fields"] if field["local"]
    }
    for record in _core.records()
}
LABELS = (None, "desk1", "a label that is not inline ₹")


@dataclass(frozen=True)
class Sample:
    """A book and its rows as Python's json reads them; `kinds` has the document's types."""

    kind: str
    book: Any
    rows: Sequence[Record]
    account: str | None = None

    @property
    def kinds(self) -> dict[str, str]:
        return {field.name: field.type for field in fields(self.kind)} | LOCAL[self.kind]

    def column(self, name: str) -> list[Any]:
        if name in LOCAL[self.kind]:  # whatever a response has under this name is unknown
            return [self.account] * len(self.rows)
        return [value_of(self.kinds[name], row[name]) for row in self.rows]

    def part(self, rows: slice) -> Sample:
        return Sample(self.kind, self.book[rows], self.rows[rows], self.account)

    def unknown(self) -> list[Any]:
        return [row.get(UNKNOWN) for row in self.rows]


def value_of(documented: str, sent: Any) -> Any:
    """A JSON value as a book should hold it."""
    if sent is None or documented in ("string", "integer"):
        return sent
    if documented == "number":
        return float(sent)
    if sent.startswith(ZERO_DATE):
        return None
    time = dt.datetime.fromisoformat(sent)
    return time.date() if documented == "string, date" else time


def of_kind(sample: Sample, *documented: str) -> list[str]:
    """The names of the fields that have one of these types in the document."""
    return [field.name for field in fields(sample.kind) if field.type in documented]


def body_of(kind: str, rows: object, *, ascii_only: bool = False) -> bytes:
    return as_json(rows if FORMS[kind] == "array" else envelope(rows), ascii_only=ascii_only)


def sample(kind: str, count: int = 200, seed: int = 0, *, ascii_only: bool = False) -> Sample:
    """A book with odd texts, nulls for a tenth of all values, unknown fields in every third row.

    Its label is one of LABELS: the first two seeds have none, and a short one.
    """
    generator = random.Random(f"nulls {kind} {seed}")
    records = MAKERS[kind](count, seed, variety=True)
    for index, record in enumerate(records):
        for name in record:
            if generator.random() < 0.1:
                record[name] = None
        if index % 3 == 0:
            record[UNKNOWN] = {"index": index, "text": "a value that is not inline ₹"}
    account = LABELS[seed % len(LABELS)] if LOCAL[kind] else None
    return read(kind, body_of(kind, records, ascii_only=ascii_only), account)


def read(kind: str, body: bytes, account: str | None = None) -> Sample:
    """A book of some bytes, and the same bytes by Python's json."""
    rows = json.loads(body)
    book = BOOKS[kind].from_json(body, keep_personal_data=True, account=account)
    return Sample(kind, book, rows if FORMS[kind] == "array" else rows["data"], account)


def empty(kind: str) -> Any:
    """A book without rows, as the service sends it when there are none."""
    return BOOKS[kind].from_json(body_of(kind, []))
