"""Charges of trades at the rates that the caller passes: brokerage, taxes and fees."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import floor, inf
from operator import add
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from .._util.validate import shown
from ..books.book import TradeBook
from ..display.text import group
from ..table.conditions import CoreCondition, core_conditions, parse_conditions
from ..table.rows import declared
from .checks import require_values
from .fills import Fills, multipliers_of
from .inputs import Multipliers, amount, as_conditions, chosen, patched, tables_of
from .issues import noted
from .keys import CONTRACT, EXECUTED, KEY, Key, Keyed, key_of
from .result_table import BY_CONTRACT, ResultTable

_TAXED = ("brokerage", "exchange", "sebi")  # by GST, unless a rate says otherwise
_BY_VALUE = {  # the fields of a rate that are fractions of purchases and of sales
    "stt": ("stt_buy", "stt_sell"),
    "exchange": ("exchange", "exchange"),
    "sebi": ("sebi", "sebi"),
    "stamp": ("stamp_buy", ""),
    "other": ("other_buy", "other_sell"),
}
_FRACTIONS = {"brokerage", "gst", *sum(_BY_VALUE.values(), ())} - {""}
_AMOUNTS = ("per_order", "per_lot", "minimum", "cap")
_LEVIES = ("brokerage", *_BY_VALUE, "gst")
_SQUARED = "squared_off"
_NOTE = {name: 1.0 if name in ("stt", "stamp") else 0.01 for name in _LEVIES}

_WHOLE = ((None, 1),)  # of a trade, where no rate is about what is squared off

Rounding = str | Mapping[str, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRate:
    """The charges of the trades that meet conditions: fractions of ``trade_value``.

    No rates are built in: they differ by broker and change by law. The page "From trades to profit
    and loss" has an example for NSE and BSE.

    Attributes:
        where: Conditions as in ``trades.filter``, such as ``{"segment": "E", "product": "I"}``;
            without any, the rate applies to every trade. A list, as TOML has it, stands for a set
            of values, or the two of ``__between``. ``squared_off`` is True for the part of a day's
            purchases and sales of one contract, in any product, that offset each other, which is
            taxed as intraday, and False for the rest; each trade has its share of both.
        brokerage: Brokerage, as a fraction of the order's value.
        minimum: Smallest amount that ``brokerage`` comes to for one order.
        cap: Largest amount that ``brokerage`` comes to for one order; ``None`` for no limit.
        per_order: Amount for each order, in addition.
        per_lot: Amount for each lot, in addition: ``lot_size`` shares, or one contract where
            quantities count contracts.
        stt_buy: Securities transaction tax on purchases.
        stt_sell: Securities transaction tax on sales.
        exchange: The exchange's transaction charge.
        sebi: SEBI's turnover fee.
        stamp_buy: Stamp duty, on purchases.
        other_buy: Other charges on purchases, such as a clearing charge or a protection fund.
        other_sell: Other charges on sales.
        gst: Goods and services tax, as a fraction of the levies in ``gst_on``.
        gst_on: What is taxed: names of ``brokerage``, ``stt``, ``exchange``, ``sebi``, ``stamp``
            and ``other``.
    """

    where: Mapping[str, Any] = field(default_factory=dict)
    brokerage: float = 0.0
    minimum: float = 0.0
    cap: float | None = None
    per_order: float = 0.0
    per_lot: float = 0.0
    stt_buy: float = 0.0
    stt_sell: float = 0.0
    exchange: float = 0.0
    sebi: float = 0.0
    stamp_buy: float = 0.0
    other_buy: float = 0.0
    other_sell: float = 0.0
    gst: float = 0.0
    gst_on: Sequence[str] = _TAXED

    def __post_init__(self) -> None:
        if not isinstance(self.where, Mapping):
            raise TypeError(f"where must be a dict of conditions, not {shown(self.where)}")
        squared, _ = self._conditions()
        if squared not in (None, True, False):
            raise TypeError(f"{_SQUARED} must be True or False, not {shown(squared)}")
        for name in (*sorted(_FRACTIONS), *_AMOUNTS):
            value = getattr(self, name)
            if value is None and name == "cap":
                continue
            object.__setattr__(self, name, amount(name, value))
            if value >= 1 and name in _FRACTIONS:
                raise ValueError(
                    f"{name} is a fraction, such as 0.001 for 0.1 %, and must be below 1, not "
                    f"{value!r}"
                )
        if self.cap is not None and self.minimum > self.cap:
            raise ValueError(f"minimum {self.minimum!r} must not be above cap {self.cap!r}")
        taxed = chosen("gst_on", self.gst_on, _LEVIES[:-1], "a list of levies")
        object.__setattr__(self, "gst_on", tuple(name for name in _LEVIES if name in taxed))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[ChargeRate, ...]:
        """Reads rates from a TOML file, one ``[[rate]]`` table each, in their order.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not TOML, or has anything but such tables with these fields, whose
                conditions are on fields of a trade.
        """
        return tables_of(path, "rate", cls)

    def _conditions(self) -> tuple[Any, list[Any]]:
        """Returns which part of a day's trades the rate is for, if not all, and its conditions."""
        where = as_conditions(self.where)
        squared = where.pop(_SQUARED, None)
        return squared, parse_conditions("Trade", _core.names_of("Trade"), where)


@declared
class Charge(Keyed):
    """The charges of one client's trades in one security and product; see also ``Keyed``.

    Attributes:
        brokerage: Brokerage of the orders, with the amounts per order and per lot.
        stt: Securities transaction tax.
        exchange_charges: The exchange's transaction charges.
        sebi: SEBI's turnover fees.
        stamp: Stamp duty.
        other: Other charges.
        gst: Goods and services tax.
        total: The sum of these.
    """

    brokerage: float
    stt: float
    exchange_charges: float
    sebi: float
    stamp: float
    other: float
    gst: float
    total: float


_PARTS = ("total", "brokerage", "stt", "exchange_charges", "sebi", "stamp", "other", "gst")


class Charges(ResultTable[Charge]):
    """Result of ``charges``: one row for each key."""

    _row = Charge
    _view = BY_CONTRACT._replace(columns=_PARTS, sums=_PARTS, rank="total")

    @property
    def total(self) -> float:
        """Sum over all rows."""
        return self._sum("total")

    def _heading(self) -> str:
        return f"{super()._heading()}, charges {group(self.total, 2)}"


def charges(
    trades: TradeBook,
    rates: ChargeRate | Sequence[ChargeRate],
    *,
    day: date | str | None = None,
    rounding: Rounding = None,
    multipliers: Multipliers | None = None,
    buy: str = "B",
    sell: str = "S",
) -> Charges:
    """Computes what trades cost at the given rates.

    The first rate whose ``where`` a trade meets applies to it. Brokerage is charged once for each
    executed order, that is for client, day, exchange, segment, order number and side, so that entry
    and exit of a bracket order both pay: ``max(minimum, min(cap, brokerage * value)) + per_order``,
    where the first of its rates has these amounts. Everything else is a fraction of each
    ``trade_value``, whose sign does not count. Amounts are exact unless ``rounding`` says
    otherwise. (Service: "Trade record".)

    Args:
        trades: A trade book, of one or several accounts.
        rates: The rate, or several, those of special cases first; ``ChargeRate.load`` reads them
            from a file.
        day: Counts the trades of this day only; a date or ISO text.
        rounding: ``"note"`` rounds as contract notes do, half up, by account, client, day, exchange
            and segment: ``stt`` and ``stamp`` to the rupee, the others to the paisa. A mapping of
            levies to units, such as ``{"stamp": 0.01}``, changes that. What rounding adds is on the
            largest row of the note; what it takes, on the largest rows.
        multipliers: Multipliers of contracts that their trades do not prove, which ``per_lot``
            needs, as in ``realised_pnl``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key of ``positions``, with the sum ``total``.

    Raises:
        TypeError: If an argument has the wrong type, or a rate has a condition on no field.
        ValueError: If no rate applies to a trade, a trade cannot be used (see ``positions``), or
            the lots that ``per_lot`` counts are not known of a trade to which it applies.
        OverflowError: If amounts are too large to be added exactly.

    Example:
        >>> delivery = td.ChargeRate(where={"product": "C"}, stt_buy=0.001, stt_sell=0.001)
        >>> td.charges(trades, [delivery, td.ChargeRate(brokerage=0.0003, cap=20)]).total
    """
    fills = Fills(trades, day, buy, sell, multipliers=multipliers)
    sums: dict[Key, list[Any]] = {}
    found, unit = charge_sums(fills, rates, buy, rounding)
    for (_, key), levies in found.items():
        sums[key] = [*map(add, sums.get(key, [0] * len(levies)), levies)]
    leading, *_ = fills.facts(_core.Groups([fills.rows], KEY))
    made = []
    for each in leading:
        levies = sums[key_of(each)]
        made.append((*each, *(float(levy / unit) for levy in (*levies, sum(levies)))))
    return noted(Charges._of(made), fills.notes)


Sums = dict[tuple[date, Key], list[Any]]  # whole numbers of a unit, or fractions where shared


def charged(
    fills: Fills,
    rates: ChargeRate | Sequence[ChargeRate] | None,
    buy: str,
    rounding: Rounding,
) -> dict[tuple[date, Key], Fraction]:
    """Returns the sum of the levies of each day and key, also where ISINs join keys."""
    if rates is None:
        return {}
    sums, unit = charge_sums(fills.as_sent(), rates, buy, rounding)
    merged = fills.merged_keys()
    found: dict[tuple[date, Key], Fraction] = {}
    for (day, key), levies in sums.items():
        place = day, merged[key]
        found[place] = found.get(place, Fraction(0)) + Fraction(sum(levies)) / unit
    return found


class _Part(NamedTuple):
    """The trades of an executed order that have one key, one day and one rate."""

    rate: int
    place: int  # of key and day
    value: Any
    lots: Any
    is_purchase: bool


def charge_sums(
    fills: Fills,
    rates: ChargeRate | Sequence[ChargeRate],
    buy: str,
    rounding: Rounding = None,
) -> tuple[Sums, int]:
    """Returns the levies of each day and key, exactly, and how many units of them are 1."""
    steps = _steps(rounding)
    rates = [rates] if isinstance(rates, ChargeRate) else rates
    rows = fills.rows
    require_values(rows, EXECUTED[-2])  # brokerage is by order
    conditions = _conditions(rows, rates)
    fields = sorted({name for _, each in conditions for name, *_ in each})
    values = rows.column("trade_value")
    if min(values, default=0) < 0:  # a spread may have a negative price, but no negative charge
        owed = {row: {"trade_value": -value} for row, value in enumerate(values) if value < 0}
        rows = patched(rows, owed)
    by_lot = ["lot_size"] if any(rate.per_lot for rate in rates) else []
    groups = _core.Groups([rows], [*dict.fromkeys((*EXECUTED, *KEY, *fields, *by_lot))])
    first, decimals = groups.first(), _core.decimals_of([(rows, "trade_value")])
    is_split = any(squared is not None for squared, _ in conditions)
    places = groups.coarser([*KEY, EXECUTED[2]])
    columns: Any = zip(
        *(first, groups.coarser(fields), groups.coarser(EXECUTED), places),
        groups.sums("trade_value", decimals),
        _lots(fills, first, groups.sums("quantity", 0)) if by_lot else [0] * len(first),
        _offset(rows, first, buy) if is_split else [None] * len(first),
        *rows.cells(first, [EXECUTED[-1]]),
        strict=True,
    )
    rate_of: dict[Any, int] = {}  # by the values that conditions are about
    orders: dict[int, list[_Part]] = {}
    for row, facts, order, place, value, lots, share, side in columns:
        for squared, half in _WHOLE if share is None else ((True, share), (False, 1 - share)):
            if half:
                if (facts, squared) not in rate_of:
                    rate_of[facts, squared] = _rate_of(fills, row, conditions, squared)
                rate = rate_of[facts, squared]
                if lots is None and rates[rate].per_lot:
                    raise ValueError(
                        "per_lot needs the multiplier and the lot size of the trade in "
                        f"{fills.where(row)}: pass `multipliers`, or correct its lot_size"
                    )
                part = _Part(rate, place, value * half, (lots or 0) * half, side == buy)
                orders.setdefault(order, []).append(part)
    levies, unit = _levies(orders, rates, 10**decimals)
    at = list(dict(zip(places, first, strict=True)).values())  # a row of each place, in order
    times, *keys = rows.cells(at, ["exch_trade_time", *KEY])
    of_place = list(zip((time.date() for time in times), zip(*keys, strict=True), strict=True))
    sums: Sums = {of_place[place]: found for place, found in levies.items()}
    if steps:
        _round(sums, {name: step * unit for name, step in steps.items()}, Fraction(unit, 100))
    return sums, unit


def _offset(rows: Slice, first: list[int], buy: str) -> list[Fraction]:
    """Returns which part of some rows the other side of their day and contract offsets.

    Neither exchanges nor the tax know of products.
    """
    day = [*KEY[:-1], "exch_trade_time.day"]  # without the product
    sides = _core.Groups([rows], [*day, EXECUTED[-1]])
    days, quantities = sides.coarser(day), sides.sums("quantity", 0)
    (codes,) = rows.cells(sides.first(), [EXECUTED[-1]])
    traded: dict[tuple[int, bool], Any] = {}
    for number, code, quantity in zip(days, codes, quantities, strict=True):
        traded[number, code == buy] = quantity
    found = []
    for number, code in zip(days, codes, strict=True):
        own, other = (traded.get((number, (code == buy) is same), 0) for same in (True, False))
        found.append(Fraction(min(own, other), own))
    numbers = sides.numbers()
    return [found[numbers[row]] for row in first]


def _lots(fills: Fills, first: list[int], quantities: list[Any]) -> list[Any]:
    """Returns the number of lots of groups of rows, None where it is not known.

    A quantity counts shares or contracts.
    """
    contracts = _core.Groups([fills.rows], CONTRACT)
    multipliers, _ = multipliers_of(fills.rows, contracts, fills.where, given=fills.given)
    numbers, (sizes,) = contracts.numbers(), fills.rows.cells(first, ["lot_size"])
    found: list[Any] = []
    for row, size, count in zip(first, sizes, quantities, strict=True):
        multiplier = multipliers[numbers[row]]
        if multiplier is None or (multiplier == 1 and (size or 0) < 1):
            found.append(None)
        else:
            found.append(Fraction(count, size) if multiplier == 1 else count)
    return found


def _scaled(rates: Sequence[ChargeRate]) -> tuple[list[dict[str, int]], int]:
    """Returns the numbers of each rate as whole numbers of a unit, and that unit's reciprocal."""
    names = (*_FRACTIONS, *_AMOUNTS)
    given = [
        {name: Decimal(repr(getattr(rate, name))) for name in names if name != "cap"}
        | ({} if rate.cap is None else {"cap": Decimal(repr(rate.cap))})
        for rate in rates
    ]
    numbers = [number for each in given for number in each.values()]
    digits = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    scale = 10 ** max(digits, 0)
    return [{name: int(value * scale) for name, value in each.items()} for each in given], scale


def _levies(
    orders: dict[int, list[_Part]], rates: Sequence[ChargeRate], unit: int
) -> tuple[dict[int, list[Any]], int]:
    """Returns the levies by place, in units, and how many of them are 1."""
    numbers, scale = _scaled(rates)
    brokerage = [number["brokerage"] for number in numbers]
    caps = [number["cap"] * unit if "cap" in number else inf for number in numbers]
    least, by_order, by_lot = (
        [number[name] * unit for number in numbers] for name in ("minimum", "per_order", "per_lot")
    )
    totals: dict[Any, list[Any]] = {}  # by place and rate: brokerage, sold and bought
    for parts in orders.values():
        raws = [brokerage[rate] * value for rate, _, value, *_ in parts]
        raw, first = (raws[0], parts[0].rate) if len(parts) == 1 else (sum(raws), min(parts).rate)
        owed = max(min(raw, caps[first]), least[first])
        value = len(parts) > 1 and sum(part.value for part in parts)
        for part, own in zip(parts, raws, strict=True):
            amount = owed + by_order[first]
            if len(parts) > 1:
                weight = Fraction(part.value, value) if value else Fraction(1, len(parts))
                amount = owed * (Fraction(own, raw) if raw else weight) + by_order[first] * weight
            total = totals.setdefault((part.place, part.rate), [0, 0, 0])
            total[0] += amount + by_lot[part.rate] * part.lots
            total[1 + part.is_purchase] += part.value
    sums: dict[int, list[Any]] = {}
    for (place, rate), (charged, sold, bought) in totals.items():
        number = numbers[rate]
        levies = {"brokerage": charged}
        for name, (on_purchase, on_sale) in _BY_VALUE.items():
            levies[name] = number.get(on_purchase, 0) * bought + number.get(on_sale, 0) * sold
        found = [levy * scale for levy in levies.values()]  # GST is a fraction of a fraction
        found.append(number["gst"] * sum(levies[name] for name in rates[rate].gst_on))
        sums[place] = [*map(add, sums.get(place, [0] * len(found)), found)]
    return sums, unit * scale**2


def _steps(rounding: Any) -> dict[str, Fraction] | None:
    """Returns the unit to which each levy is rounded."""
    if rounding is None:
        return None
    if rounding != "note" and not isinstance(rounding, Mapping):
        raise TypeError(f'rounding must be "note" or a dict of levies, not {shown(rounding)}')
    given = {} if rounding == "note" else dict(rounding)
    chosen("rounding", [*given], _LEVIES, "a dict of levies")
    steps = {name: Fraction(repr(amount(name, step))) for name, step in (_NOTE | given).items()}
    if not all(steps.values()):
        raise ValueError("rounding takes units above 0, such as 0.01")
    return steps


def _round(sums: Sums, steps: dict[str, Fraction], least: Fraction) -> None:
    """Rounds each levy of each note; its largest rows have the difference, and none is below 0."""
    notes: dict[Any, list[list[Any]]] = {}
    for (day, key), levies in sums.items():
        notes.setdefault((day, *key[:4]), []).append(levies)  # account to segment
    for rows in notes.values():
        for at, step in enumerate(steps.values()):
            rest = _half_up(sum(row[at] for row in rows), step)
            largest = sorted(rows, key=lambda row, at=at: -row[at])  # type: ignore[misc]
            for row in rows:
                row[at] = _half_up(row[at], min(step, least))
                rest -= row[at]
            for row in largest:
                added = max(rest, -row[at])
                row[at] += added
                rest -= added


def _half_up(value: Any, step: Fraction) -> Fraction:
    whole: int = floor(value / step + Fraction(1, 2))
    return whole * step


def _conditions(rows: Slice, rates: Any) -> list[tuple[bool | None, list[CoreCondition]]]:
    """Returns which part of a day's trades each rate is for, if not all, and its conditions."""
    if not isinstance(rates, Sequence) or not all(isinstance(each, ChargeRate) for each in rates):
        raise TypeError(f"rates must be one or several td.ChargeRate, not {shown(rates)}")
    found = []
    for rate in rates:
        squared, conditions = rate._conditions()
        found.append((squared, core_conditions(rows, conditions)))
        rows[:0].where(found[-1][1])  # raises for a value that its field never has
    return found


def _rate_of(fills: Fills, row: int, conditions: Any, squared: bool | None) -> int:
    """Returns the number of the first rate whose conditions a trade meets."""
    rows = fills.rows
    for number, (wanted, each) in enumerate(conditions):
        if wanted in (None, squared) and len(rows[row : row + 1].where(each)):
            return number
    facts = ("trade_no", *CONTRACT[:2], KEY[-1], EXECUTED[-1])
    found = ", ".join(f"{name} {rows[row][name]!r}" for name in facts)
    raise ValueError(
        f"no rate applies to the trade in {fills.where(row)} ({found}): add a ChargeRate for "
        "it, or one without conditions as the last"
    )
