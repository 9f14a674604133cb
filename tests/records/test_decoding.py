"""The decoder beside Python's json, int, Decimal and datetime, on random bodies.

What a body must come to is written here from the page of formats, without the package.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import random
import re
import warnings
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

import tradingdata as td
from tradingdata import _core
from tradingdata.table.rows import row_type

pytestmark = pytest.mark.sanitize

FIELDS = {
    "symbol": "text",
    "quantity": "integer",
    "traded_price": "number",
    "order_date_time": "timestamp",
    "exch_trade_time": "timestamp",
    "expiry_date": "date",
}
WRONG = {
    "text": "not text",
    "integer": "not an integer",
    "number": "not a number",
    "timestamp": "not a time",
    "date": "not a date",
}
HALF = "half a surrogate pair"
DIFFERS = "another offset from UTC than in the rest, or none"
OFFSETS = (DIFFERS, "offset from UTC, dropped")
KEPT = {
    *("empty text", "number sent as text", "text sent as a number", "time in another form"),
    *("integer written with a fraction", "time finer than a microsecond, cut"),
    *("offset from UTC, dropped", "date with midnight behind it"),
}
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:([ T])([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?"
    r"(Z|[+-]([0-9]{2})(?::?([0-9]{2}))?)?)?"
)
ZERO = dt.date(1, 1, 1)


class Number(str):
    """A number as it was written."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object, with what it has twice."""

    def all_of(self, name: str) -> list[Any]:
        return [value for key, value in self if key == name]


def refuse(constant: str) -> None:
    raise ValueError(constant)


def read_by_python(body: bytes) -> Any:
    hooks: dict[str, Any] = {"parse_int": Number, "parse_float": Number, "parse_constant": refuse}
    text = body.removeprefix(b"\xef\xbb\xbf").decode()
    return json.loads(text, object_pairs_hook=Pairs, **hooks)


def integer_of(text: str) -> tuple[Any, list[str]]:
    exact = Decimal(text)
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    if exact == exact.to_integral_value() and -(2**63) <= exact < 2**63:
        return int(exact), ["integer written with a fraction"] if set(".eE") & set(text) else []
    shown = exponent + max(0, len(digits) - 19)  # as far as 64 bits hold the digits
    return None, ["out of range" if shown >= 0 else WRONG["integer"]]


def number_of(text: str) -> tuple[Any, list[str]]:
    nearest = float(text)
    if abs(nearest) == float("inf"):
        return None, ["out of range"]
    is_whole = not text.partition(".")[2].strip("0") and "e" not in text.lower()
    if is_whole and Decimal(nearest) != Decimal(text):
        return None, ["an integer beyond 2**53 would round"]
    return nearest, []


def time_of(text: str) -> tuple[Any, list[str], int | None]:
    """Also of a day; its offset from UTC in minutes comes last."""
    found = TIME.fullmatch(text)
    try:
        assert found
        day, separator, clock, fraction, zone, hours, minutes = found.groups()
        date = dt.date.fromisoformat(day)
        moment = dt.time.fromisoformat(clock) if clock else dt.time()
        offset = dt.time(int(hours or 0), int(minutes or 0))
    except (AssertionError, ValueError):
        return None, ["unreadable"], None
    digits = (fraction or ".")[1:]
    micros = int(digits[:6].ljust(6, "0"))
    cut = bool(digits[6:].strip("0"))
    when = dt.datetime.combine(date, moment.replace(microsecond=micros))
    if date == ZERO:
        return None, [] if when.time() == dt.time() and not cut else ["unreadable"], None
    if not clock:
        return when, ["day"], None
    minutes_east = (-1 if zone and zone[0] == "-" else 1) * (offset.hour * 60 + offset.minute)
    if cut:
        return when, ["time finer than a microsecond, cut"], minutes_east if zone else None
    other = bool(fraction) or separator == "T"
    return when, ["time in another form"] * (other and not zone), minutes_east if zone else None


def meaning(kind: str, value: Any) -> tuple[Any, list[str], int | None]:
    """The cell, what is noted of it, and the offset from UTC of a time."""
    is_number = isinstance(value, Number)
    if value is None:
        return None, [], None
    if not isinstance(value, str) or (is_number and kind in ("timestamp", "date")):
        return None, [WRONG[kind]], None
    if re.search("[\ud800-\udfff]", value):
        return None, [HALF], None
    if kind == "text":
        return str(value), ["text sent as a number"] * is_number, None
    if not value:
        return None, ["empty text"], None
    if kind in ("integer", "number"):
        text = value.strip(" ")
        if not NUMBER.fullmatch(text):
            return None, [WRONG[kind]], None
        cell, notes = integer_of(text) if kind == "integer" else number_of(text)
        if cell is not None and not is_number:
            notes.insert(0, "number sent as text")
        return cell, notes, None
    when, notes, offset = time_of(value)
    if kind == "date" and when:
        midnight = when.time() == dt.time() and "time finer than a microsecond, cut" not in notes
        if not midnight:
            return None, [WRONG[kind]], None
        return when.date(), [] if notes == ["day"] else ["date with midnight behind it"], None
    if notes in (["unreadable"], ["day"]):
        return None, [WRONG[kind]], None
    return when, notes, offset


# The values, drawn from what is special about each kind.


def number(rng: random.Random) -> str:
    special = ["0", "-0", "-0.0", "5.0", "5e0", "500e-2", "0.5e1", "12E2", "1e400", "-1e400"]
    special += ["1e-999", "-1e-999", "5e-324", "2.4703282292062328e-324", "1e22", "0e999"]
    special += ["2.4703282292062327e-324", "1.7976931348623157e308", "1.7976931348623159e308"]
    special += [f"5.{'0' * 400}", f"5.{'0' * 400}1", f"0.{'0' * 399}7e400", f"1{'0' * 400}e-400"]
    special += ["9007199254740993.5", "9007199254740993e0", "100000000000000000000", "7" * 330]
    low = rng.lognormvariate(0, 9)
    halfway = (Decimal(low) + Decimal(math.nextafter(low, math.inf))) / 2
    special += [f"{halfway:f}0", f"{halfway:f}1", f"{halfway:f}0e-{rng.randrange(340)}"]
    if rng.random() < 0.3:
        return rng.choice(special)
    if rng.random() < 0.4:
        near = rng.choice((2**53, 2**63, 2**64, 10**8, 10**19)) * rng.choice((1, -1))
        return f"{near + rng.randrange(-3, 4)}{rng.choice(('', '', '.0', '.00', '.5'))}"
    whole = rng.choice((0, rng.randrange(1, 10 ** rng.randrange(1, 24))))
    text = f"{'-' * rng.randrange(2)}{whole}"
    if rng.random() < 0.7:
        text += "." + "".join(
            rng.choices("0123456789", k=rng.randrange(1, rng.choice((4, 12, 40))))
        )
    if rng.random() < 0.2:
        text += f"{rng.choice('eE')}{rng.choice(('', '+'))}{rng.randrange(30)}"
        text = text.replace("+", rng.choice("+-"))
    return text


MOMENTS = (
    "0001-01-01|0001-01-01 00:00:00|0001-01-01T00:00:00Z|0001-01-01 00:00:00.000|2026-11-20|NA|"
    "0001-01-01 00:00:00.0000001|0001-01-01 23:59:59|0001-01-01 24:00:00|0000-00-00 00:00:00|"
    "0000-00-00|2026-11-27 00:00:00|2026-11-27T00:00:00.000|2026-11-27 00:00:00+05:30|20261127|"
    "2026-11-27 00:00:00.0000001|2026-02-29|2100-02-29|2000-02-29|2026-11-7|27-11-2026|"
    "2026-02-29 10:04:05|2026-11-20 24:00:00|2026-11-20 10:60:00|2026-11-20 10:04:60|"
    "2026-11-20 10:04|2026-11-20 10:04:05.|2026-11-20 10:04:05.Z|2026-11-20 10:04:05 Z|"
    "2026-11-20 10:04:05z|2026-11-20 10:04:05ZZ|2026-11-20 10:04:05+|2026-11-20 10:04:05+5|"
    "2026-11-20 10:04:05+5:30|2026-11-20 10:04:05+05:3|2026-11-20 10:04:05+05:30:00|"
    "2026-11-20 10:04:05+05-30|2026-11-20 10:04:05+24:00|2026-11-20 10:04:05+05:60|"
    "2026-11-20 10:04:05.99999999999999999999|2026-11-20 10:04:05.1234560000|"
    "2026-11-20 10:04:05 IST| 2026-11-20 10:04:05|2026-11-20_10:04:05|1969-12-31 23:59:59.5"
).split("|")


def moment(rng: random.Random, zone: str) -> str:
    if rng.random() < 0.3:
        return rng.choice(MOMENTS)
    day = dt.date.fromordinal(rng.randrange(1, dt.date.max.toordinal() + 1))
    clock = dt.timedelta(seconds=rng.randrange(86400))
    text = f"{day}{rng.choice(' T')}{str(clock).rjust(8, '0')}"
    if rng.random() < 0.5:
        text += "." + "".join(rng.choices("0059", k=rng.randrange(1, 10)))
    text += zone if rng.random() < 0.8 else ""
    if rng.random() < 0.2:  # one character is another
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice("0129:-TZ +.,x") * rng.randrange(3) + text[at + 1 :]
    return text


def quoted(rng: random.Random, text: str) -> str:
    """As JSON, of which some characters may be escaped."""
    if rng.random() < 0.7:
        return json.dumps(text, ensure_ascii=rng.random() < 0.3 or not text.isprintable())
    return json.dumps(text)[:1] + "".join(
        f"\\u{ord(c):04x}" if rng.random() < 0.3 and ord(c) < 0x10000 else json.dumps(c)[1:-1]
        for c in text
    ) + '"'  # fmt: skip


def value(rng: random.Random, kind: str, zone: str) -> str:
    if rng.random() < 0.1:
        long = f'["{"a" * rng.randrange(57, 63)}₹{"b" * 50}"]'
        odd = ("null", "true", "false", "[]", '{"a":[1,{}]}', '""', '"NA"', "7", long)
        return rng.choice(odd)
    if rng.random() < 0.05:
        return rng.choice((r'"\ud800"', r'"7\udc00"', r'"\udc00\ud800"', r'"a\ud800\u0041"'))
    if kind == "text":
        pieces = ("a", "EQ", "₹", "\0", "\x7f", "ट", "😀", "\\", '"', "/", "\n", " ")
        sized = "".join(
            rng.choices(pieces, k=rng.choice((0, 1, 3, 4, 5, 11, 12, 13, 31, 32, 33, 70)))
        )
        return quoted(rng, sized) if rng.random() < 0.9 else number(rng)
    if kind in ("integer", "number"):
        text = number(rng)
        if rng.random() < 0.7:
            return text
        edge = rng.choice(("", "", " ", "  ", "+", "0", "\n", "\0", ",", "."))
        return quoted(rng, rng.choice((text + edge, edge + text, edge + text + edge)))
    return quoted(rng, moment(rng, zone))


def spaced(rng: random.Random, layout: str) -> str:
    return rng.choice(("", layout, layout))


def as_object(rng: random.Random, members: list[tuple[str, str]], layout: str) -> str:
    made = (
        f"{spaced(rng, layout)}{quoted(rng, name) if rng.random() < 0.1 else json.dumps(name)}"
        f"{spaced(rng, layout)}:{spaced(rng, layout)}{sent}{spaced(rng, layout)}"
        for name, sent in members
    )
    return "{" + ",".join(made) + "}"


def records(rng: random.Random, rows: int) -> list[list[tuple[str, str]]]:
    zones = rng.choice((("",), ("Z",), ("+05:30", "+0530"), ("", "-05"), ("Z", "+05:30", "+24:00")))
    order = list(FIELDS)
    made = []
    for _ in range(rows):
        if rng.random() < 0.1:
            rng.shuffle(order)
        record = [(name, value(rng, FIELDS[name], rng.choice(zones))) for name in order]
        if rng.random() < 0.2:
            del record[rng.randrange(6) :]
        for _ in range(0 if rng.random() < 0.7 else rng.randrange(4)):
            unknown = rng.choice(("Symbol", "new", "न", "quantity "))
            sent = rng.choice(
                ("null", "1.50", '"x"', '[ {"a" : "\\u0041"}, 36893488147419103232 ]')
            )
            record.insert(rng.randrange(len(record) + 1), (unknown, sent))
        made.append(record)
    return made


def capped(raw: str) -> str:
    sent = raw.encode()
    return raw if len(sent) <= 64 else sent[:64].decode(errors="ignore") + "..."


def settled(cells: dict[str, list[Any]], offsets: list[tuple[int, str, int, str]]) -> list[Any]:
    """Loses the times of other clocks than most, and returns what is noted of them."""
    notes: list[Any] = []
    usual = Counter(offset for offset, *_ in offsets).most_common(1)
    for name in ("order_date_time", "exch_trade_time"):
        sent = {row for _, of, row, _ in offsets if of == name}
        naive = [row for row, at in enumerate(cells[name]) if at and row not in sent]
        lost = naive if len(naive) < len(sent) else sorted(sent) if naive else []
        for row in naive if lost is naive else []:
            at = cells[name][row]
            text = f"{at:%H:%M:%S}" + (f".{at:%f}" if at.microsecond else "")
            notes.append((name, DIFFERS, row, f'"{at.date()} {text}"'))
        for offset, of, row, raw in offsets:
            if of == name:
                differs = offset != usual[0][0] or row in lost
                notes.append((name, DIFFERS if differs else "offset from UTC, dropped", row, raw))
                lost += [row] if differs and row not in lost else []
        for row in lost:
            cells[name][row] = None
    return notes


def expected(
    sent: list[list[tuple[str, str]]],
) -> tuple[dict[str, list[Any]], list[Any], list[Any]]:
    """The cells, what is noted, in order, and the unknown fields of each row."""
    cells: dict[str, list[Any]] = {name: [None] * len(sent) for name in FIELDS}
    notes, unknown, offsets = [], [], []
    for row, record in enumerate(sent):
        extra: dict[str, str] = {}
        for name, raw in record:
            if name not in FIELDS:
                if name in extra:
                    notes.append((name, "unknown field sent twice, last kept", row, extra[name]))
                extra[name] = raw
                continue
            cell, problems, offset = meaning(FIELDS[name], read_by_python(raw.encode()))
            cells[name][row] = cell
            notes += [(name, problem, row, raw) for problem in problems]
            if offset is not None:
                offsets.append((offset, name, row, raw))
        unknown.append({name: json.loads(raw) for name, raw in extra.items()})
        have = {name for name, _ in record}
        notes += [(name, "missing", row, "") for name in FIELDS if name not in have]
    return cells, notes + settled(cells, offsets), unknown


ROW = row_type("Row", [(name, kind, "") for name, kind in FIELDS.items()])


def as_body(rng: random.Random, sent: list[list[tuple[str, str]]]) -> bytes:
    layout = rng.choice(("", " ", "\n", "\r\n\t", " " * rng.randrange(70)))
    rows = ",".join(as_object(rng, record, layout) for record in sent)
    members = [("data", f"[{rows}]"), ("message", '""'), ("status", '"Success"'), ("more", "[{}]")]
    rng.shuffle(members)
    return as_object(rng, members, layout).encode()


def strict_error(body: bytes) -> td.DecodeError:
    with pytest.raises(td.DecodeError, match="strict") as refused:
        _core.decode_book(ROW, body, strict=True)
    return refused.value


@pytest.mark.parametrize("seed", range(60))
def test_values_are_what_python_takes_them_for(seed: int) -> None:
    rng = random.Random(seed)
    sent = records(rng, 60)
    body = as_body(rng, sent)
    cells, notes, unknown = expected(sent)
    book = _core.decode_book(ROW, body)
    for name, column in cells.items():
        assert list(map(repr, book.column(name))) == list(map(repr, column)), name
    assert [row._extra for row in book] == unknown
    wanted: dict[Any, Any] = {}
    for name, problem, row, raw in notes:
        count, *first = wanted.get((name, problem), (0, row, raw, problem not in KEPT))
        wanted[name, problem] = (count + 1, *first)
    assert {(name, problem): rest for name, problem, *rest in book.issues} == {
        key: [count, row, capped(raw), lost] for key, (count, row, raw, lost) in wanted.items()
    }
    lost = [each for each in notes if each[1] not in KEPT]
    name, _, row, raw = lost[0]
    refused = strict_error(body)
    assert refused.path == f"$.data[{row}].{name}"
    assert body[refused.offset or 0 :].startswith(raw.encode())

    # Without all that is wrong in itself, what is wrong beside others is refused.
    wrong = {(row, name) for name, problem, row, _ in lost if problem != DIFFERS}
    others = [
        [
            *(each for each in record if (row, each[0]) not in wrong),
            *((name, "null") for name in FIELDS if (row, name) in wrong),
        ]
        for row, record in enumerate(sent)
    ]
    times = [each for each in expected(others)[1] if each[1] in OFFSETS]
    paths = [f"$.data[{row}].{name}" for name, problem, row, _ in times if problem == DIFFERS]
    body = as_body(rng, others)
    if not paths:
        assert len(_core.decode_book(ROW, body, strict=True)) == len(others)
    else:
        refused = strict_error(body)
        assert refused.path in paths
        assert body[refused.offset or 0 :].startswith(tuple(raw.encode() for *_, raw in times))


def test_numbers_are_rounded_as_python_rounds_them() -> None:
    rng = random.Random(7)
    sent = [number(rng) for _ in range(50_000)]
    rows = ",".join(f'{{"traded_price":{text}}}' for text in sent)
    body = f'{{"data":[{rows}],"message":"","status":"success"}}'
    found = _core.decode_book(ROW, body.encode()).column("traded_price")
    wrong = [
        text
        for text, cell in zip(sent, found, strict=True)
        if repr(cell) != repr(number_of(text)[0])
    ]
    assert not wrong


# Bodies that are damaged, or no book.

PIECES = (
    '"|\\|{|}|[|]|,|:|null|true|tru|True|nul|NaN|Infinity|-|+1|01|-01|1.|.5|1e|1e+|0x1|1_0|1.5.5|'
    '1 2|\'a\'|"a|"\\x"|"\\u12"|"\\u12g4"|"\n"|"\t"|[1,]|[,1]|[1 2]|{"a"}|{"a":}|{"a":1,}|{a:1}|'
    '{"a":1 "b":2}|[1}|/**/1|#|"\\ud83d\\udcc8"|"\\ud800"|"\x7f"|1e400|{"a":1,"a":2}| |'
    '\r\n\t|\x0b|\0|<|{}|[]|"error"|"data":|"status":|"symbol":1,|\ufeff'
).split("|")
BYTES = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\x80"]


def damaged(rng: random.Random, body: bytes) -> bytes:
    """One or two pieces are put in, left out or in the place of others, or the body is cut."""
    for _ in range(rng.randrange(3)):
        tokens = [found.span() for found in re.finditer(rb'"(?:[^"\\]|\\.)*"|[\w.+-]+|\s+|.', body)]
        begin, end = rng.choice(tokens or [(0, 0)])
        piece = rng.choice([*BYTES, *(each.encode() for each in PIECES)])
        body = rng.choice(
            (
                body[:begin] + piece + body[end:],
                body[:begin] + piece + body[begin:],
                body[:begin] + body[end:],
                body[:end] + body[begin:end] + body[end:],
                body[: rng.randrange(len(body) + 1)],
            )
        )
    return body


def is_record(element: Any, known: Any) -> bool:
    names = [name for name, _ in element if name in known] if isinstance(element, Pairs) else None
    return names is not None and len(names) == len(set(names))


def verdict(body: bytes, known: Any, *, bare: bool) -> tuple[str, int]:
    """What a body is: a book of so many rows, the service's error, or neither."""
    neither = ("DecodeError", 0)
    try:
        sent = read_by_python(body)
    except ValueError:
        return neither
    members = (
        {name: sent.all_of(name) for name in ("data", "status", "message")}
        if isinstance(sent, Pairs)
        else {}
    )
    status = (members.get("status") or [None])[0]
    has_status = isinstance(status, str) and not isinstance(status, Number)
    success = has_status and str(status).lower() == "success"
    if bare and members:
        said = (members["message"] or [None])[0]
        says_no = (
            not success if has_status else isinstance(said, str) and not isinstance(said, Number)
        )
        return ("ServiceError", 0) if says_no else neither
    if not bare:
        if any(len(each) > 1 for each in members.values()) or not has_status:
            return neither
        if not success:
            return "ServiceError", 0
        if not members["data"]:
            return neither
        sent = members["data"][0]
    if sent is None:
        return "book", 0
    is_array = isinstance(sent, list) and not isinstance(sent, Pairs)
    return (
        ("book", len(sent))
        if is_array and all(is_record(each, known) for each in sent)
        else neither
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_body_is_a_book_where_python_reads_one(seed: int) -> None:
    rng = random.Random(seed)
    outcomes = Counter[str]()
    for _ in range(300):
        bare = rng.random() < 0.3
        kind = td.StockList if bare else td.TradeBook
        drawn = [each[:3] for each in records(rng, rng.randrange(4))]
        for each in drawn:
            if each and rng.random() < 0.1:
                each.insert(rng.randrange(len(each)), rng.choice(each))
        made = [as_object(rng, each, " ") for each in drawn]
        data = f"[{','.join(made)}]"
        body = data
        if not bare or rng.random() < 0.3:
            status = rng.choice(
                ('"success"', '"SUCCESS"', '"\\u0073uccess"', '"success "', '""', "200", "null")
            )
            members = [
                ("data", rng.choice((data, data, data, "null", "{}"))),
                ("message", rng.choice(('"no"', "5"))),
            ]
            members += [("status", status)] * (rng.random() < 0.9)
            body = as_object(
                rng, rng.sample(members, rng.randrange(len(members) - 1, len(members) + 1)), " "
            )
        sent = rng.choice((b"", b"", b"", b"\xef\xbb\xbf")) + damaged(rng, body.encode())
        wanted = verdict(sent, kind().columns, bare=bare)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", td.DataWarning)
                found = ("book", len(kind.from_json(sent)))
        except (td.DecodeError, td.ServiceError) as error:
            found = (type(error).__name__, 0)
            placed = error.path is not None and error.offset is not None
            found = found if placed or found[0] == "ServiceError" else ("no place", 0)
        assert found == wanted, sent
        outcomes[wanted[0]] += 1
    assert min(outcomes[name] for name in ("book", "ServiceError", "DecodeError")) > 5, outcomes
