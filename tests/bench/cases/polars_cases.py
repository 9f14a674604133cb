"""Cases from a body to a typed polars frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..harness.case import Fact, Prepare, Ready, Source, peer
from ..harness.facts import of_columns
from .columnar import arrow_table, duckdb_relation, msgspec_columns, polars_array, polars_envelope
from .decoders import DECODERS
from .frames import polars_schema, polars_times


def _fact(record: str, frame: Any) -> Fact:
    polars = peer("polars")
    kind_of = {
        polars.String: "text",
        polars.Int64: "integer",
        polars.Float64: "number",
        polars.Datetime("us"): "timestamp",
        polars.Date: "date",
    }

    def column(name: str) -> tuple[str, float | None]:
        dtype = frame[name].dtype
        kind = kind_of.get(dtype, str(dtype))
        return kind, float(frame[name].sum()) if kind in ("integer", "number") else None

    return of_columns(record, frame.height, column)


def _case(make: Callable[[Source], Callable[[], Any]]) -> Prepare:
    return lambda source: Ready(make(source), lambda frame: _fact(source.record, frame))


def _ours(source: Source) -> Callable[[], Any]:
    peer("polars")
    decode, body = DECODERS["tradingdata"](source.record).decode, source.body()
    return lambda: decode(body).to_polars()


def _from_dicts(source: Source) -> Callable[[], Any]:
    from_dicts = peer("polars").from_dicts
    decode, body = DECODERS["orjson"](source.record).decode, source.body()
    schema, times = polars_schema(source.record, times_as_text=True), polars_times(source.record)
    return lambda: from_dicts(decode(body), schema=schema).with_columns(times)


def _from_columns(source: Source) -> Callable[[], Any]:
    frame, columns = peer("polars").DataFrame, msgspec_columns(source)
    schema = polars_schema(source.record, times_as_text=False)
    return lambda: frame(columns(), schema=schema)


def _from_arrow(source: Source) -> Callable[[], Any]:
    from_arrow, table = peer("polars").from_arrow, arrow_table(source)
    return lambda: from_arrow(table())


def _from_duckdb(source: Source) -> Callable[[], Any]:
    peer("polars")
    relation = duckdb_relation(source)
    return lambda: relation().pl()


CASES: dict[str, Prepare] = {
    "tradingdata": _case(_ours),
    "read_json": _case(polars_envelope),
    "read_json-array": _case(polars_array),
    "orjson": _case(_from_dicts),
    "msgspec": _case(_from_columns),
    "pyarrow": _case(_from_arrow),
    "duckdb": _case(_from_duckdb),
}
LABELS = {
    "tradingdata": "tradingdata",
    "read_json": "polars.read_json of the body",
    "read_json-array": "polars.read_json of the array",
    "orjson": "orjson + from_dicts",
    "msgspec": "msgspec + columns + DataFrame",
    "pyarrow": "pyarrow.json + from_arrow",
    "duckdb": "duckdb.read_json + pl",
}
