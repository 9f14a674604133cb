"""`--where`, `--sort` and `--limit` choose what the same conditions do in Python."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from command_line import Run, unlabelled
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service

DAY = dt.date(2026, 11, 20)
NOON = dt.time(12)


@pytest.fixture(scope="module")
def trades(sandbox: Service) -> td.TradeBook:
    return unlabelled(sandbox).trade_book()


def rows(run: Run, *arguments: object) -> list[dict[str, Any]]:
    ran = run(*arguments, "-f", "json")
    assert ran.code == Code.OK, ran.err
    found: list[dict[str, Any]] = json.loads(ran.out)
    return found


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("traded_price>100", {"traded_price__gt": 100}),
        ("traded_price <= 99.5", {"traded_price__le": 99.5}),
        ("quantity>=50", {"quantity__ge": 50}),
        ("quantity<50", {"quantity__lt": 50}),
        ("txn_type!=B", {"txn_type__ne": "B"}),
        ("txn_type==B", {"txn_type": "B"}),
        ("symbol!=IDEA,TCS", {"symbol__ne": {"IDEA", "TCS"}}),
        ("expiry_date!=", {"expiry_date__ne": None}),
        ("expiry_date>2026-11-23", {"expiry_date__gt": dt.date(2026, 11, 23)}),
        ("exch_trade_time<12:00", {"exch_trade_time__lt": NOON}),
        ("exch_trade_time=2026-11-20", {"exch_trade_time": DAY}),
        (
            "exch_trade_time>2026-11-20 12:00",
            {"exch_trade_time__gt": dt.datetime.combine(DAY, NOON)},
        ),
        ("exch_trade_time>2026-11-20T12", {"exch_trade_time__gt": dt.datetime.combine(DAY, NOON)}),
    ],
)
def test_a_condition_chooses_what_it_does_in_python(
    run: Run, trades: td.TradeBook, text: str, conditions: dict[str, Any]
) -> None:
    expected = trades.filter(**conditions)
    assert len(expected) > 0
    assert rows(run, "trades", "--where", text) == json.loads(expected.to_json())


def test_rows_are_filtered_then_sorted_then_limited(run: Run, trades: td.TradeBook) -> None:
    expected = sorted(
        trades.filter(txn_type="B"), key=lambda row: (row.symbol or "", -(row.traded_price or 0))
    )
    options = ("--where", "txn_type=B", "--sort", "symbol,-traded_price", "--limit", 7)
    assert rows(run, "trades", *options) == json.loads(td.TradeBook(expected[:7]).to_json())


def test_an_archive_and_a_search_take_the_same(
    run: Run, sandbox: Service, trades: td.TradeBook, tmp_path: Path
) -> None:
    path = tmp_path / "books"
    td.Archive(path).fetch(sandbox.client())
    options = "--where exch_trade_time>=12:00 --sort -trade_value --limit 3".split()
    largest = [row["trade_no"] for row in rows(run, "archive", "trades", path, *options)]
    late = trades.filter(exch_trade_time__ge=NOON).sort("trade_value", reverse=True)
    assert largest == late.to_dict(["trade_no"])["trade_no"][:3]
    caps = [row["mcap"] for row in rows(run, "search", "bank")]
    few = rows(run, "search", "bank", "--where", "mcap<100000", "--sort", "mcap", "--limit", 2)
    assert [row["mcap"] for row in few] == sorted(caps)[:2]
    assert sorted(caps)[:2] != caps[:2], "the first page alone would not do"
