"""The rules that join pages, one by one: which page is requested next, and where a list ends."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tradingdata as td
from pager.listings import Listing, read
from tradingdata import _core
from tradingdata.client.paging import Paging, row_keys
from tradingdata.errors import BadRequestError

pytestmark = pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")

Row = dict[str, Any]


def page_of(*rows: Row) -> tuple[Any, ...]:
    return _core.decode_list("Stock", json.dumps(rows).encode()), 200, 1, 0.0, 0


def numbered(first: int, count: int) -> tuple[Any, ...]:
    return page_of(*({"co_code": number} for number in range(first, first + count)))


def read_pages(*pages: list[Row], size: int) -> tuple[list[Any], Paging]:
    """The rows that are kept of these pages, behind which there are empty ones."""
    paging, kept = Paging(size, 1, None), []
    while not paging.ended:
        page = paging.due.page
        paging.receive(page_of(*(pages[page - 1] if page <= len(pages) else [])))
        if paging.page is not None:
            kept += [pages[page - 1][row] for row in paging.page.rows]
            paging.page = None
    return kept, paging


def refusal(status: int) -> td.TradingDataError:
    return BadRequestError("limit is too large", status_code=status)


# Each course: responses (the number of new rows, or an error's status), the request that follows
# each, then the end and the doubt.
COURSES: dict[str, tuple[list[Any], list[tuple[int, int] | None], str, str | None]] = {
    "an empty page behind a page shorter than requested is the end": (
        [10, 1, 0], [(2, 10), (3, 10), None], "empty page", None),
    "an empty page behind a full one is requested again, and the next one too": (
        [10, 0, 0, 0], [(2, 10), (2, 10), (3, 10), None], "empty page", None),
    "a page that was empty by mistake is read": (
        [10, 0, 10, 3, 0], [(2, 10), (2, 10), (3, 10), (4, 10), None], "empty page", None),
    "an empty page in the middle is followed by the next": (
        [10, 0, 0, 3, 0], [(2, 10), (2, 10), (3, 10), (4, 10), None], "empty page", "empty page"),
    "a 404 behind a full page is like an empty page": (
        [10, 404, 404, 404], [(2, 10), (2, 10), (3, 10), None], "empty page", None),
    "a 404 behind a short page is the end": (
        [10, 4, 404], [(2, 10), (3, 10), None], "empty page", None),
    "a 400 behind an empty page is like an empty page": (
        [10, 0, 400, 400], [(2, 10), (2, 10), (3, 10), None], "empty page", None),
    "a 400 behind a full page is an error": (
        [10, 10, 400], [(2, 10), (3, 10), None], "error", None),
    "a 404 for page 1": ([404], [None], "error", None),
    "a 403 behind a short page is an error": (
        [10, 4, 403], [(2, 10), (3, 10), None], "error", None),
    "a 400 for page 2 in the size of page 1 is the end if page 1 is there in that size": (
        [3, 400, 3], [(2, 3), (1, 3), None], "empty page", None),
    "a size that is refused for page 1 too is replaced by the one requested first": (
        [3, 422, 422, 7, 0], [(2, 3), (1, 3), (2, 10), (3, 10), None], "empty page",
        "refused size"),
    "a page 2 of the size that was requested, refused, is an error": (
        [10, 422], [(2, 10), None], "error", None),
}  # fmt: skip


@pytest.mark.parametrize("course", COURSES)
def test_each_response_leads_to_the_right_request(course: str) -> None:
    responses, requests, end, doubt = COURSES[course]
    paging = Paging(10, 1, None)
    rows = 0
    for response, following in zip(responses, requests, strict=True):
        assert paging.ended is None
        if response >= 400:
            paging.receive(td.StatusError("no", status_code=response))
        else:
            first = 0 if paging.due.page == 1 else rows
            paging.receive(numbered(first, response))
            rows = first + response
        assert following is None or paging.due == following
    assert (paging.ended, paging.doubt) == (end, doubt)


@pytest.mark.parametrize("status", [400, 422])
def test_page_1_is_requested_once_more_with_10_rows(status: int) -> None:
    paging = Paging(None, 1, None)
    for size in (100, 10):
        assert paging.due == (1, size)
        paging.receive(refusal(status))
    assert (paging.ended, paging.limit) == ("error", 10)
    assert isinstance(paging.error, BadRequestError)


@pytest.mark.parametrize(("size", "start"), [(100, 1), (None, 7)])
def test_no_other_refusal_leads_to_another_page_size(size: int | None, start: int) -> None:
    """The user's own size, and one in which page 7 would begin at another row."""
    paging = Paging(size, start, None)
    paging.receive(refusal(400))
    assert paging.ended == "error"


def test_the_same_code_with_other_content_and_rows_without_codes_are_kept() -> None:
    first: list[Row] = [{"co_code": 1, "mcap": 1.0}, {"co_code": 1, "mcap": 2.0}, {"bsegroup": "A"}]
    second: list[Row] = [first[0], {"co_code": 1, "mcap": 3.0}, first[2], {"co_code": 2}]
    taken, paging = read_pages(first, second, size=3)
    assert taken == [*first, *second[1:]]
    assert (paging.duplicates, paging.doubt) == (1, "moved rows")


@pytest.mark.parametrize("field", ["mcap", "asOf"])
@pytest.mark.parametrize("coded", [True, False])
def test_a_field_that_always_changes_makes_no_endless_search(field: str, coded: bool) -> None:
    listing = Listing(7, ignores_page=True, changing=field, coded=coded)
    outcome = read(listing, 10)
    assert outcome.paging.doubt == "moved rows"
    assert outcome.paging.ended == "repeated page"
    assert len(listing.requests) == 3
    stuck = read(Listing(30, ignores_page=True, changing=field, coded=coded), 10)
    assert isinstance(stuck.error, td.PaginationError)
    assert stuck.numbers == list(range(10))


def test_rows_that_moved_make_the_result_doubtful() -> None:
    outcome = read(Listing(25, inserted=2), 10)
    assert outcome.numbers == list(range(25))
    assert outcome.paging.doubt == "moved rows"


@pytest.mark.parametrize(("total", "doubt"), [(40, "repeated page"), (45, None)])
def test_only_a_short_last_page_that_comes_again_is_no_doubt(total: int, doubt: str | None) -> None:
    outcome = read(Listing(total, repeats_last=True), 10)
    assert (outcome.numbers, outcome.paging.ended) == (list(range(total)), "repeated page")
    assert outcome.paging.doubt == doubt


def test_rows_are_identical_by_every_value_and_unknown_field() -> None:
    base: Row = {"co_code": 1, "mcap": 5.5, "isin": "A", "x": 1, "y": 2}
    others = [{**base, "mcap": 5.6}, {**base, "isin": "B"}, {**base, "y": 3}]
    others += [{key: base[key] for key in base if key != gone} for gone in ("mcap", "y")]
    (key,) = row_keys(page_of(base)[0])
    assert row_keys(page_of(dict(sorted(base.items())))[0]) == [key]
    for other in row_keys(page_of(*others)[0]):
        assert other.content != key.content
    same = row_keys(page_of({**base, "mcap": 5.6, "x": "now", "bsegroup": "B"})[0])[0]
    assert same.stock == key.stock
    assert row_keys(page_of({**base, "isin": "B"})[0])[0].stock != key.stock
