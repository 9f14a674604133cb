"""What commands print on terminals of three widths and into a pipe, to the character."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from rich.cells import cell_len

from command_line import Run, Screen
from golden.samples import FOLDER

STYLE = re.compile(r"\x1b\[[0-9;]*m")
COMMANDS = {
    "trades": "trades",
    "trades-extra": "trades -c symbol,exch_trade_time --extra --limit 2",
    "orders-all": "orders -c all --sort -order_no --limit 4",
    "orders-columns": "orders -w quantity>50 -c order_no,status,price,display_name",
    "orders-none": "orders -w status=pending",
    "search": "search bank --limit 4",
    "stock": "stock RELIANCE",
    "positions": "positions",
    "pnl": "pnl",
    "pnl-unmatched": "pnl --shorts none -c symbol,realised",
    "reconcile": "reconcile",
    "quality": "quality -w status=Success",
}


def test_no_golden_command_is_left_over() -> None:
    assert {path.stem for path in (FOLDER / "commands").iterdir()} == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_stays(
    name: str, golden: Callable[[str, str], None], run: Run, screen: Screen
) -> None:
    words = COMMANDS[name].split()
    """(X7, X10) Nothing is wider than its terminal."""
    ran = run(*words)
    text = f"{'=' * 20} pipe\n{ran.text}{'-' * 20} standard error\n{ran.err}"
    for width in (40, 60, 120):
        shown = screen(width)
        ran = run(*words)
        assert (ran.code, ran.text, ran.err) == (0, "", "")
        lines = STYLE.sub("", shown.getvalue()).splitlines()
        assert max(map(cell_len, lines)) <= width
        text += f"{'=' * width}\n{shown.getvalue()}"
    golden(f"commands/{name}.txt", text.replace("\x1b", "\\e"))
