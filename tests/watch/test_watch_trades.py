"""Each fill once, whatever the responses do."""

from __future__ import annotations

import pytest

import tradingdata as td
from tradingdata import _core
from watching import some_trades, trade_book, trade_updates

TRADED, ORDERED = (
    name for wanted in ("exch_trade", "order_date") for name, *_ in _core.fields_of("Trade")
    if name.startswith(wanted)
)  # fmt: skip


def numbers(update: td.types.TradeUpdate) -> list[str | None]:
    return [fill.trade_no for fill in update.fills]


@pytest.mark.parametrize("name", ["exchange", "segment", "order_no"])
def test_fills_of_one_number_are_distinguished(name: str) -> None:
    """Two exchanges count alike; both sides of a trade with oneself bear one number."""
    (trade,) = some_trades(1)
    _, update = trade_updates([trade], [trade, {**trade, name: "other"}])
    assert [fill[name] for fill in update.fills] == ["other"]


def test_a_number_that_comes_again_on_another_day_is_another_fill() -> None:
    (trade,) = some_trades(1, **{TRADED: "2026-01-06 10:00:00"})
    later = {**trade, TRADED: "2026-01-07 10:00:00"}
    updates = list(trade_updates([trade], [later], [trade, later]))
    assert [len(update.fills) for update in updates] == [1, 1, 0]
    without = [{**trade, TRADED: "", ORDERED: f"2026-01-0{day} 10:00:00"} for day in (6, 7)]
    assert [len(update.fills) for update in trade_updates(without, without)] == [2, 0]


def test_rows_without_a_number_are_reported_as_often_as_they_are_in_a_response() -> None:
    unnumbered = {**some_trades(1)[0], "trade_no": ""}
    updates = list(trade_updates([unnumbered] * 2, [unnumbered], [unnumbered] * 3))
    assert [len(update.fills) for update in updates] == [2, 0, 1]


def test_fills_that_were_known_are_not_reported_again() -> None:
    known = trade_book(some_trades(2))
    (update,) = trade_updates(some_trades(3), previous=known)
    assert numbers(update) == ["2"]
    with pytest.raises(TypeError, match="previous= takes type TradeBook, not OrderBook"):
        trade_updates(previous=td.OrderBook())


def test_the_fills_own_their_storage() -> None:
    (update,) = trade_updates(some_trades(500))
    assert len(update.fills) == 500
    assert max(_core.slice_of(fill).table_rows for fill in update.fills) <= 16


def test_a_miss_before_the_first_response_is_no_empty_book() -> None:
    (missed,) = trade_updates(td.DeadlineError("late", retryable=True))
    with pytest.raises(td.DeadlineError, match="late"):
        len(missed.trades)
