"""`tradingdata demo`: the three calls against a simulated service."""

from __future__ import annotations

import sys

from tradingdata.cli.options import Debug
from tradingdata.sandbox.demo import show

EXAMPLES = """
tradingdata demo
"""


def demo(debug: Debug = False) -> None:
    """Show the calls on a simulated trading day.

    Needs no account and no network.
    """
    show(sys.stdout)
