"""The command that installs what an optional part of the package needs.

A package installed from an index is extended by its extra. One installed from a checkout or a file
is not on an index, perhaps, and installing the checkout again would compile it: the command then
names the libraries of the extra.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
