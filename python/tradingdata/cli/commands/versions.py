"""`tradingdata versions`: what is installed."""

from __future__ import annotations

import sys

from tradingdata.cli.options import Debug
from tradingdata.versions import show_versions

EXAMPLES = """
tradingdata versions
"""


def versions(debug: Debug = False) -> None:
    """Show what is installed, to send along with a question."""
    show_versions(sys.stdout)
