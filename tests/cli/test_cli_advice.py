"""What to do about an error: one sentence, which a script and a terminal show alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import both, failure, served
from service import reply
from tradingdata.cli.app import run
from tradingdata.cli.errors import for_a_terminal

HEADER = Path(__file__).parents[2] / "cpp/src/base/error.hpp"
SENTENCES = dict(
    re.findall(r'constexpr const char\* (\w+) =\s+"(.+?)";\n', HEADER.read_text("utf-8"))
)


def test_the_command_line_shows_an_error_as_python_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "http://example.com"
    with pytest.raises(td.ConfigurationError) as caught:
        td.Client(address)
    assert "`base_url` or in TRADINGDATA_BASE_URL" in str(caught.value)
    monkeypatch.setenv("TRADINGDATA_BASE_URL", address)
    run(["search", "tata"])
    assert capsys.readouterr().err == f"error: {caught.value}\n"


def test_a_failed_search_is_resumed_in_python_only() -> None:
    error = td.ConnectError("cannot connect")
    error.add_note("the 20 stocks before it are in `error.received`")
    assert for_a_terminal(error) == "cannot connect"


@both
@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((status, "") for status in (200, 204, 302, 400, 401, 403, 404, 405, 418, 422, 429, 500)),
        (200, '{"data": [], "message": "Refused", "status": "error"}'),
        (200, '{"data": [], "message": "ok"}'),
        (200, '{"message": "ok", "status": "success"}'),
        (200, "[]"),
        (200, "<html>"),
        (200, "{]"),
        (200, '{"data'),
    ],
)
def test_every_response_that_fails_says_what_to_do(call: Any, status: int, body: str) -> None:
    with served(then=reply(status, body.encode())) as service:
        error = failure(service.base_url, call=call, attempts=1)
    assert str(error).endswith(tuple(SENTENCES.values()))


@pytest.mark.parametrize("body", ["", "{}", "<html>", '{"status":"error","message":"Refused"}'])
def test_a_saved_body_that_is_no_book_says_what_to_pass(body: str) -> None:
    with pytest.raises(td.TradingDataError) as caught:
        td.TradeBook.from_json(body)
    assert str(caught.value).endswith(SENTENCES["saved_body"])


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("x exists: pass `overwrite=True` to replace it", "x exists: pass --force to replace it"),
        ("a day lacks: pass `missing_ok`", "a day lacks: pass --missing-ok"),
        ("no token: use a profile", "no token: use a profile (--profile)"),
    ],
)
def test_a_terminal_shows_the_option_for_an_argument(message: str, shown: str) -> None:
    assert for_a_terminal(td.ArchiveError(message)) == shown
