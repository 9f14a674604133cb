"""The companies that the sandbox lists."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox_calls import search
from tradingdata import sandbox
from tradingdata.sandbox.companies import check_digit, companies


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start(orders=0) as running:
        yield running


def test_a_few_thousand_companies_are_listed_and_nothing_comes_twice() -> None:
    listed = companies()
    assert len(listed) == 3000
    for values in (
        [company.code for company in listed],
        [company.isin for company in listed],
        [company.name for company in listed],
        [company.nse for company in listed if company.nse],
        [company.bse for company in listed if company.bse],
    ):
        assert len(set(values)) == len(values)
    assert all(len(c.isin) == 12 and check_digit(c.isin[:11]) == c.isin[11] for c in listed)
    assert all(company.nse or company.bse for company in listed)
    assert sum(not company.nse for company in listed) > 100
    assert sum(not company.bse for company in listed) > 100


def test_a_well_known_stock_has_its_real_codes(day: sandbox.Service) -> None:
    (stock,) = search(day, "500325")
    assert stock["isin"] == "INE002A01018"
    assert stock["companyname"] == "Reliance Industries Ltd"
    assert (stock["bselistedflag"], stock["nselistedflag"]) == ("Y", "Y")


def test_a_listing_on_one_exchange_says_so(day: sandbox.Service) -> None:
    stock = search(day, "CDSL")[0]
    assert (stock["nselistedflag"], stock["NSEStatus"]) == ("Y", "Active")
    assert (stock["bselistedflag"], stock["BSEStatus"], stock["bsecode"]) == ("N", "", "")
