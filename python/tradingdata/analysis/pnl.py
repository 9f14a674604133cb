"""The functions of profit and loss: shorthands for cuts of a ledger, and what lots are worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar, Unpack

from .._util.validate import did_you_mean
from ..books.book import TradeBook
from .charge_rates import Rates
from .charging import Rounding
from .events import GivenLots, read_lots
from .fold import Options
from .inputs import DayPrices, Lookup, Prices, PricesByDay
from .keys import CONTRACT, KEYED, Key, key_of, leading_of
from .ledger import Ledger
from .position import Positions
from .results import (
    LONG,
    DailyPnl,
    DayPnl,
    Lot,
    RealisedPnl,
    UnrealisedPnl,
    noted,
    priced_notes,
    valued_row,
)

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _with_options(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Shows the options of a ledger in the signature of a shorthand, which refuses others."""
    shown_as = signature(function)
    own = [each for each in shown_as.parameters.values() if each.kind is not each.VAR_KEYWORD]
    of_ledger = signature(Ledger).parameters
    parameters = [*own, *(of_ledger[name] for name in Options.__annotations__)]
    known = [each.name for each in parameters]

    @wraps(function)
    def checked(*args: Given.args, **given: Given.kwargs) -> Result:
        for name in given:
            if name not in known:
                called = f"{function.__name__}() got an unexpected keyword argument {name!r}"
                raise TypeError(called + did_you_mean(name, known))
        return function(*args, **given)

    vars(checked)["__signature__"] = shown_as.replace(parameters=parameters)
    return checked


@_with_options
def realised_pnl(
    trades: TradeBook,
    opening: GivenLots | None = None,
    *,
    day: date | str | None = None,
    **options: Unpack[Options],
) -> RealisedPnl:
    """Matches trades first in, first out, and returns what they realise, before charges.

    Shorthand for ``td.Ledger(trades, opening, **options).realised(day)``.

    Args:
        trades: Trades of any number of days, accounts, clients and exchanges.
        opening: Lots that were open before the first trade, as in ``td.Ledger``.
        day: The day to report, as a date or ISO text. Earlier trades are matched first, and what
            they leave open is the day's opening; only what closes on the day counts. Without it,
            all days of the book count.
        options: Those of ``td.Ledger``: ``changes``, ``settle``, ``multipliers``, ``match_by``,
            ``shorts``, ``until``, ``by``, ``buy`` and ``sell``.

    Returns:
        As ``Ledger.realised``.

    Raises:
        TypeError: As ``td.Ledger``.
        ValueError: As ``td.Ledger``, or if the day is before the trades and the opening.
        OverflowError: If amounts are too large to be added exactly.

    Warns:
        DataWarning: If the result has issues.

    Example:
        >>> monday = td.realised_pnl(monday_trades)
        >>> tuesday = td.realised_pnl(tuesday_trades, opening=monday.open_lots)
        >>> td.realised_pnl(week_of_trades, day="2026-11-20")
    """
    return Ledger(trades, opening, **options).realised(day)


@_with_options
def day_pnl(
    trades: TradeBook,
    *,
    day: date | str | None = None,
    opening: GivenLots | None = None,
    prices: Prices | None = None,
    charges: Rates | None = None,
    rounding: Rounding = None,
    **options: Unpack[Options],
) -> DayPnl:
    """Computes the profit and loss of one day: realised, unrealised, charges and their net.

    Shorthand for ``td.Ledger(trades, opening, **options).day(day, prices=..., charges=...)``, which
    describes the arguments and what is returned and raised.

    Args:
        trades: A trade book, of one or several accounts.
        day: The day; the latest day of the book unless given.
        opening: Lots that were open before the first trade, as in ``td.Ledger``.
        prices: Closing prices of what is open, as in ``unrealised_pnl``.
        charges: Rates of charges, as in ``charges``; without them, charges are 0.
        rounding: Rounds charges, as in ``charges``.
        options: Those of ``td.Ledger``.

    Returns:
        As ``Ledger.day``.

    Example:
        >>> day = td.day_pnl(trades, prices=closes, charges=td.ChargeRate.load("charges.toml"))
        >>> day.net, day.filter(segment="E").net
    """
    ledger = Ledger(trades, opening, **options)
    return ledger.day(day, prices=prices, charges=charges, rounding=rounding)


@_with_options
def daily_pnl(
    trades: TradeBook,
    *,
    prices: DayPrices,
    days: Iterable[date | str] | None = None,
    opening: GivenLots | None = None,
    charges: Rates | None = None,
    rounding: Rounding = None,
    per: Sequence[str] = (),
    **options: Unpack[Options],
) -> DailyPnl:
    """Computes the profit and loss of each day, by account and client.

    Shorthand for ``td.Ledger(trades, opening, **options).daily(prices, ...)``, which describes the
    arguments and what is returned and raised.

    Args:
        trades: A trade book of any number of days, of one or several accounts.
        prices: Closing prices by day.
        days: Days to report besides those of trades and settlements.
        opening: Lots that were open before the first trade, as in ``td.Ledger``.
        charges: Rates of charges, as in ``charges``; without them, charges are 0.
        rounding: Rounds charges, as in ``charges``.
        per: Columns by which a day is divided, besides account and client.
        options: Those of ``td.Ledger``.

    Returns:
        As ``Ledger.daily``.

    Example:
        >>> daily = td.daily_pnl(trades, prices=closes, charges=rates)
        >>> daily.to_pandas().groupby("day")["net"].sum().cumsum()
    """
    ledger = Ledger(trades, opening, **options)
    return ledger.daily(prices, days=days, charges=charges, rounding=rounding, per=per)


def unrealised_pnl(lots: GivenLots | RealisedPnl, prices: Prices) -> UnrealisedPnl:
    """Values open lots at the given prices, before charges.

    The service documents no market prices (nor the meaning of an order's ``ref_ltp``), so the
    caller provides them. Amounts are exact; each result is the float nearest to the exact value.

    Args:
        lots: Lots of either side: ``open_lots`` of ``realised_pnl``, its result itself, or one dict
            for each lot. Positions are no lots: their average is not that of what is still open.
        prices: Price of one share by ``security_id``, or by ``(security_id, expiry_date)`` where an
            id means several contracts, either of them after exchange and segment if need be: a
            mapping, a pandas Series with that index, a data frame with the columns ``security_id``
            and ``price``, or a function that takes a row with these fields. A missing price is
            ``None`` or NaN.

    Returns:
        One row for each key with an open quantity, with ``issues`` and the sum ``unrealised``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a lot is incomplete or unmatched, or a price is ambiguous or not finite.

    Warns:
        DataWarning: If a contract has no price or no multiplier. Its row and the sum are ``None``.
            Keys of ``prices`` that matched nothing are named then.

    Example:
        >>> pnl = td.realised_pnl(trades)
        >>> td.unrealised_pnl(pnl.open_lots, prices={"2885": 1412.5})
    """
    price_of = PricesByDay(prices).on(None)
    values = valued(lots, price_of)
    return noted(values, priced_notes(values, price_of))


def valued(lots: GivenLots | RealisedPnl, price_of: Lookup) -> UnrealisedPnl:
    """Returns what lots are worth."""
    if isinstance(lots, Positions):
        raise TypeError(
            "the argument lots takes lots, not Positions, whose averages are not those of what is "
            "open: pass the result of realised_pnl"
        )
    if isinstance(lots, RealisedPnl):  # a price may be that of a closed contract
        last = max(lots.days, default=date.min)
        contracts = zip(*map(lots._column, CONTRACT), strict=True)
        price_of.among(key for key in contracts if key[-1] is None or key[-1] >= last)
    held = read_lots("lots", lots.open_lots if isinstance(lots, RealisedPnl) else lots)
    lots_by_key: dict[Key, list[Lot]] = {}
    for lot in held:
        lots_by_key.setdefault((*key_of(lot), lot.by), []).append(lot)
    cells = []
    for of_key in lots_by_key.values():
        first = of_key[0]
        units = [1 if lot.multiplier == 0 else lot.multiplier for lot in of_key]  # 0: of shares
        for unit in units:
            if unit != units[0]:
                raise ValueError(
                    f"lots of security_id {first.security_id!r} have the multipliers {units[0]} "
                    f"and {unit}: convert their quantities"
                )
        signs = [1 if lot.side == LONG else -1 for lot in of_key]
        quantity = sum(sign * lot.quantity for sign, lot in zip(signs, of_key, strict=True))
        values = [Fraction(repr(lot.value)) for lot in of_key]
        value = sum((sign * each for sign, each in zip(signs, values, strict=True)), Fraction(0))
        price = price_of(first) if quantity else None
        paid = value.as_integer_ratio()
        leads = dict(zip(KEYED, leading_of(first), strict=True))
        cells.append(leads | valued_row(quantity, paid, units[0], first.kind, price, first.by))
    return UnrealisedPnl._of(cells)
