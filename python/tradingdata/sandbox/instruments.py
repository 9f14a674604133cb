"""The traded instruments: shares on NSE and BSE, and the futures and options of the day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from .company_generator import Company, well_known

TUESDAY, THURSDAY = 1, 3

# Not strftime, whose month names depend on the locale.
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()

# (price, tick), both in paise: the tick applies from that price on (the exchanges' slabs).
_TICKS = ((2_000_000, 500), (1_000_000, 100), (500_000, 50), (100_000, 10), (25_000, 5), (0, 1))

_STOCK_LOTS = {
    "RELIANCE": 500,
    "HDFCBANK": 550,
    "ICICIBANK": 700,
    "SBIN": 750,
    "INFY": 400,
    "TCS": 175,
    "AXISBANK": 625,
    "ITC": 1600,
    "LT": 175,
    "BHARTIARTL": 475,
    "TATAMOTORS": 800,
    "TATASTEEL": 5500,
    "MARUTI": 50,
    "BAJFINANCE": 750,
    "TITAN": 175,
    "HCLTECH": 350,
    "SUNPHARMA": 350,
}


@dataclass(frozen=True, slots=True)
class _Underlying:
    """The underlying of futures and options; money is in paise."""

    name: str
    exchange: str
    level: int
    tick: int
    lot: int
    step: int
    weekday: int = TUESDAY
    weekly: bool = False
    suffix: str = "IDX"


_INDICES = (
    _Underlying("NIFTY", "NSE", 2_606_815, 10, 65, 5_000, weekly=True),
    _Underlying("BANKNIFTY", "NSE", 5_886_770, 10, 30, 10_000),
    _Underlying("SENSEX", "BSE", 8_523_192, 10, 20, 10_000, weekday=THURSDAY, weekly=True),
)


@dataclass(frozen=True, slots=True)
class Instrument:
    """A tradable instrument; its price follows that of `underlying`. Money is in paise."""

    exchange: str
    segment: str
    security_id: str
    symbol: str
    display_name: str
    kind: str
    series: str
    isin: str
    exchange_name: str
    underlying: str
    reference: int
    tick: int
    lot: int = 1
    expiry: date | None = None
    monthly: bool = True
    strike: int = 0
    option: str = "XX"

    @property
    def is_share(self) -> bool:
        """Whether this is a share rather than a derivative."""
        return self.segment == "E"


def tick_size(price: int) -> int:
    """Returns the tick size of a share in paise, as the exchanges define it."""
    return next(tick for above, tick in _TICKS if price >= above)


@lru_cache(maxsize=1)
def shares() -> tuple[Instrument, ...]:
    """Returns the shares of well-known companies, on each exchange that lists them."""
    found = []
    for place, company in enumerate(well_known()):
        found.append(_share(company, "NSE", str(211 + 67 * place)))
        if company.bse:
            found.append(_share(company, "BSE", company.bse))
    return tuple(found)


def short_name(name: str) -> str:
    """Returns a company's name without common suffixes."""
    return name.removesuffix(" Ltd").replace(" (India)", "").replace(" Company", "")


def _share(company: Company, exchange: str, security_id: str) -> Instrument:
    on_nse = exchange == "NSE"
    return Instrument(
        exchange=exchange,
        segment="E",
        security_id=security_id,
        symbol=company.nse,
        display_name=short_name(company.name),
        kind="EQUITY",
        series="EQ" if on_nse else company.group,
        isin=company.isin,
        exchange_name=f"{company.nse}-EQ" if on_nse else company.nse,
        underlying=company.nse,
        reference=company.price,
        tick=tick_size(company.price),
    )


@lru_cache(maxsize=8)
def derivatives(day: date) -> tuple[Instrument, ...]:
    """Returns the futures and options listed on `day`: near expiries, strikes around the money."""
    prices = {company.nse: company.price for company in well_known()}
    stocks = (
        _Underlying(
            name=name,
            exchange="NSE",
            level=prices[name],
            tick=tick_size(prices[name]),
            lot=lot,
            step=_strike_step(prices[name]),
            suffix="STK",
        )
        for name, lot in _STOCK_LOTS.items()
    )
    found: list[Instrument] = []
    for underlying in (*_INDICES, *stocks):
        for contract in _contracts(underlying, day):
            first = 40_001 if underlying.exchange == "NSE" else 1_104_001
            found.append(replace(contract, security_id=str(first + 3 * len(found))))
    return tuple(found)


def _contracts(underlying: _Underlying, day: date) -> Iterator[Instrument]:
    blank = Instrument(
        exchange=underlying.exchange,
        segment="D",
        security_id="",
        symbol=underlying.name,
        display_name=underlying.name,
        kind=f"OPT{underlying.suffix}",
        series="",
        isin="",
        exchange_name=underlying.name,
        underlying=underlying.name,
        reference=underlying.level,
        tick=5,
        lot=underlying.lot,
    )

    def contract(display: str, code: str, expiry: date, **options: Any) -> Instrument:
        return replace(
            blank,
            display_name=f"{underlying.name} {display}",
            exchange_name=f"{underlying.name}{code}",
            expiry=expiry,
            **options,
        )

    month_end = _month_expiry(day, underlying.weekday)
    expiries = {month_end, _month_expiry(month_end + timedelta(days=1), underlying.weekday)}
    for expiry in sorted(expiries):
        month = _MONTHS[expiry.month - 1]
        code = f"{expiry:%y}{month}FUT"
        kind = f"FUT{underlying.suffix}"
        yield contract(f"{month} FUT", code, expiry, kind=kind, tick=underlying.tick)
    if underlying.weekly:
        soon = day + timedelta(days=(underlying.weekday - day.weekday()) % 7)
        expiries |= {soon, soon + timedelta(days=7)}
    middle = round(underlying.level / underlying.step) * underlying.step
    for expiry in sorted(expiries)[: 2 if underlying.weekly else 1]:
        month = _MONTHS[expiry.month - 1]
        monthly = expiry == _month_expiry(expiry, underlying.weekday)
        series = f"{expiry:%y}{month}" if monthly else _weekly_code(expiry)
        for strike in range(
            middle - 8 * underlying.step, middle + 9 * underlying.step, underlying.step
        ):
            shown = f"{strike / 100:.10g}"
            for option, word in (("CE", "CALL"), ("PE", "PUT")):
                display, code = f"{expiry:%d} {month} {shown} {word}", f"{series}{shown}{option}"
                yield contract(display, code, expiry, monthly=monthly, strike=strike, option=option)


def _weekly_code(expiry: date) -> str:
    """Returns a weekly expiry in NSE's notation, whose months are 1 to 9, O, N and D."""
    return f"{expiry:%y}{'123456789OND'[expiry.month - 1]}{expiry:%d}"


def _month_expiry(day: date, weekday: int) -> date:
    """Returns the last `weekday` of the month, or of the next month if it is before `day`."""
    first_of_next = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    last = first_of_next - timedelta(days=1)
    last -= timedelta(days=(last.weekday() - weekday) % 7)
    return last if last >= day else _month_expiry(first_of_next, weekday)


def _strike_step(price: int) -> int:
    """Returns the distance between the strikes of a stock, in paise."""
    for below, step in ((25_000, 250), (50_000, 500), (100_000, 1000), (250_000, 2000)):
        if price < below:
            return step
    return 5000 if price < 500_000 else 10_000
