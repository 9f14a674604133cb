"""A fill is reported once, whenever its values arrive; a correction is marked."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from tradingdata import _core
from watching import (
    order_book,
    order_updates,
    reported,
    some_orders,
    some_trades,
    trade_updates,
)

IDENTITY = {
    record["name"]: [name for name in record["identity"] if name in sent]
    for record, sent in zip(_core.records(), (some_trades(1)[0], some_orders(1)[0]), strict=False)
}  # without the account, which no response has
TIMES = [name for name, kind, _, _ in _core.fields_of("Trade") if kind == "timestamp"]
ENTERED = next(r["event_times"][0] for r in _core.records() if r["name"] == "Order")
FIRST, *OTHERS = some_trades(4)


def events(update: td.types.TradeUpdate) -> list[tuple[str, tuple[str, ...]]]:
    fills = [("fill", ())] * len(update.fills)
    return [*fills, *((change.kind, change.fields) for change in update.changes)]


LATE = [*TIMES, *IDENTITY["Trade"]]


@pytest.mark.parametrize("value", [None, ""])
@pytest.mark.parametrize("name", LATE)
def test_a_fill_whose_values_arrive_later_is_reported_once(name: str, value: Any) -> None:
    """Its times, its number, or another part of its key."""
    late = {**FIRST, name: value}
    updates = list(trade_updates([late, *OTHERS], [FIRST, *OTHERS], [late, *OTHERS]))
    assert [events(update) for update in updates] == [[("fill", ())] * 4, [], []]
    assert updates[1].trades[0][name] is not None


def test_all_values_that_arrive_later_at_once_make_no_other_fill() -> None:
    late = {**FIRST, **dict.fromkeys([*TIMES, *IDENTITY["Trade"][1:]])}
    updates = list(trade_updates([late, *OTHERS], [FIRST, *OTHERS]))
    assert [events(update) for update in updates] == [[("fill", ())] * 4, []]


@pytest.mark.parametrize(
    ("name", "value"), [("quantity", 7), ("traded_price", 1.25), ("txn_type", "Z")]
)
def test_a_fill_that_changes_is_corrected(name: str, value: Any) -> None:
    corrected = {**FIRST, name: value}
    updates = list(trade_updates([FIRST, *OTHERS], [corrected, *OTHERS], [corrected, *OTHERS]))
    assert [events(update) for update in updates[1:]] == [[("corrected", (name,))], []]
    (change,) = updates[1].changes
    assert change.trade is not None
    assert change.previous is not None
    assert (change.previous[name], change.trade[name]) == (FIRST[name], value)
    shown = repr(change)
    assert shown.startswith("<TradeChange corrected 0 ")
    assert f"{name}: " in shown


def test_a_fill_that_vanishes_is_busted_and_may_return() -> None:
    changed = {**FIRST, "quantity": 7}
    updates = list(trade_updates([FIRST, *OTHERS], OTHERS, OTHERS, [*OTHERS, changed]))
    assert [events(update) for update in updates[1:]] == [
        [("busted", ())], [], [("returned", ())],
    ]  # fmt: skip
    (busted,), (back,) = updates[1].changes, updates[3].changes
    assert busted.trade is None
    assert busted.previous is not None
    assert busted.previous.trade_no == "0"
    assert "busted 0" in repr(busted)
    assert (back.previous, back.trade and back.trade.quantity) == (None, 7)


def test_a_fill_without_a_number_is_itself_wherever_it_is_in_the_book() -> None:
    first, second = ({**FIRST, "trade_no": None, "quantity": number} for number in (5, 6))
    updates = list(trade_updates([first], [second, first], [first, second], [second, first, first]))
    assert [events(update) for update in updates] == [
        [("fill", ())],
        [("fill", ())],
        [],
        [("fill", ())],
    ]
    assert [fill.quantity for fill in updates[1].fills] == [6]


# -- orders --


@pytest.mark.parametrize("name", IDENTITY["Order"])
def test_an_order_whose_key_arrives_later_is_not_new(name: str) -> None:
    (first, other) = some_orders(2)
    updates = list(order_updates([{**first, name: None}, other], [first, other]))
    assert reported(updates[1]) == [("changed", "0", (name,))]


def test_child_legs_are_orders_of_their_own() -> None:
    """In another row order nothing has changed; if the first goes, it is gone."""
    (base,) = some_orders(1)
    one, two = ({**base, "child_leg_unq_id": leg, "status": f"leg {leg}"} for leg in (1, 2))
    updates = list(order_updates([one, two], [two, one], [two]))
    assert [reported(update) for update in updates[1:]] == [[], [("gone", "0", ())]]
    assert updates[2].changes[0].order.child_leg_unq_id == 1


def test_rows_of_one_key_in_another_order_are_no_change() -> None:
    (base,) = some_orders(1)
    rows = [{**base, "status": f"row {number}"} for number in range(3)]
    updates = list(order_updates(rows, rows[::-1], [rows[2], {**rows[0], "price": 1.5}, rows[1]]))
    assert [reported(update) for update in updates[1:]] == [[], [("changed", "0", ("price",))]]


def test_clients_have_orders_of_one_number() -> None:
    (base,) = some_orders(1)
    updates = list(order_updates([base], [base, {**base, "client_id": "C2"}]))
    assert [change.order.client_id for change in updates[1].changes] == ["C2"]


def test_a_number_of_another_day_is_another_order() -> None:
    (base,) = some_orders(1, **{ENTERED: "2026-01-06 10:00:00"})
    updates = list(order_updates([base], [], [{**base, ENTERED: "2026-01-07 10:00:00"}], [base]))
    assert [[kind for kind, *_ in reported(update)] for update in updates] == [
        ["new"], [], ["new"], ["returned"],
    ]  # fmt: skip


def test_the_rest_of_a_cleared_book_is_busted_once_most_are_back() -> None:
    six = some_trades(6)
    updates = list(trade_updates(six, [], six[:2], six[:4], six[:4], six))
    assert [update.cleared for update in updates] == [False, True, False, False, False, False]
    assert [[kind for kind, _ in events(update)] for update in updates[2:]] == [
        [], ["busted", "busted"], [], ["returned", "returned"],
    ]  # fmt: skip


def test_what_was_known_in_another_zone_and_left_is_known_when_it_returns() -> None:
    rows = some_orders(6)
    known = order_book(rows).localize("Asia/Kolkata")
    updates = list(order_updates(rows[1:], rows, previous=known))
    assert [reported(update) for update in updates] == [
        [("gone", "0", ())],
        [("returned", "0", ())],
    ]
