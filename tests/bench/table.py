"""The table of cases: what is measured, on what input, against whom, and the goal of each."""

from __future__ import annotations

import subprocess
import sys

from . import calculations as calc
from .archives import a_day, a_growing_day, querying, reading, storing
from .calls import at_once, clients
from .case import Ready, Row, Way, Ways
from .decoding import ALL_FIELDS, FIVE, PANDAS, POLARS, decoders, fields, frames, spelled, to_dicts

MSGSPEC, PYCURL = "msgspec", "pycurl and msgspec"
LAZY = "pysimdjson has converted no value yet"
BARE = "pycurl keeps no deadline over attempts, retries nothing and checks no value"
LOOP = "pycurl keeps no deadline, retries nothing, checks no value and serves no event loop"
EXACT = "polars adds floating-point numbers, which is not exact"
CHECKS = "polars checks no side, contract, account or day"
FILES = "plain files have no responses, earlier states or days without a fetch"


def imports() -> Ways:
    """A new process that imports a module, and nothing else."""

    def way(module: str) -> Way:
        command = [sys.executable, "-c", f"import {module}"]
        return lambda size: Ready(lambda: subprocess.run(command, check=True))

    names = "tradingdata pycurl msgspec httpx requests aiohttp pandas polars"
    return {name: way(name) for name in names.split()}


# fmt: off
ROWS: dict[str, Row] = {  # the first are measured first, in case that a run is cut
    "wire/gzip": Row("fetch {size} trades as gzip, to a book",
        clients(compressed=True), 10_000, 3, PYCURL),
    "wire/plain": Row("fetch {size} trades, not compressed, to a book",
        clients(), 10_000, 2.8, PYCURL),
    "calls/hundred": Row("fetch {size} trades, to a book", clients(), 100, 2, why=BARE),
    "decode/trades": Row("{size} trades in memory, to a book",
        decoders(), 10_000, 3.5, MSGSPEC, LAZY),
    "decode/five": Row("{size} trades in memory, to a book, and read five fields of each",
        decoders(*ALL_FIELDS, "msgspec of the five", read=FIVE), 10_000, 3, MSGSPEC),
    "frames/pandas": Row("{size} trades in memory, to a typed pandas frame",
        frames(PANDAS), 10_000, 8),
    "frames/polars": Row("{size} trades in memory, to a typed polars frame",
        frames(POLARS), 10_000, 8),
    "calls/256": Row("256 calls of 4.5 KB at once, each", at_once(256), 5, 1 / 1.5,
        why=LOOP, grows=False),
    "calculate/positions": Row("positions of {size} trades",
        calc.positions(), 100_000, 1 / 3, why=EXACT),
    "calculate/realised": Row("realised P&L of {size} trades", calc.realised(), 100_000, 3),
    "archive/store": Row("store a day of {size} trades",
        storing(a_day), 10_000, 1 / 7, why=FILES),
    "archive/sql": Row("sum by symbol over {size} stored days of 10,000 trades, by SQL",
        querying(10_000), 40, 1 / 2, why=FILES, grows=False, rounds=3),
    "calls/one": Row("one call of 4.5 KB over a kept connection",
        clients(calls=20), 5, 1 / 1.2, why=BARE, grows=False),
    "decode/all": Row("{size} trades to a book, and read all fields of each",
        decoders(read=tuple(fields("Trade"))), 10_000, 1.7, MSGSPEC),
    "decode/dicts": Row("{size} trades to a list of dicts", to_dicts(), 10_000, 1.5),
    "decode/orders": Row("{size} orders to a book",
        decoders(record="Order"), 10_000, 3.5, MSGSPEC, LAZY, grows=False),
    "decode/small": Row("{size} trades to a book", decoders(), 100, 3, MSGSPEC, LAZY),
    "decode/hard": Row("{size} trades with escapes, spaces, other alphabets and unknown fields",
        decoders(form="hard"), 10_000, 3.5, MSGSPEC, LAZY, grows=False),
    "decode/unknown": Row("{size} trades with three unknown fields, to a book",
        spelled("unknown"), 10_000, 1 / 1.5, grows=False),
    "wire/tls-gzip": Row("fetch {size} trades as gzip over TLS, to a book",
        clients(compressed=True, secure=True), 10_000, 3, PYCURL, grows=False),
    "calls/one-async": Row("one awaited call of 4.5 KB", at_once(1), 5, 2, grows=False),
    "calls/64": Row("64 calls of 4.5 KB at once, each",
        at_once(64), 5, 1 / 1.5, why=LOOP, grows=False),
    "calculate/day": Row("net of a day of {size} trades, with charges",
        calc.day(), 100_000, 1, why="the loop has no charges and no checks", rounds=3),
    "calculate/daily": Row("P&L by day of {size} days of 200 trades", calc.daily(), 60, 1 / 10,
        why="the loop adds up all days at once, without checks"),
    "calculate/reconcile": Row("reconcile {size} orders and their trades",
        calc.reconcile(), 80_000, 1 / 6, why=CHECKS, rounds=3),
    "calculate/quality": Row("execution quality of {size} orders",
        calc.quality(), 80_000, 1 / 5, why=EXACT, rounds=3),
    "calculate/sort": Row("sort {size} trades by two fields",
        calc.sort(), 100_000, 1 / 2, why="a book keeps its columns in one block, and copies it"),
    "archive/small": Row("store a day of {size} trades",
        storing(a_day), 20, 1 / 20, why=FILES, grows=False),
    "archive/polls": Row("store a day of {size} trades as it grows, in 20 polls",
        storing(a_growing_day), 10_000, 1 / 7, why=FILES, grows=False, rounds=3),
    "archive/unchanged": Row("store an unchanged response of {size} trades",
        storing(a_day, unchanged=True), 10_000, 1, why=FILES),
    "archive/day": Row("read a day of 10,000 trades",
        reading(10_000), 1, 1 / 4, why=FILES, grows=False),
    "archive/month": Row("read {size} days of 10,000 trades",
        reading(10_000), 22, 1 / 3, why=FILES, grows=False, rounds=3),
    "archive/days": Row("read {size} days of 200 trades", reading(200), 25, 1 / 10, why=FILES),
    "start/import": Row("start Python and import", imports(), 1, 1 / 3, "pycurl",
        "pycurl has less to load", grows=False),
    "memory/book": Row("memory at its peak: {size} trades (9 MB) to a book",
        decoders(), 10_000, 1.3, MSGSPEC, memory=True, rounds=3),
    "memory/pandas": Row("memory at its peak: {size} trades (9 MB) to a pandas frame",
        frames(PANDAS), 10_000, 1.3, memory=True, grows=False, rounds=3),
}
# fmt: on
README_ROWS = (
    *("wire/gzip", "calls/hundred", "calls/256", "frames/pandas"),
    *("calculate/positions", "calculate/realised", "archive/store", "archive/sql"),
)
