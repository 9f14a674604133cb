"""Files that may contain tokens: other users must not be able to read them."""

from __future__ import annotations

import os
import stat
from typing import IO

from ..errors import ConfigurationError


def require_private(file: IO[bytes], path: str) -> None:
    """Raises ConfigurationError if other users can read an open file (on POSIX systems)."""
    mode = os.fstat(file.fileno()).st_mode
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(
            f"other users can read {path}, which may contain tokens: run `chmod 600 {path}`"
        )
