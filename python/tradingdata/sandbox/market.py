"""Prices of a day, minute by minute; derivatives follow their underlying."""

from __future__ import annotations

from datetime import date
from math import sqrt
from random import Random

from .instruments import Instrument

OPEN = 9 * 3600 + 15 * 60
"""The opening bell, in seconds after midnight."""

CLOSE = 15 * 3600 + 30 * 60 - OPEN
"""The closing bell, in seconds after the opening bell."""

_MINUTES = CLOSE // 60 + 1
_INDEX_VOLATILITY, _STOCK_VOLATILITY = 0.12, 0.28
_INTEREST = 0.065


class Market:
    """The prices of one day, generated from the seed and shared by all accounts.

    Uses only arithmetic that rounds identically on every machine, so that a day is reproducible.
    """

    def __init__(self, seed: int, day: date) -> None:
        self._seed = seed
        self._day = day
        self._spots: dict[str, tuple[float, ...]] = {}
        self._paths: dict[tuple[str, str, str], tuple[int, ...]] = {}

    def path(self, instrument: Instrument) -> tuple[int, ...]:
        """Returns the price at each minute of the session, in paise and on a tick."""
        key = (instrument.exchange, instrument.segment, instrument.security_id)
        path = self._paths.get(key)
        if path is None:
            tick = instrument.tick
            path = tuple(max(tick, round(p / tick) * tick) for p in self._fair(instrument))
            self._paths[key] = path
        return path

    def price(self, instrument: Instrument, second: int) -> int:
        """Returns the price in paise, `second` seconds after the opening bell."""
        return self.path(instrument)[min(max(second, 0), CLOSE) // 60]

    def _fair(self, instrument: Instrument) -> list[float]:
        spots = self._spot(instrument)
        if instrument.expiry is None:
            return list(spots)
        years = ((instrument.expiry - self._day).days + 0.3) / 365
        if not instrument.strike:
            return [spot * (1 + _INTEREST * years) for spot in spots]
        # A smooth approximation of a call: its time value at the money, and the difference between
        # spot and strike far in the money.
        at_the_money = 0.8 * _volatility(instrument) * instrument.strike * sqrt(years)
        values = []
        for spot in spots:
            difference = spot - instrument.strike
            call = (difference + sqrt(difference * difference + at_the_money * at_the_money)) / 2
            values.append(call if instrument.option == "CE" else call - difference)
        return values

    def _spot(self, instrument: Instrument) -> tuple[float, ...]:
        name = instrument.underlying
        if name not in self._spots:
            random = Random(f"{self._seed}/{self._day}/{name}")
            # Three uniform numbers add up to nearly a normal distribution with deviation 1/2.
            minute = 2 * _volatility(instrument) / sqrt(252 * _MINUTES)
            price = instrument.reference * (0.985 + 0.03 * random.random())
            drift = (random.random() - 0.5) * minute / 8
            path = []
            for _ in range(_MINUTES):
                path.append(price)
                step = random.random() + random.random() + random.random() - 1.5
                price *= 1 + drift + minute * step
            self._spots[name] = tuple(path)
        return self._spots[name]


def _volatility(instrument: Instrument) -> float:
    on_index = instrument.kind in ("FUTIDX", "OPTIDX")
    return _INDEX_VOLATILITY if on_index else _STOCK_VOLATILITY
