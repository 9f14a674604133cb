"""Exact sums of amounts.

Amounts are decimals such as 11993.60, which floats only approximate, so adding floats drifts. This
module scales amounts to integers in units of a power of ten (usually the paisa). Results become
floats once, at the end: the float nearest to the exact result.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

_USUAL_DECIMALS = (2, 4, 6)
_EXACT = 10**15  # decimals of up to 15 digits all have different nearest floats


def decimals_of(values: Sequence[float]) -> int:
    """Returns the number of decimals that holds every value exactly: 2, 4, 6, or more if needed."""
    for decimals in _USUAL_DECIMALS:
        if _holds(values, 10**decimals):
            return decimals
    return max(-exponent_of(value) for value in values)


def _holds(values: Sequence[float], scale: int) -> bool:
    return all(
        abs(value) * scale < _EXACT and round(value * scale) / scale == value for value in values
    )


def exponent_of(value: float) -> int:
    """Returns the power of ten of the last digit in the value's shortest representation."""
    exponent = Decimal(repr(value)).as_tuple().exponent
    assert isinstance(exponent, int), "books hold finite numbers only"
    return min(exponent, 0)


def in_units(values: Sequence[float], decimals: int) -> list[int]:
    """Converts values to multiples of 10**-decimals; ``decimals`` is at least ``decimals_of``."""
    scale = 10**decimals
    if decimals <= max(_USUAL_DECIMALS) and _holds(values, scale):
        return [round(value * scale) for value in values]
    return [int(Fraction(repr(value)) * scale) for value in values]


def exact_sum(values: Sequence[float | None]) -> float:
    """Returns the float nearest to the exact sum; ``None`` values are ignored."""
    known = [value for value in values if value is not None]
    decimals = decimals_of(known)
    return sum(in_units(known, decimals)) / 10**decimals  # type: ignore[no-any-return]


def share_of(value: int, part: int, total: int) -> int:
    """Returns ``value * part / total``, rounded to the nearest unit, halves upward.

    A value is split into differences of such shares, so that the parts add up to it.
    """
    return (2 * value * part + total) // (2 * total)
