"""What a command imports, and the modules that register commands."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tradingdata.cli import app
from tradingdata.cli.options import COMMANDS

app.load_commands()


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
