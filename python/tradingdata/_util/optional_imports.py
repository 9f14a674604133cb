"""Optional dependencies: imported on first use, with an install command if one is missing."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def require(library: str, extra: str, what: str, *, major: int = 0) -> Any:
    """Imports a library. Raises ImportError with the install command if missing or too old."""
    install = f"pip install 'tradingdata[{extra}]'"
    top = library.partition(".")[0]
    try:
        module = importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        raise ImportError(f"{what} needs {top}, which is not installed: {install}") from error
    version = getattr(importlib.import_module(top), "__version__", "")
    if major and int(version.partition(".")[0] or 0) < major:
        raise ImportError(f"{what} needs {top} {major} or later and found {version}: {install}")
    return module
