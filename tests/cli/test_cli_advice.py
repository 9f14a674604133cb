"""What to do about an error: one sentence, which a script and a terminal show alike."""

from __future__ import annotations

import pytest

import tradingdata as td
from tradingdata.cli.app import run
from tradingdata.cli.errors import for_a_terminal


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
    error.add_note("`error.received` has the 20 stocks before it")
    assert for_a_terminal(error) == "cannot connect"


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
