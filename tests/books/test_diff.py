"""``orders.diff(previous)``: what is new, changed and gone, in books of every making."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import tradingdata as td
from service import as_json, envelope, orders
from tradingdata import _core

Record = dict[str, Any]
(DECLARED,) = (record for record in _core.records() if record["name"] == "Order")
ENTERED = DECLARED["event_times"][0]
TIMES = [name for name, kind, _, _ in _core.fields_of("Order") if kind == "timestamp"]
(PERSONAL,) = (name for name, _, _, personal in _core.fields_of("Order") if personal)
KEY = (*DECLARED["identity"], ENTERED)


def book(records: list[Record], **options: Any) -> td.OrderBook:
    return td.OrderBook.from_json(as_json(envelope(records)), **options)


def reported(
    changes: tuple[td.types.OrderChange, ...],
) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [(change.kind, change.order.order_no, change.fields) for change in changes]


def day(count: int = 5, **overrides: Any) -> list[Record]:
    return orders(count, order_no=str, **overrides)


def test_every_field_but_times_and_account_numbers_counts() -> None:
    (before,) = day(1)
    other: dict[str, Any] = {"text": "other", "number": -5.5, "date": "2031-01-01"}
    for name, kind, _, _ in _core.fields_of("Order"):
        if name in KEY or name not in before:
            continue
        value = other.get(kind, "2031-01-01 10:00:00")
        found = book([{**before, name: value}]).diff(book([before]), ignore=())
        counts = kind != "timestamp" and name != PERSONAL
        assert [change.fields for change in found] == ([(name,)] if counts else [])


def test_unknown_fields_count_and_can_be_ignored() -> None:
    before = day(2)
    after = [{**before[0], "mood": "good"}, before[1]]
    (change,) = book(after).diff(book(before))
    assert change.fields == ("mood",)
    assert change.order["mood"] == "good"
    assert repr(change).startswith(f"<OrderChange changed 0 {before[0]['display_name']} ")
    assert repr(change).endswith(" (mood: None -> 'good')>")
    assert book(after).diff(book(before), ignore=("row_no", "mood")) == ()
    (gone,) = book(before).diff(book(after))
    assert gone.fields == ("mood",)
    assert repr(gone).endswith(" (mood: 'good' -> None)>")


def test_books_of_every_making_are_compared_alike() -> None:
    before, after = day(6, status="Pending"), day(6, status="Pending")
    after[3]["status"] = "a status of some length"
    first, second = book(before), book(after)
    wanted = [("changed", "3", ("status",))]
    gathered = second.filter(status={"Pending", "a status of some length"})
    for now in (second, second[:], gathered, second[::-1], td.OrderBook(list(second))):
        for previous in (first, td.concat([first[4:], first[:4]]), td.OrderBook(list(first))):
            assert reported(now.diff(previous)) == wanted
    assert reported(second[2:4].diff(first[2:4])) == wanted
    assert reported(pickle.loads(pickle.dumps(second)).diff(first)) == wanted


def test_zones_do_not_count_and_the_records_keep_theirs() -> None:
    before, after = day(2), day(2)
    after[0]["status"] = "Other"
    (change,) = book(after).localize("Asia/Kolkata").diff(book(before))
    assert change.order == book(after).localize("Asia/Kolkata")[0]
    assert change.previous == book(before)[0]
    assert book(before).localize("Asia/Kolkata").diff(book(before)) == ()


def test_no_change_shows_an_account_number() -> None:
    before = book([{**day(1)[0], "panNo": "ABCDE1234F"}], keep_personal_data=True)
    after = book([{**day(1)[0], "panNo": "QQCDE1234F"}], keep_personal_data=True)
    (change,) = after.diff(before)
    assert change.fields == ("panNo",)
    assert repr(change).endswith("(panNo)>")


def test_a_change_of_an_order_that_lacks_its_names_prints_what_is_known() -> None:
    changes = td.OrderBook([td.Order(order_no="1"), td.Order(symbol="INFY")]).diff(td.OrderBook())
    assert list(map(repr, changes)) == ["<OrderChange new 1>", "<OrderChange new INFY>"]


def test_the_records_of_a_diff_own_their_storage() -> None:
    records = day(2000)
    now, before = book([{**record, "price": 1e6} for record in records]), book(records)
    change = now.diff(before)[1234]
    assert change.previous is not None
    wanted = (now[1234], before[1234])
    for record in (change.order, change.previous):
        rows = _core.slice_of(record)
        assert rows.table_rows <= 32
        assert rows.body is None
    del now, before
    gc.collect()
    assert (change.order, change.previous) == wanted
    assert pickle.loads(pickle.dumps(change)) == change
