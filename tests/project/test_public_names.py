"""What completion offers, and what is suggested for a misspelt name."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import tradingdata as td
from tradingdata import analysis, dask, sandbox

BOOK = td.TradeBook([td.Trade(quantity=5, symbol="INFY"), td.Trade(quantity=7, symbol="TCS")])


@pytest.mark.parametrize(
    "module", [td, analysis, sandbox, dask], ids=lambda module: module.__name__
)
def test_completion_offers_the_public_names_only(module: Any) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_completion_of_a_record_offers_its_fields_only() -> None:
    assert {name for name in dir(BOOK[0]) if not name.startswith("_")} == set(BOOK.columns)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("realized_pnl", "realised_pnl"), ("Clinet", "Client"), ("positionss", "positions")],
)
def test_a_misspelt_name_of_the_package_gets_a_suggestion(wrong: str, right: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{wrong}'; did you mean '{right}'\?"):
        getattr(td, wrong)


def test_private_names_are_not_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tools probe modules for names such as `__wrapped__`; difflib would only slow them."""
    monkeypatch.setitem(sys.modules, "difflib", None)
    assert not hasattr(td, "__wrapped__")
    assert not hasattr(BOOK, "__wrapped__")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("to_panda", "TradeBook has no attribute 'to_panda'; did you mean 'to_pandas'"),
        ("localise", "TradeBook has no attribute 'localise'; did you mean 'localize'"),
        ("sybmol", "Trade has no field 'sybmol'; did you mean 'symbol'"),
        ("symbol", "read a column with"),
    ],
)
def test_a_misspelt_attribute_of_a_book_gets_a_suggestion(wrong: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        getattr(BOOK, wrong)


@pytest.mark.parametrize(
    ("keyword", "hint"),
    [
        ("quantity__gte", "did you mean quantity__ge="),
        ("quantity__lte", "did you mean quantity__le="),
        ("quantity__betwen", "did you mean quantity__between="),
        ("symbol__in", r"for any of several symbol=\{...\}"),
    ],
)
def test_a_comparison_of_another_library_gets_a_suggestion(keyword: str, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        BOOK.filter(**{keyword: 5})
    with pytest.raises(TypeError, match="is not a comparison"):
        BOOK.filter(quantity__xyzzy=5)


def test_a_minus_sorts_one_field_in_descending_order() -> None:
    rows = [td.Trade(symbol=symbol, quantity=n) for symbol in ("A", "B") for n in (1, 2)]
    book = td.TradeBook([*rows, td.Trade(symbol="A")])
    found = [(trade.symbol, trade.quantity) for trade in book.sort("symbol", "-quantity")]
    assert found == [("A", 2), ("A", 1), ("A", None), ("B", 2), ("B", 1)]
    assert book.sort("-symbol", "quantity", reverse=True) == book.sort("symbol", "-quantity")
    assert book.sort("-quantity") == book.sort("quantity", reverse=True)
    with pytest.raises(KeyError, match="no field 'qauntity'; did you mean 'quantity'"):
        book.sort("-qauntity")
    with pytest.raises(ValueError, match="twice"):
        book.sort("quantity", "-quantity")


def test_required_returns_the_value_or_raises() -> None:
    assert td.required(BOOK[0].quantity) == 5
    assert td.required(0.0) == 0.0
    assert td.required("") == ""
    with pytest.raises(ValueError, match=r"missing \(None\): `issues`"):
        td.required(BOOK[0].traded_price)
