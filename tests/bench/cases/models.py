"""The peers' record classes, made from the field table: what a careful user would write by hand."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterable
from typing import Any

from ..harness.case import peer
from ..harness.fields import kinds

PYTHON_TYPE: dict[str, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "timestamp": dt.datetime,
    "date": dt.date,
}


@functools.cache
def struct_decoder(record: str, names: tuple[str, ...] = ()) -> Any:
    """A msgspec decoder of the envelope, with Structs of all fields, or of some."""
    msgspec = peer("msgspec")
    fields = [(name, PYTHON_TYPE[kinds(record)[name]] | None) for name in _all_or(record, names)]
    row = msgspec.defstruct(record, fields, gc=False)
    members = [("data", list[row]), ("message", str), ("status", str)]  # type: ignore[valid-type]
    return msgspec.json.Decoder(msgspec.defstruct("Envelope", members, gc=False))


@functools.cache
def validator(record: str) -> Any:
    """A pydantic model of the envelope."""
    pydantic = peer("pydantic")
    fields = {name: (PYTHON_TYPE[kind] | None, ...) for name, kind in kinds(record).items()}
    row = pydantic.create_model(record, **fields)
    members = {"data": (list[row], ...), "message": (str, ...), "status": (str, ...)}  # type: ignore[valid-type]
    return pydantic.create_model("Envelope", **members)


def _all_or(record: str, names: Iterable[str]) -> list[str]:
    return list(names) or list(kinds(record))
