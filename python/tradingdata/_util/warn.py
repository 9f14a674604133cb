"""Warnings that point to the user's line, however many functions of ours are above it."""

from __future__ import annotations

import sys
import warnings

_PACKAGE = __name__.partition(".")[0]


def warn_user(warning: Warning) -> None:
    """Issues a warning whose place is the line that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package != _PACKAGE:
            break
        level, frame = level + 1, frame.f_back
    warnings.warn(warning, stacklevel=level + 1)
