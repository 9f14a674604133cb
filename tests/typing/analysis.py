"""What type checkers know of calculations; read by them, never run."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import assert_type

import tradingdata as td


def results(orders: td.OrderBook, trades: td.TradeBook) -> None:
    positions = td.positions(trades, buy="B", sell="S")
    assert_type(positions, td.analysis.Positions)
    assert_type(positions[0], td.analysis.Position)
    assert_type(positions[:5], td.analysis.Positions)
    assert_type(positions[0].net_quantity, int)
    assert_type(positions[0].buy_average, float | None)
    assert_type(td.execution_quality(orders, trades)[0].to_exchange, float | None)


async def together(client: td.Client, waiting: td.AsyncClient) -> None:
    orders, trades = client.books(timeout=5)
    assert_type(orders, td.OrderBook)
    assert_type(trades, td.TradeBook)
    assert_type(await waiting.books(), td.Books)
    td.reconcile(*client.books())


def profit(trades: td.TradeBook) -> None:
    pnl = td.realised_pnl(trades)
    assert_type(pnl, td.analysis.RealisedPnl)
    assert_type(pnl.realised, float)
    assert_type(pnl.matches[0].sell_time, dt.datetime | None)
    td.realised_pnl(trades, pnl.open_lots)
    assert_type(pnl.matches[0].side, str)
    td.realised_pnl(trades, opening=[{"quantity": 5}], shorts={"I", "M"})
    td.realised_pnl(trades, "C1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def valuation(trades: td.TradeBook, accounts: td.Accounts) -> None:
    pnl = td.realised_pnl(accounts.trade_book())
    td.positions(td.OrderBook())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    value = td.unrealised_pnl(pnl.open_lots, {"2885": 1412.5, "1594": None})
    assert_type(value, td.analysis.UnrealisedPnl)
    assert_type(value[0].unrealised, float | None)
    td.unrealised_pnl(td.positions(trades), {})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ledger = td.Ledger(trades, changes=[td.LotChange("2026-11-20", ratio=2)], by={"1": "slow"})
    td.realised_pnl(trades, day="2026-11-20", shorts=False, by=lambda trade: trade.algo_id)
    td.realised_pnl(trades, short=False)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    assert_type(ledger.day(prices={"2885": 1412.5}).net, float | None)
    assert_type(ledger.daily(lambda day, row: 5.0, per=("by",)), td.analysis.DailyPnl)
    td.unrealised_pnl(pnl, {("NSE", "E", "2885"): 1412.5})
    td.unrealised_pnl(pnl, {"2885": Decimal("1412.50"), "1594": None})
    td.realised_pnl(trades, settle=lambda lot: Decimal("1412.50"))
    ledger.daily({"2026-11-20": {"2885": Decimal("1412.50")}})


def comparison(orders: td.OrderBook, trades: td.TradeBook) -> None:
    found = td.reconcile(orders, trades, tolerance=0.005)
    assert_type(found.agrees, bool)
    assert_type(found.differences, td.analysis.Reconciliation)
    td.reconcile(orders, trades, tolerance=Decimal("0.005"))
    td.reconcile(trades, orders)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
