"""The instruments of a day and their prices by the minute; derivatives follow their underlying."""

from __future__ import annotations

from calendar import monthcalendar
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from math import sqrt
from random import Random
from typing import Any, NamedTuple

from .companies import short_name, well_known

OPEN = 9 * 3600 + 15 * 60
"""The opening bell, in seconds after midnight."""

CLOSE = 15 * 3600 + 30 * 60 - OPEN
"""The closing bell, in seconds after the opening bell."""

# Exchange | symbol | kind | level | lot | strike step | weekday of expiry | whether options expire
# weekly.
_UNDERLYINGS = """\
NSE|NIFTY|IDX|26068.15|65|50|1|weekly
NSE|BANKNIFTY|IDX|58867.70|30|100|1|
BSE|SENSEX|IDX|85231.92|20|100|3|weekly
NSE|RELIANCE|STK|1545.60|500|20|1|
NSE|HDFCBANK|STK|998.20|550|10|1|
NSE|INFY|STK|1544.00|400|20|1|
NSE|TCS|STK|3145.30|175|50|1|
NSE|SBIN|STK|980.55|750|10|1|
NSE|MARUTI|STK|15950.00|50|100|1|
NSE|TATASTEEL|STK|168.35|5500|2.5|1|
"""
_STRIKES = 3  # on either side of the money
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()  # whatever the locale
_MINUTES = CLOSE // 60 + 1
_INDEX_VOLATILITY, _STOCK_VOLATILITY = 0.12, 0.28
_INTEREST = 0.065


class Instrument(NamedTuple):
    """A tradable instrument; its price follows that of its symbol. Money is in paise.

    Text and lot mostly have the names of the service's fields.
    """

    exchange: str
    segment: str
    symbol: str
    instrument: str
    reference: int
    tick: int
    security_id: str = ""
    display_name: str = ""
    exchange_name: str = ""
    series: str = ""
    isin: str = ""
    lot_size: int = 1
    expiry: date | None = None
    monthly: bool = True
    strike: int = 0
    opt_type: str = "XX"


@lru_cache(maxsize=1)
def shares() -> tuple[Instrument, ...]:
    """Returns the shares of well-known companies, on each exchange that lists them."""
    found = []
    for place, company in enumerate(well_known()):
        price, symbol = company.price, company.nse
        tick = 1 if price < 25_000 else 10 if price < 500_000 else 100
        share = Instrument("NSE", "E", symbol, "EQUITY", price, tick, str(211 + 67 * place))
        share = share._replace(display_name=short_name(company.name), isin=company.isin)
        found.append(share._replace(exchange_name=f"{symbol}-EQ", series="EQ"))
        if company.bse:
            on_bse = share._replace(exchange="BSE", security_id=company.bse, series=company.group)
            found.append(on_bse._replace(exchange_name=symbol))
    return tuple(found)


@lru_cache(maxsize=8)
def derivatives(day: date) -> tuple[Instrument, ...]:
    """Returns the futures and options listed on `day`: near expiries, strikes around the money."""
    found: list[Instrument] = []
    for line in _UNDERLYINGS.splitlines():
        exchange, symbol, kind, level, lot, step, weekday, weekly = line.split("|")
        blank = Instrument(exchange, "D", symbol, kind, _paise(level), tick=5, lot_size=int(lot))
        found += _contracts(blank, _paise(step), day, int(weekday), weekly=bool(weekly))
    first = {"NSE": 40_001, "BSE": 1_104_001}
    return tuple(
        each._replace(security_id=str(first[each.exchange] + 3 * place))
        for place, each in enumerate(found)
    )


def _contracts(
    blank: Instrument, step: int, day: date, weekday: int, *, weekly: bool
) -> Iterator[Instrument]:
    def contract(display: str, code: str, kind: str, expiry: date, **more: Any) -> Instrument:
        return blank._replace(
            display_name=f"{blank.symbol} {display}",
            exchange_name=blank.symbol + code,
            instrument=f"{kind}{blank.instrument}",
            expiry=expiry,
            **more,
        )

    month_end = _month_expiry(day, weekday)
    month = _MONTHS[month_end.month - 1]
    yield contract(f"{month} FUT", f"{month_end:%y}{month}FUT", "FUT", month_end)
    soon = day + timedelta(days=(weekday - day.weekday()) % 7)
    middle = round(blank.reference / step) * step
    for expiry in sorted({soon, soon + timedelta(days=7)} if weekly else {month_end}):
        month = _MONTHS[expiry.month - 1]
        monthly = expiry == _month_expiry(expiry, weekday)
        # A weekly expiry in NSE's notation, whose months are 1 to 9, O, N and D.
        week = f"{expiry:%y}{'123456789OND'[expiry.month - 1]}{expiry:%d}"
        series = f"{expiry:%y}{month}" if monthly else week
        for strike in range(middle - _STRIKES * step, middle + (_STRIKES + 1) * step, step):
            shown = f"{strike / 100:.10g}"
            for option, word in (("CE", "CALL"), ("PE", "PUT")):
                yield contract(
                    f"{expiry:%d} {month} {shown} {word}",
                    f"{series}{shown}{option}",
                    "OPT",
                    expiry,
                    monthly=monthly,
                    strike=strike,
                    opt_type=option,
                )


def _month_expiry(day: date, weekday: int) -> date:
    """Returns the last `weekday` of the month, or of the next month if it is before `day`."""
    last = day.replace(day=max(week[weekday] for week in monthcalendar(day.year, day.month)))
    return last if last >= day else _month_expiry(day.replace(day=1) + timedelta(days=32), weekday)


class Market(NamedTuple):
    """The prices of one day, generated from the seed and shared by all accounts.

    Uses only arithmetic that rounds identically on every machine, so that a day is reproducible.

    Attributes:
        seed: The seed of the day, also of its orders.
        day: The trading day.
    """

    seed: int
    day: date

    def path(self, instrument: Instrument) -> tuple[int, ...]:
        """Returns the price at each minute of the session, in paise and on a tick."""
        return _path(self, instrument)

    def price(self, instrument: Instrument, second: int) -> int:
        """Returns the price in paise, `second` seconds after the opening bell."""
        return _path(self, instrument)[min(max(second, 0), CLOSE) // 60]


@lru_cache(maxsize=1024)
def _path(market: Market, instrument: Instrument) -> tuple[int, ...]:
    spots = _spots(market, instrument)
    if instrument.expiry is not None:
        years = ((instrument.expiry - market.day).days + 0.3) / 365
        spots = _derived(instrument, spots, years)
    return tuple(on_tick(price, instrument.tick) for price in spots)


def _spots(market: Market, instrument: Instrument) -> list[float]:
    random = Random(f"{market.seed}/{market.day}/{instrument.symbol}")
    # Three uniform numbers add up to nearly a normal distribution with deviation 1/2.
    minute = 2 * _volatility(instrument) / sqrt(252 * _MINUTES)
    price = instrument.reference * (0.985 + 0.03 * random.random())
    drift = (random.random() - 0.5) * minute / 8
    path = []
    for _ in range(_MINUTES):
        path.append(price)
        step = random.random() + random.random() + random.random() - 1.5
        price *= 1 + drift + minute * step
    return path


def _derived(instrument: Instrument, spots: list[float], years: float) -> list[float]:
    """Returns the prices of a future or an option on an underlying with these prices."""
    if not instrument.strike:
        return [spot * (1 + _INTEREST * years) for spot in spots]
    # A smooth approximation of a call: its time value at the money, and the difference between
    # spot and strike far in the money.
    at_the_money = 0.8 * _volatility(instrument) * instrument.strike * sqrt(years)
    values = []
    for spot in spots:
        difference = spot - instrument.strike
        call = (difference + sqrt(difference * difference + at_the_money * at_the_money)) / 2
        values.append(call if instrument.opt_type == "CE" else call - difference)
    return values


def on_tick(price: float, tick: int) -> int:
    """Returns the price on a tick nearest to this one, and at least a tick."""
    return max(tick, round(price / tick) * tick)


def _paise(rupees: str) -> int:
    return round(float(rupees) * 100)


def _volatility(instrument: Instrument) -> float:
    is_index = instrument.instrument.endswith("IDX")
    return _INDEX_VOLATILITY if is_index else _STOCK_VOLATILITY
