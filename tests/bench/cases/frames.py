"""The dtypes that each frame library must give a record's columns, made from the field table."""

from __future__ import annotations

import functools
from typing import Any

from ..harness.case import peer
from ..harness.fields import kinds, names_of

TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
DATE_FORMAT = "%Y-%m-%d"
DUCKDB_TYPE = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "number": "DOUBLE",
    "timestamp": "TIMESTAMP",
    "date": "DATE",
}


def array_of(body: bytes) -> bytes:
    """The array of records out of a compact envelope, for libraries that read nothing else."""
    return body[body.index(b"[") : body.rindex(b"]") + 1]


@functools.cache
def pandas_types(record: str) -> dict[str, str]:
    """What `astype` takes, for the columns whose dtype pandas cannot know from the values."""
    types = {"integer": "Int64", "number": "float64"}
    return {name: types[kind] for name, kind in kinds(record).items() if kind in types}


def pandas_times(record: str, frame: Any) -> Any:
    """Parses the text columns that hold times, with the formats given, which is the fastest way."""
    to_datetime = peer("pandas").to_datetime
    for kind, form in (("timestamp", TIME_FORMAT), ("date", DATE_FORMAT)):
        for name in names_of(record, kind):
            frame[name] = to_datetime(frame[name], format=form)
    return frame


@functools.cache
def polars_schema(record: str, *, times_as_text: bool) -> dict[str, Any]:
    polars = peer("polars")
    types = {"text": polars.String, "integer": polars.Int64, "number": polars.Float64}
    if times_as_text:
        types |= {"timestamp": polars.String, "date": polars.String}
    else:
        types |= {"timestamp": polars.Datetime("us"), "date": polars.Date}
    return {name: types[kind] for name, kind in kinds(record).items()}


@functools.cache
def polars_times(record: str) -> list[Any]:
    """Expressions that parse the text columns that hold times."""
    column = peer("polars").col
    return [
        *(column(name).str.to_datetime(TIME_FORMAT) for name in names_of(record, "timestamp")),
        *(column(name).str.to_date(DATE_FORMAT) for name in names_of(record, "date")),
    ]


@functools.cache
def arrow_schema(record: str) -> Any:
    """The envelope as pyarrow's JSON reader can type it: dates it reads as text only."""
    arrow = peer("pyarrow")
    types = {
        "text": arrow.string(),
        "integer": arrow.int64(),
        "number": arrow.float64(),
        "timestamp": arrow.timestamp("us"),
        "date": arrow.string(),
    }
    row = arrow.struct([(name, types[kind]) for name, kind in kinds(record).items()])
    members = [("data", arrow.list_(row)), ("message", arrow.string()), ("status", arrow.string())]
    return arrow.schema(members)


def duckdb_query(record: str, path: str) -> str:
    """Reads the envelope out of a file: duckdb takes JSON from files only."""
    columns = ", ".join(f'"{name}" {DUCKDB_TYPE[kind]}' for name, kind in kinds(record).items())
    return (
        "SELECT row.* FROM (SELECT unnest(data) AS row FROM read_json("
        f"'{path}', format = 'unstructured', maximum_object_size = 1000000000, "
        f"columns = {{data: 'STRUCT({columns})[]'}}))"
    )
