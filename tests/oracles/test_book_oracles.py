"""`check()` and `diff()` on random books, against models that are written from their docstrings."""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter
from typing import Any

import pytest

import tradingdata as td
from service import as_json, envelope
from worlds import world
from worlds.orders import orders_of

SEEDS = range(25)
Record = dict[str, Any]


def sent(rows: Any) -> list[Record]:
    """Rows as a service sends them, numbered."""
    records: list[Record] = [json.loads(json.dumps(row._asdict(), default=str)) for row in rows]
    for number, record in enumerate(records):
        record.pop("account")
        record["row_no"] = number
    return records


def trades_of(rng: random.Random) -> list[Record]:
    return sent(event.row for event in world(rng).events)


def orders_of_a_day(rng: random.Random) -> list[Record]:
    """The last state of each leg, which differ in their keys."""
    while True:
        made = world(rng)
        if made.has_orders:
            return sent(orders_of(made, rng).last)


def decoded(kind: Any, records: list[Record]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        return kind.from_json(as_json(envelope(records)))


def damaged(rng: random.Random, records: list[Record], changes: list[Record]) -> None:
    for record in records:
        if rng.random() < 0.4:
            record |= rng.choice(changes)


def row_numbers(records: list[Record]) -> dict[str, int]:
    """How many rows repeat a number, and before how many numbers are left out."""
    counts = Counter(record["row_no"] for record in records)
    repeated = len(records) - len(counts)
    lacking = sum(number - 1 not in counts for number in counts) - 1
    return {name: n for name, n in (("repeated", repeated), ("lacking", lacking)) if n}


def compared(issues: Any) -> dict[str, int]:
    """The counts of issues by field; the two kinds of those of row numbers by what they say."""
    kinds = {"comes more than once": "repeated", "numbers before it are left out": "lacking"}
    return {
        kinds[issue.problem] if issue.field == "row_no" else issue.field: issue.count
        for issue in issues
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_check_reports_what_contradicts_itself_in_trades(seed: int) -> None:
    rng = random.Random(seed)
    records = trades_of(rng)
    for record in records:
        record |= {"lot_size": 1, "trade_value": record["quantity"] * record["traded_price"]}
    lots = {"quantity": 3, "traded_price": 10.25, "trade_value": 3 * 10.25 * 50, "lot_size": 50}
    wrong = {"quantity": 3, "traded_price": 10.25, "trade_value": 3 * 10.25 * 50, "lot_size": 25}
    changes: list[Record] = [
        *(lots, wrong, {"quantity": None}, {"trade_value": None}, {"traded_price": None}),
        *({"trade_value": 1e6 + 0.5}, {"traded_price": 0, "trade_value": 0}),
        {"traded_price": 0, "trade_value": 99},
        {"row_no": rng.choice(records)["row_no"]},
    ]
    damaged(rng, records, changes)

    def contradicts(record: Record) -> bool:
        known = [record[name] for name in ("quantity", "traded_price", "trade_value")]
        if None in known:
            return False
        product = known[0] * known[1]
        return all(abs(known[2] - each) > 1 for each in (product, product * record["lot_size"]))

    wanted = {
        "trade_value": sum(map(contradicts, records)),
        "traded_price": sum(record["traded_price"] == 0 for record in records),
    }
    wanted = {field: count for field, count in wanted.items() if count} | row_numbers(records)
    book = decoded(td.TradeBook, records)
    assert compared(book.check()) == wanted
    part = compared(book[: len(book)].filter(quantity__ge=-1).check())
    assert not part.keys() & {"repeated", "lacking"}


@pytest.mark.parametrize("seed", SEEDS)
def test_check_reports_what_contradicts_itself_in_orders(seed: int) -> None:
    rng = random.Random(seed)
    records = orders_of_a_day(rng)
    for record in records:
        filled = record["traded_qty"] or 0
        record["quantity"] = max(record["quantity"], filled)
        record["remaining_quantity"] = record["quantity"] - filled
        record["rem_qty_tot_qty"] = f"{record['remaining_quantity']}/{record['quantity']}"
    changes: list[Record] = [
        *({"rem_qty_tot_qty": text} for text in ("1/9999", "all", "", None)),
        *({"traded_qty": 9999}, {"remaining_quantity": None}, {"quantity": None}),
        {"row_no": rng.choice(records)["row_no"]},
    ]
    damaged(rng, records, changes)

    def says_otherwise(record: Record) -> bool:
        parts = record["remaining_quantity"], record["quantity"]
        text = record["rem_qty_tot_qty"]
        if text in (None, "") or None in parts:
            return False
        return not (text[0].isdigit() and [float(each) for each in text.split("/")] == [*parts])

    def is_overfilled(record: Record) -> bool:
        parts = [record[name] for name in ("quantity", "remaining_quantity", "traded_qty")]
        return None not in parts and parts[2] > parts[0] - parts[1]

    wanted = {
        "rem_qty_tot_qty": sum(map(says_otherwise, records)),
        "traded_qty": sum(map(is_overfilled, records)),
    }
    wanted = {field: count for field, count in wanted.items() if count} | row_numbers(records)
    assert compared(decoded(td.OrderBook, records).check()) == wanted


IDENTITY = ("client_id", "exchange", "segment", "order_no", "leg_no", "child_leg_unq_id")
TIMES = ("order_date_time", "last_updated_time", "exch_order_time")
UNCOUNTED = {*TIMES, "pan_no", "row_no", "ref_ltp", "account"}


def key_of(record: Record) -> tuple[Any, ...]:
    return *(record[name] for name in IDENTITY), str(record["order_date_time"])[:10]


@pytest.mark.parametrize("seed", SEEDS)
def test_diff_is_the_difference_of_two_books(seed: int) -> None:
    rng = random.Random(seed)
    records = [
        record | {"leg_no": number, "brand_new": 1}  # each with a key of its own
        for number, record in enumerate(orders_of_a_day(rng), 1)
    ]
    before = [record for record in records if rng.random() < 0.7]
    after = rng.sample(records, rng.randint(0, len(records)))
    changes: list[Record] = [
        *({"status": "Other", "price": 7.25}, {"traded_qty": None}, {"brand_new": [2]}),
        *({"last_updated_time": "2026-11-21 10:00:00"}, {"row_no": 999}, {"ref_ltp": 1.5}),
        {"pan_no": "ABCDE1234F"},
    ]
    after = [record | rng.choice([{}, *changes]) for record in after]
    ignore = rng.choice([("row_no", "ref_ltp"), ("status", "brand_new")])

    counted = UNCOUNTED - {"row_no", "ref_ltp"} | set(ignore)
    known = {key_of(record): record for record in before}
    names = [name for name in td.Order()._asdict() if name not in counted]
    names += [] if "brand_new" in ignore else ["brand_new"]
    wanted: list[Any] = []
    for record in after:
        old = known.pop(key_of(record), None)
        if old is None:
            wanted.append(("new", key_of(record), ()))
            continue
        fields = tuple(name for name in names if old.get(name) != record.get(name))
        wanted += [("changed", key_of(record), fields)] if fields else []
    wanted += [("gone", key, ()) for key in known]

    found = decoded(td.OrderBook, after).diff(decoded(td.OrderBook, before), ignore=ignore)
    assert [(c.kind, key_of(c.order._asdict()), c.fields) for c in found] == wanted
