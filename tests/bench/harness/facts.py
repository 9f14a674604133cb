"""What a result holds, in plain values: rows, sums of the numeric columns, kinds of the values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .case import Fact
from .fields import kinds

SAMPLE = 1000
KIND_OF_TYPE = {str: "text", dt.datetime: "timestamp", dt.date: "date"}


def item(record: Any, name: str) -> Any:
    return record[name]


def of_records(
    record: str,
    records: Sequence[Any],
    get: Callable[[Any, str], Any] = getattr,
    names: Iterable[str] | None = None,
) -> Fact:
    """The fact of records that are objects (`get` is getattr) or mappings."""
    expected = kinds(record)
    fact: Fact = {"rows": len(records), "sums": {}, "kinds": {}}
    for name in expected if names is None else names:
        values = [get(one, name) for one in records]
        if expected[name] in ("integer", "number"):
            fact["sums"][name] = math.fsum(value for value in values if value is not None)
        fact["kinds"][name] = _kind(values[:SAMPLE], expected[name])
    return fact


def _kind(values: Iterable[Any], expected: str) -> str:
    types = {type(value) for value in values if value is not None}
    if types <= {int}:
        return "integer" if expected == "integer" else "number"
    if types <= {int, float}:
        return "number"
    return " or ".join(sorted(KIND_OF_TYPE.get(one, one.__name__) for one in types))


def of_columns(record: str, rows: int, column: Callable[[str], tuple[str, float | None]]) -> Fact:
    """The fact of a frame; `column` gives a column's kind and, of a numeric one, its sum."""
    fact: Fact = {"rows": rows, "sums": {}, "kinds": {}}
    for name in kinds(record):
        fact["kinds"][name], total = column(name)
        if total is not None:
            fact["sums"][name] = total
    return fact


def disagreements(facts: dict[str, Fact]) -> list[str]:
    """Where results differ that must be the same: rows, bytes, and each sum that both know."""
    found: list[str] = []
    if not facts:
        return found
    (first, reference), *others = facts.items()
    for label, fact in others:
        for what in fact.keys() & reference.keys() & {"rows", "bytes"}:
            if fact[what] != reference[what]:
                found.append(f"{what}: {first} {reference[what]}, {label} {fact[what]}")
        mine, theirs = reference.get("sums", {}), fact.get("sums", {})
        for name in mine.keys() & theirs.keys():
            if not math.isclose(mine[name], theirs[name], rel_tol=1e-9):
                found.append(f"sum of {name}: {first} {mine[name]}, {label} {theirs[name]}")
    return found


def untyped(record: str, fact: Fact) -> list[str]:
    """The fields whose values are not of the documented kind (times left as text, mostly)."""
    expected = kinds(record)
    return [name for name, kind in fact.get("kinds", {}).items() if kind != expected[name]]
