"""What every command and every table of results has: a help, examples, a page and a test."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tradingdata import analysis
from tradingdata._util.declarations import BOOK_CALLS, RECORDS
from tradingdata.cli import app
from tradingdata.cli.app import COMMANDS

ROOT = Path(__file__).parents[2]
TESTS = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("*/test_*.py"))
# Their tests loop over the declared calls.
DECLARED = {RECORDS[call["record"]]["noun"][1] for call in BOOK_CALLS.values()}
PAGES = "\n".join(
    path.read_text("utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*/*.md")]
)
app.load_commands()
TABLES = [
    name
    for name in analysis.__all__
    if inspect.isclass(getattr(analysis, name))
    and issubclass(getattr(analysis, name), analysis.ResultTable)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_a_help_examples_a_page_and_a_test(command: str) -> None:
    function, examples = COMMANDS[command]
    assert function.__doc__, f"add a docstring to `{command}`: it is the text of its --help"
    assert f"tradingdata {command}" in examples, f"add an example of `{command}` where it registers"
    page = re.search(rf"tradingdata {command}\b", PAGES)
    assert page, f"show `tradingdata {command}` on a page such as docs/how-to/command-line.md"
    words = r'[",\s]+'.join(map(re.escape, command.split()))
    tested = command.split()[-1] in DECLARED or re.search(rf'"{words}\b', TESTS)
    assert tested, f"add a test that runs `{command}`"


def test_each_module_registers_the_commands_that_load_it() -> None:
    registered: dict[str, set[str]] = {}
    for command, (function, _) in COMMANDS.items():
        module = function.__module__.rpartition(".")[2]
        registered.setdefault(module, set()).add(command.split()[0])
    assert registered == {module: set(names) for module, names in app._MODULES.items()}


@pytest.mark.parametrize(
    ("arguments", "foreign"),
    [
        ("--version", ["rich.console", "tradingdata.analysis", "tradingdata.cli.commands"]),
        ("trades -f csv", ["rich.console", "tradingdata.analysis", "tradingdata.cli.watch"]),
    ],
)
def test_a_command_imports_what_it_needs(arguments: str, foreign: list[str]) -> None:
    script = (
        "import sys; from tradingdata import sandbox; from tradingdata.cli import main\n"
        "import os\nbefore = set(sys.modules)\n"
        "with sandbox.start(orders=5) as service:\n"
        "    os.environ['TRADINGDATA_BASE_URL'] = service.base_url\n"
        "    os.environ['TRADINGDATA_ACCESS_TOKEN'] = service.token()\n"
        f"    assert main({arguments.split()!r}) == 0\n"
        f"print([name for name in {foreign!r} if name in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize("table", TABLES)
def test_a_table_of_results_is_exported_in_every_format(table: str) -> None:
    """The fixture `tables` calls each function of `analysis`; this names what it cannot call."""
    text = (Path(__file__).parents[1] / "table/test_every_table.py").read_text()
    returned = {
        inspect.signature(value).return_annotation
        for value in vars(analysis).values()
        if inspect.isfunction(value)
    }
    known = table in returned or re.search(rf'"{table}"', text) or table == "ResultTable"
    assert known, f"add a {table} to the fixture `tables` of tests/table/test_every_table.py"
