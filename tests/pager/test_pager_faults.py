"""Services that ignore `page`, cap pages or move rows, and pages that fail.

Which page is requested next, and where a list ends, is proved by the tests of the core.
"""

from __future__ import annotations

import pickle
from itertools import repeat

import pytest

import tradingdata as td
from searching import ENVELOPE, Read, both, codes, listing, pages_asked
from service import (
    Service,
    cut_content_length,
    html_reply,
    json_reply,
    pages,
    reply,
    retry_after,
    stocks,
)

ROWS = stocks(25)
ONCE = {"attempts": 1}


@both
def test_a_known_company_with_another_value_is_kept(service: Service, read: Read) -> None:
    """On a short page that has nothing else."""
    rows = stocks(9)
    changed = {**rows[2], "mcap": 1.5}
    service.choose(listing(rows[:4], rows[4:8], [changed], rows[8:]))
    reading = read(service.base_url, page_size=4)
    assert reading.codes == codes([*rows[:8], changed, rows[8]])
    assert reading.pager.stats.doubtful
    assert reading.warnings == [
        "stocks came again on later pages because the list was changing, so there may be more "
        "stocks: read again"
    ]


@both
@pytest.mark.parametrize("status", [204, 404, 422, 200])
def test_an_error_past_a_short_page_is_the_end(service: Service, read: Read, status: int) -> None:
    """As the errors are that a client raises, which the model of the rules only imitates."""
    fault = json_reply({}) if status == 200 else reply(status)
    service.choose(pages(ROWS[:7], faults={3: repeat(fault)}))
    reading = read(service.base_url, page_size=5, client=ONCE)
    assert reading.error is None
    assert reading.codes == codes(ROWS[:7])
    assert not reading.pager.stats.doubtful


FAULTS = {
    "html": (html_reply(), td.DecodeError),
    "envelope": (json_reply(ENVELOPE), td.ServiceError),
    "cut body": (cut_content_length(b"[]" + b" " * 100), td.TransportError),
    "429": (retry_after("1"), td.RateLimitError),
}


class TestPageThatFails:
    """Page k fails: what came before stands, and the error says where to go on."""

    @both
    @pytest.mark.parametrize("prefetch", [0, 4])
    @pytest.mark.parametrize("name", FAULTS)
    def test_it_raises_behind_what_came_before(
        self, service: Service, read: Read, name: str, prefetch: int
    ) -> None:
        fault, kind = FAULTS[name]
        service.choose(pages(ROWS, faults={3: repeat(fault)}))
        reading = read(
            service.base_url, page_size=5, prefetch=prefetch, client={**ONCE, "account": "desk1"}
        )
        error = reading.failure
        assert isinstance(error, kind)
        assert reading.codes == codes(ROWS)[:10]
        assert error.page == reading.pager.page == 3
        assert error.received is not None
        assert codes(error.received.to_dicts()) == codes(ROWS)[:10]
        assert error.account == "desk1"
        assert reading.pager.stats.ended == "error"
        assert pages_asked(service).count(3) == 1
        assert str(error).startswith("page 3: GET /api/v1/stocks: ")

        service.choose(pages(ROWS))
        rest = read(service.base_url, page_size=5, start_page=error.page)
        assert reading.codes + rest.codes == codes(ROWS)

    @both
    def test_page_1_too(self, service: Service, read: Read) -> None:
        service.choose(pages(ROWS, faults={1: [html_reply()]}))
        reading = read(service.base_url)
        assert isinstance(reading.error, td.DecodeError)
        assert (reading.failure.page, len(reading.failure.received or ())) == (1, 0)
        assert reading.failure.received is not None
        assert (reading.failure.page_size, getattr(reading.failure, "__notes__", [])) == (None, [])

    def test_its_notes_say_how_to_go_on_and_it_travels_with_its_rows(
        self, service: Service
    ) -> None:
        service.choose(pages(ROWS, faults={3: [reply(410)]}))
        with td.Client(service.base_url) as client, pytest.raises(td.StatusError) as caught:
            client.search("x", page_size=10).all()
        error = caught.value
        assert error.__notes__ == [
            "`error.received` has the 20 stocks before it; resume with start_page=3, page_size=10"
        ]
        copy = pickle.loads(pickle.dumps(error))
        assert (copy.page, copy.page_size, copy.received) == (3, 10, error.received)

    @both
    def test_a_search_of_another_page_size_says_which(self, service: Service, read: Read) -> None:
        refusal = reply(400)
        service.choose(pages(ROWS, faults={1: [refusal], 2: [html_reply()]}))
        reading = read(service.base_url)
        assert "start_page=2, page_size=10" in reading.failure.__notes__[0]
