"""The pager against a service that returns any pages at all: nothing is lost in silence."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tradingdata as td
from service import Behaviour, Record, Request, Service, json_reply, stocks

ROWS = stocks(12)
BLOCKS = st.lists(st.lists(st.sampled_from(ROWS), max_size=5), max_size=12)


@pytest.fixture(scope="module")
def desk() -> Iterator[tuple[Service, td.Client]]:
    with Service() as service, td.Client(service.base_url, attempts=1) as client:
        yield service, client


@given(responses=BLOCKS, size=st.integers(1, 5), prefetch=st.sampled_from([0, 1, 8]),
       dear=st.integers(0, 2**12))  # fmt: skip
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_any_sequence_of_pages_loses_nothing_and_ends(
    desk: tuple[Service, td.Client],
    responses: list[list[Record]],
    size: int,
    prefetch: int,
    dear: int,
) -> None:
    """Any pages at all: repeats, gaps, other lengths, the same code at another price."""
    sent = [
        [{**row, "mcap": 1.0} if dear >> number & 1 else row for row in rows]
        for number, rows in enumerate(responses)
    ]

    def choose(request: Request) -> Behaviour:
        page = int(dict(request.query)["page"])
        return json_reply(sent[page - 1] if page <= len(sent) else [])

    service, client = desk
    service.choose(choose)
    search = client.search("x", page_size=size, prefetch=prefetch)
    pages: list[td.StockList] = []
    error = None
    try:
        pages.extend(search.pages())
    except td.PaginationError as caught:
        error = caught
    came = [{(row["co_code"], row["mcap"]) for row in page} for page in sent]
    for number, page in enumerate(pages):  # new rows all of them, old ones none
        new = came[number].difference(*came[:number])
        assert {(stock.co_code, stock.mcap) for stock in page} == new
    behind = len(pages)
    if error is not None:
        assert error.received == td.concat([td.StockList(), *pages])
        assert error.page == search.page == behind + 1
    elif search.stats.ended == "empty page":
        assert behind == len(sent) or not sent[behind]
    else:
        assert search.stats.ended == "repeated page"
        known = [{code for code, _ in page} for page in came]  # at whatever price
        assert known[behind] <= set().union(*known[:behind])
        assert search.stats.doubtful or len(sent[behind]) < len(sent[0])
    assert search.stats.requests <= 2 * behind + 3 + prefetch
