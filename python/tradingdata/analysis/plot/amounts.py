"""Amounts on an axis: grouped numbers, lakh (L) and crore (Cr), never an exponent or an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...display.plain_table import group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axis import Axis

LAKH, CRORE = 1e5, 1e7


def amount(value: float, largest: float | None = None) -> str:
    """Writes an amount in the unit that suits it, or that suits ``largest``.

    ``amount(1250000)`` is "12.5 L", ``amount(-20000000)`` is "-2 Cr" and ``amount(99999)`` is
    "99,999".
    """
    size = abs(value if largest is None else largest)
    unit, name = (CRORE, " Cr") if size >= CRORE else (LAKH, " L") if size >= LAKH else (1, "")
    whole, _, fraction = group(value / unit, 2).partition(".")
    fraction = fraction.rstrip("0")
    text = f"{whole}.{fraction}" if fraction else whole
    return text if text in ("0", "-0") else text + name


def format_amounts(axis: Axis, *, each: bool = False, signed: bool = True) -> None:
    """Formats an axis of amounts.

    All ticks have one unit; with ``each``, for a logarithmic axis, each has its own. Without
    ``signed``, amounts drawn downwards have no minus sign.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    def largest() -> float:
        low, high = axis.get_view_interval()
        return max(abs(low), abs(high))

    axis.set_major_formatter(
        FuncFormatter(
            lambda value, _: amount(value if signed else abs(value), None if each else largest())
        )
    )
    axis.set_minor_formatter(NullFormatter())


def limits_around(values: Iterable[float]) -> tuple[float, float]:
    """Returns the range that includes the values and zero."""
    found = [0.0, *values]
    return min(found), max(found)
