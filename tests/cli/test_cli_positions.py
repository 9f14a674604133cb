"""`tradingdata positions`, `pnl` and others: the package's calculations, in every format."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from analysis_samples import unwarned
from archiving import clock
from command_line import Run
from tradingdata.analysis import execution_quality, positions, realised_pnl, reconcile
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service, start


def unlabelled(book: Any) -> Any:
    """The rows as a client without a label fetches them."""
    return type(book)(row._replace(account=None) for row in book)


@pytest.fixture(scope="module")
def results(sandbox: Service) -> dict[str, Any]:
    both = sandbox.client().books()
    orders, trades = unlabelled(both.orders), unlabelled(both.trades)
    return {
        "positions": positions(trades),
        "pnl": realised_pnl(trades),
        "reconcile": reconcile(orders, trades),
        "quality": execution_quality(orders, trades),
    }


@pytest.mark.parametrize(
    ("option", "shorts"), [("all", True), ("none", False), ("I,M", {"I", "M"})]
)
def test_sales_open_short_positions_in_the_products_of_shorts(
    sandbox: Service, run: Run, option: str, shorts: Any
) -> None:
    trades = unlabelled(sandbox.client().trade_book())
    expected = unwarned(lambda: realised_pnl(trades, shorts=shorts))
    ran = run("pnl", "--shorts", option, "-f", "json", "--strict")
    assert json.loads(ran.out) == json.loads(expected.to_json(None))
    assert ran.code == (Code.ISSUES if len(expected.issues) else Code.OK)
    assert ran.err.count("issue: sold without an opening") == min(len(expected.issues), 5)


def test_trades_of_an_archive_are_counted_as_well(
    sandbox: Service, run: Run, results: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "books"
    td.Archive(path).fetch(sandbox.client())
    ran = run("pnl", "--archive", path, "--start", "2026-11-20", "-f", "json")
    found = {row["security_id"]: row["realised"] for row in json.loads(ran.out)}
    assert found == {row.security_id: row.realised for row in results["pnl"]}
    assert run("pnl", "--start", "2026-11-20").code == Code.USAGE
    ran = run("pnl", "--archive", path, "--start", "2026-11-20", "--day", "2026-11-23")
    assert (ran.code, "--day 2026-11-23 is not one of the days" in ran.err) == (Code.USAGE, True)


def test_a_pipe_has_the_day_and_what_is_in_no_sum_on_standard_error(
    run: Run, tmp_path: Path
) -> None:
    closes = tmp_path / "closes.csv"
    closes.write_text("security_id,price\nother,1\n")
    assert "2026-11-20" in run("positions", "-f", "csv").err
    assert "issue: without a price: " in run("pnl", "--prices", closes).err


def test_lots_change_and_isins_match_as_in_python(
    sandbox: Service, run: Run, tmp_path: Path
) -> None:
    trades = unlabelled(sandbox.client().trade_book())
    security = trades[0].security_id
    changes = tmp_path / "changes.toml"
    where = f'where = {{ security_id = "{security}" }}'
    changes.write_text(f"[[change]]\nat = 2026-11-20T12:00:00\n{where}\nratio = 2\n")
    more: dict[str, Any] = {"changes": td.LotChange.load(changes), "match_by": "isin"}
    expected = unwarned(lambda: realised_pnl(trades, **more))
    ran = run("pnl", "--changes", changes, "--match-by", "isin", "-f", "json")
    assert json.loads(ran.out) == json.loads(expected.to_json(None))
    assert json.loads(run("pnl", "-f", "json").out) != json.loads(ran.out)
    changes.write_text("[[change]]\nratio = 2\n")
    ran = run("pnl", "--changes", changes)
    assert (ran.code, "change 1 of" in ran.err) == (Code.USAGE, True)


@pytest.mark.parametrize("command", ["positions", "pnl"])
@pytest.mark.parametrize("days", [["--start", "2026-11-19"], ["--end", "2026-11-23"], []])
def test_a_day_that_was_never_fetched_is_an_error(
    sandbox: Service, run: Run, tmp_path: Path, command: str, days: list[str]
) -> None:
    path = tmp_path / "books"
    archive = td.Archive(path)
    archive.add(sandbox.client().trade_book(), at=clock("15:45"))
    if not days:
        with start(orders=5, day="2026-11-18") as service:
            archive.add(service.client().trade_book(), at=clock("15:45", dt.date(2026, 11, 18)))
    ran = run(command, "--archive", path, *days)
    assert (ran.code, ran.out) == (Code.FILE, b"")
    assert "lacks the trades of 2026-11-" in ran.err
    assert "--missing-ok" in ran.err
    ran = run(command, "--archive", path, *days, "--missing-ok", "-f", "json")
    assert ran.code == Code.OK
    assert "warning: never fetched: the trades of 2026-11-" in ran.err
    assert run(command, "--missing-ok").code == Code.USAGE


def test_the_latest_day_is_not_every_day(sandbox: Service, run: Run, tmp_path: Path) -> None:
    """Where no trade has a time, no day is the latest."""
    trades = unlabelled(sandbox.client().trade_book())[:2]
    archive = td.Archive(tmp_path / "books")
    archive.add(td.TradeBook(trade._replace(exch_trade_time=None) for trade in trades))
    ran = run("positions", "--archive", archive.path, "--day", "latest", "--missing-ok")
    assert (ran.code, "no trade has a time" in ran.err) == (Code.DATA, True)


def test_a_condition_counts_only_what_came_later(
    sandbox: Service, run: Run, results: dict[str, Any]
) -> None:
    trades = unlabelled(sandbox.client().trade_book())
    later = trades.filter(exch_trade_time__ge=dt.time(12))
    expected = json.loads(positions(later).to_json())
    assert 0 < len(later) < len(trades)
    assert (
        json.loads(run("positions", "-w", "exch_trade_time>=12:00", "-f", "json").out) == expected
    )
    orders = json.loads(run("quality", "-w", "order_date_time>=12:00", "-f", "json").out)
    assert 0 < len(orders) < len(results["quality"])
    assert all(row["entered"][11:] >= "12:00" for row in orders)


def test_books_that_never_agree_are_compared_all_the_same(
    sandbox: Service, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders, trades = sandbox.client().books()

    def disagreeing(_: object) -> None:
        error = td.BooksDisagreeError("they differ")
        error.books = orders, trades[1:]
        raise error

    monkeypatch.setattr("tradingdata.client.client.Client.books", disagreeing)
    ran = run("reconcile", "-f", "json")
    assert {row["finding"] for row in json.loads(ran.out)} > {"agrees"}


def test_a_ledger_has_the_options_of_python(sandbox: Service, run: Run, tmp_path: Path) -> None:
    """Opening lots, settlements, multipliers, days and strategies, as files."""
    trades = unlabelled(sandbox.client().trade_book())
    day = td.required(trades[0].exch_trade_time).date()
    lots = unwarned(lambda: realised_pnl(trades)).open_lots
    early = [lot._replace(as_of=None, time=None) for lot in lots]
    opening, closes = tmp_path / "lots.csv", tmp_path / "closes.csv"
    names = [name for name in lots.columns if name not in ("as_of", "time")]
    opening.write_text(lots.to_csv(columns=names))
    prices = {day: {lot.security_id: 100.0 for lot in lots}}
    rows = [f"{day},{name},100" for name in prices[day]]
    closes.write_text("\n".join(["day,security_id,price", *rows]))
    settle, multipliers = tmp_path / "settle.csv", tmp_path / "multipliers.csv"
    settle.write_text("security_id,expiry_date,price\nnone,2026-11-24,1\n")
    multipliers.write_text("security_id,multiplier\nnone,5\n")
    options: dict[str, Any] = {"opening": early, "by": "algo_id"}
    options |= {"settle": {("none", dt.date(2026, 11, 24)): 1.0}, "multipliers": {"none": 5}}
    expected = unwarned(lambda: td.daily_pnl(trades, prices=prices, **options))
    files = ["--opening", opening, "--settle", settle, "--multipliers", multipliers]
    ran = run("pnl", *files, "--prices", closes, "--daily", "--by", "algo_id", "-f", "json")
    assert json.loads(ran.out) == json.loads(expected.to_json(None)), ran.err
    whole = unwarned(lambda: td.day_pnl(trades, prices=prices, **options))
    ran = run("pnl", *files, "--prices", closes, "--by", "algo_id", "-f", "json")
    assert json.loads(ran.out) == json.loads(whole.to_json(None)), ran.err
    assert run("pnl", "--daily").code == Code.USAGE
