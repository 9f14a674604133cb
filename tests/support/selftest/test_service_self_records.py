"""The records that the scripted service sends have the document's fields, order and types."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable

import pytest

from service import Record, as_json, envelope, fields, names, orders, stocks, trades

MAKERS: dict[str, Callable[..., list[Record]]] = {
    "trade": trades,
    "order": orders,
    "stock": stocks,
}
COUNTS = {"trade": 40, "order": 68, "stock": 20}
PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "string, timestamp": (str,),
    "string, date": (str,),
    "integer": (int,),
    "number": (int, float),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_document_gives_every_field_once(kind: str) -> None:
    assert len(names(kind)) == len(set(names(kind))) == COUNTS[kind]
    assert {field.type for field in fields(kind)} <= PYTHON_TYPES.keys()


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("variety", [False, True])
def test_records_have_the_fields_in_order_and_of_their_type(kind: str, variety: bool) -> None:
    for record in MAKERS[kind](200, seed=3, variety=variety):
        assert list(record) == names(kind)
        for field in fields(kind):
            value = record[field.name]
            assert isinstance(value, PYTHON_TYPES[field.type])
            if field.type == "string, timestamp":
                assert dt.datetime.strptime(str(value), "%Y-%m-%d %H:%M:%S").hour in range(9, 16)
            if field.type == "string, date":
                assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(value))


@pytest.mark.parametrize("kind", MAKERS)
def test_the_same_seed_gives_the_same_records(kind: str) -> None:
    make = MAKERS[kind]
    assert make(50, seed=1) == make(50, seed=1)
    assert make(50, seed=1) != make(50, seed=2)
    assert make(10, seed=1) == make(50, seed=1)[:10]


@pytest.mark.parametrize("kind", ["trade", "order"])
def test_a_book_has_one_well_formed_account_number(kind: str) -> None:
    personal = next(field.name for field in fields(kind) if "personal data" in field.meaning)
    found = {str(record[personal]) for record in MAKERS[kind](100)}
    assert len(found) == 1
    assert re.fullmatch(r"[A-Z]{5}\d{4}[A-Z]", found.pop())


def test_what_follows_from_other_fields_agrees() -> None:
    for record in trades(100):
        assert record["trade_value"] == pytest.approx(
            float(str(record["quantity"])) * float(str(record["traded_price"]))
        )
    for order in orders(100):
        left, total = str(order["rem_qty_tot_qty"]).split("/")
        assert (int(left), int(total)) == (order["remaining_quantity"], order["quantity"])


def test_overrides_are_values_or_functions_of_the_index() -> None:
    book = trades(3, row_no=lambda index: index * 10, quantity=None)
    assert [record["row_no"] for record in book] == [0, 10, 20]
    assert [record["quantity"] for record in book] == [None] * 3
    with pytest.raises(TypeError, match="qty"):
        trades(1, qty=5)


def test_variety_has_the_texts_that_are_hard() -> None:
    texts = {value for record in trades(300, variety=True) for value in record.values()}
    found = [text for text in texts if isinstance(text, str)]
    assert "" in found
    assert {12, 13} <= {len(text.encode()) for text in found if not text.isascii()}
    assert {12, 13} <= {len(text.encode()) for text in found if text.isascii()}
    for sign in ("₹", "टाटा", '"', "\\", "\n", "\x00", "📈"):
        assert any(sign in text for text in found)


def test_json_is_compact_and_the_envelope_in_order() -> None:
    assert as_json(envelope([])) == b'{"data":[],"message":"Success","status":"success"}'
    assert as_json(["₹"]) == '["₹"]'.encode()
    assert as_json(["₹"], ascii_only=True) == b'["\\u20b9"]'
    book = trades(20, variety=True)
    assert json.loads(as_json(envelope(book)))["data"] == book
