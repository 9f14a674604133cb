"""A value of another library's table beside the same value as JSON: the same cell, the same issue.

The JSON of a value is written here by Python, from what the array itself says of its values.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tradingdata as td

pytestmark = pytest.mark.sanitize

FIELDS = {
    "text": "order_no",
    "integer": "quantity",
    "number": "traded_price",
    "timestamp": "exch_trade_time",
    "date": "expiry_date",
}
UNKNOWN = "brand_new"
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
EPOCH = dt.datetime(1970, 1, 1)
LAST = 253402300799  # the last second of 9999
FIRST = -62135596800  # the first second of 0001


def typed(values: list[Any], kind: Any) -> pa.Array:
    return pa.array([*values, None], kind)


def raw_units(values: list[int], kind: Any, width: str = "int64") -> pa.Array:
    return pa.array([*values, None], width).view(kind)


WHOLE = [0, -1, 7, 127, -128]
FLOATS = [0.0, -0.0, 1.0, 1.1, -2.5, 1e15, 2.0**53, 2.0**53 + 2, 2.0**63, 1e300, 5e-324]
SECONDS = [
    0,
    -1,
    1795166103,
    LAST,
    FIRST,
    FIRST - 1,
    FIRST + 86400,
    LAST + 1,
    86400 * 20000,
    -86400,
]
TEXTS = [
    *("", "a", "7", "7.0", " 7 ", "-0", "1e3", "1e400", "9007199254740993", "99999999999999999999"),
    *("NaN", "true", "null", "₹ and more than twelve bytes", '"quoted"\n', "\0"),
    *("2026-11-20 09:15:03", "2026-11-20T09:15:03.5", "2026-11-20 09:15:03.1234567"),
    *("2026-11-20 09:15:03+05:30", "2026-11-20T09:15:03.25Z"),
    *("2026-11-20", "2026-11-20 00:00:00", "0001-01-01", "0001-01-01 00:00:00", "2026-02-30"),
]


def temporal_arrays() -> dict[str, pa.Array]:
    arrays = {}
    for unit, per_second in UNITS.items():
        inside = [s for s in SECONDS if abs(s * per_second) < 2**63]
        units = [s * per_second for s in inside] + [1795166103 * per_second + per_second // 8 + 1]
        units += [2**62, -(2**62), -1, 2**63 - 1]
        for zone in (None, "UTC", "Asia/Kolkata", "+05:30"):
            kind = pa.timestamp(unit, zone)
            arrays[str(kind)] = raw_units(units, kind)
    days = [0, -1, 20777, LAST // 86400, FIRST // 86400, LAST // 86400 + 1, 2**31 - 1]
    arrays["date32"] = raw_units(days, pa.date32(), "int32")
    millis = [day * 86_400_000 for day in days] + [-3_600_000, 1, 2**62]
    arrays["date64"] = raw_units(millis, pa.date64())
    return arrays


def text_arrays() -> dict[str, pa.Array]:
    plain = typed(TEXTS, pa.string())
    arrays = {
        "string": plain,
        "large_string": plain.cast(pa.large_string()),
        "string_view": typed(TEXTS, pa.string_view()),
    }
    for index in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        arrays[f"dictionary<{index}>"] = plain.cast(pa.dictionary(getattr(pa, index)(), "string"))
    arrays["dictionary of large_string"] = plain.cast(pa.dictionary(pa.int32(), pa.large_string()))
    return arrays


def number_arrays() -> dict[str, pa.Array]:
    arrays = {"bool": typed([True, False], pa.bool_()), "null": pa.nulls(3)}
    # A categorical column of pandas that has no values.
    arrays["dictionary of nulls"] = pa.DictionaryArray.from_arrays([0, None], pa.nulls(1))
    for bits in (8, 16, 32, 64):
        most = 2 ** (bits - 1)
        arrays[f"int{bits}"] = typed([*WHOLE, most - 1, -most], f"int{bits}")
        arrays[f"uint{bits}"] = typed([0, 7, 2 * most - 1, most], f"uint{bits}")
    arrays["beyond 2**53"] = typed([2**53, 2**53 + 1, -(2**53) - 1], pa.int64())
    odd = [math.nan, math.inf, -math.inf]
    arrays["float64"] = typed([*FLOATS, *odd], pa.float64())
    singles = np.array([0.0, 1.1, -2.5, 16777217.0, 1e30, *reversed(odd)], np.float32)
    arrays["float32"] = pa.array(singles)
    decimals = [Decimal(text) for text in ("0", "-0.5", "7", "7.50", "1501.05", "-123456789.25")]
    kinds = [pa.decimal128(38, 4)]
    if hasattr(pa, "decimal32"):  # from pyarrow 18 on
        kinds += [pa.decimal32(9, 2), pa.decimal64(18, 2)]
    for kind in kinds:
        inside = [value for value in decimals if abs(value) < 10**6]
        arrays[str(kind)] = typed(inside, kind)
    large = [*decimals, Decimal("90071992547409931.25"), Decimal("12345678901234567890123")]
    large.append(Decimal("-429496.7296"))  # its digits are -2**32
    arrays["decimal256"] = typed(large, pa.decimal256(60, 4))
    return arrays


REFUSED = {
    "binary": pa.array([b"a"]),
    "large_binary": pa.array([b"a"], pa.large_binary()),
    "binary_view": pa.array([b"a"], pa.binary_view()),
    "fixed_size_binary": pa.array([b"ab"], pa.binary(2)),
    "float16": pa.array(np.array([1.5], np.float16)),
    "time32": pa.array([1], pa.time32("s")),
    "time64": pa.array([1], pa.time64("ns")),
    "duration": pa.array([1], pa.duration("us")),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3])]),
    "list": pa.array([[1]]),
    "list_view": pa.array([[1]], pa.list_view(pa.int64())),
    "fixed_size_list": pa.array([[1]], pa.list_(pa.int64(), 1)),
    "struct": pa.array([{"a": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays([1], [7]),
    "dictionary of binary": pa.array([b"a"]).dictionary_encode(),
    "decimal of negative scale": pa.array([Decimal(700)], pa.decimal128(5, -2)),
}
PLAIN = number_arrays() | temporal_arrays()
CODED = {
    f"dictionary of {name}": PLAIN[name].dictionary_encode()
    for name in ("int64", "uint64", "decimal256", "timestamp[ns, tz=UTC]", "date32", "date64")
}
ARRAYS = text_arrays() | PLAIN | CODED


def time_text(units: int, per_second: int, zone: str | None, *, as_day: bool) -> str:
    """The JSON of a time with all of its digits; that of its units where no calendar has it."""
    seconds, part = divmod(units, per_second)
    if not FIRST <= seconds <= LAST:
        return str(units)
    text = str(EPOCH + dt.timedelta(seconds=seconds)).rjust(19, "0")
    if as_day and not part and text.endswith(" 00:00:00"):
        return json.dumps(text[:10])
    nanos = part * (10**9 // per_second)
    if nanos:
        text += f".{nanos // 1000:06}" if nanos % 1000 == 0 else f".{nanos:09}"
    return json.dumps(text + ("Z" if zone else ""))


def number_text(value: Any) -> str:
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if value == math.floor(value) and abs(value) < 2**63:
        return str(int(value))
    return str(value)  # of a float32 its own digits


def json_texts(array: pa.Array, *, kind: str) -> list[str]:
    """The JSON of each value of an array."""
    type_ = array.type
    if pa.types.is_temporal(type_):
        is_day = pa.types.is_date32(type_)
        per_second = 1 if is_day else 10**3 if pa.types.is_date64(type_) else UNITS[type_.unit]
        zone = type_.tz if pa.types.is_timestamp(type_) else None
        as_day = kind == "date" or pa.types.is_date(type_)
        units = array.view("int32").cast("int64") if is_day else array.view("int64")
        scale = 86400 if is_day else 1
        return [
            "null"
            if value is None
            else str(value)
            if is_day and not FIRST <= value * scale <= LAST
            else time_text(value * scale, per_second, zone, as_day=as_day)
            for value in units.to_pylist()
        ]
    if pa.types.is_floating(type_):
        own = array.to_numpy(zero_copy_only=False)
        # A float32 has its own digits as text, and is widened where a number is wanted.
        values = own.astype(np.float64) if kind == "number" else own
        missing = array.is_null().to_pylist()
        infinite = '"inf"' if kind == "unknown" else "1e999"
        return [
            "null"
            if none or np.isnan(value)
            else ("-" * bool(value < 0) + infinite).replace('-"', '"-')
            if np.isinf(value)
            else "-0.0"
            if kind == "number" and value == 0 and np.signbit(value)
            else number_text(value)
            for value, none in zip(values, missing, strict=True)
        ]
    if pa.types.is_integer(type_) or pa.types.is_decimal(type_):
        return ["null" if v is None else number_text(v) for v in array.to_pylist()]
    return [json.dumps(value, ensure_ascii=False) for value in array.to_pylist()]


def takes(kind: str, type_: Any) -> bool:
    """Whether a field takes columns of a type; those of the others are a TypeError."""
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_null(type_) or pa.types.is_string(type_) or kind == "unknown":
        return True
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return True
    if kind in ("timestamp", "date"):
        if not pa.types.is_timestamp(type_):
            return kind == "date" and pa.types.is_date(type_)
        return kind == "timestamp" or type_.tz is None
    if pa.types.is_boolean(type_):
        return kind == "text"
    return not pa.types.is_temporal(type_)


def quiet(read: Any, *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return read(*arguments, **options)


def compare(kind: str, array: Any, table: Any) -> None:
    """Compares a column `table` has of a field of a kind with the values of `array` as JSON."""
    field = FIELDS.get(kind, UNKNOWN)
    if not takes(kind, array.type):
        with pytest.raises(TypeError, match=f"column {field} takes"):
            td.TradeBook.from_arrow(table(field))
        return
    if pa.types.is_dictionary(array.type) and not pa.types.is_null(array.type.value_type):
        array = array.dictionary_decode()
    texts = json_texts(array, kind=kind)
    rows = ",".join(
        f'{{"{field}":{text}}}' for text in texts if kind != "unknown" or text != "null"
    )
    body = f'{{"status":"success","message":"","data":[{rows}]}}'
    sent = quiet(td.TradeBook.from_json, body, keep_personal_data=True)
    book = quiet(td.TradeBook.from_arrow, table(field), keep_personal_data=True)
    if kind == "unknown":
        found = [extra for extra in (row._extra for row in book) if extra]
        assert found == [row._extra for row in sent]
        return
    issues = [issues_of(of, field) for of in (book, sent)]
    cells, expected = book.column(field), sent.column(field)
    if pa.types.is_timestamp(array.type):  # it has no form that could be another one
        issues[1] = {issue for issue in issues[1] if issue[0] != "time in another form"}
    if pa.types.is_timestamp(array.type) and array.type.tz:
        # They are put on the clock of the zone; of a response the offset is dropped, which is an
        # issue. Two days at either end of the calendar are left to the zones.
        cells = [cell and cell.astimezone(dt.UTC).replace(tzinfo=None) for cell in cells]
        inside = [
            cell is None or dt.datetime(1, 1, 3) <= cell < dt.datetime(9999, 12, 31)
            for cell in expected
        ]
        assert not any(cell for cell, stays in zip(cells, inside, strict=True) if not stays)
        expected = [cell if at else None for cell, at in zip(expected, inside, strict=True)]
        lost = inside.count(False)
        first = inside.index(False) if lost else None
        beyond = {issue for issue in issues[0] if issue[0] == "out of range"}
        assert {issue[1:3] for issue in beyond} == ({(lost, first)} if lost else set())
        issues = [of - beyond for of in issues]
        issues[1] = {issue for issue in issues[1] if issue[0] != "offset from UTC, dropped"}
    if kind == "text" and pa.types.is_floating(array.type):
        # The digits of a float beyond 2**53 may not be those that were written.
        rounded = [value is not None and abs(value) > 2**53 for value in array.to_pylist()]
        expected = [None if r else cell for cell, r in zip(expected, rounded, strict=True)]
        beyond = {issue for issue in issues[0] if "round" in issue[0]}
        wanted = {(sum(rounded), rounded.index(True))} if any(rounded) else set()
        assert {issue[1:3] for issue in beyond} == wanted
        of_sent = {(problem, count - sum(rounded), *rest) for problem, count, *rest in issues[1]}
        issues = [issues[0] - beyond, {issue for issue in of_sent if issue[1]}]
    assert [str(cell) for cell in cells] == [str(cell) for cell in expected]  # also -0.0
    assert issues[0] == issues[1]


def digits_of(raw: str) -> str | float:
    """The JSON of a value, of which large numbers may be written in two ways."""
    return float(raw) if raw[-3:].lstrip("+").isdigit() and len(raw) > 18 else raw


def issues_of(book: Any, field: str) -> set[tuple[Any, ...]]:
    return {
        (issue.problem, issue.count, issue.row, digits_of(issue.raw), issue.lost)
        for issue in book.issues
        if issue.field == field and issue.problem != "missing"
    }


KINDS = [*FIELDS, "unknown"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_means_what_its_json_means(name: str, kind: str) -> None:
    """F185, F130"""
    array = ARRAYS[name]
    if pa.types.is_floating(array.type) and kind in ("timestamp", "date"):
        array = pa.array([math.nan, None], array.type)  # of an empty column that pandas read
        book = quiet(td.TradeBook.from_arrow, pa.table({FIELDS[kind]: array}))
        assert book.column(FIELDS[kind]) == [None, None]
        return
    compare(kind, array, lambda field: pa.table({field: array}))
    chunks = pa.chunked_array([array[:1], array[1:1], array[1:3], array[3:]])
    compare(kind, array, lambda field: pa.table({field: chunks}))
    # The array begins at an offset of its own, and the batch at another one.
    later = pa.concat_arrays([array[:1], array[:1], array])[1:]
    compare(kind, array, lambda field: pa.record_batch([later], [field]).slice(1))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_text_number_or_time_is_refused(name: str) -> None:
    for field in (*FIELDS.values(), UNKNOWN):
        with pytest.raises(TypeError, match=f"column {field} .*(cast it|drop it)"):
            td.TradeBook.from_arrow(pa.table({field: REFUSED[name]}))


def test_a_field_that_was_unknown_means_what_it_means_in_a_response() -> None:
    """An older archive has a field that the service added in the column `extra`."""
    for kind, field in FIELDS.items():
        for text in [*json_texts(ARRAYS["string"], kind=kind), "true", "7", "1e400", "[7]"]:
            objects = pa.table({"extra": [f'{{"{field}":{text}}}']})
            book = quiet(td.TradeBook.from_arrow, objects)
            sent = quiet(
                td.TradeBook.from_json,
                f'{{"status":"success","message":"","data":[{{"{field}":{text}}}]}}',
            )
            assert book.column(field) == sent.column(field), text
            assert [i for i in book.issues if i.field == field] == [
                i for i in sent.issues if i.field == field
            ], text


def test_constants_mean_what_they_mean_in_a_response() -> None:
    constants: dict[str, Any] = {
        **{"order_no": "a", "quantity": 7, "traded_price": 1501.05, "account": "desk1"},
        **{"exch_trade_time": dt.datetime(2026, 11, 20, 9, 15), "symbol": None},
        "expiry_date": dt.date(2026, 11, 26),
    }
    book = td.TradeBook.from_arrow(pa.table({"trade_no": ["1", "2"]}), constants=constants)
    assert [row._replace(trade_no=None) for row in book] == [td.Trade(**constants)] * 2
    assert book.issues == ()
    nothing = td.TradeBook.from_arrow(pa.table({"trade_no": pa.nulls(0)}), constants=constants)
    assert len(nothing) == 0
