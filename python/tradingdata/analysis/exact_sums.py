"""Exact sums of amounts, which floats only approximate: adding floats drifts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Sequence


def exact_sum(values: Sequence[float | None]) -> float:
    """Returns the float nearest to the exact sum; ``None`` values are ignored."""
    try:
        return _core.exact_sum(values)
    except OverflowError:  # more digits than the core's integers hold
        return float(sum(Fraction(repr(value)) for value in values if value is not None))
