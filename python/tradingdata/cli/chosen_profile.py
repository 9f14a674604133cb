"""The profile that a command uses: the one it names, or that of the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def chosen_profile(profile: str | None, env_file: Path | None) -> tuple[str | None, dict[str, Any]]:
    """Returns the name and the options of the profile; None and no options without one.

    Args:
        profile: The name that the command line gives.
        env_file: A file of variables to set first.

    Raises:
        ConfigurationError: There is no such profile; the message does not repeat its name, which
            may be a token.
    """
    from tradingdata.client.env_file import load_env
    from tradingdata.client.profiles import PROFILE_VARIABLE, read_profiles
    from tradingdata.errors import ConfigurationError

    if env_file is not None:
        load_env(env_file)
    name = profile or os.environ.get(PROFILE_VARIABLE)
    if not name:
        return None, {}
    profiles = read_profiles()
    if name not in profiles.names:
        raise ConfigurationError(
            f"{profiles.path} has no profile of that name: "
            f"use one of: {', '.join(profiles.names) or 'none'}"
        )
    return name, profiles.options(name)
