"""The demonstration: calls against the sandbox, as an interactive session shows them."""

from __future__ import annotations

from typing import TextIO

from tradingdata import sandbox
from tradingdata._core import __version__
from tradingdata._util.platform import accept_every_character
from tradingdata.analysis import positions


def show(out: TextIO) -> None:
    """Makes calls against a simulated service and writes what Python shows of them."""
    accept_every_character(out)
    with sandbox.start() as service, service.client() as client:
        trades = client.trade_book()
        pending = client.order_book().filter(status="Pending")
        banks = client.search("bank").all().sort("mcap", reverse=True)
    results = {
        "trades = client.trade_book()\n>>> trades": trades,
        "td.positions(trades)": positions(trades),
        'client.order_book().filter(status="Pending")': pending,
        'client.search("bank").all().sort("mcap", reverse=True)': banks,
    }
    out.write(f"tradingdata {__version__} on a simulated trading day; no account is needed.\n")
    for code, result in results.items():
        out.write(f"\n>>> {code}\n{result!r}\n")
