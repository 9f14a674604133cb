"""A watch without a service and without waiting: responses from a list, a clock that jumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import tradingdata as td
from service import as_json, envelope, orders, trades
from tradingdata import _core
from tradingdata.watch.polling import Rules, Watch
from tradingdata.watch.updates import KnownOrders, KnownTrades

Record = dict[str, Any]
Response = TypeVar("Response")


class Clock:
    """A steady clock that sleeping moves on, at once."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.after_next_sleep = 0.0  # what passes unseen, once

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.after_next_sleep
        self.after_next_sleep = 0.0


class Polls:
    """Returns responses one by one, raises errors, calls functions, and records when.

    A book from which records vanished is requested once more, a second later; the second response
    is then the same, unless ``confirms`` is false.
    """

    def __init__(
        self,
        responses: Iterable[Any],
        clock: Clock,
        decode: Callable[[Any], Any] = lambda body: body,
        *,
        confirms: bool = True,
    ) -> None:
        self._responses = iter(responses)
        self._confirms = confirms
        self._last: Any = None
        self._clock = clock
        self._decode = decode
        self.at: list[float] = []

    def __call__(self) -> Any:
        if self._confirms and self._last is not None and self._clock.now == self.at[-1] + 1.0:
            return self._last
        self.at.append(self._clock.now)
        response = next(self._responses, None)
        if callable(response):
            response = response()
        if response is None:
            raise Over
        if isinstance(response, BaseException):
            raise response
        self._last = self._decode(response)
        return self._last


class Over(Exception):
    """The responses are used up."""


def order_book(records: list[Record]) -> td.OrderBook:
    return td.OrderBook.from_json(as_json(envelope(records)))


def trade_book(records: list[Record]) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope(records)))


def order_updates(
    *responses: Any, ignore: Iterable[str] = ("row_no", "ref_ltp"), previous: Any = None
) -> Iterator[td.types.OrderUpdate]:
    """The updates of a watch that meets these responses (bodies' records, or errors)."""
    return _updates(responses, order_book, KnownOrders(tuple(ignore), previous))


def trade_updates(*responses: Any, previous: Any = None) -> Iterator[td.types.TradeUpdate]:
    """The same for trades."""
    return _updates(responses, trade_book, KnownTrades(previous))


def _updates(responses: Iterable[Any], decode: Callable[[Any], Any], state: Any) -> Iterator[Any]:
    clock = Clock()
    polls = Polls(responses, clock, decode)
    return until_over(watched(polls, state, clock))


def watched(
    poll: Callable[[], Any],
    state: KnownOrders | KnownTrades,
    clock: Clock,
    interval: float = 5.0,
    *,
    left: Callable[[], float] = lambda: math.inf,
) -> Watch[Any]:
    """A watch whose clock is not the computer's, of a client that stays open."""
    rules = Rules(interval, left, lambda: False)
    return Watch(poll, state, rules, clock=clock, sleep=clock.sleep)


class until_over(Iterator[Response]):
    """The updates until the responses are used up; another error does not end them."""

    def __init__(self, updates: Iterable[Response]) -> None:
        self._updates = iter(updates)

    def __next__(self) -> Response:
        try:
            return next(self._updates)
        except Over:
            raise StopIteration from None


def some_orders(count: int = 3, **overrides: Any) -> list[Record]:
    return orders(count, order_no=str, **overrides)


def some_trades(count: int = 3, **overrides: Any) -> list[Record]:
    return trades(count, trade_no=str, **overrides)


def reported(update: td.types.OrderUpdate) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [(change.kind, change.order.order_no, change.fields) for change in update.changes]


def content(book: td.OrderBook | Iterable[td.Order]) -> list[dict[str, Any]]:
    """Rows by what counts in them: no time stamp, nor what ticks."""
    kinds = {name: kind for name, kind, _, _ in _core.fields_of("Order")}
    counts = [
        name
        for name, kind in kinds.items()
        if kind != "timestamp" and name not in ("row_no", "ref_ltp")
    ]
    return [{name: row[name] for name in counts} for row in book]
