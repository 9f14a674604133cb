"""Who can read a file, set and checked as the system has it: by its mode, or by its access list."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tradingdata._util import platform

if sys.platform == "win32":
    from tradingdata._util import windows


def _set_access(path: str, entries: str) -> None:
    """Replaces the access control list of a file on Windows."""
    if sys.platform == "win32":
        with windows._descriptor(entries) as descriptor:
            windows._check(windows._advapi.SetFileSecurityW(path, 4, descriptor))


def make_private(path: Path) -> None:
    """Lets only the user read a file."""
    if sys.platform == "win32":
        _set_access(str(path), f"(A;;FA;;;{windows.user_sid()})")
    else:
        path.chmod(0o600)


def make_readable(path: Path, mode: int = 0o644) -> None:
    """Lets other users read a file; Windows knows no `mode`."""
    if sys.platform == "win32":
        _set_access(str(path), f"(A;;FA;;;{windows.user_sid()})(A;;FR;;;WD)")
    else:
        path.chmod(mode)


def is_private(path: str | os.PathLike[str]) -> bool:
    """Returns whether only the user can read a file."""
    with open(path, "rb") as file:
        return platform.is_private(file)
