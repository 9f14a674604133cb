"""What a session does with books beside its calls: pairs, polls, displays, JSON, a long search.

`python -m bench.suites.session BASE_URL` reads a search to its end and prints how many bytes of the
resident set its result keeps, and by how many the process has grown with it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import math
import statistics
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from ..bodies import book, pages
from ..contest import Contest, Entry, Prepare, Ready, Source, peer, run_module
from ..report import Goal, Row, Run, Table
from ..servers import serving
from .compute import of_accounts
from .http import TOKEN
from .process import status
from .records import trades

FILLS = 3  # trades for each order
ORDERS, ROWS, JSON_ROWS = 10_000, 1_000_000, 100_000
STOCKS, PAGE, SEARCHES = 100_000, 100, 3
PAIR = f"books() of {ORDERS:,} orders and {FILLS * ORDERS:,} trades"
CALLS = "its two calls"
POLL = f"a poll of {ORDERS:,} orders that did not change"
JSON = f"JSON of {JSON_ROWS:,} trades"


def _client(source: Source) -> Any:
    return peer("tradingdata").Client(source.base_url, access_token=TOKEN)


def _pair(call: Callable[[Any], Any]) -> Prepare:
    def prepare(source: Source) -> Ready:
        client = _client(source)
        return Ready(
            lambda: call(client), lambda books: {"rows": sum(map(len, books))}, close=client.close
        )

    return prepare


def _poll(source: Source) -> Ready:
    client = _client(source)
    watch = client.watch_orders(interval=0.001)
    next(watch)  # all orders are new
    check = lambda update: {"rows": len(update.orders)}  # noqa: E731
    return Ready(lambda: next(watch), check, close=client.close)


def _call(source: Source) -> Ready:
    client = _client(source)
    return Ready(client.order_book, lambda orders: {"rows": len(orders)}, close=client.close)


def _beyond_call(source: Source) -> Ready:
    """What a watch does with a response."""
    from tradingdata.watch.updates import KnownOrders

    with _client(source) as client:
        known, again = client.order_book(), client.order_book()
    state = KnownOrders((), known)
    return Ready(lambda: state.received(again), lambda update: {"rows": len(update.orders)})


def _display(show: Callable[[Any], str]) -> Prepare:
    """Shows a book that was not shown before: what a display found out may be kept."""

    def prepare(source: Source) -> Ready:
        whole = of_accounts("Trade", source.body(), ROWS // 25_000)
        rows, kind = whole._rows, type(whole)
        return Ready(lambda: show(kind._of(rows)), lambda text: {})

    return prepare


def _json_ours(source: Source) -> Ready:
    return _json(of_accounts("Trade", source.body()).to_json)


def _json_polars(source: Source) -> Ready:
    return _json(peer("polars").DataFrame(of_accounts("Trade", source.body())).write_json)


def _json(write: Callable[[], str]) -> Ready:
    def check(text: str) -> dict[str, Any]:
        rows = json.loads(text)
        return {"rows": len(rows), "sums": {"quantity": sum(row["quantity"] for row in rows)}}

    return Ready(write, check)


CASES: dict[str, Prepare] = {
    "books": _pair(lambda client: client.books()),
    "calls": _pair(lambda client: (client.trade_book(), client.order_book())),
    "poll": _poll,
    "call": _call,
    "beyond the call": _beyond_call,
    "repr": _display(repr),
    "html": _display(lambda trades: str(trades._repr_html_())),
    "json": _json_ours,
    "json:polars": _json_polars,
}


def session(run: Run) -> None:
    """Pairs of books, polls that find nothing new, displays, JSON and the memory of a search."""

    def contest(title: str, source: Source, **cases: str) -> Contest:
        each = (Entry(label, "session", case, source) for label, case in cases.items())
        return Contest(title, tuple(each), shared=False)

    slower = partial(Goal, faster=False)
    trade_body = book("Trade", FILLS * ORDERS, fills=FILLS)
    order_body = book("Order", ORDERS, fills=FILLS)
    with serving({"books": trade_body}, orders={"books": order_body}) as served:
        source = Source("Trade", base_url=f"{served.http}/books")
        run.play(
            "books",
            lambda: contest(PAIR, source, **{"tradingdata": "books", CALLS: "calls"}),
            slower(f"{PAIR}, times slower than {CALLS}", (CALLS,), 1.6, 1.3),
        )
        call, beyond = "order_book() alone", "the watch alone"
        cases = {"tradingdata": "poll", call: "call", beyond: "beyond the call"}
        run.play(
            "poll",
            lambda: contest(POLL, source, **cases),
            slower(f"{POLL}, times slower than {call}", (call,), 1.4, 1.2),
            slower(f"{POLL}, ms beside its call", (), 3, 2, ours=beyond),
        )
    title = f"displays of a book of {ROWS:,} trades"
    run.play(
        "display",
        lambda: contest(title, trades(25_000), repr="repr", html="html"),
        *(
            slower(f"{name} of {ROWS:,} trades, ms", (), 10, 5, ours=name)
            for name in ("repr", "html")
        ),
    )
    run.play(
        "json",
        lambda: contest(JSON, trades(JSON_ROWS // 4), tradingdata="json", polars="json:polars"),
        slower(f"{JSON}, times slower than polars", ("polars",), 1.6, 1.2),
    )
    if run.wants("search"):
        run.attempt("session search", partial(_search, run))


def _search(run: Run) -> None:
    with serving({}, pages={"search": pages(STOCKS, PAGE)}) as served:
        url = f"{served.http}/search"
        found = [run_module("search", "session", url) for _ in range(SEARCHES)]
    measured = [each for each in found if each is not None] or [(math.nan, math.nan)]
    kept, grown = ([size / 1e6 for size in sizes] for sizes in zip(*measured, strict=True))
    title = f"a search of {STOCKS:,} stocks, MB"
    cells = [f"{statistics.median(sizes):.1f}" for sizes in (kept, grown)]
    run.show(Table([title, "kept by the result", "process"], [("tradingdata", *cells)]))
    figures = (statistics.median(kept), min(kept), max(kept))
    run.rows.append(Row(f"{title} kept by the result", f"{cells[0]} MB", "", figures, 60, 50))


def main() -> None:
    client = _client(Source("Stock", base_url=json.loads(sys.argv[1])))
    client.search("warm", page_size=PAGE, max_items=2 * PAGE).all()
    before = _resident()
    found = client.search("bank", page_size=PAGE).all()
    assert len(found) == STOCKS
    after = _resident()
    del found
    print(json.dumps([after - _resident(), after - before]))


def _resident() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return status("VmRSS")


if __name__ == "__main__":
    main()
