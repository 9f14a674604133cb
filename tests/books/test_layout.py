"""How a table is fitted to a width: which columns it shows, and how its texts are cut."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

import tradingdata as td
from tradingdata.display.plain_table import cell_width, cut, group, table
from tradingdata.display.text import GAP, fitted, wrapped


@pytest.mark.parametrize("room", range(1, 120))
def test_columns_fit_and_the_important_ones_are_the_last_to_go(room: int) -> None:
    natural, least, order = [40, 8, 12, 13, 30], [14, 8, 12, 13, 14], [0, 3, 2, 4, 1]
    widths = fitted(natural, least, order, 3, room)
    assert list(widths) == order[: len(widths)]
    assert sum(widths.values()) + GAP * (len(widths) - 1) <= max(room, least[0])
    assert all(least[at] <= width <= natural[at] for at, width in widths.items())
    essential = sum(least[at] + GAP for at in order[:3]) - GAP
    assert (len(widths) >= 3) == (room >= essential)
    if room >= sum(natural) + GAP * 4:
        assert list(dict(sorted(widths.items())).values()) == natural


def test_a_text_that_has_the_screen_to_itself_is_not_cut() -> None:
    assert fitted([50], [14], [0], 1, 60) == {0: 50}
    assert fitted([50, 8], [14, 8], [0, 1], 2, 40) == {0: 30, 1: 8}


def test_a_number_of_an_order_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    order = td.Order(order_no="261120001000001", display_name="A name of a certain length")
    shown = repr(td.reconcile(td.OrderBook([order]), td.TradeBook()))
    assert "261120001000001" in shown


@pytest.mark.parametrize("text", ["日本", "😀", "नमस्ते", "한글", "é", "e\u0301", "a…b"])
def test_a_cell_is_as_wide_as_a_terminal_draws_it(text: str) -> None:
    assert cell_width(text) == cell_len(text)
    assert cell_width(f"INFY {text}") == 5 + cell_len(text)
    for most in range(1, 4):
        assert cell_width(cut(text * 5, most)) <= most


def test_wide_characters_keep_the_columns_in_line() -> None:
    lines = table(["name", "n"], [["日本電気", "1"], ["😀", "22"], ["plain", "333"]], right="lr")
    assert {cell_len(line) for line in lines.splitlines()} == {2 + 8 + 2 + 3}


@pytest.mark.parametrize("width", [30, 40, 60, 200])
def test_a_heading_breaks_between_its_parts(width: int) -> None:
    parts = ["3 trades of 2025-01-06", "account desk1", "received at 10:01:02 UTC"]
    lines = wrapped(", ".join(parts), width).splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(line.strip() for line in lines) == ", ".join(parts)
    assert all(any(part in line for line in lines) for part in parts)


def test_an_order_without_a_price_is_at_market() -> None:
    orders = td.OrderBook([td.Order(price=0.0), td.Order(price=10.5)])
    shown = repr(orders)
    assert "at market" in shown
    assert "10.50" in shown
    assert "at market" in orders._repr_html_()
    assert orders.to_dict(["price"]) == {"price": [0.0, 10.5]}
    assert orders.to_csv(None, ["price"]).splitlines() == ["price", "0.0", "10.5"]


def test_a_stop_order_without_a_price_shows_its_trigger_until_it_trades() -> None:
    waiting = td.Order(price=0.0, trigger_price=101.5, traded_qty=0)
    assert "trigger 101.50" in repr(td.OrderBook([waiting]))
    traded = td.Order(price=0.0, trigger_price=101.5, traded_qty=5)
    assert "at market" in repr(td.OrderBook([traded]))


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
