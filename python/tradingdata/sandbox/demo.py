"""The demonstration: the three calls against the sandbox, shown as plain text.

Needs neither an account nor any optional library.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TextIO

from tradingdata import sandbox
from tradingdata._core import __version__
from tradingdata.books.book import OrderBook, TradeBook
from tradingdata.client.client import Client
from tradingdata.display.plain_table import group, table
from tradingdata.display.preview import instrument_name, tone_of

# Rows shown at the head and at the tail of a long table.
SHOWN = 6
_COLOURS = {"error": 31, "pending": 33, "success": 32}


def show(out: TextIO) -> None:
    """Runs the three calls against a simulated service and writes their results."""
    with sandbox.start() as service, service.client() as client:
        _write(out, f"tradingdata {__version__}, on a simulated trading day (no account needed).")
        _call(out, "trades = client.trade_book()")
        _write(out, trade_table(client.trade_book()))
        _call(out, "orders = client.order_book()")
        _write(out, _in_colour(out, order_summary(client.order_book())))
        _call(out, 'client.search("bank").pages()')
        _write(out, search_summary(client, "bank"))


def trade_table(trades: TradeBook) -> str:
    """Returns the head and the tail of a trade book, with the value traded by instrument type.

    The types are not added up: the value of a share is paid, that of an option is its premium, and
    that of a future is notional.
    """
    rows = [
        [
            f"{trade.exch_trade_time:%H:%M:%S}" if trade.exch_trade_time else "",
            instrument_name(trade) or "",
            trade.txn_type or "",
            group(trade.quantity),
            group(trade.traded_price, 2),
            trade.exchange or "",
        ]
        for trade in trades
    ]
    hidden = len(rows) - 2 * SHOWN
    if hidden > 0:
        rows[SHOWN:-SHOWN] = [["", f"... {hidden} more", "", "", "", ""]]
    headings = ["time", "name", "side", "quantity", "price", "on"]
    values: dict[str, float] = {}
    for trade in trades:
        kind = trade.instrument or "(none)"
        values[kind] = values.get(kind, 0.0) + (trade.trade_value or 0.0)
    kinds = [[kind, group(value, 2)] for kind, value in sorted(values.items())]
    return (
        table(headings, rows, right="lllrrl")
        + f"\n\n  {group(len(trades))} trades\n\n"
        + table(["instrument", "value traded"], kinds, right="lr")
    )


def order_summary(orders: OrderBook) -> str:
    """Returns the number and the quantity of the orders in each status."""
    counts: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    filled: Counter[str] = Counter()
    for order in orders:
        status = order.status or "(none)"
        counts[status] += 1
        placed[status] += int(order.quantity or 0)
        filled[status] += int(order.traded_qty or 0)
    rows = [
        [status, group(count), group(placed[status]), group(filled[status])]
        for status, count in counts.most_common()
    ]
    rows.append(["all", *(group(column.total()) for column in (counts, placed, filled))])
    return table(["status", "orders", "quantity", "filled"], rows, right="lrrr")


def search_summary(client: Client, query: str) -> str:
    """Returns the largest companies that a search finds, and the number of pages it read."""
    pages = list(client.search(query, page_size=10).pages())
    stocks = [stock for page in pages for stock in page]
    largest = sorted(stocks, key=lambda stock: stock.mcap or 0.0, reverse=True)[:SHOWN]
    rows = [
        [
            stock.nsesymbol or stock.bsecode or "",
            stock.companyname or "",
            stock.mcaptype or "",
            group(stock.mcap, 2),
        ]
        for stock in largest
    ]
    headings = ["symbol", "company", "class", "market cap"]
    return (
        table(headings, rows, right="lllr")
        + f"\n\n  the {len(rows)} largest of {group(len(stocks))} stocks on {len(pages)} pages"
    )


def _write(out: TextIO, text: str) -> None:
    out.write(text + "\n")


def _call(out: TextIO, code: str) -> None:
    """Writes the Python line that produces the following output, in bold on a terminal."""
    prompt = f">>> {code}"
    _write(out, "\n" + (f"\x1b[1m{prompt}\x1b[0m" if _styled(out) else prompt) + "\n")


def _in_colour(out: TextIO, text: str) -> str:
    """Colours each line of a table that begins with a status, on a terminal."""
    if not _styled(out):
        return text
    lines = text.splitlines()
    codes = [_COLOURS.get(tone_of((line.split() or [""])[0])) for line in lines]
    return "\n".join(
        line if code is None else f"\x1b[{code}m{line}\x1b[0m"
        for line, code in zip(lines, codes, strict=True)
    )


def _styled(out: TextIO) -> bool:
    return out.isatty() and not os.environ.get("NO_COLOR")
