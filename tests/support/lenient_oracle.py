"""What a book must hold of any bytes at all, by Python's json and by the documented conversions.

Written apart from the decoder: its numbers are Decimal, its times regular expressions.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from decimal import Decimal
from typing import Any

from service import fields

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d+))?"
    r"(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?\Z",
    re.ASCII,
)
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
        raise Refused("a known name occurs twice")
    return dict(pairs)


def rows_of(body: bytes, kind: str) -> list[dict[str, Any]]:
    """The rows of a book, each by name; raises Refused for anything but a successful response."""
    envelope = _once(read(body), {"data", "message", "status"})
    status = envelope.get("status")
    if isinstance(status, Literal) or not isinstance(status, str) or status.lower() != "success":
        raise Refused("no success")
    data = envelope.get("data", Refused)
    if data is None:
        return []
    if isinstance(data, Pairs) or not isinstance(data, list):
        raise Refused("data is not an array")
    documented = {field.name: field.type for field in fields(kind)}
    rows = []
    for element in data:
        if not isinstance(element, Pairs):
            raise Refused("an element is not a record")
        rows.append(_once(element, set(documented)))
    times = {name for name, words in documented.items() if words == "string, timestamp"}
    offsets = Counter(
        offset
        for row in rows
        for name, sent in row.items()
        if name in times and (offset := _offset(sent)) is not None
    )
    # Of offsets that are as common, the one that came first.
    usual = offsets.most_common(1)[0][0] if offsets else None
    return [
        {
            name: None
            if name in times
            and (_offset(row.get(name)) not in (None, usual) or _of_the_fewer(row, rows, name))
            else held(documented[name], row.get(name))
            for name in documented
        }
        for row in rows
    ]


def _of_the_fewer(row: dict[str, Any], rows: list[dict[str, Any]], name: str) -> bool:
    """Whether a time has an offset and most times of its column have none, or the reverse."""
    held_times = [_offset(each.get(name)) is None for each in rows if _is_time(each.get(name))]
    naive, zoned = held_times.count(True), held_times.count(False)
    if not naive or not zoned or not _is_time(row.get(name)):
        return False
    return (_offset(row.get(name)) is None) == (naive < zoned)


def _is_time(sent: Any) -> bool:
    return isinstance(sent, str) and not isinstance(sent, Literal) and _time(sent) is not None


def held(documented: str, sent: Any) -> Any:
    """What a column of the documented type holds of a JSON value."""
    if not isinstance(sent, str):
        return None
    if documented == "string":
        # UTF-8 cannot encode half a surrogate pair.
        return None if re.search("[\ud800-\udfff]", sent) else str(sent)
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
    value = float(text)
    if abs(value) == float("inf"):
        return None
    rounded = Decimal(value) != written and re.fullmatch(r"-?\d+(\.0+)?", text)
    return None if rounded else value


def _offset(sent: Any) -> int | None:
    """The offset from UTC of a time that a column can hold, in minutes."""
    found = TIME.match(sent) if isinstance(sent, str) and not isinstance(sent, Literal) else None
    if found is None or _time(sent) is None or not (found[8] or found[9]):
        return None
    minutes = int(found[10] or 0) * 60 + int(found[11] or 0)
    return -minutes if found[9] == "-" else minutes


def _time(text: str) -> dt.datetime | None:
    found = TIME.match(text)
    if not found or int(found[10] or 0) > 23 or int(found[11] or 0) > 59:
        return None
    try:
        time = dt.datetime(  # type: ignore[call-arg]
            *map(int, found.groups()[:6]),  # type: ignore[arg-type]
            int((found[7] or "").ljust(6, "0")[:6]),
        )
    except ValueError:
        return None
    return None if time.date() == dt.date.min else time


def _day(text: str) -> dt.date | None:
    found = DAY.match(text)
    if not found:
        time = _time(text)
        midnight = time is not None and re.search(r"00:00:00(\.0+)?(?![.\d])", text)
        return time.date() if time is not None and midnight else None
    try:
        day = dt.date(*map(int, found.groups()))
    except ValueError:
        return None
    return None if day == dt.date.min else day
