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
    ("query", "symbol"),
    [
        *((query, "RELIANCE") for query in ("RELIANCE", "reliance", "500325", "Reliance Ind")),
        *((" TCS ", "TCS"), ("M&M", "M&M"), ("dr. reddy's", "DRREDDY")),
        *((query, None) for query in ("no such company", "क", "INE002A01018", "#%00?/")),
        ("a" * 10_000, None),
    ],
)
def test_stocks_are_found_by_symbol_code_or_name_in_any_case(
    day: sandbox.Service, query: str, symbol: str | None
) -> None:
    found = column(search(day, query), "nsesymbol")
    assert found[:1] == ([] if symbol is None else [symbol])
    assert search(day, query) == search(day, query, page=1, limit=10)


def test_an_exact_symbol_comes_first_and_the_rest_by_size(day: sandbox.Service) -> None:
    found = search(day, "oil", limit=100)
    assert found[0]["nsesymbol"] == "OIL"
    sizes = column(found[1:], "mcap")
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) > 1


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
