"""`tradingdata trades`, `orders`, `search`, `stock`: what they write is the book, to the value."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

import tradingdata as td
from command_line import Ran, Run, leading_columns, unlabelled
from systems import is_private
from tradingdata._util.declarations import BOOK_CALLS, RECORDS
from tradingdata.sandbox import Service

CALLS = list(BOOK_CALLS.items())


@pytest.fixture(scope="module")
def books(sandbox: Service) -> dict[str, Any]:
    """What each command shows, as Python has it."""
    client = unlabelled(sandbox)
    orders, trades = client.books()
    return {
        **{RECORDS[call["record"]]["noun"][1]: getattr(client, name)() for name, call in CALLS},
        "search bank": client.search("bank").all(),
        "stock RELIANCE": td.StockList([client.stock("RELIANCE")]),
        "positions": td.positions(trades),
        "pnl": td.realised_pnl(trades),
        "reconcile": td.reconcile(orders, trades),
        "quality": td.execution_quality(orders, trades),
    }


BOOKS = [RECORDS[call["record"]]["noun"][1] for _, call in CALLS]
COMMANDS = [*BOOKS, *("search bank", "stock RELIANCE", "positions", "pnl", "reconcile", "quality")]


def as_sent(book: Any, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """The rows with times as the service writes them."""
    return [
        {name: str(value) if hasattr(value, "year") else value for name, value in row.items()}
        for row in book.to_dicts(columns)
    ]


def good(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("command", COMMANDS)
def test_every_format_holds_every_value_of_every_row(
    command: str, run: Run, books: dict[str, Any], tmp_path: Path
) -> None:
    table = books[command]
    expected = json.loads(table.to_json())
    assert len(expected) > 0

    def written(name: str) -> bytes:
        return good(run(*command.split(), "--format", name, "-o", "-")).out

    assert json.loads(written("json")) == expected
    assert [json.loads(line) for line in written("ndjson").splitlines()] == expected
    assert written("csv").decode() == table.to_csv()
    ran = good(run(*command.split(), "-o", tmp_path / "book.parquet"))
    assert (ran.out, f"to {tmp_path / 'book.parquet'}" in ran.err) == (b"", True)
    for data in ((tmp_path / "book.parquet").read_bytes(), written("parquet")):
        assert pq.read_table(io.BytesIO(data)).to_pydict() == table.to_arrow().to_pydict()
    sheet = pd.read_excel(io.BytesIO(written("xlsx")))
    assert (list(sheet.columns), len(sheet)) == (table.columns, len(table))


def test_a_suffix_says_the_format_and_format_outweighs_it(run: Run, tmp_path: Path) -> None:
    for suffix, first in ((".csv", "order_date_time,"), (".json", "[\n{"), (".jsonl", '{"')):
        path = tmp_path / f"trades{suffix}"
        good(run("trades", "-o", path))
        assert path.read_text().startswith(first)
    path = tmp_path / "trades.txt"
    good(run("trades", "-o", path, "--format", "ndjson"))
    assert path.read_text().startswith('{"')
    assert is_private(path)


def test_columns_are_those_asked_for_in_their_order(run: Run, books: dict[str, Any]) -> None:
    names = ["symbol", "order_no", "traded_price"]
    ran = good(run("trades", "--columns", ",".join(names), "-f", "json"))
    assert json.loads(ran.out) == as_sent(books["trades"], names)
    ran = good(run("trades", "-c", "symbol, order_no"))
    assert ran.text.split()[:2] == names[:2]
    assert ran.err == ""
    everything = good(run("trades", "-c", "all")).text.splitlines()[0].split()
    assert everything == books["trades"].columns


def test_a_search_can_be_limited_and_its_pages_too(run: Run, books: dict[str, Any]) -> None:
    expected = as_sent(books["search bank"])
    found = json.loads(good(run("search", "bank", "--limit", 7, "-f", "json")).out)
    assert found == expected[:7]
    small = run("search", "bank", "--page-size", 10, "-f", "json")
    assert json.loads(good(small).out) == expected


def test_account_numbers_are_masked_unless_a_file_is_to_keep_them(run: Run) -> None:
    def numbers(*options: str) -> set[str]:
        ran = good(run("trades", "-c", "pan_no", *options))
        return {word for word in ran.text.replace(",", " ").split()[1:] if "-" not in word}

    masked = numbers("-f", "csv")
    assert all(number[2:8] == "XXXXXX" for number in masked)
    kept = numbers("-f", "csv", "--keep-personal-data")
    assert kept
    assert not [number for number in kept if "XXXXXX" in number]
    assert numbers("--keep-personal-data") == masked


def test_a_day_without_trades_is_an_empty_book_with_all_columns(sandbox: Service, run: Run) -> None:
    empty = '{"data":null,"message":"Success","status":"success"}'
    sandbox.fail_next(200, body=empty, times=3)
    assert good(run("trades", "-f", "csv")).text == td.TradeBook().to_csv()
    assert json.loads(good(run("trades", "-f", "json")).out) == []
    assert good(run("trades")).text.split()[:2] == leading_columns("Trade")[:2]
