"""`tradingdata archive`: what is kept is what the service sent, and reads back in every way."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tradingdata as td
from archiving import clock
from command_line import Run
from tradingdata._util.declarations import BOOK_CALLS, RECORDS
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service, start

DAY = "2026-11-20"


@pytest.fixture(scope="module")
def kept(sandbox: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with one fetch in it."""
    path = tmp_path_factory.mktemp("archive") / "books"
    archive, client = td.Archive(path), sandbox.client(account=None)
    for book in (client.order_book(), client.trade_book()):
        archive.add(book, at=clock("15:45"))
    return path


@pytest.fixture(scope="module")
def gap(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with trades of a day before, and none of the day between."""
    path = Path(shutil.copytree(kept, tmp_path_factory.mktemp("archive") / "books"))
    with start(orders=5, day="2026-11-18") as service:
        trades = service.client(account=None).trade_book()
    td.Archive(path).add(trades, at=clock("15:45", dt.date(2026, 11, 18)))
    return path


def rows(run: Run, *arguments: object) -> Any:
    ran = run(*arguments, "--format", "json")
    assert ran.code == Code.OK, ran.err
    return json.loads(ran.out)


def test_a_fetch_keeps_both_books_and_a_second_one_adds_nothing(
    sandbox: Service, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "books"
    trades, orders = sandbox.client().trade_book(), sandbox.client().order_book()
    first = run("archive", "fetch", path)
    assert first.code == Code.OK, first.err
    assert f"  {len(orders)} rows\n" in first.text
    assert f"  {len(trades)} rows\n" in first.text
    assert run("archive", "fetch", path).text.count(" rows, which were stored before\n") == 2
    assert run("archive", "verify", path).text.endswith("rows verified\n")
    other = tmp_path / "other"
    assert run("archive", "copy", path, other).text.endswith(" rows copied and verified\n")
    assert run("archive", "erase", other, "", "--yes").code == Code.OK
    assert run("archive", "trades", other).code == Code.FILE
    assert run("archive", "erase", path, "nobody", "--yes").code == Code.USAGE


def test_a_fetch_without_an_address_creates_no_archive(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRADINGDATA_BASE_URL")
    assert run("archive", "fetch", tmp_path / "new").code == Code.CONFIGURATION
    assert not (tmp_path / "new").exists()


def test_an_account_is_erased_on_a_yes_only(
    run: Run, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _: "n")
    assert run("archive", "erase", kept, "").code == Code.INTERRUPTED
    assert run("archive", "trades", kept).code == Code.OK


@pytest.mark.parametrize("call", BOOK_CALLS)
def test_a_day_reads_back_as_the_service_sent_it(
    sandbox: Service, run: Run, kept: Path, call: str
) -> None:
    sent = getattr(sandbox.client(), call)()
    book = RECORDS[BOOK_CALLS[call]["record"]]["noun"][1]
    found = rows(run, "archive", book, kept, DAY)
    assert sorted(row["order_no"] for row in found) == sorted(row.order_no or "" for row in sent)
    assert run("archive", book, kept, "2026-11-21").code == Code.FILE, "a Saturday, asked by itself"
    assert len(rows(run, "archive", book, kept, DAY, "2026-11-22")) == len(sent)
    symbol = sent[0].symbol
    some = rows(run, "archive", book, kept, "--where", f"symbol={symbol}", "--columns", "symbol")
    assert some == [{"symbol": symbol}] * len(sent.filter(symbol=symbol))


@pytest.mark.parametrize(
    "arguments",
    [
        "archive trades {kept} 2026-11-19",
        "archive orders {kept} 2026-11-19 2026-11-20",
        "archive sql {kept} FROM(trades) 2026-11-19",
        *(f"{name} --archive {{kept}} --start 2026-11-19" for name in ("positions", "pnl")),
        *(f"{name} --archive {{kept}} --end 2026-11-23" for name in ("positions", "pnl")),
        "positions --archive {gap}",
    ],
)
def test_a_day_that_was_never_fetched_is_an_error_or_a_warning(
    run: Run, kept: Path, gap: Path, arguments: str
) -> None:
    words = arguments.format(kept=kept, gap=gap).split()
    ran = run(*words)
    assert (ran.code, ran.out) == (Code.FILE, b"")
    assert re.search("lacks the [a-z ]+ of 2026-11-.* never fetched: ", ran.err)
    assert "--missing-ok" in ran.err
    ran = run(*words, "--missing-ok")
    assert ran.code == Code.OK
    assert "warning: never fetched: the " in ran.err


def test_the_log_has_responses_and_failures(sandbox: Service, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "books"
    sandbox.fail_next(200, body="<html>Sign in</html>", endpoint="trade_book")
    assert run("archive", "fetch", path).code == Code.DATA
    orders, trades = rows(run, "archive", "sql", path, "SELECT * FROM fetches ORDER BY book")
    assert (orders["book"], orders["error"]) == ("orders", None)
    assert (trades["book"], trades["error"]) == ("trades", "DecodeError")
    assert "web page" in trades["message"]


def test_days_that_were_never_fetched_are_listed(run: Run, kept: Path) -> None:
    ran = run("archive", "missing", kept, "2026-11-16", DAY, "--holidays", "2026-11-18")
    assert ran.code == Code.FILE, "a day not archived"
    lines = [line.split() for line in ran.text.splitlines()[2:]]
    assert lines == [[f"2026-11-{day}", "orders,", "trades"] for day in (16, 17, 19)]


def test_days_are_checked_from_the_first_until_today(run: Run, kept: Path) -> None:
    """A16: of a job that runs each night."""
    ran = run("archive", "missing", kept, DAY)
    today = dt.datetime.now(dt.timezone(dt.timedelta(hours=5, minutes=30))).date()
    days = [dt.date(2026, 11, 20) + dt.timedelta(n) for n in range(1, 999)]
    due = [str(day) for day in days if day <= today and day.weekday() < 5]
    assert [line.split()[0] for line in ran.text.splitlines()[2:]] == due
    assert ran.code == (Code.FILE if due else Code.OK)
    assert run("archive", "missing", kept, DAY, DAY).code == Code.OK


def test_a_query_goes_into_every_format(run: Run, kept: Path, tmp_path: Path) -> None:
    """Infinity, of which JSON knows nothing, is missing."""
    query = "SELECT 'inf'::DOUBLE AS most, sum(quantity) AS shares, count(*) FROM trades"
    reported = run("archive", "sql", kept, query, "-f", "json").text
    strict = json.loads(reported, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    (trades,) = rows(run, "archive", "sql", kept, "SELECT sum(quantity) AS shares FROM trades")
    assert [strict[0][name] for name in ("most", "shares")] == [None, trades["shares"]]
    for name in ("result.csv", "result.parquet", "result.xlsx"):
        assert run("archive", "sql", kept, query, "-o", tmp_path / name).code == Code.OK
    assert (tmp_path / "result.csv").read_text().startswith("most,shares,count_star()\n,")
    assert pq.read_table(tmp_path / "result.parquet").to_pylist() == strict
    assert "symbol" in run("archive", "sql", kept, "SELECT symbol FROM trades WHERE false").text


def test_saved_books_are_added(sandbox: Service, run: Run, tmp_path: Path) -> None:
    client = sandbox.client(account=None)
    client.order_book().save(tmp_path / "orders.json")
    client.trade_book().save(tmp_path / "trades.json")
    path = tmp_path / "books"
    ran = run("archive", "add", path, tmp_path / "orders.json", tmp_path / "trades.json")
    assert ran.code == Code.OK, ran.err
    counts = [int(line.split(": ")[1].split()[0]) for line in ran.text.splitlines()]
    assert counts == [len(client.order_book()), len(client.trade_book())]
    other = tmp_path / "other.json"
    other.write_text("no book")
    assert run("archive", "add", path, other).code == Code.USAGE


@pytest.mark.parametrize("home", ["", "gone"])
def test_a_book_that_cannot_be_filed_is_saved_in_the_home_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    """Tomorrow the service has it no more; without that folder, in the working directory."""
    from tradingdata.archive.ingest import Ingest
    from tradingdata.errors import ArchiveError

    def full(*_: object) -> int:
        raise ArchiveError("the disk is full", file="books")

    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path / home))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Ingest, "_place", full)
    ran = run("archive", "fetch", tmp_path / "books")
    assert ran.code == Code.FILE
    assert "the disk is full" in ran.err
    (orders,) = tmp_path.glob("*.OrderBook.*.json")
    assert orders.name in ran.err
    assert len(list(tmp_path.glob("*.TradeBook.*.json"))) == 1
    monkeypatch.undo()
    assert len(td.OrderBook.load(orders)) == 60
