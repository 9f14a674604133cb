"""Any bytes at all: what Python's json refuses is refused, what it reads is held value by value.

Faults F53, F56, F57, F59, F80 to F92 at every position of a response.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Iterator

import pytest

import lenient_oracle as oracle
import tradingdata as td
from service import as_json, envelope, stocks, trades

pytestmark = pytest.mark.sanitize

MUTATIONS = 200_000 if os.environ.get("TRADINGDATA_LONG") else 20_000

# One JSON text each; what is no JSON must be refused wherever it stands.
VALUES = [
    *("0", "-0", "1", "-1.5", "1e5", "1E-5", "0.10", "123456789012345678901234567890", "1e400"),
    *(
        '""',
        '"a"',
        '"\\u0041\\n"',
        '"\\ud83d\\ude00"',
        '"\\ud800"',
        '"₹ टाटा"',
        '"\\u0000"',
        '"\x7f"',
    ),
    *(f'"2026-11-20{rest}"' for rest in ("", "T10:04:05Z", " 10:04:05.1234567+0530", "T00:00:00Z")),
    *("true", "false", "null", "[]", "{}", "[1, [2, {}]]", '{"a": {"b": []}}', " 1 ", "[\n1\t]"),
    *("", "01", "+1", ".5", "1.", "-", "1e", "1e+", "0x1", "1_000", "NaN", "Infinity", "-Infinity"),
    *("'a'", '"a', 'a"', '"\\x"', '"\\u12"', '"\\u12g4"', '"\t"', '"\n"', '"\x00"', '"\\"'),
    *(
        "tru",
        "True",
        "nul",
        "nullx",
        "undefined",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "1]",
        "{,}",
        "{1:2}",
    ),
    *(
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a" 1}',
        '{"a":1 "b":2}',
        "{'a':1}",
        "/*a*/1",
        "1//a",
        "\x0b1",
    ),
    *("[" * 900 + "]" * 900, "[" * 900 + "]" * 899, "\xa01", "\u20281", "1,", ",1", "1 1", "}"),
]
RAW = [b"\xff", b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xe2\x82"']
BASE = as_json(envelope(trades(2)))
ROW = as_json(trades(1)[0])[1:-1]


def positions(value: bytes) -> Iterator[tuple[str, bytes]]:
    """The value at every position of a response that the grammar gives it."""
    first = ROW.split(b",", 1)[0]
    rest = ROW.split(b",", 1)[1]
    end = b'"message":"Success","status":"success"}'
    yield "unknown field, first", b'{"data":[{"new":' + value + b"," + ROW + b"}]," + end
    yield "unknown field, last", b'{"data":[{' + ROW + b',"new":' + value + b"}]," + end
    name = first.split(b":", 1)[0]
    yield "first field", b'{"data":[{' + name + b":" + value + b"," + rest + b"}]," + end
    for wanted in (b"quantity", b"traded_price", b"symbol", b"expiry_date", b"exch_trade_time"):
        known = ROW.replace(b'"' + wanted + b'":', b'"' + wanted + b'":' + value + b',"old":', 1)
        yield wanted.decode(), b'{"data":[{' + known + b"}]," + end
    yield "element", b'{"data":[{' + ROW + b"}," + value + b"]," + end
    yield "data", b'{"data":' + value + b"," + end
    yield "message", b'{"data":[],"message":' + value + b',"status":"success"}'
    yield "status", b'{"data":[],"status":' + value + b"}"
    yield "unknown member", b'{"new":' + value + b',"data":[],"status":"success"}'
    yield "behind the document", BASE + value
    yield "the document", value


def check(body: bytes) -> bool:
    """Whether both take the body; they must agree, and hold the same values."""
    try:
        expected = oracle.rows_of(body, "trade")
    except oracle.Refused:
        with pytest.raises((td.DecodeError, td.ServiceError)):
            td.TradeBook.from_json(body)
        return False
    book = td.TradeBook.from_json(body, keep_personal_data=True)
    assert book.to_dicts() == expected
    return True


@pytest.fixture(autouse=True)
def _losses_are_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        yield


@pytest.mark.parametrize("value", [*(value.encode() for value in VALUES), *RAW], ids=repr)
def test_a_value_is_taken_at_a_position_where_json_takes_it(value: bytes) -> None:
    for _, body in positions(value):
        check(body)


def test_f96_times_keep_their_clock_unless_their_offset_is_another_than_most() -> None:
    generator = random.Random(96)
    forms = ["2026-11-20 10:04:05", "2026-11-20T10:04:05.1234567", "0001-01-01T00:00:00Z"]
    forms += [
        f"2026-11-20T10:04:05{offset}" for offset in ("Z", "+00:00", "+05:30", "+0530", "-07")
    ]
    held = 0
    for _ in range(200):
        rows = trades(generator.randrange(1, 4))
        for row in rows:
            for name, value in row.items():
                if isinstance(value, str) and name.endswith("time"):
                    row[name] = generator.choice(forms)
        held += check(as_json(envelope(rows)))
    assert held == 200


def test_the_positions_see_both_verdicts() -> None:
    assert sum(check(body) for _, body in positions(b'"a"')) > 8
    assert not any(check(body) for _, body in positions(b"01"))


@pytest.mark.parametrize("value", [value.encode() for value in VALUES], ids=repr)
def test_a_bare_array_of_a_search_is_as_strict(value: bytes) -> None:
    row = as_json(stocks(1)[0])[:-1]
    for body in (b"[" + row + b',"new":' + value + b"}]", b"[" + row + b"}]" + value):
        try:
            oracle.read(b'{"a":' + body + b"}")
            sound = True
        except oracle.Refused:
            sound = False
        if sound:
            assert len(td.StockList.from_json(body)) == 1
        else:
            with pytest.raises(td.DecodeError):
                td.StockList.from_json(body)


def test_every_prefix_of_a_book_is_refused_as_incomplete() -> None:
    for end in range(len(BASE)):
        with pytest.raises(td.DecodeError) as refused:
            td.TradeBook.from_json(BASE[:end])
        assert refused.value.offset == end
    assert check(BASE)


def mutated(body: bytes, random_: random.Random) -> bytes:
    """The body with one to three small damages."""
    result = bytearray(body)
    for _ in range(random_.choice((1, 1, 2, 3))):
        at = random_.randrange(len(result))
        match random_.randrange(6):
            case 0:
                result[at] = random_.randrange(256)
            case 1:
                result[at : at + random_.randrange(1, 9)] = b""
            case 2:
                result[at:at] = random_.choice(b'"\\{}[]:,0189eE+-. \n\x00\xc3tfn').to_bytes()
            case 3:
                result[at : at + 1] = bytes([result[at] ^ 1 << random_.randrange(8)])
            case 4:
                start = random_.randrange(len(result))
                result[at:at] = result[start : start + random_.randrange(1, 40)]
            case 5:
                token = random_.choice((b"null", b'"NA"', b"1e400", b'"1,501.05"', b"5.0", b"true"))
                end = result.find(b",", at)
                begin = result.rfind(b":", 0, end) + 1 if end > 0 else 0
                if begin:
                    result[begin:end] = token
    return bytes(result)


def test_mutations_of_a_book_are_judged_and_held_as_by_json() -> None:
    random_ = random.Random(5)
    bodies = [as_json(envelope(trades(2, seed, variety=True))) for seed in range(20)]
    taken = sum(check(mutated(bodies[i % len(bodies)], random_)) for i in range(MUTATIONS))
    assert MUTATIONS / 5 < taken < MUTATIONS * 4 / 5  # both verdicts are well met
