"""Calculations on the books of several accounts: their labels stay on every row."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tradingdata as td
from analysis_samples import book, order, results, trade
from sandbox_calls import arguments
from tradingdata import sandbox

LABELS = ("desk1", "desk2", "desk3")


def labelled(trades: td.TradeBook) -> td.TradeBook:
    return book(*(row._replace(account="desk1") for row in trades))


@pytest.fixture(scope="module")
def service() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=LABELS, orders=40) as running:
        yield running


def test_every_row_has_the_label_of_its_account(service: sandbox.Service) -> None:
    orders, trades = td.Accounts(arguments(service)).books()
    pnl = td.realised_pnl(trades)
    clients = {trade.client_id: trade.account for trade in trades}
    for name, table in results(orders, trades).items():
        assert table.columns[0] == "account"
        assert all(clients[row.client_id] == row.account for row in table)
        assert {row.account for row in table} == set(LABELS) or name == "issues"
    for label in LABELS:
        alone = td.realised_pnl(trades.filter(account=label))
        assert [row for row in pnl if row.account == label] == list(alone)


def test_lots_and_trades_of_a_client_meet_though_one_of_them_has_no_label() -> None:
    bought, sold = book(trade(1, "B", 5, 50.0)), book(trade(2, "S", 5, 60.0, 86400))
    for before in (bought, labelled(bought)):
        for after in (sold, labelled(sold)):
            opening = td.realised_pnl(before).open_lots
            assert td.realised_pnl(after, opening).realised == 10.0


def test_trades_without_an_order_have_their_own_label() -> None:
    orders = td.OrderBook([order(1, 5, 10.0, account="a")])
    other = trade(2, "B", 5, 50.0, client_id="C2", account="b")
    found = td.reconcile(orders, book(trade(1, "B", 5, 50.0, account="a"), other))
    assert [(row.account, row.finding) for row in found] == [
        ("b", "order book empty"),
        ("a", "agrees"),
    ]
