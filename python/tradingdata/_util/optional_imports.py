"""Optional dependencies: imported on first use, with an install command if one is missing."""

from __future__ import annotations

import importlib
from typing import Any

# The oldest versions that work; pyproject.toml requires the same, and a test compares them. The
# stage `versions` of ./.ci/test runs the frame tests with the first three at exactly these.
MINIMUM = {
    "pandas": "2.2",
    "polars": "1.3",
    "pyarrow": "16.0",
    "deltalake": "1.2",
    "duckdb": "1.3",
    "dask": "2025.1",
    "matplotlib": "3.10",
    "tqdm": "4.67",
    "typer": "0.16",
    "xlsxwriter": "3.2",
}


def require(library: str, extra: str, what: str) -> Any:
    """Imports a library of an extra.

    Args:
        library: The module to import.
        extra: The extra that installs it.
        what: What needs it, for the message.

    Raises:
        ImportError: The library is not installed or too old; the message has the command that
            installs it. An error that the library itself raises is passed on unchanged.
    """
    top = library.partition(".")[0]
    try:
        module = importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        problem = f"{what} needs {top}, which is not installed"
        raise ModuleNotFoundError(f"{problem}: {_command(extra, top)}", name=top) from error
    found = getattr(importlib.import_module(top), "__version__", "")
    least = MINIMUM.get(top, "")
    if found and _numbers(found) < _numbers(least):
        problem = f"{what} needs {top} {least} or later and found {found}"
        raise ImportError(f"{problem}: {_command(extra, top)}", name=top)
    return module


def _command(extra: str, library: str) -> str:
    from .install_command import install_command

    least = MINIMUM.get(library)
    return install_command(extra, library if least is None else f"'{library}>={least}'")


def _numbers(version: str) -> list[int]:
    """Returns the first numbers of a version: 2, 2 of ``2.2.0rc1``."""
    import re

    return [int(part) for part in re.findall(r"\d+", version)[:2]]
