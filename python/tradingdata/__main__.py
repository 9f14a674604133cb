"""`python -m tradingdata demo`: runs the demonstration, which needs no extra."""

from __future__ import annotations

import sys

from tradingdata.sandbox.demo import show

USAGE = "usage: python -m tradingdata demo"


def main(arguments: list[str]) -> int:
    """Runs the command given by the arguments; returns the exit code."""
    if arguments != ["demo"]:
        print(USAGE, file=sys.stderr)
        return 2
    show(sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
