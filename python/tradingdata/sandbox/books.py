"""The books of one account at a market time."""

from __future__ import annotations

import threading
from bisect import bisect_right
from datetime import date
from functools import cached_property
from itertools import takewhile

from .accounts import Account
from .json_rows import order_record, trade_record
from .market import Market
from .orders import Order, State
from .trading_day import Day, simulate

_BEFORE_ANY = -(24 * 3600)


class Books:
    """Both books of an account at the time of the clock.

    The day is generated on the first request. A record is encoded again only if it has changed: by
    an event, or each minute by the market price of a pending order.
    """

    def __init__(self, account: Account, market: Market, day: date, orders: int, seed: int) -> None:
        self._account, self._market, self._day = account, market, day
        self._order_count, self._seed = orders, seed
        self._lock = threading.Lock()
        self._second = _BEFORE_ANY
        self._books = _envelope([]), _envelope([])
        self._orders: dict[int, tuple[State, int, bytes]] = {}
        self._trades: list[bytes] = []

    @cached_property
    def _life(self) -> Day:
        return simulate(self._account, self._market, self._day, self._order_count, self._seed)

    def at(self, second: int) -> tuple[bytes, bytes]:
        """Returns the order book and the trade book, `second` seconds after the opening bell."""
        with self._lock:
            if second != self._second:
                known = takewhile(lambda order: order.ticket.received <= second, self._life.orders)
                orders = [self._order(row, order, second) for row, order in enumerate(known, 1)]
                self._books = _envelope(orders), _envelope(self._trades_until(second))
                self._second = second
            return self._books

    def _order(self, row: int, order: Order, second: int) -> bytes:
        state = order.state(second)
        priced = second if state.status == "Pending" else state.updated
        price = self._market.price(order.ticket.instrument, priced)
        known = self._orders.get(row)
        if known is not None and known[:2] == (state, price):
            return known[2]
        record = order_record(order, state, row, price, self._account, self._day)
        self._orders[row] = (state, price, record)
        return record

    def _trades_until(self, second: int) -> list[bytes]:
        trades = self._life.trades
        count = bisect_right(trades, second, key=lambda trade: trade.fill.second)
        for trade in trades[len(self._trades) : count]:
            self._trades.append(trade_record(trade, self._account, self._day))
        return self._trades[:count]


def _envelope(records: list[bytes]) -> bytes:
    data = b"[" + b",".join(records) + b"]" if records else b"null"
    return b'{"data":' + data + b',"message":"Success","status":"success"}'
