"""Files that may contain tokens: other users must not be able to read them."""

from __future__ import annotations

from typing import IO

from ..errors import ConfigurationError
from . import platform


def require_private(file: IO[bytes], path: str) -> None:
    """Raises ConfigurationError if other users can read an open file."""
    if not platform.is_private(file):
        raise ConfigurationError(
            f"other users can read {path}, which may contain tokens: "
            f"run `{platform.privacy_command(path)}`"
        )
