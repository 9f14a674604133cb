"""The sandbox's records, instruments and search: as documented, and the same for the same day."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from urllib.parse import quote

import pytest

import service
from calls import run_child
from sandbox_calls import PATHS, Record, ask, call, column, orders, search, trades
from tradingdata import sandbox
from tradingdata._util.declarations import BOOK_CALLS, CALLS, RECORDS
from tradingdata.sandbox.companies import companies
from tradingdata.sandbox.market import derivatives, on_tick

KINDS = [name.lower() for name in RECORDS]


@pytest.fixture(scope="module")
def day() -> Iterator[sandbox.Service]:
    with sandbox.start() as running:
        yield running


def rows(day: sandbox.Service, record: str) -> list[Record]:
    if record == "stock":
        return search(day, "ltd", limit=5000)
    return trades(day) if record == "trade" else orders(day)


@pytest.mark.parametrize("record", KINDS)
def test_every_record_has_the_documented_fields_in_the_documented_order(
    day: sandbox.Service, record: str
) -> None:
    found = rows(day, record)
    assert len(found) > 100
    assert {tuple(row) for row in found} == {tuple(service.names(record))}


def test_the_envelope_is_that_of_the_service(day: sandbox.Service) -> None:
    for endpoint in BOOK_CALLS:
        response = ask(day, endpoint)
        assert list(response.json) == ["data", "message", "status"]
        assert response.body.endswith(b'],"message":"Success","status":"success"}')


def test_rows_are_numbered_and_keys_are_unique(day: sandbox.Service) -> None:
    for found, key in ((trades(day), ("trade_no",)), (orders(day), ("order_no", "leg_no"))):
        assert column(found, "row_no") == list(range(1, len(found) + 1))
        assert len({tuple(row[name] for name in key) for row in found}) == len(found)


def digests(service: sandbox.Service) -> list[str]:
    return [hashlib.sha256(ask(service, endpoint).body).hexdigest() for endpoint in CALLS]


def test_the_same_seed_and_day_give_the_same_bytes_in_another_process() -> None:
    code = """
import hashlib
from sandbox_calls import PATHS, ask
with td.sandbox.start(seed=7, day="2026-03-02") as service:
    print(*(hashlib.sha256(ask(service, name).body).hexdigest() for name in PATHS))
"""
    seen = {run_child(code, environment={"PYTHONHASHSEED": x, "LC_ALL": "C"}) for x in "12"}
    with sandbox.start(seed=7, day=date(2026, 3, 2)) as service:
        assert seen == {" ".join(digests(service)) + "\n"}


def test_another_seed_or_day_is_another_book_and_the_same_listing(day: sandbox.Service) -> None:
    for changed in ({"seed": 1}, {"day": "2026-11-19"}):
        with sandbox.start(**changed) as other:
            same = zip(CALLS, digests(day), digests(other), strict=True)
            assert {name for name, ours, theirs in same if ours != theirs} == {*BOOK_CALLS}


def test_the_first_orders_of_a_day_do_not_depend_on_other_accounts() -> None:
    with sandbox.start() as one, sandbox.start(accounts=["desk1", "arbitrage"]) as two:
        assert ask(one, "order_book").body == ask(two, "order_book").body


# -- instruments --


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
    assert all(company.nse or company.bse for company in listed)
    assert any(not company.nse for company in listed)
    assert any(not company.bse for company in listed)


def test_a_stock_has_its_real_codes_and_listings(day: sandbox.Service) -> None:
    (both,), (one, *_) = search(day, "500325"), search(day, "CDSL")
    assert (both["isin"], both["companyname"]) == ("INE002A01018", "Reliance Industries Ltd")
    assert (both["bselistedflag"], both["nselistedflag"]) == ("Y", "Y")
    assert (one["nselistedflag"], one["NSEStatus"]) == ("Y", "Active")
    assert (one["bselistedflag"], one["BSEStatus"], one["bsecode"]) == ("N", "", "")


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


# -- search --


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
