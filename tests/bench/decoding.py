"""Body to what users work with: records, dicts, and typed frames of pandas and polars."""

from __future__ import annotations

import datetime as dt
import io
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from operator import getitem
from typing import Any

from .bodies import book
from .case import Fact, Ready, Ways, peer, total

# What a script reads of a trade: what was traded, when, how much of it and at what price.
FIVE = ("exch_trade_time", "symbol", "txn_type", "quantity", "traded_price")
TYPES: dict[str, Any] = {
    **{"text": str, "integer": int, "number": float},
    **{"timestamp": dt.datetime, "date": dt.date},
}
TIME_FORMAT, DATE_FORMAT = "%Y-%m-%d %H:%M:%S", "%Y-%m-%d"
KINDS = {  # the dtypes of a kind: pandas has dates in datetime64, too
    **{"text": {"str", "String"}, "integer": {"Int64", "int64"}, "number": {"float64", "Float64"}},
    "timestamp": {"datetime64[us]", "Datetime(time_unit='us', time_zone=None)"},
    "date": {"datetime64[us]", "date32[day][pyarrow]", "Date"},
}
Run = Callable[[], Any]
Make = Callable[[bytes], Run]


@cache
def fields(record: str) -> dict[str, str]:
    """The kind of each field that is sent, by name, in the service's order."""
    declared = {each["name"]: each["fields"] for each in peer("tradingdata")._core.records()}
    return {field["name"]: field["kind"] for field in declared[record] if not field["local"]}


def names_of(record: str, *kinds: str) -> list[str]:
    """The fields of some kinds."""
    return [name for name, kind in fields(record).items() if kind in kinds]


def fact_of_records(
    record: str, records: Sequence[Any], get: Callable[..., Any] = getattr, names: Any = ()
) -> Fact:
    """The fact of records that are objects (`get` is getattr) or mappings (getitem)."""
    fact: Fact = {"rows": len(records), "untyped": False}
    for name in names or fields(record):
        kind = fields(record)[name]
        values = [value for one in records if (value := get(one, name)) is not None]
        if kind in ("integer", "number"):
            fact[name] = total(values)
        allowed = {int, float} if kind == "number" else {TYPES[kind]}
        fact["untyped"] |= not set(map(type, values[:1000])) <= allowed
    return fact


@dataclass(frozen=True)
class Decoder:
    """`decode` gives records, whose fields are read as attributes, or as items."""

    decode: Callable[[bytes], Any]
    items: bool = False
    names: tuple[str, ...] = ()  # of the fields that it reads, if not all


def ours(record: str) -> Decoder:
    td = peer("tradingdata")
    return Decoder({"Trade": td.TradeBook, "Order": td.OrderBook}[record].from_json)


def msgspec_struct(record: str, names: tuple[str, ...] = ()) -> Decoder:
    """Structs of all fields, or of some, without garbage collection: msgspec's fastest form."""
    msgspec, kinds = peer("msgspec"), fields(record)
    members = [(name, TYPES[kinds[name]] | None) for name in names or kinds]
    row = msgspec.defstruct(record, members, gc=False)
    envelope = [("data", list[row]), ("message", str), ("status", str)]  # type: ignore[valid-type]
    decode = msgspec.json.Decoder(msgspec.defstruct("Envelope", envelope, gc=False)).decode
    return Decoder(lambda body: decode(body).data, names=names)


def pydantic_model(record: str) -> Decoder:
    create = peer("pydantic").create_model
    row = create(record, **{name: (TYPES[x] | None, ...) for name, x in fields(record).items()})
    envelope = {"data": (list[row], ...), "message": (str, ...), "status": (str, ...)}  # type: ignore[valid-type]
    validate = create("Envelope", **envelope).model_validate_json
    return Decoder(lambda body: validate(body).data)


def dicts(loads: Callable[[bytes], Any]) -> Decoder:
    return Decoder(lambda body: loads(body)["data"], items=True)


DECODERS: dict[str, Callable[[str], Decoder]] = {
    "tradingdata": ours,
    "msgspec": msgspec_struct,
    "pysimdjson": lambda record: dicts(peer("simdjson").Parser().parse),
    "orjson": lambda record: dicts(peer("orjson").loads),
    "json": lambda record: dicts(json.loads),
    "pydantic": pydantic_model,
    "msgspec of the five": lambda record: msgspec_struct(record, FIVE),
    "simdjson.loads": lambda record: dicts(peer("simdjson").loads),
    "to_dicts": lambda record: Decoder(lambda x: ours(record).decode(x).to_dicts(), items=True),
}
ALL_FIELDS = tuple(DECODERS)[:6]


def _loop_over(names: Iterable[str], *, items: bool) -> Callable[[Iterable[Any]], None]:
    """A `for` loop that reads fields of every record, compiled as a user would write it out."""
    lines = [f"  record[{name!r}]" if items else f"  record.{name}" for name in names]
    namespace: dict[str, Any] = {}
    exec("\n".join(["def loop(records):", " for record in records:", *lines, "  pass"]), namespace)
    loop: Callable[[Iterable[Any]], None] = namespace["loop"]
    return loop


def _decoded(name: str, record: str, form: str, read: Sequence[str], size: int) -> Ready:
    decoder, body = DECODERS[name](record), book(record, size, form).read_bytes()
    decode, get = decoder.decode, getitem if decoder.items else getattr
    loop = _loop_over(read, items=decoder.items)

    def decode_and_read() -> Any:
        records = decode(body)
        loop(records)
        return records

    run = decode_and_read if read else lambda: decode(body)
    return Ready(run, lambda made: fact_of_records(record, made, get, decoder.names))


def decoders(
    *names: str, record: str = "Trade", form: str = "compact", read: Sequence[str] = ()
) -> Ways:
    """Decoded by each, then these fields of every record are read in a loop."""
    return {name: partial(_decoded, name, record, form, read) for name in names or ALL_FIELDS}


def to_dicts() -> Ways:
    ours, *others = decoders("to_dicts", "orjson", "json", "simdjson.loads").items()
    return {"tradingdata": ours[1], **dict(others)}


def spelled(form: str) -> Ways:
    """Ours, on a body in another form, beside the same in its usual form."""
    usual = decoders("tradingdata")["tradingdata"]
    return decoders("tradingdata", form=form) | {"tradingdata, keys in order, compact": usual}


def _fact_of_frame(frame: Any) -> Fact:
    kinds = fields("Trade")
    typed = {name: kind for name, kind in kinds.items() if str(frame[name].dtype) in KINDS[kind]}
    numbers = [name for name, kind in typed.items() if kind in ("integer", "number")]
    sums = {name: float(frame[name].sum()) for name in numbers}
    return {"rows": len(frame), "untyped": typed != kinds, **sums}


def _ours(convert: str) -> Make:
    return lambda body: lambda: getattr(DECODERS["tradingdata"]("Trade").decode(body), convert)()


def _arrow_table(body: bytes) -> Run:
    """pyarrow's JSON reader: the envelope is one line to it, and dates are cast from text."""
    arrow, reader = peer("pyarrow"), peer("pyarrow.json")
    text, time = arrow.string(), arrow.timestamp("us")
    types = {"integer": arrow.int64(), "number": arrow.float64(), "timestamp": time}
    row = arrow.struct([(name, types.get(kind, text)) for name, kind in fields("Trade").items()])
    schema = arrow.schema([("data", arrow.list_(row)), ("message", text), ("status", text)])
    read = reader.ReadOptions(block_size=len(body) + 1)
    parse = reader.ParseOptions(explicit_schema=schema, newlines_in_values=True)

    def table() -> Any:
        whole = reader.read_json(io.BytesIO(body), read_options=read, parse_options=parse)
        rows = arrow.Table.from_struct_array(whole["data"].chunk(0).flatten())
        for name in names_of("Trade", "date"):
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, name, rows[name].cast(arrow.date32()))
        return rows

    return table


def _pandas_types(more: str, *kinds: str) -> dict[str, str]:
    """The dtypes that pandas cannot know from the values."""
    types = {"integer": "Int64", "number": "float64", **dict.fromkeys(kinds, more)}
    return {name: types[kind] for name, kind in fields("Trade").items() if kind in types}


def pandas_from_dicts(body: bytes) -> Run:
    pandas, types, loads = peer("pandas"), _pandas_types(""), peer("orjson").loads
    formats = {"timestamp": TIME_FORMAT, "date": DATE_FORMAT}

    def run() -> Any:
        frame = pandas.DataFrame(loads(body)["data"])
        for kind, form in formats.items():
            for name in names_of("Trade", kind):
                frame[name] = pandas.to_datetime(frame[name], format=form)
        return frame.astype(types)

    return run


def pandas_read_json(body: bytes) -> Run:
    """pandas' own reader, on the array cut out of its envelope beforehand."""
    array = body[body.index(b"[") : body.rindex(b"]") + 1]
    options = {"convert_dates": names_of("Trade", "timestamp", "date"), "precise_float": True}
    types = _pandas_types("str", "text")
    warnings.filterwarnings("ignore", ".*convert_dates")  # deprecated, and the faster way
    return lambda: peer("pandas").read_json(io.BytesIO(array), dtype=types, **options)


def pandas_from_arrow(body: bytes) -> Run:
    table, types = _arrow_table(body), _pandas_types("datetime64[us]", "date")
    return lambda: table().to_pandas(date_as_object=False).astype(types)


def _polars_schema() -> dict[str, Any]:
    """The types with times as text."""
    polars = peer("polars")
    types = {"integer": polars.Int64, "number": polars.Float64}
    return {name: types.get(kind, polars.String) for name, kind in fields("Trade").items()}


def _polars_times() -> list[Any]:
    """Expressions that parse the text columns that hold times."""
    column = peer("polars").col
    times = [column(x).str.to_datetime(TIME_FORMAT) for x in names_of("Trade", "timestamp")]
    return times + [column(x).str.to_date(DATE_FORMAT) for x in names_of("Trade", "date")]


def polars_read_json(body: bytes) -> Run:
    polars, times = peer("polars"), _polars_times()
    row = polars.Struct(_polars_schema())
    schema = {"data": polars.List(row), "message": polars.String, "status": polars.String}
    rows = polars.col("data").explode(keep_nulls=False, empty_as_null=False).struct.unnest()
    return lambda: polars.read_json(body, schema=schema).select(rows).with_columns(times)


def polars_from_dicts(body: bytes) -> Run:
    from_dicts, loads = peer("polars").from_dicts, peer("orjson").loads
    schema, times = _polars_schema(), _polars_times()
    return lambda: from_dicts(loads(body)["data"], schema=schema).with_columns(times)


def polars_from_arrow(body: bytes) -> Run:
    from_arrow, table = peer("polars").from_arrow, _arrow_table(body)
    return lambda: from_arrow(table())


PANDAS: dict[str, Make] = {
    "tradingdata": _ours("to_pandas"),
    "orjson, DataFrame, to_datetime": pandas_from_dicts,
    "pandas.read_json": pandas_read_json,
    "pyarrow.json, to_pandas": pandas_from_arrow,
}
POLARS: dict[str, Make] = {
    "tradingdata": _ours("to_polars"),
    "polars.read_json": polars_read_json,
    "orjson, from_dicts": polars_from_dicts,
    "pyarrow.json, from_arrow": polars_from_arrow,
}


def frames(makes: dict[str, Make]) -> Ways:
    def prepare(make: Make, size: int) -> Ready:
        return Ready(make(book("Trade", size).read_bytes()), _fact_of_frame)

    return {name: partial(prepare, make) for name, make in makes.items()}
