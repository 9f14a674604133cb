"""Adds a profile to the profile file; its token is stored in a file of its own beside it."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from .._util.atomic_file import whole_file
from ..errors import ConfigurationError
from .profiles import profiles_path, read_profiles

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME = re.compile(r"[A-Za-z0-9_-]+")  # a key of TOML without quotes, and part of a file's name


def add_profile(name: str, options: Mapping[str, str], token: str, *, replace: bool) -> str:
    """Writes a profile and its token, each atomically to a file that only the user can read.

    Args:
        name: Name of the profile: letters, digits, ``_`` and ``-``.
        options: Options of ``Client``, other than the token.
        token: The access token.
        replace: Whether to replace a profile of that name.

    Returns:
        The path of the profile file.

    Raises:
        ConfigurationError: The name is not valid or taken, or the file cannot be changed without
            changing other profiles.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError("the name of a profile has letters, digits, - and _ only")
    path = profiles_path()
    known = read_profiles(path).names if os.path.exists(path) else []
    if name in known and not replace:
        raise ConfigurationError(f"{path} has a profile {name!r} already: replace it, or rename")
    table = {**options, "access_token_file": f"{name}.token"}
    lines = [f"{option} = {json.dumps(value)}" for option, value in table.items()]
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    text = _changed(path, name, f"[{name}]\n" + "\n".join(lines) + "\n")
    _write(os.path.join(os.path.dirname(path), f"{name}.token"), token + "\n")
    _write(path, text)
    return path


def _write(path: str, text: str) -> None:
    with whole_file(path, overwrite=True) as draft, open(draft, "w", encoding="utf-8") as file:
        file.write(text)


def _changed(path: str, name: str, table: str) -> str:
    """Returns the text of the profile file with a table added or replaced."""
    import tomllib

    try:
        with open(path, encoding="utf-8") as file:
            before = file.read()
    except FileNotFoundError:
        before = ""
    kept: list[str] = []
    inside = False
    for line in before.splitlines():
        if line.lstrip().startswith("["):
            inside = line.split("#")[0].strip() == f"[{name}]"
        if not inside:
            kept.append(line)
    text = "\n".join(kept).strip("\n")
    text = f"{text}\n\n{table}" if text else table
    wanted = {**tomllib.loads(before), **tomllib.loads(table)}
    try:
        unchanged = tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        unchanged = False
    if not unchanged:
        raise ConfigurationError(f"{path} cannot be changed automatically: edit it yourself")
    return text
