"""What the system that runs the tests lacks. A test that needs it is skipped, with the reason."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

WINDOWS = sys.platform == "win32"

_MODULES = {
    "fcntl": "this system has no pseudo-terminals",
    "pty": "this system has no pseudo-terminals",
    "termios": "this system has no pseudo-terminals",
    "resource": "this system has no limits of resources",
}
_FUNCTIONS = {
    "fork": "this system cannot fork",
    "mkfifo": "this system has no named pipes in folders",
    "geteuid": "this system has neither root nor mounts",
    "umask": "this system has no modes of files",
}


def posix(name: str) -> Any:
    """The module with that name, or a skip with the reason."""
    return pytest.importorskip(name, reason=_MODULES[name])


def needs(function: str) -> pytest.MarkDecorator:
    """Skips a test where `os` lacks a function."""
    return pytest.mark.skipif(not hasattr(os, function), reason=_FUNCTIONS[function])


needs_modes = pytest.mark.skipif(WINDOWS, reason="this system has no modes of files")
needs_shell = pytest.mark.skipif(WINDOWS, reason="runs a script of bash")


def is_private(path: str | os.PathLike[str]) -> bool:
    """Returns whether the mode of a file lets only the user read it; Windows has none."""
    return WINDOWS or not Path(path).stat().st_mode & 0o077


def link_to(target: Path, link: Path) -> None:
    """Makes a symbolic link, or skips the test where the user may not, as on Windows."""
    try:
        link.symlink_to(target)
    except OSError as error:
        pytest.skip(f"no symbolic link can be made: {error.strerror}")
    if not link.is_symlink():
        pytest.skip("Wine: a symbolic link is none")


NO_RESET = "a connection that was reset looks as if it had ended in order"


def is_wine() -> bool:
    """Returns whether Windows is Wine, which lacks or changes some of it."""
    if sys.platform != "win32":
        return False
    import ctypes

    return hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")


NUMPY = re.compile(
    r"(No module named '|needs )(numpy|pandas|polars|pyarrow|matplotlib|duckdb|dask)\b"
)
NO_NUMPY = "Wine: numpy does not load"


def skip_without_numpy(error: str) -> None:
    """Skips a test under Wine if it met the error that a library built on numpy is missing."""
    if NUMPY.search(error) and is_wine():
        pytest.skip(NO_NUMPY)


def not_under_wine(why: str) -> pytest.MarkDecorator:
    """Skips a test under Wine only: Windows itself has to pass it."""
    return pytest.mark.skipif(is_wine(), reason=f"Wine: {why}")
