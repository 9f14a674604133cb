"""A watch without a service and without waiting: answers from a list, a clock that jumps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import tradingdata as td
from service import as_json, envelope, orders, trades
from tradingdata import _core
from tradingdata.watch.polling import watch
from tradingdata.watch.state import OrderState, TradeState

Record = dict[str, Any]
Answer = TypeVar("Answer")


class Clock:
    """A steady clock that sleeping moves on, at once."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Polls:
    """Hands out answers one by one; an error is raised, a function asked. Notes when."""

    def __init__(
        self, answers: Iterable[Any], clock: Clock, decode: Callable[[Any], Any] = lambda body: body
    ) -> None:
        self._answers = iter(answers)
        self._clock = clock
        self._decode = decode
        self.at: list[float] = []

    def __call__(self) -> Any:
        self.at.append(self._clock.now)
        answer = next(self._answers, None)
        if callable(answer):
            answer = answer()
        if answer is None:
            raise Over
        if isinstance(answer, Exception):
            raise answer
        return self._decode(answer)


class Over(Exception):
    """The answers are used up."""


def order_book(records: list[Record]) -> td.OrderBook:
    return td.OrderBook.from_json(as_json(envelope(records)))


def trade_book(records: list[Record]) -> td.TradeBook:
    return td.TradeBook.from_json(as_json(envelope(records)))


def order_updates(
    *answers: Any, clock: Clock | None = None, interval: float = 5.0, **options: Any
) -> Iterator[td.OrderUpdate]:
    """The updates of a watch that meets these answers (bodies' records, or errors)."""
    clock = Clock() if clock is None else clock
    state = OrderState(
        options.pop("ignore", ("row_no", "ref_ltp")),
        options.pop("previous", None),
        options.pop("where", None),
    )
    polls = Polls(
        answers, clock, lambda told: told if isinstance(told, td.OrderBook) else order_book(told)
    )
    return until_over(watch(polls, state, interval, clock=clock, sleep=clock.sleep))


def trade_updates(*answers: Any, **options: Any) -> Iterator[td.TradeUpdate]:
    """The same for trades."""
    clock = Clock()
    polls = Polls(
        answers, clock, lambda told: told if isinstance(told, td.TradeBook) else trade_book(told)
    )
    state = TradeState(options.pop("previous", None), options.pop("where", None))
    return until_over(watch(polls, state, 5.0, clock=clock, sleep=clock.sleep))


def until_over(updates: Iterable[Answer]) -> Iterator[Answer]:
    iterator = iter(updates)
    while True:
        try:
            yield next(iterator)
        except Over:
            return


def some_orders(count: int = 3, **overrides: Any) -> list[Record]:
    return orders(count, order_no=str, **overrides)


def some_trades(count: int = 3, **overrides: Any) -> list[Record]:
    return trades(count, trade_no=str, **overrides)


def told(update: td.OrderUpdate) -> list[tuple[str, str | None, tuple[str, ...]]]:
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
