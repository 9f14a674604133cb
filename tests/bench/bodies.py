"""The bodies that cases decode: days of the sandbox, with all keys of the service's document."""

from __future__ import annotations

import hashlib
import json
import os
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from .case import peer

Record = dict[str, Any]
FOLDER = Path(__file__).parents[2] / "build/bodies"  # each is made once
DAY = "2026-11-20"
NAMES = ("Mahindra & Mahindra", "हिंदुस्तान यूनिलीवर", "Société Générale", "Müller & Söhne", "SBI")
END = b'],"message":"Success","status":"success"}'


def book(record: str, count: int, form: str = "compact", orders: int = 0) -> Path:
    """A response with the first `count` orders or trades of a day, in one of FORMS, as a file.

    The day has as many `orders`, or `count` of them; 0 for all that it has of either.
    """
    shape, spell = FORMS[form]
    made_by = Path(__file__).read_bytes() + peer("tradingdata").__version__.encode()
    name = f"{record}-{count}-{orders}-{form}-{hashlib.sha256(made_by).hexdigest()[:8]}.json"
    if not (path := FOLDER / name).exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        records = _records(record, orders or count)[: count or None]
        body = b",".join(spell(shape(*each)).encode() for each in enumerate(records))
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(b'{"data":[' + body + END)
        unfinished.replace(path)
    return path


def _records(record: str, orders: int) -> list[Record]:
    with peer("tradingdata.sandbox").start(day=DAY, orders=orders) as service:
        headers = {"Authorization": f"Bearer {service.token()}", "Content-Type": "application/json"}
        url = f"{service.base_url}/api/v1/{record.lower()}/book"
        request = urllib.request.Request(url, b'{"source":"N"}', headers)
        with urllib.request.urlopen(request) as response:
            records: list[Record] = json.load(response)["data"]
    return records


def part(body: bytes, share: float) -> bytes:
    """The body with the first part of its records."""
    return body[: body.index(b"},{", int(share * len(body)) - 1) + 1] + END if share < 1 else body


_spaced = partial(json.dumps, ensure_ascii=False)  # behind each colon and comma
_compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def _escaped(value: Any) -> str:
    """With escapes as Go writes them."""
    return _spaced(value).replace("&", r"\u0026").replace("ü", r"\u00fc")


def _unknown(index: int, record: Record) -> Record:
    """Three fields that no document knows, before and behind the known ones."""
    fees = {"stt": 1.25, "stamp": index % 100 / 8}
    return {"venue_code": f"V{index % 7}", "fees": fees, **record, "tags": ["a", index]}


def _hard(index: int, record: Record) -> Record:
    """Unknown keys, and in every record another day and another name, some of them not ASCII."""
    day = f"{2024 + index % 3}-{1 + index % 12:02}-{1 + index % 28:02}"
    times = {name: day + value[10:] for name, value in record.items() if name.endswith("_time")}
    name = {"display_name": f"{NAMES[index % len(NAMES)]} {index}", "expiry_date": day}
    return _unknown(index, record | times | name)


FORMS: dict[str, tuple[Callable[[int, Record], Record], Callable[[Any], str]]] = {
    "compact": (lambda index, record: record, _compact),
    "unknown": (_unknown, _compact),
    "hard": (_hard, _escaped),
}
