"""Reads the package's variables from a file such as `.env`, only when a program asks for it.

A file in the working directory is never read by itself: whoever can write there could otherwise
send the token to another address.
"""

from __future__ import annotations

import os
import re

from .._util import validate
from .._util.private_file import require_private
from ..errors import ConfigurationError
from .tokens import ACCESS_TOKEN_VARIABLE

_PREFIX = "TRADINGDATA_"
_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>\w+)\s*=\s*
    (?:"(?P<double>[^"\\]*)"|'(?P<single>[^']*)'|(?P<bare>[^\s"'\#]*))\s*(?:\#.*)?""",
    re.VERBOSE,
)


def load_env(path: str | os.PathLike[str] = ".env") -> list[str]:
    """Sets the ``TRADINGDATA_*`` variables of a file in the environment.

    Variables that are set already keep their value, and other variables of the file are ignored. A
    line is ``NAME=value``, also after ``export`` or with the value in quotes; ``#`` begins a
    comment, and nothing in a value is expanded.

    Args:
        path: The file. If it contains ``TRADINGDATA_ACCESS_TOKEN``, other users must not be able to
            read it.

    Returns:
        The names of the variables that were set.

    Raises:
        ConfigurationError: The file is missing, cannot be understood, or contains a token and can
            be read by other users. Messages never contain a value.

    Example:
        >>> td.load_env()
        >>> client = td.Client()
    """
    name = validate.path("path", path)
    try:
        with open(name, "rb") as file:
            lines = file.read().decode("utf-8-sig", "replace").splitlines()
            found = dict(_variables(lines, name))
            if ACCESS_TOKEN_VARIABLE in found:
                require_private(file, name)
    except OSError as error:
        raise ConfigurationError(
            f"{name!a} cannot be read ({error.strerror}): check the path"
        ) from error
    new = [variable for variable in found if variable not in os.environ]
    os.environ.update({variable: found[variable] for variable in new})
    return new


def _variables(lines: list[str], path: str) -> list[tuple[str, str]]:
    found = []
    for number, line in enumerate(lines, 1):
        if not line.lstrip().removeprefix("export ").lstrip().startswith(_PREFIX):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ConfigurationError(
                f"line {number} of {path} is not NAME=value: put a value with spaces in quotes"
            )
        value = next(text for text in match.group("double", "single", "bare") if text is not None)
        found.append((match["name"], value))
    return found
