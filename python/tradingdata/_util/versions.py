"""Versions of the package, its libraries and the platform, for problem reports."""

from __future__ import annotations

from typing import TextIO

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
