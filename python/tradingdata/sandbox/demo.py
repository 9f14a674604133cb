"""The demonstration: the three calls against the sandbox, as an interactive session shows them."""

from __future__ import annotations

from typing import Any, TextIO

from tradingdata import sandbox
from tradingdata._core import __version__
from tradingdata._util.platform import accept_every_character
from tradingdata.analysis import positions


def show(out: TextIO) -> None:
    """Makes the three calls against a simulated service and writes what Python shows of them."""
    accept_every_character(out)
    with sandbox.start() as service, service.client() as client:
        out.write(f"tradingdata {__version__} on a simulated trading day; no account is needed.\n")
        trades = client.trade_book()
        _write(out, "trades = client.trade_book()", "trades", trades)
        _write(out, "td.positions(trades)", positions(trades))
        orders = client.order_book()
        _write(out, 'client.order_book().filter(status="Pending")', orders.filter(status="Pending"))
        found = client.search("bank").all()
        _write(
            out,
            'client.search("bank").all().sort("mcap", reverse=True)',
            found.sort("mcap", reverse=True),
        )


def _write(out: TextIO, *shown: Any) -> None:
    """Writes lines of Python, and the result of the last one."""
    *lines, result = shown
    prompts = "\n".join(f">>> {line}" for line in lines)
    out.write(f"\n{prompts}\n{result!r}\n")
