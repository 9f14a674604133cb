"""Looks up the price of a security in what the caller passes as ``prices``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from .keys import SECURITY, Keyed

if TYPE_CHECKING:
    import pandas as pd

    Security = str | tuple[str, str, str]
    Prices = (
        Mapping[str, float | None]
        | Mapping[tuple[str, str, str], float | None]
        | Mapping[Security, float | None]
        | pd.Series[Any]
        | Callable[[Any], float | None]
    )


class PriceLookup:
    """The price of each security, looked up once.

    Raises:
        TypeError: If ``prices`` is neither a mapping, a Series nor a function, or one of its keys
            is not a security.
        ValueError: If a Series has a security twice.
    """

    def __init__(self, prices: object) -> None:
        self._prices: dict[Any, Any] = {}
        self._function = prices if callable(prices) else None
        self._found: dict[tuple[str, ...], Fraction | None] = {}
        self._exchanges: dict[str, tuple[str, ...]] = {}
        if self._function is None:
            self._prices = _by_security(prices)

    def __call__(self, row: Keyed) -> Fraction | None:
        """Returns the price of a row's security as an exact fraction, or ``None`` without one."""
        security: tuple[str, ...] = tuple(getattr(row, name) for name in SECURITY)
        if security not in self._found:
            found = self._function(row) if self._function else self._of_mapping(security)
            self._found[security] = _exact(found, security)
        return self._found[security]

    def _of_mapping(self, security: tuple[str, ...]) -> Any:
        if security in self._prices:
            return self._prices[security]
        number = security[-1]
        if number not in self._prices:
            return None
        if self._exchanges.setdefault(number, security) != security:
            raise ValueError(
                f"security_id {number!r} is in {self._exchanges[number][:2]} and {security[:2]}: "
                "give these prices by (exchange, segment, security_id)"
            )
        return self._prices[number]


def _by_security(prices: Any) -> dict[Any, Any]:
    is_series = hasattr(prices, "items") and getattr(prices, "ndim", 0) == 1
    if not is_series and not isinstance(prices, Mapping):
        raise TypeError(
            "prices must be a mapping or a Series by security_id, or a function of a row, not "
            f"{type(prices).__name__}"
        )
    items = list(prices.items())
    for security, _ in items:
        if not isinstance(security, (str, tuple)):
            raise TypeError(
                f"prices must be by security_id, which is text, not {security!r}: convert the keys "
                "with str()"
            )
    found = dict(items)
    if len(found) != len(items):
        raise ValueError("prices has a security twice: drop the duplicates of its index")
    return found


def _exact(price: Any, security: tuple[str, ...]) -> Fraction | None:
    try:
        if price is None or price != price:
            return None
    except TypeError:  # pandas.NA
        return None
    try:
        usable = not isinstance(price, (str, bytes, bool)) and isfinite(price)
    except (TypeError, OverflowError):
        usable = False
    if not usable:
        raise ValueError(f"the price of {security} must be a finite number, not {price!r}")
    return Fraction(str(price))
