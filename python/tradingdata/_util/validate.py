"""Arguments checked where they are given, in words that name them."""

from __future__ import annotations

from ..errors import ConfigurationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


LONGEST = 10 * 366 * 86400  # seconds; what the core's clock holds with room to spare


def seconds(name: str, value: Any) -> float:
    """A positive, finite number of seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of seconds, not {value!r}")
    if not 0 < value < float("inf"):
        raise ConfigurationError(f"{name} is a positive number of seconds, not {value!r}")
    return float(min(value, LONGEST))


def count(name: str, value: Any, *, least: int = 1) -> int:
    """A whole number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if not least <= value < 2**63:
        raise ConfigurationError(f"{name} is a whole number from {least} on, not {value!r}")
    return value


def flag(name: str, value: Any) -> bool:
    """True or False, and nothing that merely counts as one: "no" would count as true."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} is True or False, not {value!r}")
    return value


def hook(name: str, value: Any) -> Any:
    """A function, or None."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} is a function, not {value!r}")
    return value


def text(name: str, value: Any) -> str:
    """Some text that UTF-8 can carry. No message shows the value: it may hold a password."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is text, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ConfigurationError(f"{name} holds half a character (a lone surrogate)") from None
    return value


def words(name: str, value: Any) -> str:
    """Text that is not blank: the service leaves open what an empty search would return."""
    given = text(name, value)
    if not given.strip():
        raise ConfigurationError(f"{name} is blank: give a company name, a symbol or a code")
    return given
