"""What to do about an error: one sentence, which a script and a terminal show alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tradingdata as td
from tradingdata.cli.app import run
from tradingdata.cli.errors import for_a_terminal
from tradingdata.client.options import CHECKS

HEADER = Path(__file__).parents[2] / "cpp/src/base/error.hpp"
SENTENCES = dict(
    re.findall(r'constexpr const char\* (\w+) =\s+"(.+?)";\n', HEADER.read_text("utf-8"))
)
OTHER_ARGUMENTS = {"access_token", "page_size", "query"}


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_advice_names_arguments_in_backticks_and_variables(name: str) -> None:
    sentence = SENTENCES[name]
    assert set(re.findall(r"`(.+?)`", sentence)) <= {*CHECKS, *OTHER_ARGUMENTS}
    assert not re.search(r"\w=|--\w", sentence), "words of one reader only"
    assert not sentence.endswith(".")


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
    error.page, error.page_size = 3, 10
    error.add_note("the 20 stocks before it are in the error's .received")
    assert for_a_terminal(error) == "cannot connect"
