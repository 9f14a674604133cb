"""The sandbox's stock search: what is found, and how it is paged."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from sandbox_calls import PATHS, call, column, search
from tradingdata import sandbox


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start(orders=0) as running:
        yield running


@pytest.mark.parametrize(
    "query", ["RELIANCE", "reliance", "500325", "Reliance Industries", " TCS "]
)
def test_stocks_are_found_by_symbol_code_or_name_in_any_case(
    day: sandbox.Service, query: str
) -> None:
    expected = "TCS" if "TCS" in query else "RELIANCE"
    assert search(day, query)[0]["nsesymbol"] == expected


def test_an_exact_symbol_comes_first_and_the_rest_by_size(day: sandbox.Service) -> None:
    found = search(day, "oil", limit=100)
    assert found[0]["nsesymbol"] == "OIL"
    sizes = column(found[1:], "mcap")
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) > 1


def test_page_and_limit_are_1_and_10_unless_asked(day: sandbox.Service) -> None:
    first = search(day, "bank")
    assert len(first) == 10
    assert first == search(day, "bank", page=1, limit=10)


@pytest.mark.parametrize("limit", [1, 7, 10, 100, 3000])
def test_pages_join_to_the_whole_and_end_with_an_empty_one(
    day: sandbox.Service, limit: int
) -> None:
    whole = column(search(day, "tata", limit=10_000), "co_code")
    joined: list[int] = []
    page = 1
    while rows := search(day, "tata", page=page, limit=limit):
        assert len(rows) <= limit
        joined += column(rows, "co_code")
        page += 1
    assert joined == whole
    assert len(joined) > 10
    assert call(day, "GET", f"{PATHS['search']}?query=tata&page={page + 1000}").body == b"[]"


def test_what_nobody_is_called_finds_nothing(day: sandbox.Service) -> None:
    assert search(day, "no such company") == []
    assert search(day, "\N{DEVANAGARI LETTER KA}") == []
    assert search(day, "INE002A01018") == []


def test_a_query_may_hold_any_character(day: sandbox.Service) -> None:
    assert search(day, "M&M")[0]["nsesymbol"] == "M&M"
    assert search(day, "dr. reddy's")[0]["nsesymbol"] == "DRREDDY"
    assert search(day, "a" * 10_000) == []
    path = f"{PATHS['search']}?query={quote('#%00?/')}"
    assert call(day, "GET", path).body == b"[]"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?page=1",
        "?query=",
        "?query=%20",
        "?query=tata&page=0",
        "?query=tata&page=-1",
        "?query=tata&limit=0",
        "?query=tata&limit=ten",
        "?query=tata&page=1.5",
        "?query=tata&page=" + "9" * 30,
        "?query=tata&limit=\N{SUPERSCRIPT TWO}",
    ],
)
def test_a_query_that_makes_no_sense_is_refused(day: sandbox.Service, query: str) -> None:
    response = call(day, "GET", PATHS["search"] + quote(query, safe="?=&%"))
    assert response.status == 400
    assert response.json["status"] == "error"
    assert response.json["message"]
