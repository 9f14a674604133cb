"""Modules that only POSIX systems have. Where one is missing, a test that needs it is skipped."""

from __future__ import annotations

from typing import Any

import pytest

_WHY = {
    "fcntl": "this system has no pseudo-terminals",
    "pty": "this system has no pseudo-terminals",
    "termios": "this system has no pseudo-terminals",
    "resource": "this system has no limits of resources",
}


def posix(name: str) -> Any:
    """The module with that name, or a skip with the reason."""
    return pytest.importorskip(name, reason=_WHY[name])
