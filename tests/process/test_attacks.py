"""F125: nasty arguments to public callables end in Python exceptions, never in a crash."""

from __future__ import annotations

import ast
import sys

from calls import run_child

ATTACK = '''
import inspect, warnings
import datetime as dt
from service import as_json, envelope, orders, stocks, trades

warnings.simplefilter("ignore")

class Selfish(list):
    """Refers to itself, and fails where it can."""
    def __init__(self):
        super().__init__([self])
    def __index__(self):
        raise LookupError("no index")
    def __iter__(self):
        raise LookupError("no iterator")
    def __eq__(self, other):
        raise LookupError("no comparison")
    __hash__ = None

NASTY = [
    None, 5, -1, 2**63, 10**400, float("nan"), True, "", "x", "\\ud800", "a\\0b", b"", b"\\xff",
    bytearray(3), memoryview(b"x")[::-1], [], [None], {}, {5: 6}, (1, 2, 3), Selfish(), object(),
    object, len, slice(None), dt.datetime.max, range(2**40), iter([5]),
]
ALLOWED = (
    TypeError, ValueError, LookupError, OverflowError, AttributeError, OSError,
    td.TradingDataError, MemoryError, ModuleNotFoundError, StopIteration,
)
# Dumps of the signatures that pybind11 tried, and errors of Unicode that name no argument.
RAW = ("incompatible function", "incompatible constructor", "codec can't", "Unable to cast")

book = td.TradeBook.from_json(as_json(envelope(trades(3))))
order_book = td.OrderBook.from_json(as_json(envelope(orders(3))))
stock_list = td.StockList.from_json(as_json(stocks(3)))
# What works on files, threads, the network or for ever is tested where it belongs.
SKIPPED = {
    "save", "load", "to_csv", "to_excel", "to_parquet", "to_json", "trade_books", "order_books",
    "Archive", "to_pandas", "to_polars", "to_arrow", "Client", "AsyncClient", "__class_getitem__",
}

def callables():
    for name in sorted(td.__all__):
        value = getattr(td, name)
        if callable(value) and name not in SKIPPED:
            yield "td." + name, value
    for owner in (book, order_book, stock_list, book[0], order_book[0], stock_list[0]):
        names = set(dir(type(owner))) - set(dir(object)) | {"__eq__", "__hash__", "__reduce_ex__"}
        if isinstance(owner, td.TradeBook | td.OrderBook | td.StockList):  # rows prefix all methods
            names = {name for name in names if name[:1] != "_" or name[:2] == "__"}
        names = sorted(names)
        for name in names:
            value = getattr(owner, name)
            if callable(value) and name not in SKIPPED and name != "__class__":
                yield f"{type(owner).__name__}.{name}", value

def arguments(value):
    for nasty in NASTY:
        yield (nasty,), {}
        yield (nasty, nasty), {}
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY:
            for nasty in NASTY:
                yield (), {parameter.name: nasty}

bad = set()
calls = 0
for name, value in callables():
    for positional, named in arguments(value):
        calls += 1
        try:
            value(*positional, **named)
        except ALLOWED as error:
            text = str(error)
            if any(raw in text for raw in RAW):
                bad.add(f"{name}: {type(error).__name__}: {text.splitlines()[0][:90]}")
        except Exception as error:
            bad.add(f"{name}: {type(error).__name__}: {str(error)[:90]}")
for record in (td.Trade, td.Order, td.Stock, td.TradeBook):
    for make in (object.__new__, lambda kind: kind.__new__(kind)):
        try:
            made = make(record)
            repr(made), hash(made), made == made
        except ALLOWED:
            pass
print(calls > 5000, sorted(bad))
'''


def test_f125_nasty_arguments_end_in_documented_exceptions() -> None:
    path = [entry for entry in sys.path if entry]
    code = f"sys.path[:0] = {path!r}\n" + ATTACK
    enough, bad = run_child(code, timeout=300).splitlines()[-1].split(" ", 1)
    assert enough == "True"
    assert ast.literal_eval(bad) == [], bad
