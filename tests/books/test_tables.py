"""Plain text tables: Indian grouping of numbers, alignment of columns."""

from __future__ import annotations

import pytest

from tradingdata.display.plain_table import group, table


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


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    text = table(["name", "n"], [["a", "1"], ["longer", "1,000"]], right="lr")
    assert text.splitlines() == [
        "  name        n",
        "  ------  -----",
        "  a           1",
        "  longer  1,000",
    ]


def test_a_table_without_rows_is_its_head() -> None:
    assert table(["name"], []).splitlines() == ["  name", "  ----"]


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="argument"):
        table(["a", "b"], [["1", "2"], ["only one"]])
