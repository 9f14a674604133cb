"""What a service says never steers a terminal or a log: one rule for errors, logs and displays."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tradingdata as td
from service import Service, envelope, json_reply, orders, reply, stocks
from tradingdata import _core
from tradingdata._core import printable

CONTROLS = [*range(0x20), *range(0x7F, 0xA0), 0xAD]
MARKS = [0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF]
HOSTILE = "a" + "b".join(map(chr, [*CONTROLS, *MARKS, 0xE0001, 0xFFF9])) + "c"
REPLIES = {
    "envelope": json_reply(envelope([], status="error", message=HOSTILE)),
    "status text": json_reply(envelope([], status=HOSTILE, message="")),
    "401": json_reply(envelope([], status="error", message=HOSTILE), status=401),
    "503": json_reply(envelope([], status="error", message=HOSTILE), status=503),
    "no JSON": reply(200, body=HOSTILE.encode()),
    "path": json_reply(envelope([{**orders(1)[0], "order_no": {HOSTILE: [1]}}, 5])),
    "values": json_reply(envelope([{**orders(1)[0], "price": "\x9b31m\u202e"}])),
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The lines that the package logs."""
    logger, written = logging.getLogger("tradingdata"), io.StringIO()
    handler = logging.StreamHandler(written)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield written
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def texts_of(call: Any) -> dict[str, str]:
    """Every text of the error, or of the book's issues, that a call comes to."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except td.TradingDataError as error:
            names = ("service_message", "body", "path")
            return {"str": str(error), **{name: str(getattr(error, name)) for name in names}}
    texts = {f"warning {at}": str(each.message) for at, each in enumerate(caught)}
    texts |= {f"issue {issue.field}": issue.raw for issue in getattr(result, "issues", ())}
    return texts | {"repr": repr(result)}


def controls(text: str) -> set[str]:
    return {hex(ord(c)) for c in text if not c.isprintable()} - {"0xa", "0x9"}


@pytest.mark.parametrize("name", REPLIES)
def test_errors_and_logs_show_no_control(name: str, service: Service, log: io.StringIO) -> None:
    service.script(then=REPLIES[name], path="/api/v1/order/book")
    with td.Client(service.base_url, access_token="any", attempts=2) as client:
        texts = texts_of(client.order_book)
    assert not any(map(controls, texts.values())), texts
    assert "\n" not in texts.get("str", "")
    assert "\\x9b" in "".join(texts.values())
    lines = log.getvalue().splitlines()
    assert not controls("".join(lines))
    assert len(lines) == log.getvalue().count("\n") > 0


def test_stocks_that_a_message_names_are_escaped(service: Service) -> None:
    rows = [{**stock, "nsesymbol": HOSTILE, "companyname": HOSTILE} for stock in stocks(2)]
    service.script(then=json_reply(rows), path="/api/v1/stocks")
    with td.Client(service.base_url) as client:
        texts = texts_of(lambda: client.stock("RELIANCE"))
    assert not controls(texts["str"])
    assert "\\u202e" in texts["str"]


@given(st.text(st.characters(codec="utf-8")))
def test_the_rule_is_that_of_python(text: str) -> None:
    escaped = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    assert _core.printable(text) == printable(text) == escaped
    assert _core.printable(escaped) == escaped


def test_the_message_of_a_service_stays_readable() -> None:
    said = "Sitzung beendet: 株式 ₹5 📈"
    assert _core.printable(said) is said
