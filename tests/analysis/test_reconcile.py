"""Reconciliation: what the order book and the trade book say of each order, side by side."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from analysis_samples import TIME, at, book, order, trade
from cases import ENTERED
from tradingdata import sandbox
from tradingdata.analysis.inputs import UPDATED


def findings(result: td.analysis.Reconciliation) -> dict[str | None, str]:
    return {row.order_no: row.finding for row in result}


@pytest.mark.parametrize(("value", "finding"), [(1000.1, "agrees"), (1000.11, "price differs")])
def test_the_tolerance_holds_to_the_paisa(value: float, finding: str) -> None:
    """Ten shares at a hundredth of a rupee each; in floats, 1000.1 - 1000 is more than 0.1."""
    (row,) = td.reconcile(td.OrderBook([order(1, 10, 100.0)]), book(trade(1, "B", 10, value)))
    assert row.finding == finding


def test_the_tolerance_can_be_chosen() -> None:
    books = td.OrderBook([order(1, 10, 100.0)]), book(trade(1, "B", 10, 1000.1))
    assert not td.reconcile(*books, tolerance=0).agrees
    assert td.reconcile(*books, tolerance=1).agrees
    for wrong in (-1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="tolerance must be finite and at least 0"):
            td.reconcile(*books, tolerance=wrong)
    with pytest.raises(TypeError, match="tolerance must be a number, not '1'"):
        td.reconcile(*books, tolerance="1")  # type: ignore[arg-type]


def test_a_missing_quantity_without_trades_is_no_agreement() -> None:
    (row,) = td.reconcile(td.OrderBook([order(1, None, 100.0)]), book())
    assert row.finding == "value missing"


def test_a_quantity_that_differs_says_so_though_a_price_is_missing() -> None:
    (row,) = td.reconcile(td.OrderBook([order(1, 10, None)]), book(trade(1, "B", 4, 400.0)))
    assert row.finding == "quantity differs"


def test_trades_of_other_days_are_counted_apart() -> None:
    trades = book(
        trade(1, "B", 10, 1000.0),
        trade(1, "B", 7, 700.0, order_date_time=at(0, day=-1)),
        trade(2, "B", 7, 700.0, order_date_time=at(0, day=-1)),
    )
    result = td.reconcile(td.OrderBook([order(1, 10, 100.0)]), trades)
    assert (result.agrees, len(result), result.other_days) == (True, 1, 2)
    assert "2 trades of other days left out" in repr(result)
    assert result.differences.other_days == 2


def test_a_trade_that_does_not_tell_its_day_is_compared() -> None:
    result = td.reconcile(
        td.OrderBook([order(1, 10, 100.0)]), book(trade(2, "B", 1, 1.0, order_date_time=None))
    )
    assert findings(result) == {"O1": "no trades", "O2": "no order"}


def test_an_empty_order_book_beside_trades_is_a_finding_of_its_own() -> None:
    """The service clears the orders after the session; its trades may still be there."""
    result = td.reconcile(td.OrderBook(), book(trade(1, "B", 10, 1000.0), trade(2, "S", 1, 1.0)))
    assert findings(result) == {"O1": "order book empty", "O2": "order book empty"}
    assert (result.agrees, result.other_days, len(result.differences)) == (False, 0, 2)
    assert (result[0].trades_quantity, result[0].trades_value) == (10, 1000.0)
    assert "2 orders, 0 agree, 2 order book empty" in repr(result)


def test_two_empty_books_have_nothing_to_agree_on() -> None:
    result = td.reconcile(td.OrderBook(), book())
    assert (result.agrees, len(result)) == (False, 0)
    assert "nothing to compare" in repr(result)


def test_the_sandbox_agrees_with_itself_at_any_time() -> None:
    with sandbox.start(speed=0) as service, service.client() as client:
        for moment in ("09:30", "10:30", "15:30"):
            service.advance_to(moment)
            assert td.reconcile(client.order_book(), client.trade_book()).agrees


def test_a_client_is_compared_as_if_alone() -> None:
    """What another client traded, or when, says nothing about the orders of this one."""
    early: dict[str, Any] = {ENTERED: at(0, day=-1)}
    done: dict[str, Any] = early | {TIME: at(0, day=-1)}
    carried = order(1, 10, 100.0, **early)
    today = [trade(1, "B", 6, 600.0, **early)]
    evening = [trade(4, "B", 1, 1.0, client_id="C2")]  # whose orders the service has cleared
    left_out = [trade(5, "B", 1, 1.0, client_id="C3", **early)]
    alone: dict[Any, str] = {}
    sides = [
        (td.OrderBook([carried]), book(*today)),
        (td.OrderBook(), book(*evening)),
        (td.OrderBook([order(6, 0, None, client_id="C3")]), book(*left_out)),
        (
            td.OrderBook([order(1, 5, 100.0, client_id="C4", **early)]),
            book(trade(1, "B", 5, 500.0, client_id="C4", **done)),
        ),
    ]
    for orders, trades in sides:
        alone |= {
            (row.client_id, row.order_no): row.finding for row in td.reconcile(orders, trades)
        }
    joined = td.reconcile(td.concat([each for each, _ in sides]), td.concat([t for _, t in sides]))
    assert {(row.client_id, row.order_no): row.finding for row in joined} == alone
    assert alone["C1", "O1"] == "earlier days missing"
    assert alone["C2", "O4"] == "order book empty"
    assert joined.other_days == 1


@pytest.mark.parametrize("time", UPDATED)
def test_the_last_state_of_an_order_is_the_one_updated_last(time: str) -> None:
    monday = order(1, 4, 100.0, leg_no=1, **{time: at(0)})
    tuesday = order(1, 10, 100.0, leg_no=1, **{time: at(0, day=1)})
    fills = book(trade(1, "B", 4, 400.0), trade(1, "B", 6, 600.0, trade_no="1b"))
    for states in ([monday, tuesday], [tuesday, monday]):
        assert td.reconcile(td.OrderBook(states), fills).agrees
        (side,) = td.execution_quality(td.OrderBook(states), fills)
        assert (side.quantity, side.fill_ratio) == (10.0, 1.0)


def test_trades_without_entry_times_of_a_number_used_on_two_days() -> None:
    """Nothing says which order they fill, so neither lacks trades nor do they lack an order."""
    orders = [order(1, 10, 100.0), order(1, 5, 100.0, **{ENTERED: at(0, day=1)})]
    bare: dict[str, Any] = {ENTERED: None}
    fills = book(trade(1, "B", 10, 1000.0, **bare), trade(2, "B", 5, 500.0, order_no="O1", **bare))
    assert {row.finding for row in td.reconcile(td.OrderBook(orders), fills)} == {"value missing"}
    with pytest.warns(td.DataWarning, match="time of entry missing: 2 .order O1: trades of this"):
        quality = td.execution_quality(td.OrderBook(orders), fills)
    assert [side.fill_ratio for side in quality] == [None, None]
    entered = [row._replace(**{ENTERED: None}) for row in orders]
    dated = [trade(1, "B", 10, 1000.0), trade(2, "B", 5, 500.0, order_no="O1")]
    dated[1] = dated[1]._replace(**{ENTERED: at(0, day=1)})
    found = td.reconcile(td.OrderBook(entered), book(*dated))
    assert {row.finding for row in found} == {"value missing"}
