"""Nasty arguments to public callables end in Python exceptions, never in a crash."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from calls import run_child

ATTACK = '''
import inspect, os, warnings
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
    object, len, slice(None), dt.datetime.max, range(2**12), iter([5]),
]
ALLOWED = (
    TypeError, ValueError, LookupError, OverflowError, AttributeError, OSError,
    td.TradingDataError, MemoryError, ModuleNotFoundError, StopIteration,
)
# Dumps of the signatures that pybind11 tried, and errors of Unicode that name no argument.
RAW = ("incompatible function", "incompatible constructor", "codec can't", "Unable to cast")

folder, group = sys.argv[1:]
os.chdir(folder)  # files that are written
book = td.TradeBook.from_json(as_json(envelope(trades(3))))
order_book = td.OrderBook.from_json(as_json(envelope(orders(3))))
stock_list = td.StockList.from_json(as_json(stocks(3)))
# Nothing listens there: calls end in errors at once, and are made.
options = {"access_token": "t", "attempts": 1, "timeout": 0.5}
client = td.Client("http://127.0.0.1:9", **options)
async_client = td.AsyncClient("http://127.0.0.1:9", **options)
archive = td.Archive("books", tz="Asia/Kolkata")
results = [td.realised_pnl(book), td.positions(book), td.reconcile(order_book, book)]
results += [td.execution_quality(order_book, book)]
accounts = td.Accounts({"a": {"base_url": "http://127.0.0.1:9", **options}})
OWNERS = {
    "functions": [],
    "books": [book, order_book, stock_list, book[0], order_book[0], stock_list[0]],
    "results": results,
    "services": [
        accounts, client, async_client, client.search("x"), async_client.search("x"),
        archive,
    ],
}
# What never returns, ends the others, or opens descriptors of the test itself.
SKIPPED = {
    "close", "aclose", "closed", "__class_getitem__", "__class__",
}

def callables():
    for module in (td, td.types) if group == "functions" else ():
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if callable(value) and name not in SKIPPED:
                yield f"{module.__name__}.{name}", value
    for owner in OWNERS[group]:
        names = set(dir(type(owner))) - set(dir(object)) | {"__eq__", "__hash__", "__reduce_ex__"}
        if not isinstance(owner, td.Trade | td.Order | td.Stock):  # rows prefix all methods
            names = {name for name in names if name[:1] != "_" or name[:2] == "__"}
        for name in sorted(names - SKIPPED):
            value = getattr(owner, name, None)
            if callable(value):
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
output = os.dup(1)
for name, value in callables():
    for positional, named in arguments(value):
        calls += 1
        try:
            made = value(*positional, **named)
            if inspect.iscoroutine(made):
                made.close()
        except ALLOWED as error:
            text = str(error)
            if any(raw in text for raw in RAW):
                bad.add(f"{name}: {type(error).__name__}: {text.splitlines()[0][:90]}")
        except Exception as error:
            bad.add(f"{name}: {type(error).__name__}: {str(error)[:90]}")
        try:
            os.fstat(1)
        except OSError:
            os.dup2(output, 1)
            bad.add(f"{name}: closes the file descriptor that a number names")
for record in (td.Trade, td.Order, td.Stock, td.TradeBook):
    for make in (object.__new__, lambda kind: kind.__new__(kind)):
        try:
            made = make(record)
            repr(made), hash(made), made == made
        except ALLOWED:
            pass
print(calls, sorted(bad))
'''


@pytest.mark.parametrize(
    ("group", "least"),
    [("functions", 3000), ("books", 5000), ("results", 5000), ("services", 2000)],
)
def test_nasty_arguments_end_in_documented_exceptions(
    group: str, least: int, tmp_path: Path
) -> None:
    path = [entry for entry in sys.path if entry]
    code = f"sys.path[:0] = {path!r}\n" + ATTACK
    count, bad = run_child(code, str(tmp_path), group).splitlines()[-1].split(" ", 1)
    assert int(count) > least
    assert ast.literal_eval(bad) == [], bad
