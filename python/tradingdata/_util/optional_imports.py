"""Optional dependencies: imported on first use, with an install command if one is missing.

A package installed from an index is extended by its extra. One installed from a checkout or a file
is not on an index, perhaps, and installing the checkout again would compile it: the command then
names the libraries of the extra. Also lists all versions, for problem reports.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    least = MINIMUM.get(library)
    return install_command(extra, library if least is None else f"'{library}>={least}'")


def _numbers(version: str) -> list[int]:
    """Returns the first numbers of a version: 2, 2 of ``2.2.0rc1``."""
    return [int(part) for part in re.findall(r"\d+", version)[:2]]


_DISTRIBUTION = "tradingdata"
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_OWN_EXTRAS = re.compile(rf"{_DISTRIBUTION}\s*\[([^]]+)\]")


def install_command(extra: str, library: str) -> str:
    """Returns the command that installs an extra for how this package was installed.

    Args:
        extra: Name of the extra.
        library: The library to name if the package's metadata is missing, as when the package is
            used from a folder on ``PYTHONPATH``.
    """
    import shlex
    from importlib import metadata

    try:
        installed = metadata.distribution(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return f"pip install {library}"
    if installed.read_text("direct_url.json") is None:
        return f"pip install '{_DISTRIBUTION}[{extra}]'"
    needed = dict.fromkeys(requirements(installed.requires or [], extra))
    return " ".join(["pip install", *(shlex.quote(each) for each in needed or (library,))])


def requirements(lines: Iterable[str], extra: str) -> Iterator[str]:
    """Yields the libraries of an extra, those of the extras that it includes too.

    Args:
        lines: The ``Requires-Dist`` lines of the package's metadata.
        extra: Name of the extra.
    """
    known = list(lines)
    for line in known:
        requirement, _, marker = line.partition(";")
        of = _EXTRA.search(marker)
        if of is None or of.group(1) != extra:
            continue
        if included := _OWN_EXTRAS.match(requirement):
            for other in included.group(1).split(","):
                yield from requirements(known, other.strip())
        else:
            yield requirement.strip()


_OPTIONAL = ("pandas", "polars", "pyarrow", "duckdb", "dask", "tqdm", "typer", "rich", "certifi")


def versions() -> dict[str, str]:
    """Returns versions by name: this package, Python, the platform, then libraries.

    Libraries linked into the extension come first, under the names that a wheel's bill of
    materials uses.
    """
    import platform
    from importlib import metadata

    from .. import _core

    found = {
        "tradingdata": _core.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        **dict(part.strip("()").partition("/")[::2] for part in _core.transport_version().split()),
        "pybind11": _core.pybind11_version,
    }
    for name in _OPTIONAL:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def show_versions(file: TextIO | None = None) -> None:
    """Prints the versions that a problem report needs, one per line.

    Lists this package, Python, the platform, libcurl and the optional libraries, and nothing about
    your account.

    Args:
        file: A text file to print to; standard output if None.
    """
    found = versions()
    width = max(map(len, found))
    for name, version in found.items():
        print(f"{name:<{width}}  {version}", file=file)
