"""What the sandbox lists and trades: companies, shares and derivatives, their names and prices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction

import pytest

from sandbox_calls import Record, column, orders, search, trades
from tradingdata import sandbox
from tradingdata.sandbox.companies import companies
from tradingdata.sandbox.market import derivatives, on_tick

MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start(orders=600) as running:
        yield running


def check_digit(isin: str) -> str:
    """The last character of an ISIN, from its first eleven characters (ISO 6166)."""
    digits = "".join(str(int(character, 36)) for character in isin)
    doubled = (int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(digits)))
    return str(-sum(sum(divmod(number, 10)) for number in doubled) % 10)


def of_segment(found: list[Record], segment: str) -> list[Record]:
    chosen = [row for row in found if row["segment"] == segment]
    assert chosen
    return chosen


def test_a_share_has_a_listing_an_isin_and_the_zero_date(day: sandbox.Service) -> None:
    isins = {company.isin for company in companies()}
    for share in of_segment(trades(day) + orders(day), "E"):
        assert share["isin"] in isins
        assert share["expiry_date"] == "0001-01-01"
        assert share["strike_price"] == 0
        assert share["lot_size"] == 1


def test_a_derivative_has_an_expiry_to_come_and_trades_in_lots(day: sandbox.Service) -> None:
    for contract in of_segment(trades(day) + orders(day), "D"):
        assert date.fromisoformat(contract["expiry_date"]) >= day.day
        assert contract["quantity"] % contract["lot_size"] == 0
        assert contract["lot_size"] > 1


def test_contracts_of_any_day_of_a_year_expire_in_time_and_differ() -> None:
    for offset in range(0, 366, 3):
        day = date(2026, 1, 1) + timedelta(days=offset)
        contracts = derivatives(day)
        assert len({contract.security_id for contract in contracts}) == len(contracts)
        names = {(contract.exchange, contract.exchange_name) for contract in contracts}
        assert len(names) == len(contracts)
        assert all(contract.expiry and contract.expiry >= day for contract in contracts)


def test_every_company_has_its_own_codes() -> None:
    listed = companies()
    assert len(listed) > 100
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
    assert any(not company.nse for company in listed)
    assert any(not company.bse for company in listed)


def test_a_stock_has_its_real_codes_and_listings(day: sandbox.Service) -> None:
    (both,), (one, *_) = search(day, "500325"), search(day, "CDSL")
    assert (both["isin"], both["companyname"]) == ("INE002A01018", "Reliance Industries Ltd")
    assert (both["bselistedflag"], both["nselistedflag"]) == ("Y", "Y")
    assert (one["nselistedflag"], one["NSEStatus"]) == ("Y", "Active")
    assert (one["bselistedflag"], one["BSEStatus"], one["bsecode"]) == ("N", "", "")


def test_an_option_is_called_what_it_is(day: sandbox.Service) -> None:
    options = [row for row in trades(day) if row["strike_price"]]
    words = {"CE": "CALL", "PE": "PUT"}
    assert set(column(options, "opt_type")) == set(words)
    assert set(column(options, "tick_size")) == {0.05}
    for option in options:
        expiry = date.fromisoformat(option["expiry_date"])
        assert option["display_name"].split() == [
            option["symbol"],
            f"{expiry.day:02d}",
            MONTHS[expiry.month - 1],
            f"{option['strike_price']:g}",
            words[option["opt_type"]],
        ]


@pytest.mark.parametrize(
    ("price", "tick", "nearest"),
    [(101.4, 1, 101), (102.4, 5, 100), (102.6, 5, 105), (25_004.0, 10, 25_000), (0.4, 5, 5)],
)
def test_a_price_is_put_on_the_nearest_tick(price: float, tick: int, nearest: int) -> None:
    assert on_tick(price, tick) == nearest


def test_every_price_is_on_a_tick_and_no_limit_is_broken(day: sandbox.Service) -> None:
    limits = {}
    for order in orders(day):
        tick = Fraction(str(order["tick_size"]))
        for price in (order["price"], order["trigger_price"], order["traded_price"]):
            assert Fraction(str(price)) % tick == 0
        if order["price"] and order["traded_qty"]:
            limits[order["order_no"], order["txn_type"]] = order["price"]
    for trade in trades(day):
        limit = limits.get((trade["order_no"], trade["txn_type"]))
        if limit is not None:
            bought = trade["txn_type"] == "B"
            price = trade["traded_price"]
            assert price <= limit if bought else price >= limit
