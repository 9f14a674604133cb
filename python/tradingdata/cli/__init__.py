"""The command line `tradingdata`.

Importing this package does not import click (the extra `[cli]`); `main` does. `demo` also runs
without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code; arguments default to those of the process."""
    try:
        import sys

        from tradingdata._util.platform import open_missing_streams, settle_streams

        open_missing_streams()
        try:
            return _run(sys.argv[1:] if arguments is None else list(arguments))
        finally:
            settle_streams()
    except KeyboardInterrupt:  # while the libraries were being imported
        return 130


def _run(arguments: Sequence[str]) -> int:
    import sys

    from tradingdata._util.optional_imports import require

    try:
        require("click", "cli", "the command line")
    except ImportError as missing:
        if list(arguments) == ["demo"]:
            from tradingdata.sandbox.demo import show

            show(sys.stdout)
            return 0
        print(f"tradingdata: {missing}", file=sys.stderr)
        return 3  # Code.CONFIGURATION, whose module needs no extra but takes time to import
    from .app import run

    return run(arguments)
