"""Profiles: named sets of client options, in a file that only its owner may read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._util import validate
from .._util.platform import config_folder, read_toml, require_private
from .._util.validate import text
from ..errors import ConfigurationError
from .options import IN_FILES, hidden
from .tokens import Held, hide, token_reader

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


_WRITE = (
    'write it with the lines [NAME], base_url = "https://..." and access_token_file = '
    '"NAME.token", readable by you alone'
)


def load_profile(name: str | None) -> dict[str, Any]:
    """Returns the options of a profile for ``Client``; ``account`` defaults to its name.

    None is the profile that ``TRADINGDATA_PROFILE`` names. Raises ConfigurationError if no profile
    is named, the file or profile is missing, other users can read the file, or an option is unknown
    or of the wrong type. Messages contain neither a value nor the name, which may be a misplaced
    token.
    """
    chosen = os.environ.get(PROFILE_VARIABLE) if name is None else name
    if not chosen:
        raise ConfigurationError(f"no profile is named: pass its name or set {PROFILE_VARIABLE}")
    path = profiles_path()
    tables = _read(path)
    if chosen not in tables:
        known = f"use one of: {', '.join(sorted(tables))}" if tables else _WRITE
        raise ConfigurationError(f"{path} has no profile of that name: {known}")
    profile = tables[chosen]
    if not isinstance(profile, dict):
        raise ConfigurationError(
            f"{path}: {chosen!r} is not a table: write [{chosen}] above its options"
        )
    where = f"{path}: profile {chosen!r}"
    check_options(where, profile)
    options = {"account": chosen, **profile}
    secret = options.pop("access_token_file", None)
    if secret is not None:
        if "access_token" in options:
            raise ConfigurationError(
                f"{where} has both access_token and access_token_file: remove one"
            )
        named = validate.path("access_token_file", secret)
        file = os.path.join(os.path.dirname(path), named)
        options["access_token"] = token_reader(file, is_private=True)
    return options


def check_options(where: str, options: Mapping[str, object]) -> None:
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


def _read(path: str) -> dict[str, object]:
    """Returns the tables of a profile file by name, with tokens and proxies hidden."""
    try:
        with open(path, "rb") as file:
            require_private(file, path)
            return {
                name: hidden(table, _CHECKS) if isinstance(table, dict) else hide(table)
                for name, table in read_toml(file).items()
            }
    except FileNotFoundError:
        raise ConfigurationError(
            f"there is no profile file at {path}: {_WRITE}, or set {PROFILES_VARIABLE}"
        ) from None
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
