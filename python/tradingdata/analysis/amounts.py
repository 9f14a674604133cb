"""Amounts as whole numbers of a small unit, so that sums and differences are exact.

An answer's amount is a decimal such as 11993.60, and a float holds the nearest binary number to it.
Adding floats drifts; so amounts are counted in units of a power of ten that holds every one of
them, mostly the paisa, and become floats once, at the end: the nearest float to the exact result.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

_USUAL_DECIMALS = (2, 4, 6)
_EXACT = 10**15  # no two decimals of 15 digits have the same nearest float


def decimals_of(values: Sequence[float]) -> int:
    """How many decimals hold each of the values as it is written: 2, 4, 6, or as many as needed."""
    for decimals in _USUAL_DECIMALS:
        if _holds(values, 10**decimals):
            return decimals
    return max(-exponent_of(value) for value in values)


def _holds(values: Sequence[float], scale: int) -> bool:
    return all(
        abs(value) * scale < _EXACT and round(value * scale) / scale == value for value in values
    )


def exponent_of(value: float) -> int:
    """The power of ten of the last digit of the value as it is written."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    assert isinstance(exponent, int), "books hold finite numbers only"
    return min(exponent, 0)


def in_units(values: Sequence[float], decimals: int) -> list[int]:
    """The values as whole numbers of 10**-decimals; ``decimals`` is at least ``decimals_of``."""
    scale = 10**decimals
    if decimals <= max(_USUAL_DECIMALS) and _holds(values, scale):
        return [round(value * scale) for value in values]
    return [int(Fraction(repr(value)) * scale) for value in values]


def part_of(value: int, part: int, whole: int) -> int:
    """``value * part / whole`` to the nearest unit, halves upward.

    Parts that add up to the whole have values that do if each is a difference of two of these.
    """
    return (2 * value * part + whole) // (2 * whole)
