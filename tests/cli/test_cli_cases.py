"""`tradingdata`: small things that people type, and terminals and pipes as they are (X1 to X11)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from command_line import Run, account, commands, on_terminal
from service import Service as Scripted
from service import book_reply, trades
from systems import needs_modes
from tradingdata.cli.terminal import Code
from tradingdata.sandbox import Service

STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def widest(shown: str) -> int:
    return max(map(cell_len, STYLE.sub("", shown).splitlines()))


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("quantity=1,000", "quantity is 1 or 0; for one number, write quantity=1000"),
        ("traded_price!=1,23,456", "write traded_price!=123456"),
        ("quantity=10,20", ""),
        ("security_id=1,000", ""),
    ],
)
def test_a_number_as_tables_print_it_is_a_list(run: Run, condition: str, said: str) -> None:
    """(X1)"""
    ran = run("trades", "-w", condition, "-f", "json")
    assert ran.code == Code.OK
    assert (said in ran.err) if said else ("--where" not in ran.err)


@needs_modes
def test_a_replaced_file_keeps_its_mode(run: Run, tmp_path: Path) -> None:
    """(X2) Also behind a link; a new file is its owner's."""
    shared, link = tmp_path / "sh.csv", tmp_path / "link.csv"
    shared.touch()
    shared.chmod(0o664)
    link.symlink_to(shared)
    for path in (shared, link):
        assert run("trades", "-o", path, "--force").code == Code.OK
        assert link.is_symlink()
        assert shared.stat().st_mode & 0o777 == 0o664
    run("trades", "-o", tmp_path / "new.csv")
    assert (tmp_path / "new.csv").stat().st_mode & 0o777 == 0o600


def test_what_a_workbook_cannot_hold_has_its_code(
    service: Scripted, monkeypatch: pytest.MonkeyPatch, run: Run, tmp_path: Path
) -> None:
    """(X4)"""
    monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
    service.script(then=book_reply([trades(1)[0] | {"symbol": "x" * 40_000}]))
    ran = run("trades", "-o", tmp_path / "long.xlsx")
    assert (ran.code, "32,767 characters" in ran.err) == (Code.DATA, True), ran.err
    assert list(tmp_path.iterdir()) == []
    ran = run("trades", "-w", "symbol=a\udcff")
    assert (ran.code, "symbol takes text in UTF-8" in ran.err) == (Code.USAGE, True), ran.err


def test_a_profile_file_may_begin_with_a_byte_order_mark(
    sandbox: Service, run: Run, profiles: Path
) -> None:
    """(X5)"""
    lines = f'[desk1]\nbase_url = "{sandbox.base_url}"\naccess_token = "{sandbox.token()}"\n'
    profiles.write_text("\ufeff" + lines, "utf-8")
    assert run("trades", "-p", "desk1", "-f", "json").code == Code.OK


@pytest.mark.parametrize("options", [["-f", "csv"], ["--format", "table"], ["-o", "none.csv"]])
def test_no_match_is_explained_as_in_python(
    run: Run, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(X7)"""
    monkeypatch.chdir(tmp_path)
    ran = run("orders", "-w", "status=pending", *options)
    assert ran.code == Code.OK
    assert "0 orders: status is 'Success', " in ran.err


@pytest.mark.parametrize("command", ["", *commands()])
def test_all_of_the_help_fits_a_narrow_terminal(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(X10) Long examples go on in the next line, as in a shell."""
    examples = []
    for columns in (40, 60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = run(*command.split(), "--help").text
        assert widest(text) <= columns
        assert "-h, --help" in text
        assert text.split("\n\n")[1].rstrip().endswith(".")
        summaries = text.partition("Commands:")[2].partition("Examples:")[0]
        assert "..." not in summaries or columns < 60, "a summary is cut"
        joined = re.sub(r" \\\n +", " ", text.split("Examples:\n")[1])
        examples.append(re.findall("^    tradingdata.*$", joined, re.MULTILINE))
    assert examples[0]
    assert examples[0] == examples[1] == examples[2]


@pytest.mark.parametrize(
    ("setting", "width", "command", "shows"),
    [
        ({"TERM": "dumb"}, 120, "trades", "INFY"),  # (X10) its width, and no colours
        ({"NO_COLOR": "1"}, 80, "orders", "INFY"),
        ({"NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}, 80, "trades", "... "),
        ({"NO_COLOR": "1"}, 100, "watch -i 0.1 --polls 3", "  new "),  # (X3) hides no cursor
    ],
)
def test_a_terminal_gets_no_control_sequence_that_it_did_not_ask_for(
    sandbox: Service, setting: dict[str, str], width: int, command: str, shows: str
) -> None:
    shown = on_terminal(*command.split(), env=account(sandbox) | setting, width=width)
    assert shows in shown
    assert "\x1b" not in shown
    assert widest(shown) <= width
