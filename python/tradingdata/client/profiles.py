"""Profiles: named sets of client options, in a file that only its owner may read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._util.private_file import require_private
from ..errors import ConfigurationError
from .tokens import Held, token_file

if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILES_VARIABLE = "TRADINGDATA_PROFILES"
PROFILE_VARIABLE = "TRADINGDATA_PROFILE"

_OPTIONS: dict[str, type | tuple[type, ...]] = {
    "base_url": str,
    "access_token": Held,
    "access_token_file": str,
    "account": str,
    "timeout": (int, float),
    "connect_timeout": (int, float),
    "attempts": int,
    "proxy": str,
    "trust_env": bool,
    "ca_file": str,
    "max_body": int,
    "strict": bool,
    "keep_personal_data": bool,
    "tz": str,
}


def profiles_path() -> str:
    """Returns the profile file: ``TRADINGDATA_PROFILES``, or the user's configuration folder's."""
    named = os.environ.get(PROFILES_VARIABLE)
    if named:
        return named
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(home, "tradingdata", "profiles.toml")


class Profiles:
    """The profiles of a file that was read once.

    Attributes:
        path: The file.
        tables: Its tables by name, with tokens hidden.
    """

    def __init__(self, path: str, tables: dict[str, Any]) -> None:
        self.path = path
        self.tables = tables

    @property
    def names(self) -> list[str]:
        """The names of the profiles, in file order."""
        return list(self.tables)

    def options(self, name: str) -> dict[str, Any]:
        """Returns the options of a profile for ``Client``; ``account`` defaults to its name.

        Raises ConfigurationError if the profile is missing, or an option is unknown or of the wrong
        type. Messages never contain a value.
        """
        path = self.path
        if name not in self.tables:
            known = ", ".join(sorted(self.tables)) or "none"
            raise ConfigurationError(f"{path} has no profile {name!r}: use one of: {known}")
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
        return os.path.join(os.path.dirname(self.path), secret)


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
        if option not in _OPTIONS:
            known = ", ".join(_OPTIONS)
            raise ConfigurationError(
                f"{where} has an unknown option {option!r}: use one of: {known}"
            )
        truth = isinstance(value, bool) and _OPTIONS[option] is not bool  # bool is an int subclass
        if truth or not isinstance(value, _OPTIONS[option]):
            raise ConfigurationError(f"{where}: {option} has the wrong type")


def with_token_hidden(options: Any) -> Any:
    """Wraps the token in the options, so that a traceback's local variables do not show it."""
    if isinstance(options, dict) and isinstance(options.get("access_token"), str):
        options["access_token"] = Held(options["access_token"])
    return options


def read_profiles(path: str | None = None) -> Profiles:
    """Returns the profiles of a file, ``profiles_path()`` unless given.

    Raises ConfigurationError if the file is missing or not valid, or other users can read it.
    """
    import tomllib

    path = profiles_path() if path is None else path
    try:
        with open(path, "rb") as file:
            require_private(file, path)
            tables = tomllib.load(file).items()
            return Profiles(path, {name: with_token_hidden(table) for name, table in tables})
    except FileNotFoundError:
        raise ConfigurationError(
            f"there is no profile file at {path}: create it, or set {PROFILES_VARIABLE}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{path} is not valid TOML: byte {error.start} is not UTF-8"
        ) from None
