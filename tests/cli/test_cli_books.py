"""What a command reads, chooses and calculates is what Python does, to the value."""

from __future__ import annotations

import datetime as dt
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyarrow.parquet as pq
import pytest

import tradingdata as td
from analysis_samples import unwarned
from archiving import clock
from command_line import Ran, Run, leading_columns, unlabelled
from systems import is_private
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service

DAY = dt.date(2026, 11, 20)
NOON = dt.datetime.combine(DAY, dt.time(12))


class Desk(NamedTuple):
    """What the commands read, and a folder with the files that they are given."""

    client: td.Client
    orders: td.OrderBook
    trades: td.TradeBook
    folder: Path


@pytest.fixture(scope="module")
def desk(sandbox: Service, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    client, folder = unlabelled(sandbox), tmp_path_factory.mktemp("desk")
    orders, trades = client.books()
    opening = unwarned(lambda: td.realised_pnl(trades)).open_lots
    names = [name for name in opening.columns if name not in ("as_of", "time")]
    where = f'{{ security_id = "{trades[0].security_id}" }}'
    closes = "".join(f"{DAY},{name},100\n" for name in {lot.security_id for lot in opening})
    for name, text in {
        "lots.csv": opening.to_csv(columns=names),
        "changes.toml": f"[[change]]\nat = 2026-11-20T12:00:00\nwhere = {where}\nratio = 2\n",
        "closes.csv": f"day,security_id,price\n{closes}",
        "settle.csv": "security_id,expiry_date,price\nnone,2026-11-24,1\n",
        "multipliers.csv": "security_id,multiplier\nnone,5\n",
    }.items():
        (folder / name).write_text(text)
    archive = td.Archive(folder / "books")
    for book in (orders, trades):
        archive.add(book, at=clock("15:45"))
    return Desk(client, orders, trades, folder)


def where(**conditions: Any) -> Callable[[Desk], Any]:
    return lambda desk: desk.trades.filter(**conditions)


def profit(**options: Any) -> Callable[[Desk], Any]:
    return lambda desk: td.realised_pnl(desk.trades, **options)


def full(profit_of: Callable[..., Any]) -> Callable[[Desk], Any]:
    """A profit with every option that takes a file."""

    def calculated(desk: Desk) -> Any:
        lots = td.realised_pnl(desk.trades).open_lots
        return profit_of(
            desk.trades,
            opening=[lot._replace(as_of=None, time=None) for lot in lots],
            prices={DAY: {lot.security_id: 100.0 for lot in lots}},
            settle={("none", dt.date(2026, 11, 24)): 1.0},
            multipliers={"none": 5},
            by="algo_id",
        )

    return calculated


FULL = "pnl --opening lots.csv --settle settle.csv --multipliers multipliers.csv --by algo_id"
ALL: dict[str, Callable[[Desk], Any]] = {
    "trades": lambda desk: desk.trades,
    "orders": lambda desk: desk.orders,
    "search bank": lambda desk: desk.client.search("bank").all(),
    "stock RELIANCE": lambda desk: td.StockList([desk.client.stock("RELIANCE")]),
    "positions": lambda desk: td.positions(desk.trades),
    "pnl": profit(),
    "reconcile": lambda desk: td.reconcile(desk.orders, desk.trades),
    "quality": lambda desk: td.execution_quality(desk.orders, desk.trades),
}
CHOSEN: dict[str, Callable[[Desk], Any]] = {
    "trades -w traded_price>100": where(traded_price__gt=100),
    "trades -w traded_price<=99.5": where(traded_price__le=99.5),
    "trades -w quantity>=50": where(quantity__ge=50),
    "trades -w quantity<50": where(quantity__lt=50),
    "trades -w txn_type!=B": where(txn_type__ne="B"),
    "trades -w txn_type==B": where(txn_type="B"),
    "trades -w symbol!=IDEA,TCS": where(symbol__ne={"IDEA", "TCS"}),
    "trades -w expiry_date!=": where(expiry_date__ne=None),
    "trades -w expiry_date>2026-11-23": where(expiry_date__gt=dt.date(2026, 11, 23)),
    "trades -w exch_trade_time<12:00": where(exch_trade_time__lt=NOON.time()),
    "trades -w exch_trade_time>=9:30": where(exch_trade_time__ge=dt.time(9, 30)),  # (X11)
    "trades -w exch_trade_time=2026-11-20": where(exch_trade_time=DAY),
    "trades -w 'exch_trade_time>2026-11-20 9:30'": where(
        exch_trade_time__gt=dt.datetime(2026, 11, 20, 9, 30)
    ),
    "trades -w exch_trade_time>2026-11-20T12": where(exch_trade_time__gt=NOON),
    "trades -w txn_type=B --sort symbol,-traded_price --limit 7": lambda desk: td.TradeBook(
        sorted(
            desk.trades.filter(txn_type="B"), key=lambda row: (row.symbol, -(row.traded_price or 0))
        )[:7]
    ),
    "search bank --limit 7": lambda desk: desk.client.search("bank").all()[:7],
    "search bank --page-size 10": lambda desk: desk.client.search("bank").all(),
    "search bank -w mcap<100000 --sort mcap --limit 2": lambda desk: (
        desk.client.search("bank").all().filter(mcap__lt=100_000).sort("mcap")[:2]
    ),
    "archive trades books -w exch_trade_time>=12:00 --sort -trade_value --limit 3": lambda desk: (
        where(exch_trade_time__ge=NOON)(desk).sort("trade_value", reverse=True)[:3]
    ),
    "positions -w exch_trade_time>=12:00": lambda desk: td.positions(
        where(exch_trade_time__ge=NOON)(desk)
    ),
    "quality -w order_date_time>=12:00": lambda desk: td.execution_quality(
        desk.orders.filter(order_date_time__ge=NOON), desk.trades
    ),
    "pnl --archive books --start 2026-11-20": profit(),
    "pnl --shorts all": profit(shorts=True),
    "pnl --shorts none": profit(shorts=False),
    "pnl --shorts I,M": profit(shorts={"I", "M"}),
    "pnl --match-by isin": profit(match_by="isin"),
    "pnl --changes changes.toml": lambda desk: td.realised_pnl(
        desk.trades, changes=td.LotChange.load(desk.folder / "changes.toml")
    ),
    f"{FULL} --prices closes.csv --daily": full(td.daily_pnl),
    f"{FULL} --prices closes.csv": full(td.day_pnl),
}


def good(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


@pytest.mark.parametrize("command", CHOSEN)
def test_a_choice_is_that_of_python(
    command: str, run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.folder)
    expected = json.loads(unwarned(lambda: CHOSEN[command](desk)).to_json())
    assert expected
    assert json.loads(good(run(*shlex.split(command), "-f", "json")).out) == expected


@pytest.mark.parametrize("command", ALL)
def test_every_format_holds_every_value_of_every_row(
    command: str, run: Run, desk: Desk, tmp_path: Path
) -> None:
    table = unwarned(lambda: ALL[command](desk))
    expected = json.loads(table.to_json())
    assert len(expected) > 0

    def written(name: str) -> bytes:
        return good(run(*command.split(), "--format", name, "-o", "-")).out

    assert json.loads(written("json")) == expected
    for name in ("ndjson", "jsonl"):  # (X11)
        assert [json.loads(line) for line in written(name).splitlines()] == expected
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


def test_columns_are_those_asked_for_in_their_order(run: Run, desk: Desk) -> None:
    names = ["symbol", "order_no", "traded_price"]
    ran = good(run("trades", "--columns", ",".join(names), "-f", "json"))
    assert json.loads(ran.out) == json.loads(desk.trades.to_json(columns=names))
    ran = good(run("trades", "-c", "symbol", "-c", "quantity, order_no"))  # (X8)
    assert ran.text.split()[:2] == ["symbol", "quantity"]
    assert ran.err == ""
    everything = good(run("trades", "-c", "all")).text.splitlines()[0].split()
    assert everything == desk.trades.columns


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


def test_sales_without_an_opening_are_issues(run: Run) -> None:
    ran = run("pnl", "--shorts", "none", "-f", "json", "--strict")
    assert ran.code == Code.ISSUES
    assert 0 < ran.err.count("issue: sold without an opening") <= 5


def test_a_pipe_has_the_day_and_what_is_in_no_sum_on_standard_error(
    run: Run, tmp_path: Path
) -> None:
    closes = tmp_path / "closes.csv"
    closes.write_text("security_id,price\nother,1\n")
    assert "2026-11-20" in run("positions", "-f", "csv").err
    assert "issue: without a price: " in run("pnl", "--prices", closes).err


def test_the_latest_day_is_not_every_day(run: Run, desk: Desk, tmp_path: Path) -> None:
    """Where no trade has a time, no day is the latest."""
    trades = desk.trades[:2]
    archive = td.Archive(tmp_path / "books")
    archive.add(td.TradeBook(trade._replace(exch_trade_time=None) for trade in trades))
    ran = run("positions", "--archive", archive.path, "--day", "latest", "--missing-ok")
    assert (ran.code, "no trade has a time" in ran.err) == (Code.DATA, True)


def test_books_that_never_agree_are_compared_all_the_same(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disagreeing(_: object) -> None:
        error = td.BooksDisagreeError("they differ")
        error.books = desk.orders, desk.trades[1:]
        raise error

    monkeypatch.setattr("tradingdata.client.client.Client.books", disagreeing)
    ran = run("reconcile", "-f", "json")
    assert {row["finding"] for row in json.loads(ran.out)} > {"agrees"}
