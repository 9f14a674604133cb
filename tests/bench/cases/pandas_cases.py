"""Cases from a body to a typed pandas frame."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..harness.case import Fact, Prepare, Ready, Source, peer
from ..harness.facts import of_columns
from ..harness.fields import kinds, names_of
from .columnar import arrow_table, duckdb_relation, msgspec_columns, polars_array
from .decoders import DECODERS
from .frames import array_of, pandas_times, pandas_types

KIND_OF_DTYPE = {"str": "text", "Int64": "integer", "float64": "number"}


def _fact(record: str, frame: Any) -> Fact:
    """Dates are datetime64 in pandas, so they count as what the field is."""

    def column(name: str) -> tuple[str, float | None]:
        dtype, expected = str(frame[name].dtype), kinds(record)[name]
        if dtype == "datetime64[us]" and expected in ("timestamp", "date"):
            return expected, None
        kind = KIND_OF_DTYPE.get(dtype, dtype)
        return kind, float(frame[name].sum()) if kind in ("integer", "number") else None

    return of_columns(record, len(frame), column)


def _case(make: Callable[[Source], Callable[[], Any]]) -> Prepare:
    return lambda source: Ready(make(source), lambda frame: _fact(source.record, frame))


def _ours(source: Source) -> Callable[[], Any]:
    decode, body = DECODERS["tradingdata"](source.record).decode, source.body()
    return lambda: decode(body).to_pandas()


def _ours_without_pyarrow(source: Source) -> Callable[[], Any]:
    sys.modules["pyarrow"] = None  # type: ignore[assignment]  # an import of it fails from here on
    return _ours(source)


def _from_dicts(library: str) -> Callable[[Source], Callable[[], Any]]:
    def make(source: Source) -> Callable[[], Any]:
        frame, types = peer("pandas").DataFrame, pandas_types(source.record)
        decode, body = DECODERS[library](source.record).decode, source.body()
        return lambda: pandas_times(source.record, frame(decode(body))).astype(types)

    return make


def _read_json(source: Source) -> Callable[[], Any]:
    """pandas' own reader, on the array cut out of its envelope beforehand."""
    read_json, array = peer("pandas").read_json, array_of(source.body())
    times = names_of(source.record, "timestamp", "date")
    types = pandas_types(source.record) | dict.fromkeys(names_of(source.record, "text"), "str")

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # convert_dates is deprecated, and the faster way
            return read_json(
                io.BytesIO(array), convert_dates=times, dtype=types, precise_float=True
            )

    return run


def _from_columns(source: Source) -> Callable[[], Any]:
    pandas, columns, types = peer("pandas"), msgspec_columns(source), pandas_types(source.record)
    dates = dict.fromkeys(names_of(source.record, "timestamp", "date"), "datetime64[us]")
    return lambda: pandas.DataFrame(columns()).astype(types | dates)


def _from_table(
    columns: Callable[[Source], Callable[[], Any]], convert: Callable[[Any], Any]
) -> Callable[[Source], Callable[[], Any]]:
    def make(source: Source) -> Callable[[], Any]:
        peer("pandas")
        table, types = columns(source), pandas_types(source.record)
        dates = dict.fromkeys(names_of(source.record, "date"), "datetime64[us]")
        return lambda: convert(table()).astype(types | dates)

    return make


def _arrow_to_pandas(table: Any) -> Any:
    return table.to_pandas(date_as_object=False)


CASES: dict[str, Prepare] = {
    "tradingdata": _case(_ours),
    "tradingdata-without-pyarrow": _case(_ours_without_pyarrow),
    "orjson": _case(_from_dicts("orjson")),
    "json": _case(_from_dicts("json")),
    "msgspec": _case(_from_columns),
    "read_json": _case(_read_json),
    "pyarrow": _case(_from_table(arrow_table, _arrow_to_pandas)),
    "polars": _case(_from_table(polars_array, lambda frame: frame.to_pandas())),
    "duckdb": _case(_from_table(duckdb_relation, lambda relation: relation.df())),
}
LABELS = {
    "tradingdata": "tradingdata",
    "tradingdata-without-pyarrow": "tradingdata, no pyarrow",
    "orjson": "orjson + DataFrame + to_datetime",
    "json": "json + DataFrame + to_datetime",
    "msgspec": "msgspec + columns + DataFrame",
    "read_json": "pandas.read_json of the array",
    "pyarrow": "pyarrow.json + to_pandas",
    "polars": "polars.read_json + to_pandas",
    "duckdb": "duckdb.read_json + df",
}
