"""Argument validation: each function returns a valid value or raises an error that names it.

Values of the wrong type raise TypeError; unusable values raise ConfigurationError.
"""

from __future__ import annotations

import os
from typing import Any

from ..errors import ConfigurationError
from .shown import shown

LONGEST = 10 * 366 * 86400  # seconds; well below the limit of the core's clock


def seconds(name: str, value: Any) -> float:
    """Returns a positive, finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number of seconds, not {shown(value)}")
    if not 0 < value < float("inf"):
        raise ConfigurationError(f"{name} must be a positive number of seconds, not {shown(value)}")
    return float(min(value, LONGEST))


def count(name: str, value: Any, *, least: int = 1) -> int:
    """Returns an integer that is at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, not {shown(value)}")
    if not least <= value < 2**63:
        raise ConfigurationError(
            f"{name} must be an integer of at least {least}, not {shown(value)}"
        )
    return value


def flag(name: str, value: Any) -> bool:
    """Returns a bool; other truthy values are refused, because "no" is truthy."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return value


def hook(name: str, value: Any) -> Any:
    """Returns a callable or None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, not {shown(value)}")
    return value


def zone(name: str, value: Any) -> Any:
    """Returns a time zone given by name or as a tzinfo, or None."""
    from .time_zones import zone_from

    try:
        return zone_from(value)
    except ValueError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def text(name: str, value: Any) -> str:
    """Returns text that UTF-8 can encode.

    Neither a message nor the traceback's local variables show the value: it may be a password.
    """
    kind, is_text, encodable = type(value).__name__, isinstance(value, str), _encodable(value)
    if encodable is not None:
        return encodable
    value = None
    if not is_text:
        raise TypeError(f"{name} must be text, not {kind}")
    raise ConfigurationError(
        f"{name} contains a lone surrogate, which UTF-8 cannot encode: remove it"
    )


def _encodable(value: Any) -> str | None:
    """Returns the value if it is text that UTF-8 can encode."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def path(name: str, value: Any) -> str:
    """Returns a path as text. Refuses numbers: ``open`` takes them for file descriptors."""
    try:
        found = os.fsdecode(value)
        os.fsencode(found)
        found.encode("utf-8", "surrogateescape")  # Windows lets the one above pass
    except TypeError:
        raise TypeError(f"{name} must be a path, not {shown(value)}") from None
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"{name} contains a lone surrogate, which no file name can hold: remove it"
        ) from None
    except UnicodeDecodeError:  # Windows has file names of text only
        raise ConfigurationError(f"{name} is not UTF-8: pass text instead of bytes") from None
    return found


def words(name: str, value: Any) -> str:
    """Returns text that is not blank: what an empty search would return is not documented."""
    given = text(name, value)
    if not given.strip():
        raise ConfigurationError(f"{name} is blank: pass a company name, a symbol or a code")
    return given
