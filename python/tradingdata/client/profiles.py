"""Profiles: named sets of client options, in a file that only its owner may read."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from .tokens import Held, token_file

if TYPE_CHECKING:
    from collections.abc import Mapping

PROFILES_VARIABLE = "TRADINGDATA_PROFILES"

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


def load_profile(name: str) -> dict[str, Any]:
    """Returns the options of a profile for ``Client``; ``account`` defaults to its name.

    Raises ConfigurationError if the file or profile is missing, other users can read the file, or
    an option is unknown or of the wrong type. Messages never contain a value.
    """
    path = profiles_path()
    profiles = _read(path)
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ConfigurationError(f"{path} has no profile {name!r}: use one of: {known}")
    profile = profiles[name]
    if not isinstance(profile, dict):
        raise ConfigurationError(
            f"{path}: {name!r} is not a table: write [{name}] above its options"
        )
    check_options(f"{path}: profile {name!r}", profile)
    options = {"account": name, **profile}
    secret = options.pop("access_token_file", None)
    if secret is not None:
        if "access_token" in options:
            raise ConfigurationError(
                f"{path}: profile {name!r} has both access_token and access_token_file: remove one"
            )
        options["access_token"] = token_file(os.path.join(os.path.dirname(path), secret))
    return options


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


def profile_names() -> list[str]:
    """Returns the names of the profiles in file order. Raises ConfigurationError."""
    return list(_read(profiles_path()))


def _read(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigurationError(
                    f"other users can read {path}, which may contain tokens: run `chmod 600 {path}`"
                )
            return {
                name: with_token_hidden(profile) for name, profile in tomllib.load(file).items()
            }
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
