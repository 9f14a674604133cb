"""`stock()`: the one stock of a symbol, code or ISIN, and never a guess."""

from __future__ import annotations

from typing import Any

import pytest

import tradingdata as td
from calls import within
from searching import ENVELOPE, kinds, pages_asked, replayed
from service import Service, delay, html_reply, json_reply, pages, reply, stocks
from tradingdata.client.paging import as_listed

ROWS: list[dict[str, Any]] = [dict(row) for row in stocks(30)]


def stock(**values: Any) -> dict[str, Any]:
    return {**ROWS[0], **values}


def look_up(service: Service, kind: str, identifier: str, **options: Any) -> td.Stock:
    timeout = options.pop("per_call", None)
    found: td.Stock = replayed(
        lambda client: client.stock(identifier, timeout=timeout),
        service.base_url,
        kind,
        **{"attempts": 1, **options},
    )
    return found


@kinds
@pytest.mark.parametrize("field", ["nsesymbol", "bsecode", "isin"])
@pytest.mark.parametrize("change", [str, str.lower, lambda text: f"  {text}\n"])
def test_it_is_found_by_symbol_code_and_isin_in_any_case(
    service: Service, kind: str, field: str, change: Any
) -> None:
    service.choose(pages(ROWS))
    found = look_up(service, kind, change(ROWS[7][field]))
    assert found.co_code == ROWS[7]["co_code"]
    assert service.requests[0].query == [
        ("query", ROWS[7][field].upper()),
        ("page", "1"),
        ("limit", "100"),
    ]
    assert len(service.requests) == 1


@kinds
def test_the_match_may_be_on_a_later_page_and_no_page_after_it_is_requested(
    service: Service, kind: str
) -> None:
    service.choose(pages(ROWS, most=4))
    assert look_up(service, kind, ROWS[13]["nsesymbol"]).co_code == ROWS[13]["co_code"]
    assert pages_asked(service) == [1, 2, 3, 4]
    assert len(service.connections) == 1


class TestNotFound:
    @kinds
    def test_it_says_what_the_search_found(self, service: Service, kind: str) -> None:
        rows = [
            stock(co_code=1, nsesymbol="ZEEL", companyname="Zee Entertainment", isin="INE1"),
            stock(co_code=2, nsesymbol="RELIANCE", companyname="Reliance Industries", isin="INE2"),
            stock(co_code=3, nsesymbol="", bsecode="532939", companyname="Reliance Power", isin=""),
        ]
        service.choose(pages(rows))
        with pytest.raises(td.StockNotFoundError) as caught:
            look_up(service, kind, "relianc", account="desk1")
        error = caught.value
        assert isinstance(error, LookupError)
        assert error.nearest == ("Zee Entertainment", "Reliance Industries", "Reliance Power")
        assert str(error) == (
            "no stock has the NSE symbol, BSE code or ISIN 'RELIANC'; pass the code of one that "
            "the search found: Zee Entertainment (ZEEL), Reliance Industries (RELIANCE), "
            "Reliance Power (532939)"
        )
        assert error.account == "desk1"
        assert pages_asked(service) == [1, 2]  # a short page 1 proves nothing

    def test_nothing_at_all(self, service: Service) -> None:
        service.choose(pages([]))
        with pytest.raises(td.StockNotFoundError, match="the search found nothing") as caught:
            look_up(service, "sync", "x" * 10_000)
        assert caught.value.nearest == ()
        assert len(str(caught.value)) < 200

    def test_of_an_isin_it_says_what_the_search_takes(self, service: Service) -> None:
        service.choose(pages([]))
        with pytest.raises(td.StockNotFoundError, match="finds names, NSE symbols and BSE codes"):
            look_up(service, "sync", "ine002a01018")

    @kinds
    def test_it_looks_at_20_pages_and_says_that_there_are_more(
        self, service: Service, kind: str
    ) -> None:
        service.choose(pages(stocks(60), most=2))
        with pytest.raises(td.StockNotFoundError, match="none of the first 40 hits has") as caught:
            look_up(service, kind, "NOSUCH")
        assert len(caught.value.nearest) == 5
        assert pages_asked(service) == list(range(1, 21))


class TestSeveral:
    """Where the text is exact for more than one stock."""

    def test_a_symbol_goes_before_a_code_and_a_code_before_an_isin(self, service: Service) -> None:
        by_symbol = stock(co_code=1, nsesymbol="543210", bsecode="1", isin="A")
        by_code = stock(co_code=2, nsesymbol="B", bsecode="543210", isin="B")
        by_isin = stock(co_code=3, nsesymbol="C", bsecode="3", isin="543210")
        service.script(json_reply([by_isin, by_code, by_symbol]), json_reply([by_isin, by_code]))
        assert look_up(service, "sync", "543210").co_code == 1
        assert look_up(service, "sync", "543210").co_code == 2

    def test_two_companies_of_one_symbol_are_no_response(self, service: Service) -> None:
        rows = [
            stock(co_code=code, nsesymbol="TWIN", companyname=f"Twin {code}") for code in (1, 2)
        ]
        service.script(then=json_reply(rows))
        with pytest.raises(td.StockNotFoundError, match="2 stocks have the NSE symbol 'TWIN'") as e:
            look_up(service, "sync", "TWIN")
        assert e.value.nearest == ("Twin 1", "Twin 2")

    @pytest.mark.parametrize("code", [7, None])
    def test_one_company_in_several_rows_is_one(self, service: Service, code: int | None) -> None:
        first = stock(co_code=code, nsesymbol="ONE", bsegroup="A")
        service.script(then=json_reply([first, first]))
        assert look_up(service, "sync", "ONE").bsegroup == "A"
        service.script(then=json_reply([first, {**first, "bsegroup": "B"}]))
        if code is None:
            with pytest.raises(td.StockNotFoundError, match="2 stocks"):
                look_up(service, "sync", "ONE")
        else:
            assert look_up(service, "sync", "ONE").bsegroup == "A"


class TestFailures:
    """A page that fails is never "not found"."""

    @kinds
    @pytest.mark.parametrize("page", [1, 2])
    @pytest.mark.parametrize(
        ("fault", "error"),
        [
            (html_reply(), td.DecodeError),
            (json_reply(ENVELOPE), td.ServiceError),
            (reply(503), td.ServerError),
        ],
    )
    def test_it_is_raised(
        self, service: Service, kind: str, page: int, fault: Any, error: type[Exception]
    ) -> None:
        service.choose(pages(ROWS, most=5, faults={page: [fault]}))
        with pytest.raises(error):
            look_up(service, kind, "NOSUCH")

    @kinds
    def test_a_service_that_ignores_page_cannot_be_searched_to_its_end(
        self, service: Service, kind: str
    ) -> None:
        rows = stocks(120)
        service.choose(pages(rows, ignore_page=True))
        with pytest.raises(td.PaginationError):
            look_up(service, kind, "NOSUCH")
        assert look_up(service, kind, str(rows[3]["nsesymbol"])).co_code == rows[3]["co_code"]

    @kinds
    def test_not_found_warns_where_a_short_page_is_repeated(
        self, service: Service, kind: str
    ) -> None:
        service.choose(pages(ROWS, ignore_page=True, most=10))
        with (
            pytest.warns(td.DataWarning, match="there may be more stocks"),
            pytest.raises(td.StockNotFoundError),
        ):
            look_up(service, kind, "NOSUCH")

    @kinds
    def test_one_deadline_covers_all_pages(self, service: Service, kind: str) -> None:
        choice = pages(stocks(60), most=2)
        service.choose(lambda request: delay(0.1, choice(request)))
        with within(0.5, at_least=0.3), pytest.raises(td.DeadlineError):
            look_up(service, kind, "NOSUCH", per_call=0.35)
        assert len(service.requests) <= 4


WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "NESTLE")  # of full width


@kinds
@pytest.mark.parametrize("query", ["Nestlé  India", f"{WIDE} India", " nestle\tindia "])
def test_a_query_is_sent_as_exchanges_write_names(service: Service, kind: str, query: str) -> None:
    service.choose(pages([]))
    replayed(lambda client: client.search(query).all(), service.base_url, kind)
    (sent,) = {dict(request.query)["query"].casefold() for request in service.requests}
    assert sent == "nestle india"


def test_letters_of_other_scripts_keep_their_marks() -> None:
    assert as_listed("टाटा मोटर्स") == "टाटा मोटर्स"
