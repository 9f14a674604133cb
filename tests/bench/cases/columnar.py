"""From a body to columns with each library: what the frame cases of the peers begin with."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from ..harness.case import Source, peer
from ..harness.fields import kinds, names_of
from .frames import array_of, arrow_schema, duckdb_query, polars_schema, polars_times
from .models import struct_decoder

Columns = Callable[[], Any]


def msgspec_columns(source: Source) -> Columns:
    """A list a column out of typed Structs."""
    decode, body, names = struct_decoder(source.record).decode, source.body(), kinds(source.record)

    def columns() -> dict[str, list[Any]]:
        records = decode(body).data
        return {name: [getattr(one, name) for one in records] for name in names}

    return columns


def arrow_table(source: Source) -> Columns:
    """pyarrow's JSON reader: the envelope is one line to it, and dates are cast from text."""
    arrow, reader = peer("pyarrow"), peer("pyarrow.json")
    body, schema = source.body(), arrow_schema(source.record)
    dates = names_of(source.record, "date")
    read = reader.ReadOptions(block_size=len(body) + 1)
    parse = reader.ParseOptions(explicit_schema=schema, newlines_in_values=True)

    def table() -> Any:
        whole = reader.read_json(io.BytesIO(body), read_options=read, parse_options=parse)
        rows = arrow.Table.from_struct_array(whole["data"].chunk(0).flatten())
        for name in dates:
            at = rows.schema.get_field_index(name)
            rows = rows.set_column(at, name, rows[name].cast(arrow.date32()))
        return rows

    return table


def duckdb_relation(source: Source) -> Columns:
    connection = peer("duckdb").connect()
    query = duckdb_query(source.record, source.path)
    return lambda: connection.sql(query)


def polars_array(source: Source) -> Columns:
    """polars' JSON reader on the array, cut out of its envelope beforehand."""
    polars, array = peer("polars"), array_of(source.body())
    schema, times = polars_schema(source.record, times_as_text=True), polars_times(source.record)
    return lambda: polars.read_json(array, schema=schema).with_columns(times)


def polars_envelope(source: Source) -> Columns:
    """polars' JSON reader on the body as sent."""
    polars, body, times = peer("polars"), source.body(), polars_times(source.record)
    row = polars.Struct(polars_schema(source.record, times_as_text=True))
    schema = {"data": polars.List(row), "message": polars.String, "status": polars.String}
    rows = polars.col("data").explode(keep_nulls=False, empty_as_null=False).struct.unnest()
    return lambda: polars.read_json(body, schema=schema).select(rows).with_columns(times)
