"""Searches with a service that behaves: what is requested, returned and reported."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

import tradingdata as td
from searching import Read, both, codes, kinds, listing, pages_asked, replayed
from service import Service, delay, html_reply, json_reply, pages, stocks

pytestmark = pytest.mark.sanitize

ROWS = stocks(25)


@both
@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("size", [1, 5, 10, 25, 100])
def test_every_row_comes_once_and_in_order(
    service: Service, read: Read, size: int, prefetch: int
) -> None:
    service.choose(pages(ROWS))
    reading = read(service.base_url, page_size=size, prefetch=prefetch)
    assert reading.codes == codes(ROWS)
    assert reading.error is None
    assert reading.warnings == []
    stats = reading.pager.stats
    assert stats.pages == len(reading.pages) == -(-25 // size)
    assert (stats.items, stats.duplicates, stats.ended) == (25, 0, "empty page")
    assert stats.requests >= len(service.requests)  # what was in vain may have been taken back
    assert not stats.doubtful


@kinds
def test_rows_and_all_and_first_agree(service: Service, kind: str) -> None:
    service.choose(pages(ROWS))
    whole = replayed(lambda client: client.search("x", page_size=7).all(), service.base_url, kind)
    assert isinstance(whole, td.StockList)
    assert codes(whole.to_dicts()) == codes(ROWS)
    some = replayed(lambda client: client.search("x", page_size=7).first(9), service.base_url, kind)
    assert some == whole[:9]
    assert sorted(pages_asked(service)[-2:]) == [1, 2], "only the pages that it needs"

    def rows(client: Any) -> Any:
        search = client.search("x", page_size=7)
        if kind == "sync":
            return list(search)

        async def read() -> list[td.Stock]:
            return [stock async for stock in search]

        return read()

    assert replayed(rows, service.base_url, kind) == list(whole)


def test_nothing_is_asked_until_a_row_is_wanted(service: Service) -> None:
    service.choose(pages(ROWS))
    with td.Client(service.base_url) as client:
        search = client.search("x")
        pages_of_it = search.pages()
        assert repr(search) == "<SearchPager 'x', not started>"
        assert search.stats == td.types.SearchStats(0, 0, 0, 0, None, False)
        assert service.requests == []
        assert len(next(pages_of_it)) == 25


def test_each_iteration_starts_afresh(service: Service) -> None:
    service.choose(pages(ROWS))
    with td.Client(service.base_url) as client:
        search = client.search("x", page_size=10)
        assert search.stats == td.types.SearchStats(0, 0, 0, 0, None, False)
        assert len(list(search)) == len(list(search)) == 25
        assert search.stats.items == 25
        one, other = iter(search), iter(search)
        assert [next(one).co_code, next(other).co_code, next(one).co_code] == [100, 100, 101]


def test_its_repr_is_short_and_says_how_far_it_is(service: Service) -> None:
    service.choose(pages(ROWS))
    with td.Client(service.base_url) as client:
        search = client.search("x" * 500, page_size=10)
        assert len(repr(search)) < 100
        search = client.search("tata", page_size=10)
        rows = iter(search)
        next(rows)
        assert repr(search) == "<SearchPager 'tata': 10 stocks so far, next page 1>"
        list(rows)
        assert repr(search) == "<SearchPager 'tata': 25 stocks so far, ended: empty page>"


class TestWhereToGoOn:
    """`page` never steps over a row that the reader does not have."""

    @pytest.mark.parametrize("taken", [0, 1, 9, 10, 11, 20, 24, 25])
    def test_after_a_loop_that_was_left(self, service: Service, taken: int) -> None:
        service.choose(pages(ROWS))
        with td.Client(service.base_url) as client:
            search = client.search("x", page_size=10)
            before: list[Any] = [stock.co_code for stock in islice(search, taken)]
            rest = client.search("x", page_size=10, start_page=search.page)
            assert sorted({*before, *(stock.co_code for stock in rest)}) == codes(ROWS)


def test_as_many_pages_as_wanted_stay_requested_ahead_of_each(service: Service) -> None:
    service.choose(pages(stocks(60)))
    with td.Client(service.base_url) as client:
        search = client.search("x", page_size=5, prefetch=3, max_items=40)
        requested = [search.stats.requests for _ in search.pages()]
    assert requested == [4, 5, 6, 7, 8, 8, 8, 8]


def test_pages_keep_to_their_own_time_limit(service: Service) -> None:
    choice = pages(ROWS)
    service.choose(lambda request: delay(0.4, choice(request)))
    with td.Client(service.base_url, timeout=20) as client:
        assert len(client.search("x", page_size=5, prefetch=0, timeout=2).all()) == 25
        with pytest.raises(td.DeadlineError) as caught:
            client.search("x", page_size=5, timeout=0.1).all()
    assert caught.value.page == 1


def test_the_last_page_s_response_is_there_and_a_part_has_none(service: Service) -> None:
    service.choose(listing(ROWS[:5], ROWS[3:8]))
    moved = pytest.warns(td.DataWarning, match="the list was changing")
    with td.Client(service.base_url, account="desk1") as client, moved:
        whole, part = client.search("x", page_size=5).pages()
    assert whole.response is not None
    assert (whole.response.account, whole.response.status_code) == ("desk1", 200)
    assert whole.response.attempts == 1
    assert (len(part), part.response) == (3, None)


def test_a_warning_points_to_the_line_that_reads(service: Service) -> None:
    service.script(then=json_reply([{"co_code": 1}]))
    with td.Client(service.base_url) as client:
        search = client.search("x", page_size=5)
        ways: dict[str, Callable[[], object]] = {
            "for": lambda: list(search),
            "pages": lambda: list(search.pages()),
            "all": lambda: search.all(),
            "first": lambda: search.first(1),
        }
        for read in ways.values():
            with pytest.warns(td.DataWarning) as caught:
                read()
            assert {warning.filename for warning in caught} == {__file__}


tqdm = pytest.importorskip("tqdm.auto").tqdm


@kinds
def test_the_bar_is_closed_at_the_end_and_by_an_error(
    service: Service, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(client: Any) -> Any:
        return client.search("x" * 500, page_size=10, progress=True).all()

    service.choose(pages(ROWS))
    replayed(read, service.base_url, kind)
    shown = capsys.readouterr().err
    assert "25 stocks" in shown
    assert "x" * 100 not in shown
    service.choose(pages(ROWS, faults={2: [html_reply()]}))
    with pytest.raises(td.DecodeError):
        replayed(read, service.base_url, kind)
    assert "10 stocks" in capsys.readouterr().err
    assert not tqdm._instances


def test_the_bar_is_closed_by_leaving_the_loop(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.choose(pages(ROWS))
    with td.Client(service.base_url) as client:
        for _ in client.search("x", page_size=10, progress=True):
            break
    assert not tqdm._instances
    assert "10 stocks" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
def test_where_tqdm_is_missing_it_is_said_before_anything_is_asked(
    service: Service, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"needs tqdm, .*: pip install"):
        kind(service.base_url).search("x", progress=True)
    kind(service.base_url).search("x")
