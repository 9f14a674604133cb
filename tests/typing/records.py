"""What type checkers know of records; read by them, never run."""

from __future__ import annotations

import copy
import dataclasses
from datetime import date, datetime
from typing import Any, assert_type

import tradingdata as td


def attributes(trade: td.Trade, order: td.Order, stock: td.Stock) -> None:
    assert_type(trade.quantity, int | None)
    assert_type(trade.traded_price, float | None)
    assert_type(trade.exch_trade_time, datetime | None)
    assert_type(trade.expiry_date, date | None)
    assert_type(order.status, str | None)
    assert_type(order.leg_no, float | None)
    assert_type(stock.BSEStatus, str | None)
    assert_type(trade["brand_new"], Any)


def arithmetic(trades: td.TradeBook) -> None:
    sum(trade.trade_value for trade in trades)  # type: ignore[misc]  # pyright: ignore
    assert_type(td.required(trades[0].quantity), int)
    assert_type(td.required(trades[0].exch_trade_time), datetime)
    turnover: float = sum(td.required(trade.trade_value) for trade in trades)
    assert turnover


def made_by_keyword() -> None:
    trade = td.Trade(symbol="INFY", quantity=5, expiry_date=None)
    assert_type(trade, td.Trade)
    assert_type(dataclasses.replace(trade, quantity=6), td.Trade)
    assert_type(copy.copy(trade), td.Trade)
    assert_type(trade._replace(quantity=6), td.Trade)


def refused(trade: td.Trade) -> None:
    trade.quantity = 5  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    td.Trade("INFY")  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
    td.Trade(quantity="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    td.Trade(simbol="INFY")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    trade.simbol  # type: ignore[attr-defined]  # pyright: ignore  # noqa: B018


def matched(record: td.Trade | td.Order) -> float:
    match record:
        case td.Trade(quantity=int(quantity)):
            return quantity
        case td.Order(quantity=float(quantity)):
            return quantity
        case _:
            return 0
