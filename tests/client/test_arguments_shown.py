"""Wrong arguments of any size, odd outputs and odd files: a short error of ours, and no other."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN
from sample_books import trade_book

URL = "https://127.0.0.1:9"


@pytest.mark.parametrize("option", ["timeout", "attempts", "strict", "ca_file", "rate_limit", "tz"])
@pytest.mark.parametrize("value", ["book", "list", "integer"])
def test_an_error_for_a_large_value_is_short(option: str, value: str) -> None:
    values: dict[str, Any] = {
        "book": trade_book(50),
        "list": list(range(10_000)),
        "integer": -(10**5000),
    }
    with pytest.raises((TypeError, td.ConfigurationError)) as caught:
        td.Client(URL, access_token=TOKEN, **{option: values[value]})
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


def test_so_is_one_for_a_large_value_of_a_filter() -> None:
    book = trade_book(50)
    with pytest.raises(TypeError) as caught:
        book.filter(symbol=book.to_pandas())
    assert len(str(caught.value)) < 250


def test_displays_print_to_an_ascii_output() -> None:
    code = """
import tradingdata as td
with td.sandbox.start() as service, service.client() as client:
    orders, trades = client.books()
    print(orders, trades, td.positions(trades), td.realised_pnl(trades), sep="\\n")
    print(client, client.search("a" * 100), td.reconcile(orders, trades))
    print(td.TradeBook([td.Trade(display_name="\u20b9\u0928", symbol="x" * 200)] * 99))
"""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=110
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u20b9\\u0928" in done.stdout
