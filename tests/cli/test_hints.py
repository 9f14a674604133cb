"""Hints of errors: each code has advice for Python and for the command line, and is in use."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from tradingdata.analysis.validation import RowError
from tradingdata.cli.advice import for_a_terminal
from tradingdata.cli.run import run
from tradingdata.errors import ADVICE

ROOT = Path(__file__).parents[2]
HEADER = ROOT / "cpp/src/base/error.hpp"
PYTHON_ONLY = re.compile(r"\w=[\s;,.)\"]|\w=$|td\.|client\.|Archive\(|\.issues")


def failure(hint: str) -> Any:
    """An error with that hint, of the class that carries it."""
    if "{name}" in ADVICE[hint]:
        return RowError("it failed", hint=hint, name="quantity")
    return td.TradingDataError("it failed", hint=hint)


@pytest.mark.parametrize("hint", ADVICE)
def test_each_hint_has_advice_in_python_that_survives_a_pickle(hint: str) -> None:
    error = failure(hint)
    assert str(error) == f"it failed: {ADVICE[hint].replace('{name}', 'quantity')}"
    again = pickle.loads(pickle.dumps(error))
    assert (again.hint, again.args, str(again)) == (hint, ("it failed",), str(error))


@pytest.mark.parametrize("hint", ADVICE)
def test_the_command_line_shows_each_hint_without_python_arguments(
    hint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise td.ConfigurationError(*failure(hint).args, hint=hint)

    monkeypatch.setattr("tradingdata.cli.commands.versions.show_versions", fail)
    run(["versions"])
    shown = capsys.readouterr().err
    assert shown == f"error: {for_a_terminal(failure(hint))}\n"
    assert not PYTHON_ONLY.search(shown)


def test_advice_after_a_message_with_a_colon_is_set_off_by_a_semicolon() -> None:
    assert str(td.ServerError("GET /a: HTTP 503", hint="try_later")).endswith(
        "503; try again later"
    )


def test_an_error_without_a_hint_is_its_message() -> None:
    error = td.TradingDataError("it failed")
    assert error.hint is None
    assert str(error) == for_a_terminal(error) == "it failed"


def test_where_to_resume_a_search_is_in_the_words_of_the_command_line() -> None:
    error = td.ConnectError("cannot connect")
    error.page, error.page_size = 3, 10
    error.add_note("the 20 stocks before it are in the error's .received")
    assert for_a_terminal(error) == "cannot connect; resume with --start-page 3 --page-size 10"


def test_a_warning_has_a_hint_too() -> None:
    warning = pickle.loads(pickle.dumps(td.DataWarning("rows may be missing", hint="confirm")))
    assert str(warning) == f"rows may be missing: {ADVICE['confirm']}"


def test_every_hint_of_the_core_is_known_and_every_known_hint_is_used() -> None:
    core = set(re.findall(r'inline constexpr Hint \w+\{"(\w+)"\}', HEADER.read_text()))
    assert core
    cpp = "".join(path.read_text() for path in (ROOT / "cpp/src").rglob("*.cpp"))
    assert {code for code in core if f"hint::{code}" not in cpp} == set()
    python = "".join(
        path.read_text()
        for path in (ROOT / "python/tradingdata").rglob("*.py")
        if path.name not in ("errors.py", "advice.py")
    )
    assert core | {code for code in ADVICE if f'"{code}"' in python} == set(ADVICE)
