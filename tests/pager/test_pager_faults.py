"""F74 to F77: services that ignore `page` or move rows, and pages that fail."""

from __future__ import annotations

import pickle
import time
from itertools import repeat
from typing import Any

import pytest

import tradingdata as td
from searching import ENVELOPE, Read, both, codes, kinds, listing, pages_asked, replayed
from service import (
    Behaviour,
    Service,
    cut_content_length,
    html_reply,
    json_reply,
    pages,
    reply,
    reset,
    retry_after,
    stall,
    stocks,
)

ROWS = stocks(25)
ONCE = {"attempts": 1}


class TestIgnoredPage:
    """F74: the service gives page 1 for ever."""

    @both
    @pytest.mark.parametrize("prefetch", [0, 1, 8])
    def test_a_full_page_that_comes_again_is_an_error(
        self, service: Service, read: Read, prefetch: int
    ) -> None:
        service.choose(pages(ROWS, ignore_page=True))
        reading = read(service.base_url, page_size=10, prefetch=prefetch)
        assert isinstance(reading.error, td.PaginationError)
        assert reading.codes == codes(ROWS)[:10]
        assert reading.failure.page == reading.pager.page == 2
        assert reading.failure.received == reading.pages[0]
        assert reading.pager.stats.ended == "error"
        assert len(service.requests) <= 3
        assert "ignore `page`" in str(reading.error)

    @both
    def test_so_are_the_same_companies_at_other_prices(self, service: Service, read: Read) -> None:
        responses = [[{**row, "mcap": price} for row in ROWS[:10]] for price in (1.5, 2.5)]
        service.choose(listing(*responses))
        reading = read(service.base_url, page_size=10)
        assert isinstance(reading.error, td.PaginationError)
        assert len(reading.codes) == 10

    @both
    @pytest.mark.parametrize("most", [None, 7])
    def test_a_short_page_that_comes_again_ends_with_a_warning(
        self, service: Service, read: Read, most: int | None
    ) -> None:
        rows = ROWS if most else ROWS[:7]
        service.choose(pages(rows, ignore_page=True, most=most))
        reading = read(service.base_url)
        assert reading.codes == codes(ROWS)[:7]
        assert reading.error is None
        stats = reading.pager.stats
        assert (stats.ended, stats.doubtful, stats.duplicates) == ("repeated page", True, 7)
        assert [text for text in reading.warnings if "there may be more stocks" in text]
        assert len(service.requests) == 2

    @both
    @pytest.mark.parametrize("count", [1, 3])
    def test_a_short_page_at_other_prices_is_no_endless_loop(
        self, service: Service, read: Read, count: int
    ) -> None:
        price = iter(range(1000))

        def choose(request: Any) -> Behaviour:
            rows = [{**row, "co_code": None, "mcap": next(price)} for row in ROWS[:count]]
            return json_reply([{**row, "ltp": next(price)} for row in rows])

        service.choose(choose)
        reading = read(service.base_url, page_size=5)
        assert len(reading.rows) == count
        assert reading.pager.stats.doubtful
        assert len(service.requests) == 2


@both
@pytest.mark.parametrize("most", [1, 3, 10, 24])
def test_f75_a_clamped_limit_ends_nothing(service: Service, read: Read, most: int) -> None:
    service.choose(pages(ROWS, most=most))
    reading = read(service.base_url, prefetch=4)
    assert reading.codes == codes(ROWS)
    assert reading.error is None


class TestShift:
    """F76: rows move between pages while they are read."""

    @both
    def test_rows_that_come_twice_are_dropped_and_counted(
        self, service: Service, read: Read
    ) -> None:
        service.choose(pages(ROWS, shift=2))
        reading = read(service.base_url, page_size=10, prefetch=0)
        assert reading.codes == codes(ROWS)
        assert reading.pager.stats.duplicates > 0

    @both
    def test_rows_that_are_never_sent_cannot_be_noticed_in_one_pass(
        self, service: Service, read: Read
    ) -> None:
        service.choose(pages(ROWS, shift=-1))
        reading = read(service.base_url, page_size=10, prefetch=0)
        assert reading.codes == codes(ROWS)[:10] + codes(ROWS)[11:21] + codes(ROWS)[22:]
        assert reading.error is None

    @kinds
    def test_all_confirmed_reads_until_two_passes_agree(self, service: Service, kind: str) -> None:
        calm, moving = pages(ROWS), pages(ROWS, shift=-1)
        asked = []

        def choose(request: Any) -> Behaviour:
            asked.append(request)
            return (moving if len(asked) < 3 else calm)(request)

        service.choose(choose)

        def read(client: Any) -> Any:
            return client.search("x", page_size=10, prefetch=0).all(confirm=True)

        found = replayed(read, service.base_url, kind)
        assert codes(found.to_dicts()) == codes(ROWS)
        assert pages_asked(service).count(1) == 3

    @kinds
    def test_all_confirmed_gives_up_where_they_never_agree(
        self, service: Service, kind: str
    ) -> None:
        starts = iter(range(100))

        def choose(request: Any) -> Behaviour:
            page = int(dict(request.query)["page"])
            return json_reply(ROWS[next(starts) : 20] if page == 1 else [])

        service.choose(choose)
        with pytest.raises(td.PaginationError, match="5 passes") as caught:
            replayed(lambda client: client.search("x").all(confirm=True), service.base_url, kind)
        assert caught.value.received is not None
        assert len(caught.value.received) == 16
        assert pages_asked(service).count(1) == 5


@both
def test_rows_are_dropped_only_where_an_identical_one_with_a_code_came(
    service: Service, read: Read
) -> None:
    first, second, third = stocks(3)
    nameless = {**third, "co_code": None}
    dearer = {**first, "mcap": 1.0}
    novel = {**second, "rating": "AA"}
    service.choose(listing([first, second, nameless], [first, dearer, nameless, novel, third]))
    reading = read(service.base_url, page_size=3)
    kept = [*stocks(2), nameless, dearer, nameless, novel, third]
    assert reading.codes == codes(kept)
    assert [stock.mcap for stock in reading.rows] == [row["mcap"] for row in kept]
    assert reading.pager.stats.duplicates == 1


@both
def test_rows_that_occur_twice_on_one_page_are_both_kept(service: Service, read: Read) -> None:
    service.choose(listing([ROWS[0], ROWS[0], ROWS[1]]))
    assert read(service.base_url, page_size=3).codes == [100, 100, 101]


FAULTS = {
    "html": (html_reply(), td.DecodeError),
    "envelope": (json_reply(ENVELOPE), td.ServiceError),
    "object": (json_reply({}), td.DecodeError),
    "text": (json_reply("ok"), td.DecodeError),
    "a row that is no object": (json_reply([1]), td.DecodeError),
    "cut JSON": (reply(200, b'[{"co_code": 1}'), td.TransportError),
    "empty body": (reply(200, b""), td.DecodeError),
    "no content": (reply(204), td.DecodeError),
    "cut body": (cut_content_length(b"[]" + b" " * 100), td.TransportError),
    "reset": (reset, td.TransportError),
    "410": (reply(410), td.StatusError),
    "403": (reply(403), td.AuthenticationError),
    "429": (retry_after("1"), td.RateLimitError),
    "503": (html_reply(503), td.ServerError),
}


class TestPageThatFails:
    """F77: page k fails: what came before stands, and the error says where to go on."""

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
        # libcurl itself resends a request that a kept connection accepted without a response.
        kept = len(service.connections) if name == "reset" else 0
        assert pages_asked(service).count(3) <= 1 + kept
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

    @both
    @pytest.mark.parametrize("name", ["503", "429", "reset", "cut body", "cut JSON", "empty body"])
    def test_a_fault_that_passes_costs_nothing(
        self, service: Service, read: Read, name: str
    ) -> None:
        fault = reply(503, headers={"Retry-After": "0"}) if name == "429" else FAULTS[name][0]
        service.choose(pages(ROWS, faults={1: [fault], 3: [fault]}))
        reading = read(service.base_url, page_size=10, prefetch=2)
        assert reading.codes == codes(ROWS)
        assert reading.pager.stats.requests == len(set(pages_asked(service)))

    @both
    def test_a_page_behind_the_end_may_fail_unseen(self, service: Service, read: Read) -> None:
        broken = {page: [html_reply()] for page in (4, 5, 6)}
        service.choose(pages(ROWS[:20], faults=broken))
        reading = read(service.base_url, page_size=10, prefetch=4)
        assert reading.codes == codes(ROWS)[:20]
        assert reading.error is None

    @both
    @pytest.mark.parametrize("page", [1, 2, 3])
    def test_null_is_no_hits(self, service: Service, read: Read, page: int) -> None:
        service.choose(pages(ROWS, faults={page: repeat(json_reply(None))}))
        reading = read(service.base_url, page_size=10, prefetch=0)
        assert reading.codes == codes(ROWS)[: 10 * (page - 1)]
        assert reading.pager.stats.ended == "empty page"

    def test_its_notes_say_how_to_go_on_and_it_travels_with_its_rows(
        self, service: Service
    ) -> None:
        service.choose(pages(ROWS, faults={3: [reply(410)]}))
        with td.Client(service.base_url) as client, pytest.raises(td.StatusError) as caught:
            client.search("x", page_size=10).all()
        error = caught.value
        assert error.__notes__ == [
            "the 20 stocks before it are in the error's .received; resume with start_page=3, "
            "page_size=10"
        ]
        copy = pickle.loads(pickle.dumps(error))
        assert (copy.page, copy.page_size, copy.received) == (3, 10, error.received)

    @both
    def test_a_search_of_another_page_size_says_which(self, service: Service, read: Read) -> None:
        refusal = reply(400)
        service.choose(pages(ROWS, faults={1: [refusal], 2: [html_reply()]}))
        reading = read(service.base_url)
        assert "start_page=2, page_size=10" in reading.failure.__notes__[0]


class TestBetweenPages:
    """What happens while the reader is busy with a page costs no page."""

    def test_the_client_is_closed(self, service: Service) -> None:
        service.choose(pages(ROWS))
        with td.Client(service.base_url) as client:
            search = client.search("x", page_size=5, prefetch=0)
            reader = search.pages()
            before = next(reader)
            client.close()
            with pytest.raises(td.ClientClosedError) as caught:
                next(reader)
        assert caught.value.page == search.page == 2
        assert caught.value.received == before

    @pytest.mark.parametrize("prefetch", [1, 4])
    def test_the_reader_takes_longer_than_the_timeout(
        self, service: Service, prefetch: int
    ) -> None:
        """A page that was asked for ahead and whose time has passed is asked for again."""
        service.choose(pages(ROWS, faults={page: [stall(0.3)] for page in (2, 3, 4)}))
        found = []
        with td.Client(service.base_url, attempts=1, timeout=0.2) as client:
            for page in client.search("x", page_size=10, prefetch=prefetch).pages():
                found += codes(page.to_dicts())
                time.sleep(0.25)
        assert found == codes(ROWS)

    @pytest.mark.parametrize("prefetch", [0, 1])
    def test_a_page_that_was_waited_for_and_stalls_is_an_error(
        self, service: Service, prefetch: int
    ) -> None:
        service.choose(pages(ROWS, faults={3: [stall(), stall()]}))
        client = td.Client(service.base_url, attempts=1, timeout=0.2)
        with pytest.raises(td.DeadlineError) as caught:
            client.search("x", page_size=5, prefetch=prefetch).all()
        assert caught.value.page == 3
        assert pages_asked(service).count(3) == 1

    @both
    def test_the_rate_limit_has_no_room_for_pages_far_ahead(
        self, service: Service, read: Read
    ) -> None:
        service.choose(pages(ROWS))
        # Twenty pages ahead would wait for two seconds; a page has one.
        limited = {"rate_limit": td.RateLimit(10, burst=1), "timeout": 1}
        reading = read(service.base_url, page_size=1, prefetch=20, client=limited)
        assert reading.error is None
        assert reading.codes == codes(ROWS)
