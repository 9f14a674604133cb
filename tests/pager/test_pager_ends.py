"""F75 and F123: where a search ends, on services that size, omit or repeat pages differently."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from searching import Read, both, codes, kinds, listing, replayed
from service import Behaviour, Service, html_reply, json_reply, pages, reply, stocks

ROWS = stocks(25)


class TestCappedPage:
    """F75, F123: the service caps `limit`; its offset counts pages as requested or as given."""

    @both
    @pytest.mark.parametrize("prefetch", [0, 1, 4])
    @pytest.mark.parametrize("total", [250, 100, 80, 31, 30, 29])
    @pytest.mark.parametrize("offset_as_requested", [False, True])
    def test_every_row_comes_once_without_doubt(
        self, service: Service, read: Read, offset_as_requested: bool, total: int, prefetch: int
    ) -> None:
        rows = stocks(total)
        service.choose(pages(rows, most=30, offset_as_requested=offset_as_requested))
        reading = read(service.base_url, prefetch=prefetch)
        assert reading.codes == codes(rows)
        assert (reading.error, reading.warnings) == (None, [])
        stats = reading.pager.stats
        assert (stats.ended, stats.doubtful, stats.duplicates) == ("empty page", False, 0)
        assert stats.requests <= -(-total // 30) + 2 + max(prefetch - 1, 0)

    @kinds
    @pytest.mark.parametrize("offset_as_requested", [False, True])
    def test_all_first_and_max_items(
        self, service: Service, kind: str, offset_as_requested: bool
    ) -> None:
        rows = stocks(250)
        service.choose(pages(rows, most=30, offset_as_requested=offset_as_requested))

        def read(call: Any) -> Any:
            return codes(replayed(call, service.base_url, kind).to_dicts())

        assert read(lambda client: client.search("x").all()) == codes(rows)
        assert read(lambda client: client.search("x", max_items=70).all()) == codes(rows)[:70]
        assert read(lambda client: client.search("x").first(70)) == codes(rows)[:70]

    @both
    @pytest.mark.parametrize("offset_as_requested", [False, True])
    def test_a_search_resumes_behind_the_last_page_that_was_yielded(
        self, service: Service, read: Read, offset_as_requested: bool
    ) -> None:
        rows = stocks(250)
        options: dict[str, Any] = {"most": 30, "offset_as_requested": offset_as_requested}
        service.choose(pages(rows, faults={7: [html_reply()]}, **options))
        reading = read(service.base_url)
        assert reading.codes == codes(rows)[:180]
        assert (reading.failure.page, reading.pager.page_size) == (7, 30)
        service.choose(pages(rows, **options))
        rest = read(
            service.base_url, start_page=reading.failure.page, page_size=reading.failure.page_size
        )
        assert reading.codes + rest.codes == codes(rows)
        assert rest.warnings == []

    @both
    def test_a_size_that_was_given_and_is_refused_leaves_doubt(
        self, service: Service, read: Read
    ) -> None:
        choice = pages(stocks(250), most=30, offset_as_requested=True)

        def choose(request: Any) -> Behaviour:
            return choice(request) if dict(request.query)["limit"] == "100" else reply(422)

        service.choose(choose)
        reading = read(service.base_url)
        assert reading.pager.stats.doubtful
        assert any("then rejected that page size" in text for text in reading.warnings)


class TestEmptyPage:
    """An empty page after a full one is requested once more: it is the only sign of the end."""

    @both
    @pytest.mark.parametrize("prefetch", [0, 1, 4])
    @pytest.mark.parametrize("page", [2, 3, 4])
    def test_one_that_comes_empty_once_loses_nothing(
        self, service: Service, read: Read, page: int, prefetch: int
    ) -> None:
        rows = stocks(50)
        service.choose(pages(rows, faults={page: [json_reply([])]}))
        reading = read(service.base_url, page_size=10, prefetch=prefetch)
        assert reading.codes == codes(rows)
        assert (reading.error, reading.warnings) == (None, [])

    @both
    def test_an_error_of_the_second_request_is_an_error(self, service: Service, read: Read) -> None:
        service.choose(pages(ROWS[:20], faults={3: [json_reply([]), html_reply()]}))
        reading = read(service.base_url, page_size=10, client={"attempts": 1})
        assert reading.codes == codes(ROWS)[:20]
        assert isinstance(reading.error, td.DecodeError)


class TestRowsDecide:
    """Complete rows are compared, not companies."""

    @both
    def test_rows_without_codes_and_names_are_all_read(self, service: Service, read: Read) -> None:
        rows = [{"companyname": f"Company {number}", "mcap": 1.0} for number in range(1000)]
        service.choose(pages(rows))
        reading = read(service.base_url)
        assert [stock.companyname for stock in reading.rows] == [row["companyname"] for row in rows]
        assert not reading.pager.stats.doubtful

    @both
    def test_listings_of_one_company_are_all_read(self, service: Service, read: Read) -> None:
        rows = [{**ROWS[0], "isin": f"INE{number:09}"} for number in range(12)]
        service.choose(pages(rows))
        reading = read(service.base_url, page_size=1)
        assert [stock.isin for stock in reading.rows] == [row["isin"] for row in rows]
        assert (reading.error, reading.warnings) == (None, [])


class TestMissingPage:
    """A 404 behind rows is an end if it comes twice."""

    @both
    @pytest.mark.parametrize("most", [None, 7])
    @pytest.mark.parametrize("prefetch", [0, 1, 4])
    @pytest.mark.parametrize("total", [5, 10, 20, 25])
    def test_it_ends_the_list(
        self, service: Service, read: Read, total: int, prefetch: int, most: int | None
    ) -> None:
        service.choose(pages(ROWS[:total], most=most, missing_behind=True))
        reading = read(service.base_url, page_size=10, prefetch=prefetch)
        assert reading.codes == codes(ROWS)[:total]
        assert (reading.error, reading.warnings) == (None, [])
        assert reading.pager.stats.ended == "empty page"

    @both
    def test_page_1_is_none(self, service: Service, read: Read) -> None:
        service.choose(lambda _: reply(404))
        assert isinstance(read(service.base_url).error, td.NotFoundError)
        assert isinstance(read(service.base_url, start_page=7).error, td.NotFoundError)


class TestLongerPage:
    """The service gives more rows than requested."""

    @both
    @pytest.mark.parametrize("offset_as_requested", [False, True])
    @pytest.mark.parametrize("extra", [1, 12])
    def test_every_row_comes_once_without_doubt(
        self, service: Service, read: Read, extra: int, offset_as_requested: bool
    ) -> None:
        choice = pages(ROWS, extra=extra, offset_as_requested=offset_as_requested)
        service.choose(choice)
        reading = read(service.base_url, page_size=4, prefetch=2)
        assert reading.codes == codes(ROWS)
        assert (reading.error, reading.warnings) == (None, [])


class TestLastPageForEver:
    """A page number behind the end gives the last page again."""

    @both
    @pytest.mark.parametrize(("total", "doubtful"), [(25, False), (20, True)])
    def test_all_rows_come_and_a_full_last_page_leaves_doubt(
        self, service: Service, read: Read, total: int, doubtful: bool
    ) -> None:
        responses = [ROWS[start : min(start + 10, total)] for start in range(0, total, 10)]
        choice = listing(*responses, *[responses[-1]] * 5)
        service.choose(choice)
        reading = read(service.base_url, page_size=10)
        assert reading.codes == codes(ROWS)[:total]
        assert reading.pager.stats.ended == "repeated page"
        assert reading.pager.stats.doubtful is doubtful
        assert any("there may be more" in text for text in reading.warnings) is doubtful
