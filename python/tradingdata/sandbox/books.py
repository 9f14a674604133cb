"""The books of one account at a market time, encoded once and sent many times."""

from __future__ import annotations

import threading
from datetime import date
from functools import cached_property
from itertools import islice

from .accounts import Account
from .json_rows import order_record, trade_record
from .market import Market
from .trading_day import Day, simulate

_NOTHING = b'{"data":null,"message":"Success","status":"success"}'
_BEFORE_ANY = -(24 * 3600)


class Books:
    """Both books of an account at the time of the clock.

    Only rows that changed since the previous request are encoded again: orders that arrived or
    traded, and, each minute, the market price of pending orders. A clock set back restarts the day.
    The day is generated on the first request.
    """

    def __init__(self, account: Account, market: Market, day: date, orders: int, seed: int) -> None:
        self._account, self._market, self._day = account, market, day
        self._order_count, self._seed = orders, seed
        self._lock = threading.Lock()
        self._start()

    @cached_property
    def _life(self) -> Day:
        return simulate(self._account, self._market, self._day, self._order_count, self._seed)

    @cached_property
    def _events(self) -> list[tuple[int, int]]:
        """The times at which orders change, with the position of the order."""
        return sorted(
            (second, place)
            for place, order in enumerate(self._life.orders)
            for second in order.moments()
        )

    def at(self, second: int) -> tuple[bytes, bytes]:
        """Returns the order book and the trade book, `second` seconds after the opening bell."""
        with self._lock:
            if second < self._second:
                self._start()
            if second > self._second:
                self._advance(second)
            return self._order_book, self._trade_book

    def _start(self) -> None:
        self._second = _BEFORE_ANY
        self._next_event = 0
        self._waiting: set[int] = set()
        self._orders: list[bytes] = []
        self._trades: list[bytes] = []
        self._order_book = self._trade_book = _NOTHING

    def _advance(self, second: int) -> None:
        changed = set(self._waiting) if second // 60 > self._second // 60 else set()
        events = self._events
        while self._next_event < len(events) and events[self._next_event][0] <= second:
            changed.add(events[self._next_event][1])
            self._next_event += 1
        for place in sorted(changed):
            self._write_order(place, second)
        fresh = self._fresh_trades(second)
        if changed:
            self._order_book = _envelope(self._orders)
        if fresh:
            self._trades += fresh
            self._trade_book = _envelope(self._trades)
        self._second = second

    def _fresh_trades(self, second: int) -> list[bytes]:
        fresh = []
        for trade in islice(self._life.trades, len(self._trades), None):
            if trade.fill.second > second:
                break
            fresh.append(trade_record(trade, self._account, self._day))
        return fresh

    def _write_order(self, place: int, second: int) -> None:
        order = self._life.orders[place]
        state = order.state(second)
        waits = state.status == "Pending"
        (self._waiting.add if waits else self._waiting.discard)(place)
        price = self._market.price(order.ticket.instrument, second if waits else state.updated)
        record = order_record(order, state, place + 1, price, self._account, self._day)
        if place == len(self._orders):
            self._orders.append(record)
        else:
            self._orders[place] = record


def _envelope(records: list[bytes]) -> bytes:
    return b'{"data":[' + b",".join(records) + b'],"message":"Success","status":"success"}'
