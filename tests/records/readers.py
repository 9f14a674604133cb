"""Other libraries as readers of the package's objects, in a process of their own.

`python readers.py READER...` prints a line of JSON for each reader and object: the reader, the kind
and the name of the object, and "read" or the error. A reader checks what it read: `Lost` names a
difference.
"""

# mypy: disable-error-code="import-untyped, import-not-found, attr-defined, no-untyped-call"

from __future__ import annotations

import copy
import dataclasses
import inspect
import io
import json
import pickle
import pprint
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import tradingdata as td
from analysis_samples import trade
from sample_records import INDIA, filled, wire_trade
from tradingdata import _core, analysis
from tradingdata.books.diff import OrderChange
from tradingdata.table.rows import row_type
from tradingdata.table.table import Table

WIDE = row_type("Wide", [("a", "text", ""), ("b c", "integer", "")])


class WideTable(Table[Any]):
    __slots__ = ()
    _row = WIDE


def rows() -> dict[str, Any]:
    book = td.TradeBook([filled(td.Trade)])
    order = td.Order(order_no="1", quantity=5.0, pan_no="ABCDE1234F")
    pnl = td.realised_pnl(_traded())
    return {
        "Trade": book[0],
        "Trade with unknown fields": wire_trade(brand_new={"a": [1, None]}),
        "Trade in a zone": book.localize(INDIA)[0],
        "empty Trade": td.Trade(),
        "Order": order,
        "Stock": filled(td.Stock),
        "Position": td.positions(_traded())[0],
        "Lot": filled_lot(),
        "Match": pnl.matches[0],
        "a row of a query": WIDE(**{"a": "x", "b c": 5}),
    }


def filled_lot() -> Any:
    values: dict[str, Any] = dict.fromkeys(_core.names_of(analysis.Lot), None)
    return analysis.Lot(**values | {"quantity": 5})


def _traded() -> td.TradeBook:
    return td.TradeBook([trade(1, "B", 5, 50.0), trade(2, "S", 3, 33.0, 9)])


def tables() -> dict[str, Any]:
    trades = _traded()
    pnl = td.realised_pnl(trades)
    return {
        "TradeBook": td.TradeBook([*trades, wire_trade(brand_new=1)]),
        "TradeBook in a zone": trades.localize(INDIA),
        "empty OrderBook": td.OrderBook(),
        "StockList": td.StockList([filled(td.Stock)]),
        "Positions": td.positions(trades),
        "RealisedPnl": pnl,
        "Lots": pnl.open_lots,
        "DayPnl": td.day_pnl(trades, prices={"1": 11.0}),
        "a query's result": WideTable._over(_core.table_of(WideTable._row, [["x"], [5]], None)),
    }


def others() -> dict[str, Any]:
    body = b'{"status":"success","data":[{"quantity":"5"}],"message":""}'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        book = td.TradeBook.from_json(body)
    client = td.Client("https://127.0.0.1:9", access_token="x" * 20)
    change = OrderChange("new", td.Order(), None, ())
    return {
        "Response": book.response,
        "Issue": book.issues[0],
        "OrderChange": change,
        "StatusError": td.StatusError("no"),
        "DecodeError": td.DecodeError("no"),
        "Client": client,
        "ChargeRate": td.ChargeRate(brokerage=0.1) if hasattr(td, "ChargeRate") else None,
        "RateLimit": td.RateLimit(5),
        "module": analysis,
    }


def _equal(found: Any, wanted: Any) -> None:
    if found != wanted:
        raise Lost(f"{found!r:.300} for {wanted!r:.300}")


class Lost(AssertionError):
    """A reader read something else than is there."""


def _is_row(value: Any) -> bool:
    return hasattr(value, "_asdict") and dataclasses.is_dataclass(value)


def _is_table(value: Any) -> bool:
    return hasattr(value, "to_dicts")


def read_dataclasses(value: Any) -> None:
    _equal(dataclasses.asdict(value), value._asdict())
    _equal(dataclasses.astuple(value), tuple(value._asdict().values()))
    if not value._extra:
        _equal(dataclasses.replace(value), value)


def read_orjson(value: Any) -> None:
    import orjson

    if _is_row(value) or _is_table(value):
        orjson.dumps([value], default=lambda given: type(given).__name__)
    orjson.dumps(value)


def read_pydantic(value: Any) -> None:
    import pydantic

    adapter = pydantic.TypeAdapter(type(value))
    written = adapter.dump_json(value)
    if _is_row(value):
        _equal(set(json.loads(written)), set(value._asdict(extra=True)))
        _equal(adapter.validate_python(value), value)
        made = adapter.validate_json(written), adapter.validate_python(adapter.dump_python(value))
        for again in made:
            _equal((type(again), again._extra), (type(value), value._extra))
            _equal(again._asdict(), value._asdict())
        schema = adapter.json_schema(mode="serialization")
        _equal(list(schema["properties"]), list(value._asdict()))


def read_fastapi(value: Any) -> None:
    import asyncio

    import fastapi

    app = fastapi.FastAPI()
    app.get("/one")(_returning(value, type(value)))
    app.get("/many")(_returning([value], list[type(value)]))  # type: ignore[misc]
    written = [asyncio.run(_get(app, path)) for path in ("/one", "/many")]
    if _is_row(value):
        schema = json.dumps(app.openapi())
        _equal([name for name in value._asdict() if f'"{name}"' not in schema], [])
        _equal(set(written[0]), set(value._asdict(extra=True)))
        _equal(set(written[1][0]), set(value._asdict(extra=True)))


def _returning(value: Any, kind: Any) -> Callable[[], Any]:
    def endpoint() -> Any:
        return value

    endpoint.__annotations__["return"] = kind
    return endpoint


async def _get(app: Any, path: str) -> Any:
    scope = {
        "type": "http", "method": "GET", "path": path, "headers": [], "query_string": b"",
        "http_version": "1.1", "asgi": {"version": "3.0"},
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    if sent[0]["status"] != 200:
        raise ValueError(sent)
    return json.loads(b"".join(message.get("body", b"") for message in sent))


def read_msgspec(value: Any) -> None:
    import msgspec

    found = json.loads(msgspec.json.encode(value))
    if _is_row(value):
        _equal(set(found), set(value._asdict()))
        _equal(set(msgspec.to_builtins(value)), set(value._asdict()))


def read_cattrs(value: Any) -> None:
    import cattrs

    found = cattrs.unstructure(value)
    if _is_row(value):
        _equal(found, value._asdict())
        if not value._extra and value.__reduce__()[1][2].zone is None:
            converter = cattrs.Converter()
            for kind in {type(each) for each in found.values()} - {str, int, float, type(None)}:
                converter.register_structure_hook(kind, lambda given, _: given)
            _equal(converter.structure(found, type(value)), value)


def read_pprint(value: Any) -> None:
    pprint.pformat(value)
    pprint.pformat([value] * 3)


def read_rich(value: Any) -> None:
    from rich.console import Console
    from rich.pretty import pretty_repr

    pretty_repr(value)
    console = Console(file=io.StringIO())
    console.print(value)
    console.print([value])


def read_copy(value: Any) -> None:
    for copied in (copy.copy(value), copy.deepcopy(value), copy.deepcopy([value])[0]):
        _same(copied, value)


def read_pickle(value: Any) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        _same(pickle.loads(pickle.dumps(value, protocol)), value)


def read_joblib(value: Any) -> None:
    import joblib

    joblib.hash(value)
    written = io.BytesIO()
    joblib.dump(value, written)
    written.seek(0)
    _same(joblib.load(written), value)


def _same(copied: Any, value: Any) -> None:
    if isinstance(value, Exception):
        _equal((type(copied), str(copied)), (type(value), str(value)))
    else:
        _equal(copied, value)


def read_dask(value: Any) -> None:
    import dask
    import dask.bag
    from dask.tokenize import tokenize

    _equal(tokenize(value), tokenize(copy.copy(value)))
    with dask.config.set(scheduler="synchronous"):
        _same(dask.delayed(value).compute(), value)
        many = list(value) if _is_table(value) else [value]
        if many:
            _equal(list(dask.bag.from_sequence(many, npartitions=1)), many)


def read_pandas(value: Any) -> None:
    import pandas

    _equal(pandas.Series([value])[0] == value, True)
    if _is_row(value):
        _equal(list(pandas.DataFrame([value]).columns), list(value._asdict()))
    if _is_table(value):
        _equal(list(value.to_pandas().columns), value.columns)
        if len(value):
            _equal(list(pandas.DataFrame(list(value)).columns), value.columns)


def read_polars(value: Any) -> None:
    import polars

    if _is_row(value):
        frame = polars.DataFrame([value])
        _equal(frame.columns, list(value._asdict()))
        _equal(frame.rows()[0][:1], tuple(value._asdict().values())[:1])
    elif _is_table(value):
        _equal(polars.DataFrame(value).columns, value.columns)
        if len(value):
            _equal(polars.DataFrame(list(value)).columns, value.columns)
    else:
        polars.DataFrame(value)


def read_pyarrow(value: Any) -> None:
    import pyarrow

    if _is_table(value):
        _equal(pyarrow.table(value).column_names, value.columns)
    else:
        pyarrow.array([value])


def read_duckdb(value: Any) -> None:
    import duckdb

    connection = duckdb.connect()
    if _is_table(value):
        _equal(connection.sql("SELECT * FROM value").columns, value.columns)
    else:
        connection.execute("SELECT $1", [value]).fetchall()


def read_narwhals(value: Any) -> None:
    import narwhals
    import pyarrow

    if _is_table(value):
        _equal(narwhals.from_arrow(value, backend=pyarrow).columns, value.columns)
    else:
        narwhals.from_native(value)


READERS = {
    name.removeprefix("read_"): each for name, each in globals().items() if name[:5] == "read_"
}


def outcome(reader: Callable[[Any], None], value: Any) -> str:
    """What a reader makes of an object."""
    try:
        reader(value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "read"


def modules_of(reader: str) -> list[str]:
    """The modules that a reader imports."""
    source = inspect.getsource(READERS[reader])
    return re.findall(r"^    (?:import|from) ([\w.]+)", source, re.MULTILINE)


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    for name in names:
        for kind, objects in {"row": rows(), "table": tables(), "other": others()}.items():
            for title, value in objects.items():
                print(json.dumps([name, kind, title, outcome(READERS[name], value)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
