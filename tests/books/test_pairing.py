"""Which record is which, against a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from service import as_json, envelope, orders
from tradingdata import _core

Record = dict[str, Any]
(DECLARED,) = (record for record in _core.records() if record["name"] == "Order")
BASE = orders(1, order_no="1")[0]
KEY = [name for name in DECLARED["identity"] if name in BASE]
KINDS = {field["name"]: field["kind"] for field in DECLARED["fields"]}
ENTERED = DECLARED["event_times"][0]


def book(records: list[Record]) -> td.OrderBook:
    return td.OrderBook.from_json(as_json(envelope(records)))


def value(name: str, number: int) -> Any:
    return float(number) if KINDS[name] == "number" else f"{number}"


@st.composite
def days(draw: st.DrawFn) -> list[Record]:
    """Orders whose keys agree in all or most fields, over two days, in any order."""
    rows = []
    for _ in range(draw(st.integers(0, 6))):
        other = draw(st.sampled_from(["", *KEY, ENTERED]) | st.just(""))  # mostly of one key
        row = BASE | {name: value(name, 1 + (name == other)) for name in KEY}
        row[ENTERED] = f"2026-01-0{5 + (other == ENTERED)} 10:00:00"
        row |= {"status": draw(st.sampled_from(["Pending", "Success"]))}
        rows.append(row | {"price": float(draw(st.integers(1, 2)))})
    return rows


def key(row: Record) -> tuple[Any, ...]:
    return (*(row[name] for name in KEY), row[ENTERED])


def difference(row: Record, other: Record) -> int:
    return sum(row[name] != other[name] for name in ("status", "price"))


def changed_fields(now: list[Record], was: list[Record]) -> int:
    """The number of fields that differ, where equal rows are pairs, and the others in order."""
    left, new = list(was), []
    for row in now:
        if row in left:
            left.remove(row)
        else:
            new.append(row)
    return sum(map(difference, new, left))


@given(days(), days(), st.randoms())
def test_a_diff_names_what_a_model_finds(was: list[Record], now: list[Record], random: Any) -> None:
    """New, gone and the changes: by key, equal ones first, and then in order."""
    changes = book(now).diff(book(was))
    for wanted in {key(row) for row in (*was, *now)}:
        before = [row for row in was if key(row) == wanted]
        after = [row for row in now if key(row) == wanted]
        found = [change for change in changes if key_of(change.order) == wanted]
        kinds = [change.kind for change in found]
        assert kinds.count("new") == max(0, len(after) - len(before))
        assert kinds.count("gone") == max(0, len(before) - len(after))
        assert sum(len(change.fields) for change in found) == changed_fields(after, before)
        for change in found:
            if change.kind == "changed":
                assert change.previous is not None
                assert change.fields == tuple(
                    name
                    for name in KINDS
                    if name in ("status", "price") and change.order[name] != change.previous[name]
                )
    shuffled = list(now)
    random.shuffle(shuffled)
    assert book(shuffled).diff(book(now)) == ()


def key_of(order: td.Order) -> tuple[Any, ...]:
    return (*(order[name] for name in KEY), f"{order[ENTERED]}")


def test_an_order_without_its_number_is_known_by_what_it_is() -> None:
    """The number of the exchange is not enough: another security makes another order."""
    numberless = BASE | {"order_no": None}
    (change,) = book([numberless]).diff(book([BASE]))
    assert (change.kind, change.fields) == ("changed", ("order_no",))
    changes = book([numberless | {"security_id": "other"}]).diff(book([BASE]))
    assert [change.kind for change in changes] == ["new", "gone"]


def test_many_rows_of_one_key_take_no_longer_than_their_number() -> None:
    """A service that loses its numbers leaves one key for a whole book."""
    rows = orders(3000, order_no=None, **{name: value(name, 1) for name in KEY[1:]})
    rows = [row | {ENTERED: "2026-01-05 10:00:00"} for row in rows]
    changed = [row | {"status": "Other"} for row in rows]
    assert len(book(changed).diff(book(rows))) == 3000
    assert book(rows[::-1]).diff(book(rows)) == ()


def test_orders_of_one_key_are_found_again_after_a_csv_file(tmp_path: Path) -> None:
    """A CSV file has empty text and a missing value as the same cell."""
    texts = {name: "" for name, kind in KINDS.items() if kind == "text" and name not in KEY}
    rows = [BASE | texts | {"price": float(price)} for price in (1, 2)]
    book(rows).save(tmp_path / "orders.csv")
    earlier = td.OrderBook.load(tmp_path / "orders.csv")
    assert book(rows[::-1]).diff(earlier) == ()
    (change,) = book([BASE | texts | {"price": 3.0}, *rows]).diff(earlier)
    assert (change.kind, change.order.price) == ("new", 3)
