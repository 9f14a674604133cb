"""What a book must hold of any bytes at all, by Python's json and by the documented conversions.

Written apart from the decoder: its numbers are Decimal, its times regular expressions.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from typing import Any

from service import fields

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d+))?\Z", re.ASCII)
DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)\Z", re.ASCII)


class Refused(Exception):
    """The bytes are no book."""


class Literal(str):
    """A number as it was written."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object with its keys as they stood, twice or not."""


def read(body: bytes) -> Pairs:
    """The document; Refused where it is not JSON in UTF-8."""
    try:
        text = body.removeprefix(b"\xef\xbb\xbf").decode()
        document = json.loads(
            text,
            object_pairs_hook=Pairs,
            parse_int=Literal,
            parse_float=Literal,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError) as error:
        raise Refused(str(error)) from error
    if not isinstance(document, Pairs):
        raise Refused("no envelope")
    return document


def _refuse(constant: str) -> None:
    raise Refused(constant)


def _once(pairs: Pairs, names: set[str]) -> dict[str, Any]:
    known = [name for name, _ in pairs if name in names]
    if len(known) != len(set(known)):
        raise Refused("a known name stands twice")
    return dict(pairs)


def rows_of(body: bytes, kind: str) -> list[dict[str, Any]]:
    """The rows of a book, each by name; Refused where an answer is none, or says no."""
    envelope = _once(read(body), {"data", "message", "status"})
    status = envelope.get("status")
    if isinstance(status, Literal) or not isinstance(status, str) or status.lower() != "success":
        raise Refused("no success")
    data = envelope.get("data", Refused)
    if data is None:
        return []
    if isinstance(data, Pairs) or not isinstance(data, list):
        raise Refused("data is no array")
    documented = {field.name: field.type for field in fields(kind)}
    rows = []
    for element in data:
        if not isinstance(element, Pairs):
            raise Refused("an element is no record")
        row = _once(element, set(documented))
        rows.append({name: held(documented[name], row.get(name)) for name in documented})
    return rows


def held(documented: str, sent: Any) -> Any:
    """What a column of the documented type holds of a JSON value."""
    if not isinstance(sent, str):
        return None
    if documented == "string":
        # Half a surrogate pair cannot be held; it becomes the replacement character.
        return sent if isinstance(sent, Literal) else re.sub("[\ud800-\udfff]", "�", str(sent))
    if documented in ("integer", "number"):
        return _number(documented, str(sent).strip(" "))
    if isinstance(sent, Literal):
        return None
    return _time(sent) if documented == "string, timestamp" else _day(sent)


def _number(documented: str, text: str) -> int | float | None:
    if not NUMBER.match(text):
        return None
    written = Decimal(text)
    if documented == "integer":
        whole = abs(written.adjusted()) < 40 and written == written.to_integral_value()
        if written == 0:
            return 0
        return int(written) if whole and -(2**63) <= written < 2**63 else None
    if re.fullmatch(r"-?\d+", text) and abs(written) > 2**53:
        return None
    value = float(text)
    return value if abs(value) != float("inf") else None


def _time(text: str) -> dt.datetime | None:
    found = TIME.match(text)
    if not found:
        return None
    *numbers, fraction = found.groups()
    digits = (fraction or "").ljust(6, "0")
    if digits[6:].strip("0"):
        return None
    try:
        time = dt.datetime(*map(int, numbers), int(digits[:6]))  # type: ignore[arg-type, call-arg]
    except ValueError:
        return None
    return None if time.date() == dt.date.min else time


def _day(text: str) -> dt.date | None:
    found = DAY.match(text)
    if not found:
        time = _time(text)
        return time.date() if time is not None and time.time() == dt.time() else None
    try:
        day = dt.date(*map(int, found.groups()))
    except ValueError:
        return None
    return None if day == dt.date.min else day
