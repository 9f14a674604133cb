"""What a watch of orders tells, poll by poll; no waiting, no service."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import tradingdata as td
from watch.watching import (
    order_book,
    order_updates,
    reported,
    some_orders,
    some_trades,
    trade_book,
    trade_updates,
)


@pytest.mark.parametrize("suffix", ["json", "parquet", "csv"])
def test_a_watch_goes_on_from_a_file(tmp_path: Path, suffix: str) -> None:
    """A CSV file has no empty text: that is no change of 14 fields of every order."""
    empty = some_orders(2, series="", remarks="", status="Pending")
    records = [order | {"mood": "", "more": None} for order in empty]
    state = tmp_path / f"state.{suffix}"
    order_book(records).save(state)
    now = [records[0] | {"status": "Error"}, records[1], *some_orders(3)[2:]]
    (update,) = order_updates(now, previous=td.OrderBook.load(state))
    assert reported(update) == [("changed", "0", ("status",)), ("new", "2", ())]
    trade_book(some_trades(2, series="", isin="")).save(state, overwrite=True)
    (later,) = trade_updates(some_trades(3), previous=td.TradeBook.load(state))
    assert (len(later.fills), later.changes) == (1, ())


def test_a_miss_before_the_first_response_is_no_empty_book() -> None:
    error = td.ConnectError("no one there", retryable=True)
    with pytest.raises(td.ConnectError, match="no one there"):
        len(next(trade_updates(error)).trades)
    missed, again, good = order_updates(error, error, some_orders(1))
    for _ in range(2):
        with pytest.raises(td.ConnectError, match="no one there") as caught:
            len(missed.orders)
        assert len(caught.traceback) == 2  # this test and the property, each time
    assert repr(missed).endswith("Z, orders unknown, 0 changes, missed: ConnectError>")
    assert repr(again).endswith("missed: ConnectError, 2 in a row>")
    assert [change.kind for change in good.changes] == ["new"]


def test_an_update_is_a_tuple_that_prints_and_pickles() -> None:
    (update,) = order_updates(some_orders(2))
    orders, changes, cleared, missed, misses, at = update
    assert (orders, changes, at) == (update.orders, update.changes, update.at)
    assert (cleared, missed, misses) == (False, None, 0)
    assert repr(update) == f"<OrderUpdate {update.at:%H:%M:%S}Z, 2 orders, 2 changes>"
    assert pickle.loads(pickle.dumps(update)) == update
