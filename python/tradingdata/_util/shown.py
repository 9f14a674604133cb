"""Wrong arguments in error messages."""

from __future__ import annotations

_LONGEST = 80  # characters


def shown(value: object) -> str:
    """Returns the repr of a wrong argument for a message, or its type if the repr is long.

    The repr of a book or a frame would hide the message.
    """
    try:
        text = repr(value)
    except Exception:  # of an integer with thousands of digits, or an object of the caller's
        text = ""
    is_short = 0 < len(text) <= _LONGEST and "\n" not in text
    return text if is_short else f"a value of type {type(value).__name__}"
