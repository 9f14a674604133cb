"""Values that must not be missing, for code that a type checker reads."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def required(value: Value | None) -> Value:
    """Returns a value that must not be missing.

    Every field of a record may be ``None``, because the service may leave it out. Type checkers
    therefore refuse arithmetic with fields, until a program says what a missing value means: an
    error, which is this function; or something else, which is an ``if``.

    Args:
        value: The value of a field.

    Returns:
        The value, which is not ``None`` for a type checker either.

    Raises:
        ValueError: The value is ``None``.

    Example:
        >>> sum(td.required(trade.trade_value) for trade in trades)
    """
    if value is None:
        raise ValueError(
            "a required value is missing (None): `issues` of the book lists the fields that were "
            "lost, and `filter(quantity__ne=None)` leaves such rows out"
        )
    return value
