"""Optional dependencies: imported on first use, with an install command if one is missing.

Also lists all versions, for problem reports.
"""

from __future__ import annotations

import importlib
import re
from types import ModuleType
from typing import Any, TextIO

# The oldest versions that work; pyproject.toml requires the same, and a test compares them. The
# stage `versions` of ./.ci/test runs the frame tests with the first three at exactly these.
MINIMUM = {
    "pandas": "2.2",
    "polars": "1.3",
    "pyarrow": "16.0",
    "duckdb": "2.0",
    "dask": "2025.1",
    "matplotlib": "3.10",
    "tqdm": "4.67",
    "click": "8.5",
    "xlsxwriter": "3.2",
}


def require(library: str, extra: str, what: str) -> ModuleType:
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
    # This also works for a package installed from a checkout or a file: pip then reads the extras
    # of the installed version.
    command = f"pip install 'tradingdata[{extra}]'"
    try:
        module = importlib.import_module(library)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != top:
            raise
        problem = f"{what} needs {top}, which is not installed: {command}"
        raise ModuleNotFoundError(problem, name=top) from error
    version = vars(importlib.import_module(top)).get("__version__") or _installed(top)
    least = MINIMUM.get(top, "")
    if version and _version_numbers(version) < _version_numbers(least):
        problem = f"{what} needs {top} {least} or later and found {version}: {command}"
        raise ImportError(problem, name=top)
    return module


class LazyModule:
    """A module that is imported once an annotation that names it is evaluated.

    Its names are `Any` where it is not installed.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(importlib.import_module(self._module), name)
        except ImportError:
            return Any


def _version_numbers(version: str) -> list[int]:
    """Returns the first numbers of a version: 2, 2 of ``2.2.0rc1``."""
    return [int(part) for part in re.findall(r"\d+", version)[:2]]


def _installed(name: str) -> str:
    """Returns the version of an installed distribution, or empty text."""
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Returns versions by name: this package, Python, the platform, then libraries.

    Libraries linked into the extension come first, under the names that a wheel's bill of
    materials uses.
    """
    import platform

    from .. import _core

    # `platform.platform()` starts a process.
    system = (platform.system(), platform.release(), platform.machine(), *platform.libc_ver())
    by_name = {
        "tradingdata": _core.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": " ".join(filter(None, system)),
        **dict(part.strip("()").partition("/")[::2] for part in _core.transport_version().split()),
        "pybind11": _core.pybind11_version,
    }
    libraries = (*MINIMUM, "certifi")
    return by_name | {name: _installed(name) or "not installed" for name in libraries}


def show_versions(file: TextIO | None = None) -> None:
    """Prints the versions that a problem report needs, one per line.

    Lists this package, Python, the platform, libcurl and the optional libraries, and nothing about
    your account.

    Args:
        file: A text file to print to; standard output if None.

    Raises:
        TypeError: If ``file`` is no file, such as the name of one.
    """
    if file is not None and not hasattr(file, "write"):
        raise TypeError(f"file must be an open text file, not {type(file).__name__}")
    by_name = versions()
    width = max(map(len, by_name))
    for name, version in by_name.items():
        print(f"{name:<{width}}  {version}", file=file)


class _NoBar:
    def update(self, n: int = 0) -> None:
        pass

    close = update


def require_bar() -> Any:
    """Returns tqdm's class. Raises ImportError if tqdm is not installed."""
    return require("tqdm.auto", "progress", "a progress bar").tqdm


def progress_bar(title: str, unit: str, *, enabled: bool, total: int | None = None) -> Any:
    """Returns a bar, with ``update(n)`` and ``close()``; it shows nothing unless ``enabled``.

    Args:
        title: Text before the bar.
        unit: Name of the units, in the plural.
        enabled: Whether to show the bar.
        total: The number of units; None if unknown, as in a search.

    Raises:
        ImportError: tqdm is not installed.
    """
    if not enabled:
        return _NoBar()
    return require_bar()(desc=title, unit=f" {unit}", total=total)
