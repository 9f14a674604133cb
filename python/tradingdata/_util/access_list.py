"""Reads Windows' access control lists in their textual form (SDDL), on any system."""

from __future__ import annotations

import re

# An entry: its type, flags, rights, two object types, and whom it concerns.
_ENTRY = re.compile(r"\((\w*);\w*;\w*;[^;]*;[^;]*;([\w-]*)")
# The system and administrators, who can read every file; the owner; who creates a file in a folder.
_TRUSTED = frozenset({"SY", "BA", "LA", "OW", "CO"})


def admits_only(descriptor: str, user: str) -> bool:
    """Returns whether a security descriptor admits the user and administrators only."""
    _, _, entries = descriptor.partition("D:")
    if not entries or entries.startswith("NO_ACCESS_CONTROL"):
        return False  # without a list, everybody has access
    return all(
        kind.startswith("D") or whom in _TRUSTED or whom == user  # D denies access
        for kind, whom in _ENTRY.findall(entries)
    )
