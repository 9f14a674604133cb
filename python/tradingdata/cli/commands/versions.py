"""`tradingdata versions`: the installed versions."""

from __future__ import annotations

import sys

from tradingdata._util.versions import show_versions
from tradingdata.cli.options import Debug

EXAMPLES = """
tradingdata versions
"""


def versions(debug: Debug = False) -> None:
    """Show the installed versions."""
    show_versions(sys.stdout)
