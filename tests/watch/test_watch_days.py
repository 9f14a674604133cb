"""What a watch reports, poll by poll: a table of days. No waiting, no service.

A day is what the service returns to one poll after another, and what the update of each says.
"""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from tradingdata import _core
from tradingdata.watch.updates import KnownOrders
from watch.watching import (
    Record,
    order_book,
    order_updates,
    some_orders,
    some_trades,
    trade_book,
    trade_updates,
)

(ORDER,), (TRADE,) = some_orders(1), some_trades(1)
IDENTITY = {
    record["name"]: [name for name in record["identity"] if name in sent]
    for record, sent in zip(_core.records(), (TRADE, ORDER), strict=False)
}  # without the account, which no response has
TIMES = [name for name, kind, _, _ in _core.fields_of("Trade") if kind == "timestamp"]
EVENT = {record["name"]: record["event_times"] for record in _core.records()}
TRADED, ORDERED, ENTERED = *EVENT["Trade"], EVENT["Order"][0]
OTHERS, SIX, FULL = some_trades(4)[1:], some_trades(6), some_orders(6)
LATE = [(name, value) for name in (*TIMES, *IDENTITY["Trade"]) for value in (None, "")]
LEGS = [ORDER | {"child_leg_unq_id": leg, "status": f"leg {leg}"} for leg in (1, 2)]
ROWS = [ORDER | {"status": f"row {number}"} for number in range(3)]
Days = dict[str, list[tuple[list[Record], str]]]


def after(change: Record, at: str = "first") -> list[Record]:
    """Four trades of which one is other than usual."""
    return [TRADE | change, *OTHERS] if at == "first" else [*OTHERS, TRADE | change]


def traded(day: int, **values: Any) -> Record:
    return TRADE | {TRADED: f"2026-01-{day:02} 10:00:00"} | values


def entered(day: int) -> Record:
    return ORDER | {ENTERED: f"2026-01-{day:02} 10:00:00"}


TRADES: Days = {
    "a side is corrected": [
        ([TRADE | {"txn_type": "B"}, *OTHERS], "4 fills"),
        ([TRADE | {"txn_type": "S"}, *OTHERS], "corrected 0 txn_type"),
    ],
    **{
        f"{name} arrives later than the rest, first {value!r}": [
            (after({name: value}), "4 fills"),
            (after({}), ""),
            (after({name: value}), ""),
        ]
        for name, value in LATE
    },
    "all of them arrive later": [
        (after(dict.fromkeys([*TIMES, *IDENTITY["Trade"][1:]])), "4 fills"),
        (after({}), ""),
    ],
    **{
        f"two of one number differ in {name}": [
            ([TRADE], "1 fills"),
            ([TRADE, TRADE | {name: "other"}], "1 fills"),
        ]
        for name in ("exchange", "segment", "order_no")
    },
    "a number comes again on another day": [
        ([traded(6)], "1 fills"),
        ([traded(7)], "1 fills, cleared"),
        ([traded(6), traded(7)], ""),
    ],
    "of two days by the time of entry": [
        (
            [traded(6, **{TRADED: "", ORDERED: f"2026-01-0{day} 10:00:00"}) for day in (6, 7)],
            "2 fills",
        )
    ],
    "without a number, as often as in a response": [
        ([TRADE | {"trade_no": ""}] * 2, "2 fills"),
        ([TRADE | {"trade_no": ""}] * 1, "busted "),
        ([TRADE | {"trade_no": ""}] * 3, "1 fills, returned "),
    ],
    "without a number, wherever it is": [
        ([TRADE | {"trade_no": None, "quantity": number} for number in (5,)], "1 fills"),
        ([TRADE | {"trade_no": None, "quantity": number} for number in (6, 5)], "1 fills"),
        ([TRADE | {"trade_no": None, "quantity": number} for number in (5, 6)], ""),
        ([TRADE | {"trade_no": None, "quantity": number} for number in (6, 5, 5)], "1 fills"),
    ],
    "a midnight after which numbers start anew": [
        ([traded(5, trade_no=str(number)) for number in range(4)], "4 fills"),
        ([], "cleared"),
        ([], ""),
        ([traded(6, trade_no="0")], "1 fills"),
        ([traded(6, trade_no=str(number)) for number in range(4)], "3 fills"),
        ([traded(day, trade_no=str(n)) for day in (6, 5) for n in range(4)], ""),
    ],
}
ORDERS: Days = {
    **{
        f"{name} arrives later": [
            ([ORDER | {name: None}, FULL[1]], f"new {'0' if name != 'order_no' else None}, new 1"),
            ([ORDER, FULL[1]], f"changed 0 {name}"),
        ]
        for name in IDENTITY["Order"]
    },
    "legs in another order, and one of them goes": [
        (LEGS, "new 0, new 0"),
        (LEGS[::-1], ""),
        (LEGS[1:], "gone 0"),
    ],
    "rows of one number in another order": [
        (ROWS, "new 0, new 0, new 0"),
        (ROWS[::-1], ""),
        ([ROWS[2], ROWS[0] | {"price": 1.5}, ROWS[1]], "changed 0 price"),
    ],
    "two clients": [([ORDER], "new 0"), ([ORDER, ORDER | {"client_id": "C2"}], "new 0")],
    "a number of another day": [
        ([entered(6)], "new 0"),
        ([], "cleared"),
        ([entered(7)], "new 0"),
        ([entered(6)], "returned 0, cleared"),
    ],
    "half of four leave at once, but one of three is gone": [
        (FULL[:4], "new 0, new 1, new 2, new 3"),
        (FULL[2:4], "cleared"),
        (FULL[2:5], "new 4"),
        (FULL[3:5], "gone 2"),
    ],
    "what ticks is no change": [
        (
            some_orders(row_no=lambda i, n=n: i + n, ref_ltp=float(n)),
            "" if n else "new 0, new 1, new 2",
        )
        for n in range(3)
    ],
}


def said(update: Any) -> str:
    """What an update reports."""
    fills = [f"{len(update.fills)} fills"] if getattr(update, "fills", ()) else []
    changes = []
    for change in update.changes:
        record = getattr(change, "order", None) or getattr(change, "trade", None) or change.previous
        number = record.order_no if isinstance(record, td.Order) else record.trade_no
        changes.append(" ".join([change.kind, str(number), *change.fields]))
    return ", ".join([*fills, *changes, *["cleared"] * update.cleared])


@pytest.mark.parametrize("name", [*TRADES, *ORDERS])
def test_a_day_of_polls(name: str) -> None:
    polls, wanted = zip(*(TRADES | ORDERS)[name], strict=True)
    updates: list[Any] = list((trade_updates if name in TRADES else order_updates)(*polls))
    assert [said(update) for update in updates] == [*wanted]
    assert [len(update[0]) for update in updates] == [*map(len, polls)]


def test_changes_have_the_record_before_and_after() -> None:
    updates = list(trade_updates(after({}), after({"quantity": 7}), OTHERS, after({})))
    (corrected,), (busted,), (back,) = (update.changes for update in updates[1:])
    assert corrected.trade is not None
    assert corrected.previous is not None
    assert (corrected.previous.quantity, corrected.trade.quantity) == (TRADE["quantity"], 7)
    assert repr(corrected).startswith("<TradeChange corrected 0 ")
    assert "quantity: " in repr(corrected)
    assert busted.trade is None
    assert "busted 0" in repr(busted)
    assert back.previous is None
    (leg,) = list(order_updates(LEGS, LEGS[1:]))[1].changes
    assert leg.order.child_leg_unq_id == 1
    asked = list(order_updates(*(some_orders(ref_ltp=float(n)) for n in range(2)), ignore=[]))
    assert asked[1].changes[0].fields == ("ref_ltp",)


@pytest.mark.parametrize("zone", [None, "Asia/Kolkata"])
def test_what_was_known_before_the_watch_is_not_new(zone: str | None) -> None:
    """In another zone too, also what is absent at first."""
    known = order_book(FULL) if zone is None else order_book(FULL).localize(zone)
    found = [said(update) for update in order_updates(FULL[1:], FULL, previous=known)]
    assert found == ["gone 0", "returned 0"]
    assert [said(update) for update in order_updates([], previous=known)] == ["cleared"]
    (update,) = trade_updates(SIX, previous=trade_book(SIX[:5]))
    assert [fill.trade_no for fill in update.fills] == ["5"]
    for updates, wrong in ((order_updates, td.TradeBook()), (trade_updates, td.OrderBook())):
        with pytest.raises(TypeError, match="previous= takes type"):
            updates(previous=wrong)


def test_an_order_that_was_absent_for_a_day_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is that of a day, however long a watch runs."""
    import datetime as dt

    state, now = KnownOrders((), None), dt.datetime(2026, 1, 6, 9, tzinfo=dt.UTC)
    monkeypatch.setattr("tradingdata.watch.updates._at", lambda _: now)
    seen = []
    for hours, body in ((0, FULL), (1, FULL[1:]), (25, FULL[1:5]), (1, FULL[1:]), (0, FULL)):
        now += dt.timedelta(hours=hours)
        seen.append(said(state.received(order_book(body))))
    assert seen[3:] == ["returned 5", "new 0"]


def test_the_fills_own_their_storage() -> None:
    (update,) = trade_updates(some_trades(500))
    assert len(update.fills) == 500
    assert max(_core.slice_of(fill).table_rows for fill in update.fills) <= 16
