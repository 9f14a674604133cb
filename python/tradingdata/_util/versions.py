"""What is installed: the first thing to look at, and to send along, when something is odd."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_OPTIONAL = ("pandas", "polars", "pyarrow", "duckdb", "dask", "tqdm", "typer", "rich", "certifi")


def versions() -> dict[str, str]:
    """Versions by name: this package, Python, the platform, libraries.

    Of the libraries, those of the extension come first: the ones that a wheel brings along stand
    under these names in its bill of materials too.
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
    """Prints what a report of a problem needs, to ``file`` or standard output.

    A line each: the versions of this package, Python, the platform, libcurl and the optional
    libraries. It holds nothing of your account.
    """
    found = versions()
    width = max(map(len, found))
    for name, version in found.items():
        print(f"{name:<{width}}  {version}", file=file)
