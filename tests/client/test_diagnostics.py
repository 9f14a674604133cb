"""What a client tells of itself: log lines, the on_retry hook, and what is installed."""

from __future__ import annotations

import io
import logging
import re
from importlib import metadata
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, both, failure, good_book, run_child, served
from service import Service, json_reply, pages, reply, stocks
from tradingdata._util.optional_imports import versions


@both
def test_a_call_is_one_line_and_a_retry_another(
    call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tradingdata")
    with served(reply(503), good_book()) as service:
        call(service.base_url, account="desk1")
    assert [record.name for record in caplog.records] == ["tradingdata"] * 2
    assert [record.levelname for record in caplog.records] == ["INFO", "DEBUG"]
    retry, end = (record.getMessage() for record in caplog.records)
    reason = r"HTTP 503 Service Unavailable"
    assert re.fullmatch(
        rf"trade_book \[desk1\]: attempt 1 failed \({reason}\), again in 0\.\d\d s", retry
    )
    assert re.fullmatch(r"trade_book \[desk1\]: 200 in \d\.\d{3} s", end)


@both
def test_an_error_is_one_line(call: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tradingdata")
    with served(
        then=json_reply({"status": "no", "message": "Two\nlines", "data": None})
    ) as service:
        error = failure(service.base_url, "order_book", call=call)
    assert "Two lines" in str(error)
    [line] = (record.getMessage() for record in caplog.records)
    assert re.fullmatch(r"order_book: ServiceError in \d\.\d{3} s: HTTP 200", line)


@pytest.mark.parametrize(
    "response",
    [
        json_reply({"message": "account 4711 is locked"}, status=503),
        json_reply({"message": "account 4711 is locked"}, status=401),
        json_reply({"status": "4711", "message": "", "data": None}),
        json_reply({"status": "success", "data": ["4711"]}),
        reply(200, b'{"status": "success", "data": [{"4711": [,]}]}'),
    ],
)
@both
def test_what_the_service_says_is_not_logged(
    call: Any, response: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tradingdata")
    with served(then=response) as service:
        failure(service.base_url, call=call, attempts=2)
    assert caplog.records
    assert "4711" not in caplog.text


def test_a_search_is_logged_without_its_query(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "tradingdata")
    service.choose(pages(stocks(3)))
    with td.Client(service.base_url) as client:
        client.search("my secret interest").all()
    assert len(caplog.records) == len(service.requests)
    assert "secret" not in caplog.text


def test_logging_is_not_imported_for_a_call(service: Service) -> None:
    service.script(good_book())
    code = """
td.Client(sys.argv[1], access_token=TOKEN).trade_book()
print("logging" in sys.modules, "asyncio" in sys.modules)
"""
    assert run_child(code, service.base_url).strip() == "False False"


def test_a_hook_may_use_the_client(service: Service) -> None:
    service.script(reply(503), good_book(5), good_book(3))
    inner: list[int] = []
    client = td.Client(
        service.base_url,
        access_token=TOKEN,
        on_retry=lambda retry: inner.append(len(client.trade_book())),
    )
    assert len(client.trade_book()) == 3
    assert inner == [5]


def test_show_versions_names_what_is_installed() -> None:
    found = versions()
    assert found["tradingdata"] == td.__version__
    gzip = "isa-l" if "isa-l" in found else "zlib"
    for library in ("libcurl", "OpenSSL", gzip, "pybind11"):
        assert re.fullmatch(r"\d+\.\d+(\.\w+)*", found[library]), library
    assert found["python"].startswith("CPython 3.")
    out = io.StringIO()
    td.show_versions(out)
    lines = out.getvalue().splitlines()
    assert len(lines) == len(found)
    assert re.fullmatch(rf"tradingdata +{re.escape(td.__version__)}", lines[0])
    assert found["pandas"] == metadata.version("pandas")
    assert "pandas" in out.getvalue()
