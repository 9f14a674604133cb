"""The instruments of a day and their prices by the minute; derivatives follow their underlying."""

from __future__ import annotations

from calendar import monthcalendar
from collections.abc import Iterator
from datetime import date, timedelta, timezone
from functools import lru_cache
from math import sqrt
from random import Random
from typing import NamedTuple

from .companies import companies, short_name

OPEN = 9 * 3600 + 15 * 60
"""The opening bell, in seconds after midnight."""

CLOSE = 15 * 3600 + 30 * 60 - OPEN
"""The closing bell, in seconds after the opening bell."""

ZONE = timezone(timedelta(hours=5, minutes=30))
"""The zone of the market's clock."""

# Exchange | symbol | kind | level | lot | strike step | weekday of expiry.
_UNDERLYINGS = """\
NSE|NIFTY|IDX|26068.15|65|50|1
NSE|BANKNIFTY|IDX|58867.70|30|100|1
BSE|SENSEX|IDX|85231.92|20|100|3
NSE|RELIANCE|STK|1545.60|500|20|1
NSE|HDFCBANK|STK|998.20|550|10|1
NSE|INFY|STK|1544.00|400|20|1
NSE|SBIN|STK|980.55|750|10|1
NSE|MARUTI|STK|15950.00|50|100|1
"""
_STRIKES = 3  # on either side of the money
_MINUTES = CLOSE // 60 + 1
_VOLATILITY = 0.2  # of a year
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
    strike: int = 0
    opt_type: str = "XX"


@lru_cache(maxsize=1)
def shares() -> tuple[Instrument, ...]:
    """Returns the shares of all companies, on each exchange that lists them."""
    listed = []
    for place, company in enumerate(companies()):
        price, symbol = company.price, company.nse or short_name(company.name).split()[0].upper()
        tick = 1 if price < 25_000 else 10 if price < 500_000 else 100
        share = Instrument("NSE", "E", symbol, "EQUITY", price, tick, str(211 + 67 * place))
        share = share._replace(display_name=short_name(company.name), isin=company.isin)
        if company.nse:
            listed.append(share._replace(exchange_name=f"{symbol}-EQ", series="EQ"))
        if company.bse:
            on_bse = share._replace(exchange="BSE", security_id=company.bse, series="A")
            listed.append(on_bse._replace(exchange_name=symbol))
    return tuple(listed)


@lru_cache(maxsize=8)
def derivatives(day: date) -> tuple[Instrument, ...]:
    """Returns the futures and options listed on `day`.

    Options on an index expire within a week, other contracts with the month.
    """
    contracts: list[Instrument] = []
    for line in _UNDERLYINGS.splitlines():
        exchange, symbol, kind, level, lot, step, weekday = line.split("|")
        soon = day + timedelta(days=(int(weekday) - day.weekday()) % 7)
        end = _month_expiry(day, int(weekday))
        future = Instrument(
            exchange,
            "D",
            symbol,
            f"FUT{kind}",
            _paise(level),
            tick=5,
            display_name=f"{symbol} {_month(end)} FUT",
            exchange_name=f"{symbol}{end:%y}{_month(end)}FUT",
            lot_size=int(lot),
            expiry=end,
        )
        option = future._replace(instrument=f"OPT{kind}")
        contracts += [future, *_strikes(option, soon if kind == "IDX" else end, _paise(step))]
    first = {"NSE": 40_001, "BSE": 1_104_001}
    return tuple(
        contract._replace(security_id=str(first[contract.exchange] + 3 * place))
        for place, contract in enumerate(contracts)
    )


def _strikes(option: Instrument, day: date, step: int) -> Iterator[Instrument]:
    """Yields calls and puts that expire on a day, with strikes around the money."""
    symbol = option.symbol
    middle = round(option.reference / step) * step
    for strike in range(middle - _STRIKES * step, middle + (_STRIKES + 1) * step, step):
        shown = f"{strike / 100:.10g}"
        for kind, word in (("CE", "CALL"), ("PE", "PUT")):
            yield option._replace(
                display_name=f"{symbol} {day:%d} {_month(day)} {shown} {word}",
                exchange_name=f"{symbol}{day:%y}{_month(day)}{day:%d}{shown}{kind}",
                expiry=day,
                strike=strike,
                opt_type=kind,
            )


def _month(day: date) -> str:
    """Returns the month's abbreviation, whatever the locale."""
    return "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()[day.month - 1]


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
    random = Random(f"{market.seed}/{market.day}/{instrument.symbol}")
    # Three uniform numbers add up to nearly a normal distribution with deviation 1/2.
    minute = 2 * _VOLATILITY / sqrt(252 * _MINUTES)
    spot = instrument.reference * (0.985 + 0.03 * random.random())
    path = []
    for _ in range(_MINUTES):
        path.append(on_tick(_value(instrument, spot, market.day), instrument.tick))
        spot *= 1 + minute * (random.random() + random.random() + random.random() - 1.5)
    return tuple(path)


def _value(instrument: Instrument, spot: float, day: date) -> float:
    """Returns what an instrument is worth where its underlying is worth ``spot``."""
    if instrument.expiry is None:
        return spot
    years = ((instrument.expiry - day).days + 0.3) / 365
    if not instrument.strike:
        return spot * (1 + _INTEREST * years)
    # A smooth approximation of a call: its time value at the money, and the difference between
    # spot and strike far in the money.
    at_the_money = 0.8 * _VOLATILITY * instrument.strike * sqrt(years)
    difference = spot - instrument.strike
    call = (difference + sqrt(difference * difference + at_the_money * at_the_money)) / 2
    return call if instrument.opt_type == "CE" else call - difference


def on_tick(price: float, tick: int) -> int:
    """Returns the price on a tick nearest to this one, and at least a tick."""
    return max(tick, round(price / tick) * tick)


def _paise(rupees: str) -> int:
    return round(float(rupees) * 100)
