"""The requests, byte for byte."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

import tradingdata as td
from calls import TOKEN, both, good_book
from service import EMPTY_BOOK, Service, book_reply, json_reply, reply, samples, stocks
from tradingdata._util.declarations import BOOK_CALLS

BOOK_REQUEST = (
    "POST {path} HTTP/1.1\r\n"
    "Host: 127.0.0.1:{port}\r\n"
    f"User-Agent: tradingdata/{td.__version__}\r\n"
    "Content-Type: application/json\r\n"
    f"Authorization: Bearer {TOKEN}\r\n"
    "Accept-Encoding: gzip\r\n"
    "Content-Length: 14\r\n"
    "\r\n"
    '{{"source":"N"}}'
)
SEARCH_REQUEST = (
    "GET /api/v1/stocks?query={query}&page={page}&limit={limit} HTTP/1.1\r\n"
    "Host: 127.0.0.1:{port}\r\n"
    f"User-Agent: tradingdata/{td.__version__}\r\n"
    "accept: application/json\r\n"
    "Content-Type: application/json\r\n"
    "Accept-Encoding: gzip\r\n"
    "\r\n"
)


@both
@pytest.mark.parametrize("name", BOOK_CALLS)
def test_a_book_is_asked_for_so(call: Any, name: str, service: Service) -> None:
    """No Expect header, whatever libcurl's own mind."""
    service.script(book_reply(samples(BOOK_CALLS[name]["record"].lower(), 2)))
    assert len(call(service.base_url, name)) == 2
    [request] = service.requests
    expected = BOOK_REQUEST.format(path=BOOK_CALLS[name]["path"], port=service.port)
    assert request.raw == expected.encode()


@both
def test_a_search_is_asked_for_so_and_never_carries_the_token(call: Any, service: Service) -> None:
    service.script(json_reply(stocks(2)), json_reply([]))
    assert len(call(service.base_url, "search", "tata motors")) == 2
    # Page 2 is as long as page 1 came: the offset is then the same however the service counts it.
    for (page, limit), request in zip([(1, 100), (2, 2)], service.requests, strict=True):
        expected = SEARCH_REQUEST.format(
            query="tata%20motors", page=page, limit=limit, port=service.port
        )
        assert request.raw == expected.encode()


def test_the_connection_of_a_book_serves_a_search_without_its_token(service: Service) -> None:
    service.script(good_book(), path="/api/v1/trade/book")
    service.script(then=json_reply([]), path="/api/v1/stocks")
    with td.Client(service.base_url, access_token=TOKEN) as client:
        client.trade_book()
        client.search("tata").all()
    book, search = service.requests
    assert book.connection == search.connection
    assert TOKEN.encode() in book.raw
    assert TOKEN.encode() not in search.raw
    assert search.header("authorization") is None
    assert search.body == b""


@pytest.mark.parametrize(
    "query",
    [
        "a&b=c",
        "#1",
        "100%",
        "100%41%00",
        "1+1 = 2",
        "a/b?c;d",
        "M&M",
        "टाटा मोटर्स",
        "₹ 'quoted' \"twice\"",
        "tab\tnewline\r\ninjected: header",
        "beyond 📈 the plane",
        ".-_~",
        "../../etc/passwd",
        "x" * 10_000,
    ],
    ids=lambda query: ascii(query)[:30],
)
def test_a_query_is_percent_encoded_and_comes_back_as_it_was(service: Service, query: str) -> None:
    """&, #, %, + and every other character outside the unreserved ones; one space for several."""
    service.script(json_reply([]))
    with td.Client(service.base_url) as client:
        assert len(client.search(query).all()) == 0
    [request] = service.requests
    sent = " ".join(query.split())
    assert request.query == [("query", sent), ("page", "1"), ("limit", "100")]
    encoded = quote(sent, safe="")
    assert request.target == f"/api/v1/stocks?query={encoded}&page=1&limit=100"
    assert len(request.headers) == 5


@pytest.mark.parametrize("query", ["\0", "INFY\0", "a\0b", "\ud800", "INFY\udcff"])
def test_a_query_with_nul_is_refused_before_it_is_sent(query: str, service: Service) -> None:
    problem = "contains a (NUL|lone surrogate)"
    with td.Client(service.base_url) as client:
        for call in (client.search, client.stock):
            with pytest.raises(td.ConfigurationError, match=problem):
                call(query)
    assert service.connections == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"page_size": 0}, "page_size must be an integer of at least 1, not 0"),
        ({"page_size": -5}, "page_size"),
        ({"start_page": 0}, "start_page must be an integer from 1 to 9007199254740992, not 0"),
        ({"start_page": -1}, "start_page"),
        ({"max_items": -1}, "max_items must be an integer of at least 0"),
        ({"prefetch": -1}, "prefetch must be an integer from 0 to 100, not -1"),
        ({"prefetch": 101}, "prefetch must be an integer from 0 to 100, not 101"),
        ({"page_size": 2**63}, "page_size"),
    ],
)
@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
def test_pages_are_counted_from_one_and_hold_something(
    kind: Any, options: dict[str, int], message: str
) -> None:
    """Page=0, a negative page or size: a ValueError, at once and locally."""
    with pytest.raises(ValueError, match=message):
        kind("http://127.0.0.1:1").search("tata", **options)


@pytest.mark.parametrize("prefix", ["/gateway", "/gateway/", "/a/b%20c/~d"])
def test_a_path_of_the_base_url_goes_before_the_service_s_own(
    service: Service, prefix: str
) -> None:
    service.script(reply(200, EMPTY_BOOK), json_reply([]))
    with td.Client(service.base_url + prefix, access_token=TOKEN) as client:
        client.trade_book()
        client.search("x").all()
    book, search = service.requests
    assert book.target == prefix.rstrip("/") + "/api/v1/trade/book"
    assert search.target == prefix.rstrip("/") + "/api/v1/stocks?query=x&page=1&limit=100"
