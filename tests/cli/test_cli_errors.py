"""`tradingdata`: what goes wrong is one line that says what to do, and an exit code of its kind."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from command_line import Run
from searching import listing
from service import Service as Scripted
from service import book_reply, pages, stocks, trades
from systems import needs_modes
from tradingdata.cli.terminal import Code, for_a_terminal
from tradingdata.sandbox import Service


@pytest.fixture(autouse=True)
def _no_faults_are_left(sandbox: Service) -> Iterator[None]:
    yield
    sandbox.clear_faults()


def refused(run: Run, code: Code, *arguments: object) -> str:
    """The one line that a run says before it ends with that code."""
    ran = run(*arguments)
    assert ran.code == code, ran.err
    assert ran.out == b""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    return ran.err


@pytest.mark.parametrize(
    ("fault", "details", "code", "says"),
    [
        ("401", {}, Code.AUTHENTICATION, "set TRADINGDATA_ACCESS_TOKEN"),
        ("403", {}, Code.AUTHENTICATION, "check the account's permissions"),
        ("status", {"code": 404}, Code.SERVICE, "TRADINGDATA_BASE_URL"),
        ("200", {"message": "Closed"}, Code.SERVICE, "Closed"),
        ("200", {"body": "<html>"}, Code.DATA, "web page"),
        ("200", {"body": "{]"}, Code.DATA, ""),
        ("stall", {"seconds": 5}, Code.TRANSPORT, "the deadline passed"),
    ],
)
def test_each_kind_of_error_has_its_code(
    sandbox: Service,
    run: Run,
    tmp_path: Path,
    fault: str,
    details: dict[str, Any],
    code: Code,
    says: str,
) -> None:
    sandbox.fail_next(fault, times=None, **details)
    said = refused(run, code, "orders", "--timeout", "0.5", "-o", tmp_path / "orders.csv")
    assert list(tmp_path.iterdir()) == []
    assert says in said
    assert not re.search(r"\w=($|[ ;,.])|client\.", said), "that is advice for Python"


def test_no_output_holds_the_token(sandbox: Service, run: Run) -> None:
    token = sandbox.token()
    for arguments in ("trades", "check", "--version", "--help", "orders -f json", "--debug trades"):
        ran = run(*arguments.split())
        assert (ran.code, token in ran.text + ran.err) == (Code.OK, False)
    sandbox.fail_next(403, times=None)
    ran = run("trades", "--debug")
    assert "Traceback" in ran.err
    assert token not in ran.err


def test_without_an_address_or_a_token_it_says_what_to_set(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRADINGDATA_ACCESS_TOKEN")
    said = refused(run, Code.CONFIGURATION, "trades")
    assert "TRADINGDATA_ACCESS_TOKEN" in said
    assert "use a profile (--profile)" in said
    assert run("search", "tata").code == run("stock", "INFY").code == Code.OK
    monkeypatch.delenv("TRADINGDATA_BASE_URL")
    assert "TRADINGDATA_BASE_URL" in refused(run, Code.CONFIGURATION, "search", "tata")


def test_a_search_that_may_lack_stocks_says_so(
    service: Scripted, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
    service.choose(listing(stocks(25)[:5], stocks(25)[5:6], stocks(25)[6:]))
    ran = run("search", "tata", "--page-size", "5")
    assert (ran.code, "read again with a smaller `page_size`" in ran.err) == (Code.OK, True)
    service.choose(pages(stocks(10), repeat_last=True))
    assert "narrow the query" in run("search", "tata").err


@needs_modes
def test_a_profile_gives_address_and_token_and_must_be_private(
    sandbox: Service, run: Run, monkeypatch: pytest.MonkeyPatch, profiles: Path
) -> None:
    lines = ["[desk1]", f'base_url = "{sandbox.base_url}"', f'access_token = "{sandbox.token()}"']
    profiles.write_text("\n".join(lines))
    monkeypatch.delenv("TRADINGDATA_BASE_URL")
    monkeypatch.delenv("TRADINGDATA_ACCESS_TOKEN")
    assert run("trades", "--profile", "desk1").code == Code.OK
    monkeypatch.setenv("TRADINGDATA_PROFILE", "desk1")
    assert run("trades").code == Code.OK
    monkeypatch.delenv("TRADINGDATA_PROFILE")
    assert "use one of: desk1" in refused(run, Code.CONFIGURATION, "trades", "-p", "desk2")
    sandbox.fail_next(403)
    assert "[desk1]" in refused(run, Code.AUTHENTICATION, "trades", "-p", "desk1")
    profiles.write_text(f'[desk1]\nbase_url = "{sandbox.base_url}"\naccess_token_file = "none"\n')
    said = refused(run, Code.AUTHENTICATION, "trades", "-p", "desk1")
    assert "No such file or directory): check `access_token_file`" in said
    assert "error above" not in said
    token = profiles.parent / "none"
    token.write_text(sandbox.token())
    token.chmod(0o644)
    assert f"chmod 600 {token}" in refused(run, Code.AUTHENTICATION, "trades", "-p", "desk1")
    profiles.chmod(0o640)
    said = refused(run, Code.CONFIGURATION, "trades", "-p", "desk1")
    assert f"chmod 600 {profiles}" in said


def test_a_value_that_is_lost_is_reported_and_with_strict_an_error(
    run: Run, monkeypatch: pytest.MonkeyPatch, service: Scripted
) -> None:
    monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
    lost = dict.fromkeys(("traded_price", "quantity", "trade_value", "lot_size", "tick_size"), "-")
    service.script(then=book_reply([trades(1)[0] | lost]))
    ran = run("trades", "-f", "csv")
    assert ran.code == Code.OK
    assert re.search("^issue: traded_price: .* lost", ran.err, re.MULTILINE)
    assert ran.err.count("\n") == len(lost)
    assert "quantity" in refused(run, Code.DATA, "trades", "--strict")


@pytest.mark.parametrize(
    ("broken", "error", "command", "code", "says"),
    [
        ("os.fsync", OSError(28, "No space left on device"), "trades -o book.csv", Code.FILE,
         "error: book.csv: No space left on device\n"),
        ("tradingdata.Client.stock", td.ConfigurationError("it is gone"), "stock INFY",
         Code.CONFIGURATION, "it is gone"),
        ("tradingdata.cli.app.show_versions", RuntimeError("a wire came loose"), "--version",
         Code.BUG, "a wire came loose"),
    ],
)  # fmt: skip
def test_what_breaks_inside_is_one_line_and_leaves_no_file(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    broken: str,
    error: Exception,
    command: str,
    code: Code,
    says: str,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(broken, fails)
    assert says in refused(run, code, *command.split())
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_of_a_format_is_reported_with_its_pip_command(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    said = refused(run, Code.CONFIGURATION, "trades", "-o", "book.xlsx")
    assert "writing Excel files needs xlsxwriter" in said
    assert "pip install 'tradingdata[excel]'" in said


@pytest.mark.parametrize("group", [[], ["archive"]])
def test_a_group_alone_shows_its_help(run: Run, group: list[str]) -> None:
    assert run(*group) == run(*group, "--help")


def test_a_failed_search_is_resumed_in_python_only() -> None:
    error = td.ConnectError("cannot connect")
    error.add_note("`error.received` has the 20 stocks before it")
    assert for_a_terminal(error) == "cannot connect"
