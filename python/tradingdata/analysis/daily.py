"""The days of profit and loss: what each adds, rounded so that the days add up exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from fractions import Fraction

from .inputs import chosen
from .keys import BY, KEY, Key

Place = tuple[Key, int]  # a group of keys, and the number of a day
_DIGITS = 6  # decimals to which the amounts of days are rounded


def columns_named(per: object) -> tuple[str, ...]:
    """Returns the columns by which days are divided."""
    known = (*KEY[2:], BY)
    return tuple(name for name in known if name in chosen("per", per, known, f"some of {known}"))


def rows_of_days(
    group: Key,
    days: list[date],
    gained: Mapping[Place, Fraction],
    paid: Mapping[Place, Fraction],
    held: Mapping[Place, Fraction | None],
    *,
    is_sparse: bool,
) -> Iterator[dict[str, object]]:
    """Yields the rows of a group; if they are sparse, only those of days on which it has something.

    Running sums are rounded, not days, so that the days add up exactly.
    """
    nothing = Fraction(0)
    value = round(held.get((group, 0)) or nothing, _DIGITS)
    total = value
    realised = charges = sum_realised = sum_charges = nothing
    for place, day in enumerate(days, 1):
        at = group, place
        sum_realised += gained.get(at, nothing)
        sum_charges += paid.get(at, nothing)
        now, levied = round(sum_realised, _DIGITS), round(sum_charges, _DIGITS)
        worth = held.get(at, nothing)
        amounts: dict[str, Fraction | None] = dict.fromkeys(("unrealised", "change", "net"))
        amounts |= {"realised": now - realised, "charges": levied - charges}
        if worth is not None:
            worth = round(worth, _DIGITS)
            sum_of_all = now + worth - levied
            amounts |= {"unrealised": worth, "change": worth - value, "net": sum_of_all - total}
            value, total = worth, sum_of_all
        realised, charges = now, levied
        if not is_sparse or any(amount is None or amount for amount in amounts.values()):
            cells = {name: None if one is None else float(one) for name, one in amounts.items()}
            yield {"day": day, **cells}
