"""The bodies that the cases decode, made once and kept in a folder."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Record: TypeAlias = dict[str, object]

TESTS = Path(__file__).parents[2]
PYTHONPATH = os.pathsep.join((str(TESTS), str(TESTS / "support")))
MAKERS = (
    "support/service/records.py",
    "support/service/values.py",
    "support/service/coherence.py",
    "bench/harness/bodies.py",
)


def folder() -> Path:
    """Where bodies and compiled programs are kept from one run to the next."""
    kept = Path(tempfile.gettempdir()) / f"tradingdata-bench-{os.getuid()}"
    kept.mkdir(mode=0o700, exist_ok=True)
    if kept.stat().st_uid != os.getuid():
        raise PermissionError(f"{kept} belongs to another user; set TMPDIR")
    return kept


def digest(*files: Path) -> str:
    """Names what was made from these files, so that a changed file makes it anew."""
    total = hashlib.sha256()
    for file in files:
        total.update(file.read_bytes())
    return total.hexdigest()[:12]


def book(record: str, count: int, form: str = "compact") -> Path:
    """A response of `count` records in one of FORMS, as a file."""
    made_by = digest(*(TESTS / name for name in MAKERS))
    path = folder() / f"{record}-{count}-{form}-{made_by}.json"
    if not path.exists():
        print(f"making {count:,} {record}s, {form} ...", file=sys.stderr)
        from service import envelope, orders, trades

        records = {"Trade": trades, "Order": orders}[record](count)
        whole = envelope([CHANGES[form](*one) for one in enumerate(records)] if form in CHANGES
                         else records)  # fmt: skip
        text = FORMS[form](whole)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    return path


def compressed(body: Path) -> Path:
    """The same body as gzip, of the level that servers use."""
    path = body.with_name(f"{body.name}.gz")
    if not path.exists():
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(gzip.compress(body.read_bytes(), 6))
        unfinished.replace(path)
    return path


def _dump(value: object, **how: object) -> str:
    return json.dumps(value, ensure_ascii=False, **how)  # type: ignore[arg-type]


def _compact(value: object) -> str:
    return _dump(value, separators=(",", ":"))


def _reversed(whole: dict[str, object]) -> str:
    """Each record's keys from last to first."""
    records = [dict(reversed(record.items())) for record in _records(whole)]
    return _compact(whole | {"data": records})


def _unknown(whole: dict[str, object]) -> str:
    """Three fields that no document knows, before, amid and behind the known ones."""
    records = []
    for index, record in enumerate(_records(whole)):
        known = list(record.items())
        middle = len(known) // 2
        records.append(
            {
                "venue_code": f"V{index % 7}",
                **dict(known[:middle]),
                "fees": {"stt": 1.25, "stamp": index % 100 / 8},
                **dict(known[middle:]),
                "tags": ["a", index],
            }
        )
    return _compact(whole | {"data": records})


def _changing(index: int, record: Record) -> Record:
    """Another day and another name in every record, some of them not ASCII."""
    day = (dt.date(2024, 1, 1) + dt.timedelta(days=index * 7 % 731)).isoformat()
    times = {
        name: f"{day}{value[10:]}"
        for name, value in record.items()
        if name.endswith("_time") and isinstance(value, str)
    }
    expiry = {"expiry_date": f"{2025 + index % 3}-{1 + index % 12:02}-{1 + index % 28:02}"}
    name = {"display_name": f"{NAMES[index % len(NAMES)]} {index}"}
    return record | times | expiry | name


def _hard(whole: dict[str, object]) -> str:
    """Unknown keys, spaces, and escapes as Go writes them, beside text that is not ASCII."""
    text = _dump(json.loads(_unknown(whole)))
    return text.replace("&", r"\u0026").replace("ü", r"\u00fc")


def _records(whole: dict[str, object]) -> list[dict[str, object]]:
    records = whole["data"]
    assert isinstance(records, list)
    return records


FORMS: dict[str, Callable[[dict[str, object]], str]] = {
    "compact": _compact,
    "spaced": lambda whole: _dump(whole),  # json's own: a space behind each colon and comma
    "indented": lambda whole: _dump(whole, indent=2),
    "reversed": _reversed,
    "unknown": _unknown,
    "hard": _hard,
}
CHANGES: dict[str, Callable[[int, Record], Record]] = {"hard": _changing}
NAMES = ("Mahindra & Mahindra", "हिंदुस्तान यूनिलीवर", "Société Générale", "Müller & Söhne", "SBI")
