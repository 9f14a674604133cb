"""Profiles: named sets of client options, in a file that only its owner may read."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .._util import validate
from .._util.files import read_toml, require_private, whole_file
from .._util.platform import config_folder
from .._util.validate import text
from ..errors import ConfigurationError
from .options import IN_FILES, hidden
from .tokens import Held, hide, token_file

if TYPE_CHECKING:
    from collections.abc import Mapping


PROFILES_VARIABLE = "TRADINGDATA_PROFILES"
PROFILE_VARIABLE = "TRADINGDATA_PROFILE"


_CHECKS = {**IN_FILES, "access_token": text, "access_token_file": text}


def profiles_path() -> str:
    """Returns the profile file: ``TRADINGDATA_PROFILES``, or the user's configuration folder's."""
    named = os.environ.get(PROFILES_VARIABLE)
    default = os.path.join(config_folder(), "tradingdata", "profiles.toml")
    return validate.path(PROFILES_VARIABLE, named or default)


class Profiles(NamedTuple):
    """The profiles of a file that was read once.

    Attributes:
        path: The file.
        tables: Its tables by name, with tokens and proxies hidden.
    """

    path: str
    tables: dict[str, Any]

    def options(self, name: str) -> dict[str, Any]:
        """Returns the options of a profile for ``Client``; ``account`` defaults to its name.

        Raises ConfigurationError if the profile is missing, or an option is unknown or of the wrong
        type. Messages contain neither a value nor the name, which may be a misplaced token.
        """
        path = self.path
        if name not in self.tables:
            known = ", ".join(sorted(self.tables)) or "none"
            raise ConfigurationError(f"{path} has no profile of that name: use one of: {known}")
        profile = self.tables[name]
        if not isinstance(profile, dict):
            raise ConfigurationError(
                f"{path}: {name!r} is not a table: write [{name}] above its options"
            )
        where = f"{path}: profile {name!r}"
        check_options(where, profile)
        options = {"account": name, **profile}
        secret = options.pop("access_token_file", None)
        if secret is not None:
            if "access_token" in options:
                raise ConfigurationError(
                    f"{where} has both access_token and access_token_file: remove one"
                )
            options["access_token"] = token_file(self.token_path(name))
        return options

    def token_path(self, name: str) -> str:
        """Returns the path of a profile's token file, which it must have."""
        secret: str = self.tables[name]["access_token_file"]
        named = validate.path("access_token_file", secret)
        return os.path.join(os.path.dirname(self.path), named)


def load_profile(name: str | None) -> dict[str, Any]:
    """Returns the options of a profile; None is the one that ``TRADINGDATA_PROFILE`` names.

    Raises ConfigurationError if no profile is named, the file or profile is missing, other users
    can read the file, or an option is unknown or of the wrong type.
    """
    chosen = os.environ.get(PROFILE_VARIABLE) if name is None else name
    if not chosen:
        raise ConfigurationError(f"no profile is named: pass its name or set {PROFILE_VARIABLE}")
    return read_profiles().options(chosen)


def check_options(where: str, options: Mapping[str, Any]) -> None:
    """Raises ConfigurationError for an option that is unknown or of the wrong type."""
    for option, value in options.items():
        if option not in _CHECKS:
            raise ConfigurationError(
                f"{where} has an unknown option {option!r}: use one of: {', '.join(_CHECKS)}"
            )
        try:
            _CHECKS[option](option, value.value if isinstance(value, Held) else value)
        except TypeError:
            raise ConfigurationError(f"{where}: {option} has the wrong type") from None
        except ConfigurationError:
            pass  # creating the client reports an unusable value


def read_profiles(path: str | None = None) -> Profiles:
    """Returns the profiles of a file, ``profiles_path()`` unless given.

    Raises ConfigurationError if the file is missing or not valid, or other users can read it.
    """
    path = profiles_path() if path is None else path
    try:
        with open(path, "rb") as file:
            require_private(file, path)
            return Profiles(
                path,
                {
                    name: hidden(table, _CHECKS) if isinstance(table, dict) else hide(table)
                    for name, table in read_toml(file).items()
                },
            )
    except FileNotFoundError:
        raise ConfigurationError(
            f"there is no profile file at {path}: create it, or set {PROFILES_VARIABLE}"
        ) from None
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(str(error)) from None


_NAME = re.compile(r"[A-Za-z0-9_-]+")  # a key of TOML without quotes, and part of a file's name


def add_profile(name: str, options: Mapping[str, str], token: str) -> str:
    """Adds a profile to the end of the profile file, and writes its token to a file beside it.

    Args:
        name: Name of the profile: letters, digits, ``_`` and ``-``.
        options: Options of ``Client``, other than the token.
        token: The access token.

    Returns:
        The path of the profile file.

    Raises:
        ConfigurationError: The name is not valid or taken.
    """
    import json

    if not _NAME.fullmatch(name):
        raise ConfigurationError("the name of a profile has letters, digits, - and _ only")
    path = profiles_path()
    before = ""
    if os.path.exists(path):
        if name in read_profiles(path).tables:
            raise ConfigurationError(f"{path} has a profile {name!r} already: use another name")
        with open(path, encoding="utf-8") as file:
            before = file.read().rstrip() + "\n\n"
    table = {**options, "access_token_file": f"{name}.token"}
    lines = [f"[{name}]", *(f"{option} = {json.dumps(text)}" for option, text in table.items())]
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    _write(os.path.join(os.path.dirname(path), f"{name}.token"), token + "\n")
    _write(path, before + "\n".join(lines) + "\n")
    return path


def replace_token(name: str, token: str) -> str:
    """Writes a new token to the token file of a profile; returns its path.

    Raises ConfigurationError if there is no such profile, or its token is not in a file.
    """
    profiles = read_profiles()
    profiles.options(name)  # raises if there is no such profile
    if "access_token_file" not in profiles.tables[name]:
        raise ConfigurationError(
            f"{profiles.path}: profile {name!r} has no access_token_file: edit it there"
        )
    path = profiles.token_path(name)
    _write(path, token + "\n")
    return path


def _write(path: str, text: str) -> None:
    """Writes a file atomically that only the user can read."""
    with whole_file(path, overwrite=True) as draft, open(draft, "w", encoding="utf-8") as file:
        file.write(text)
