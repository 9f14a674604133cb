"""What `--columns` and `--where` name: fields of the record, and values of their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from difflib import get_close_matches
from math import isfinite
from typing import Any

from tradingdata import _core

from .exit_codes import UsageError

_ALL = "all"
_EXAMPLES = {
    "integer": "a whole number",
    "number": "a number",
    "timestamp": "a time such as 2026-11-20 09:15:00",
    "date": "a date such as 2026-11-26",
}


def chosen_columns(what: str, known: Sequence[str], text: str | None) -> list[str] | None:
    """The columns that were asked for, or None where it is left to the format."""
    if text is None:
        return None
    if text == _ALL:
        return list(known)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--columns names no column; 'all' is all of them")
    for name in names:
        if name not in known:
            raise UsageError(f"--columns: {_unknown(what, known, name)}")
        if names.count(name) > 1:
            raise UsageError(f"--columns names {name} twice")
    return names


def conditions(record: str, filters: Sequence[str]) -> dict[str, set[Any]]:
    """What `--where` asks of the fields, as `Book.filter` takes it."""
    kinds = {name: kind for name, kind, _, _ in _core.fields_of(record)}
    found: dict[str, set[Any]] = {}
    for text in filters:
        name, sign, values = text.partition("=")
        name = name.strip()
        if not sign:
            raise UsageError("--where takes NAME=VALUE, for instance symbol=INFY")
        if name not in kinds:
            raise UsageError(f"--where: {_unknown(f'{record.lower()}s', list(kinds), name)}")
        wanted = {value for part in values.split(",") for value in _values(name, kinds[name], part)}
        found[name] = found[name] & wanted if name in found else wanted
    return found


def _unknown(what: str, known: Sequence[str], name: str) -> str:
    near = get_close_matches(name, known, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"{what} have no field {name!r}{hint}"


def _values(name: str, kind: str, text: str) -> tuple[Any, ...]:
    """A value of the kind; no text stands for no value, in text fields also for empty text."""
    text = text.strip()
    if not text:
        return (None, "") if kind == "text" else (None,)
    try:
        return (_value(kind, text),)
    except ValueError:
        raise UsageError(f"--where: {name} takes {_EXAMPLES[kind]}, not {text!r}") from None


def _value(kind: str, text: str) -> Any:
    if kind == "integer":
        return int(text)
    if kind == "number":
        number = float(text)
        if not isfinite(number):
            raise ValueError("not finite")
        return number
    if kind == "timestamp":
        return datetime.fromisoformat(text)
    if kind == "date":
        return date.fromisoformat(text)
    return text
