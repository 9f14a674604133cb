"""What a command imports."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("arguments", "foreign"),
    [
        ("--version", ["tradingdata.analysis", "tradingdata.cli.commands"]),
        ("trades -f csv", ["tradingdata.analysis", "tradingdata.cli.watch"]),
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
