"""How cells are drawn and cut, and what a price or a number looks like."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

import tradingdata as td
from cases import KEY_OF_C1, made
from tradingdata.display import aligned, cell_width, cut, group


@pytest.mark.parametrize("text", ["日本", "😀", "नमस्ते", "한글", "é", "e\u0301", "a…b"])
def test_a_cell_is_as_wide_as_a_terminal_draws_it(text: str) -> None:
    assert cell_width(text) == cell_len(text)
    assert cell_width(f"INFY {text}") == 5 + cell_len(text)
    for most in range(1, 4):
        assert cell_width(cut(text * 5, most)) <= most


@pytest.mark.parametrize(
    ("text", "most", "shown"),
    [("e\u0301xy", 2, "e\u0301…"), ("कुमार", 2, "कु…"), ("日本語", 4, "日…"), ("plain", 3, "pl…")],
)
def test_a_letter_that_is_kept_keeps_its_marks(text: str, most: int, shown: str) -> None:
    assert cut(text, most) == shown


def test_wide_characters_keep_the_columns_in_line() -> None:
    lines = aligned(
        ["name", "n"], [["日本電気", "1"], ["😀", "22"], ["plain", "333"]], [False, True]
    )
    assert {cell_len(line) for line in lines.splitlines()} == {2 + 8 + 2 + 3}


def test_an_order_without_a_price_is_at_market() -> None:
    orders = td.OrderBook([td.Order(price=0.0), td.Order(price=10.5)])
    shown = repr(orders)
    assert "at market" in shown
    assert "10.50" in shown
    assert "at market" in orders._repr_html_()
    assert orders.to_dict(["price"]) == {"price": [0.0, 10.5]}
    assert orders.to_csv(None, ["price"]).splitlines() == ["price", "0.0", "10.5"]


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0, 0, "0"),
        (999, 0, "999"),
        (1000, 0, "1,000"),
        (99_999, 0, "99,999"),
        (100_000, 0, "1,00,000"),
        (12_345_678, 0, "1,23,45,678"),
        (1_234_567.5, 2, "12,34,567.50"),
        (-1_234_567.5, 2, "-12,34,567.50"),
        (0.005, 1, "0.0"),
        (-0.004, 2, "0.00"),
        (-100, 0, "-100"),
        (None, 2, ""),
    ],
)
def test_numbers_are_grouped_the_indian_way(value: float | None, decimals: int, text: str) -> None:
    assert group(value, decimals) == text


KEY = list(KEY_OF_C1)


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_what_tells_rows_apart_is_shown_on_any_screen(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One name in two products, and two expiries whose names differ in the middle."""
    monkeypatch.setenv("COLUMNS", str(columns))
    names = {"C1": "BANKNIFTY 24 NOV 59200 CALL", "C2": "BANKNIFTY 29 DEC 59200 CALL"}
    trades = td.TradeBook(
        made(number, "B", 9_999, 123.45, "16 10:00")._replace(
            **{KEY[3]: security, KEY[-1]: product, "display_name": name}
        )
        for number, (security, name) in enumerate(names.items())
        for product in ("I", "M")
    )
    for table in (td.positions(trades), td.realised_pnl(trades)):
        lines = [line for line in repr(table).splitlines() if "CALL" in line]
        assert len(set(lines)) == 4, "their numbers are the same"
