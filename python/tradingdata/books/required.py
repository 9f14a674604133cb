"""Narrows optional values of fields for type checkers."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def required(value: Value | None) -> Value:
    """Returns a value, or raises if it is missing.

    Every field of a record may be ``None``, because the service may omit it. Type checkers
    therefore refuse arithmetic with fields until a program handles missing values: with this
    function, which treats them as errors, or with an ``if``.

    Args:
        value: The value of a field.

    Returns:
        The value, whose type excludes ``None``.

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
