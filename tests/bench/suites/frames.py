"""Body to a typed frame of pandas and of polars, with this library and its peers."""

from __future__ import annotations

import functools
import io
import warnings
from collections.abc import Callable
from typing import Any

from ..contest import Contest, Entry, Fact, Prepare, Ready, Source, peer
from ..report import Goal, Run
from .records import DECODERS, kinds, names_of, struct_decoder, trades

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
DATE_FORMAT = "%Y-%m-%d"
PANDAS_KINDS = {"str": "text", "Int64": "integer", "float64": "number"}
POLARS_KINDS = {
    "String": "text",
    "Int64": "integer",
    "Float64": "number",
    "Datetime(time_unit='us', time_zone=None)": "timestamp",
    "Date": "date",
}
Make = Callable[[Source], Callable[[], Any]]  # what is measured, of a source


def _case(make: Make, known: dict[str, str]) -> Prepare:
    """The fact of a frame; pandas has dates as datetime64, which counts as what the field is."""

    def prepare(source: Source) -> Ready:
        run, expected = make(source), kinds(source.record)

        def kind(dtype: str, name: str) -> str:
            dates = dtype == "datetime64[us]" and expected[name] in ("timestamp", "date")
            return expected[name] if dates else known.get(dtype, dtype)

        def fact(frame: Any) -> Fact:
            found = {name: kind(str(frame[name].dtype), name) for name in expected}
            numbers = [name for name in expected if found[name] in ("integer", "number")]
            return {
                "rows": len(frame),
                "sums": {name: float(frame[name].sum()) for name in numbers},
                "untyped": [name for name in expected if found[name] != expected[name]],
            }

        return Ready(run, fact)

    return prepare


def _ours(convert: str) -> Make:
    def make(source: Source) -> Callable[[], Any]:
        peer(convert.partition("_")[2])
        decode, body = DECODERS["tradingdata"](source.record).decode, source.body()
        return lambda: getattr(decode(body), convert)()

    return make


# What the peers begin with.


def msgspec_columns(source: Source) -> Callable[[], dict[str, list[Any]]]:
    """A list a column out of typed Structs."""
    decode, body, names = struct_decoder(source.record).decode, source.body(), kinds(source.record)

    def columns() -> dict[str, list[Any]]:
        records = decode(body).data
        return {name: [getattr(one, name) for one in records] for name in names}

    return columns


def arrow_table(source: Source) -> Callable[[], Any]:
    """pyarrow's JSON reader: the envelope is one line to it, and dates are cast from text."""
    arrow, reader = peer("pyarrow"), peer("pyarrow.json")
    types = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "timestamp": arrow.timestamp("us"),
        "date": arrow.string(),
    }
    row = arrow.struct([(name, types[kind]) for name, kind in kinds(source.record).items()])
    members = [("data", arrow.list_(row)), ("message", arrow.string()), ("status", arrow.string())]
    body, dates = source.body(), names_of(source.record, "date")
    read = reader.ReadOptions(block_size=len(body) + 1)
    schema = arrow.schema(members)
    parse = reader.ParseOptions(explicit_schema=schema, newlines_in_values=True)

    def table() -> Any:
        whole = reader.read_json(io.BytesIO(body), read_options=read, parse_options=parse)
        rows = arrow.Table.from_struct_array(whole["data"].chunk(0).flatten())
        for name in dates:
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, name, rows[name].cast(arrow.date32()))
        return rows

    return table


# pandas.


@functools.cache
def pandas_types(record: str) -> dict[str, str]:
    """What `astype` takes, for the columns whose dtype pandas cannot know from the values."""
    types = {"integer": "Int64", "number": "float64"}
    return {name: types[kind] for name, kind in kinds(record).items() if kind in types}


def pandas_from_dicts(source: Source) -> Callable[[], Any]:
    """Times are parsed with the formats given, which is the fastest way."""
    pandas, types = peer("pandas"), pandas_types(source.record)
    decode, body = DECODERS["orjson dict"](source.record).decode, source.body()
    forms = {"timestamp": TIME_FORMAT, "date": DATE_FORMAT}
    times = {name: form for kind, form in forms.items() for name in names_of(source.record, kind)}

    def run() -> Any:
        frame = pandas.DataFrame(decode(body))
        for name, form in times.items():
            frame[name] = pandas.to_datetime(frame[name], format=form)
        return frame.astype(types)

    return run


def pandas_read_json(source: Source) -> Callable[[], Any]:
    """pandas' own reader, on the array cut out of its envelope beforehand."""
    body = source.body()
    array = body[body.index(b"[") : body.rindex(b"]") + 1]
    read_json, times = peer("pandas").read_json, names_of(source.record, "timestamp", "date")
    types = pandas_types(source.record) | dict.fromkeys(names_of(source.record, "text"), "str")
    options = {"convert_dates": times, "dtype": types, "precise_float": True}

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # convert_dates is deprecated, and the faster way
            return read_json(io.BytesIO(array), **options)

    return run


def pandas_from_columns(source: Source) -> Callable[[], Any]:
    pandas, columns, types = peer("pandas"), msgspec_columns(source), pandas_types(source.record)
    dates = dict.fromkeys(names_of(source.record, "timestamp", "date"), "datetime64[us]")
    return lambda: pandas.DataFrame(columns()).astype(types | dates)


def pandas_from_arrow(source: Source) -> Callable[[], Any]:
    peer("pandas")
    table, types = arrow_table(source), pandas_types(source.record)
    dates = dict.fromkeys(names_of(source.record, "date"), "datetime64[us]")
    return lambda: table().to_pandas(date_as_object=False).astype(types | dates)


# polars.


def polars_schema(record: str, *, times_as_text: bool) -> dict[str, Any]:
    polars = peer("polars")
    types = {"text": polars.String, "integer": polars.Int64, "number": polars.Float64}
    times = {"timestamp": polars.Datetime("us"), "date": polars.Date}
    types |= dict.fromkeys(times, polars.String) if times_as_text else times
    return {name: types[kind] for name, kind in kinds(record).items()}


def polars_times(record: str) -> list[Any]:
    """Expressions that parse the text columns that hold times."""
    column = peer("polars").col
    return [
        *(column(name).str.to_datetime(TIME_FORMAT) for name in names_of(record, "timestamp")),
        *(column(name).str.to_date(DATE_FORMAT) for name in names_of(record, "date")),
    ]


def polars_read_json(source: Source) -> Callable[[], Any]:
    """polars' JSON reader on the body as sent."""
    polars, body, times = peer("polars"), source.body(), polars_times(source.record)
    row = polars.Struct(polars_schema(source.record, times_as_text=True))
    schema = {"data": polars.List(row), "message": polars.String, "status": polars.String}
    rows = polars.col("data").explode(keep_nulls=False, empty_as_null=False).struct.unnest()
    return lambda: polars.read_json(body, schema=schema).select(rows).with_columns(times)


def polars_from_dicts(source: Source) -> Callable[[], Any]:
    from_dicts = peer("polars").from_dicts
    decode, body = DECODERS["orjson dict"](source.record).decode, source.body()
    schema, times = polars_schema(source.record, times_as_text=True), polars_times(source.record)
    return lambda: from_dicts(decode(body), schema=schema).with_columns(times)


def polars_from_columns(source: Source) -> Callable[[], Any]:
    frame, columns = peer("polars").DataFrame, msgspec_columns(source)
    schema = polars_schema(source.record, times_as_text=False)
    return lambda: frame(columns(), schema=schema)


def polars_from_arrow(source: Source) -> Callable[[], Any]:
    from_arrow, table = peer("polars").from_arrow, arrow_table(source)
    return lambda: from_arrow(table())


BY_HAND = "orjson + DataFrame + to_datetime"
PANDAS: dict[str, Make] = {
    "tradingdata": _ours("to_pandas"),
    BY_HAND: pandas_from_dicts,
    "msgspec + columns + DataFrame": pandas_from_columns,
    "pandas.read_json of the array": pandas_read_json,
    "pyarrow.json + to_pandas": pandas_from_arrow,
}
POLARS: dict[str, Make] = {
    "tradingdata": _ours("to_polars"),
    "polars.read_json of the body": polars_read_json,
    "orjson + from_dicts": polars_from_dicts,
    "msgspec + columns + DataFrame": polars_from_columns,
    "pyarrow.json + from_arrow": polars_from_arrow,
}
CASES: dict[str, Prepare] = {
    **{f"pandas:{label}": _case(make, PANDAS_KINDS) for label, make in PANDAS.items()},
    **{f"polars:{label}": _case(make, POLARS_KINDS) for label, make in POLARS.items()},
}


def entries(library: str) -> tuple[Entry, ...]:
    """Those of the library."""
    labels = [case.partition(":")[2] for case in CASES if case.startswith(library)]
    return tuple(Entry(label, "frames", f"{library}:{label}", trades()) for label in labels)


def frames(run: Run) -> None:
    """Body to a typed frame of pandas and of polars."""

    def contest(library: str) -> Contest:
        return Contest(f"10,000 trades, body to a typed {library} frame", entries(library))

    run.play(
        "pandas",
        lambda: contest("pandas"),
        Goal("pandas frame, times faster than by hand", (BY_HAND,), 12, 20),
        Goal("pandas frame, times faster", tuple(PANDAS)[1:], 8, 12),
    )
    goal = Goal("polars frame, times faster", tuple(POLARS)[1:], 8, 12)
    run.play("polars", lambda: contest("polars"), goal)
