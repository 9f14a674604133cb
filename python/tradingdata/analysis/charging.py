"""Charges of trades at the rates that the caller passes: brokerage, taxes and fees."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any, NamedTuple

from .. import _core
from .._core import Slice
from .._util import validate
from .._util.files import read_toml
from .._util.validate import shown
from ..books.book import TradeBook
from ..display.text import group
from ..table.conditions import Condition, CoreCondition, core_conditions, parse_conditions
from ..table.rows import declared
from .checks import require_values
from .fills import Fills
from .inputs import amount, patched
from .issues import noted
from .keys import EXECUTED, KEY, Key, Keyed, key_of
from .result_table import ResultTable

_RATES = ("brokerage", "stt_buy", "stt_sell", "exchange", "sebi", "stamp_buy", "gst")
_AMOUNTS = ("per_order", "cap")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeRate:
    """The charges of the trades that meet conditions: fractions of ``trade_value``.

    No rates are built in: they differ by broker and change by law. The page "From trades to profit
    and loss" has an example for NSE and BSE.

    Attributes:
        where: Conditions as in ``trades.filter``, such as ``{"segment": "E", "product": "I"}``;
            without any, the rate applies to every trade. A list, as TOML has it, stands for a set
            of values, or the two of ``__between``.
        brokerage: Brokerage, as a fraction of the order's value.
        per_order: Amount for each order, in addition.
        cap: Largest amount that ``brokerage`` comes to for one order; ``None`` for no limit.
        stt_buy: Securities transaction tax on purchases.
        stt_sell: Securities transaction tax on sales.
        exchange: The exchange's transaction charge.
        sebi: SEBI's turnover fee.
        stamp_buy: Stamp duty, on purchases.
        gst: Goods and services tax, as a fraction of brokerage, exchange charge and turnover fee.
    """

    where: Mapping[str, Any] = field(default_factory=dict)
    brokerage: float = 0.0
    per_order: float = 0.0
    cap: float | None = None
    stt_buy: float = 0.0
    stt_sell: float = 0.0
    exchange: float = 0.0
    sebi: float = 0.0
    stamp_buy: float = 0.0
    gst: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.where, Mapping):
            raise TypeError(f"where must be a dict of conditions, not {shown(self.where)}")
        self._conditions()
        for name in (*_RATES, *_AMOUNTS):
            value = getattr(self, name)
            if value is None and name == "cap":
                continue
            if amount(name, value) >= 1 and name in _RATES:
                raise ValueError(
                    f"{name} is a fraction, such as 0.001 for 0.1 %, and must be below 1, not "
                    f"{value!r}"
                )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[ChargeRate, ...]:
        """Reads rates from a TOML file, one ``[[rate]]`` table each, in their order.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not TOML, or has anything but such tables with these fields, whose
                conditions are on fields of a trade.
        """
        with open(validate.path("path", path), "rb") as file:
            found = read_toml(file)
        tables = found.pop("rate", None)
        if found or not isinstance(tables, list) or not tables:
            raise ValueError(f"{path} must have [[rate]] tables and nothing else")
        made = []
        for number, table in enumerate(tables, 1):
            try:
                made.append(cls(**table))
            except (TypeError, ValueError) as error:
                raise ValueError(f"rate {number} of {path}: {error}") from None
        return tuple(made)

    def _conditions(self) -> list[Condition]:
        where = {
            name: set(value)
            if isinstance(value, list) and not name.endswith("__between")
            else value
            for name, value in self.where.items()
        }
        return parse_conditions("Trade", _core.names_of("Trade"), where)


@declared
class Charge(Keyed):
    """The charges of one client's trades in one security and product; see also ``Keyed``.

    Attributes:
        brokerage: Brokerage of the orders, with the amounts per order.
        stt: Securities transaction tax.
        exchange_charges: The exchange's transaction charges.
        sebi: SEBI's turnover fees.
        stamp: Stamp duty.
        gst: Goods and services tax.
        total: The sum of the six.
    """

    brokerage: float
    stt: float
    exchange_charges: float
    sebi: float
    stamp: float
    gst: float
    total: float


class Charges(ResultTable[Charge]):
    """Result of ``charges``: one row for each key."""

    _row = Charge
    _key_columns = ("total", "brokerage", "stt", "exchange_charges", "sebi", "stamp", "gst")
    _summed = _key_columns
    _size = "total"

    @property
    def total(self) -> float:
        """Sum over all rows."""
        return self._sum("total")

    def _heading(self) -> str:
        return f"{super()._heading()}, charges {group(self.total, 2)}"


def charges(
    trades: TradeBook,
    rates: Sequence[ChargeRate],
    *,
    day: date | str | None = None,
    buy: str = "B",
    sell: str = "S",
) -> Charges:
    """Computes what trades cost at the given rates.

    The first rate whose ``where`` a trade meets applies to it. Brokerage is charged once for each
    executed order, that is for client, day, exchange, segment, order number and side, so that entry
    and exit of a bracket order both pay: ``min(cap, brokerage * value) + per_order``, where the
    first of its rates has ``cap`` and ``per_order``. Everything else is a fraction of each
    ``trade_value``, whose sign does not count. Amounts are exact; a contract note rounds each
    charge, so it differs by some paise. (Service: "Trade record".)

    Args:
        trades: A trade book, of one or several accounts.
        rates: The rates, those of special cases first; ``ChargeRate.load`` reads them from a file.
        day: Counts the trades of this day only; a date or ISO text.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key of ``positions``, with the sum ``total``.

    Raises:
        TypeError: If an argument has the wrong type, or a rate has a condition on no field.
        ValueError: If no rate applies to a trade, or a trade cannot be used (see ``positions``).
        OverflowError: If amounts are too large to be added exactly.

    Example:
        >>> delivery = td.ChargeRate(where={"product": "C"}, stt_buy=0.001, stt_sell=0.001)
        >>> td.charges(trades, [delivery, td.ChargeRate(brokerage=0.0003, cap=20)]).total
    """
    fills = Fills(trades, day, buy, sell)
    sums = charge_sums(fills, rates, buy)
    leading, *_ = fills.facts(_core.Groups([fills.rows], KEY))
    made = []
    for each in leading:
        found = sums[key_of(each)]
        made.append((*each, *map(float, found), float(sum(found))))
    return noted(Charges._of(made), fills.notes)


def charge_sums(fills: Fills, rates: Sequence[ChargeRate], buy: str) -> dict[Key, list[Fraction]]:
    """Returns the six charges of each key, exactly."""
    rows = fills.rows
    require_values(rows, EXECUTED[-2])  # brokerage is by order
    conditions = _conditions(rows, rates)
    fields = sorted({name for each in conditions for name, *_ in each})
    values = rows.column("trade_value")
    if min(values, default=0) < 0:  # a spread may have a negative price, but no negative charge
        owed = {row: {"trade_value": -value} for row, value in enumerate(values) if value < 0}
        rows = patched(rows, owed)
    groups = _core.Groups([rows], [*dict.fromkeys((*EXECUTED, *KEY, *fields))])  # of one rate each
    decimals = _core.decimals_of([(rows, "trade_value")])
    columns = (
        *(groups.first(), groups.coarser(fields), groups.coarser(EXECUTED)),
        groups.sums("trade_value", decimals),
        *rows.cells(groups.first(), [EXECUTED[-1], *KEY]),
    )
    rate_of: dict[int, int] = {}  # by the values that conditions are about
    orders: dict[int, list[_Part]] = {}
    for row, facts, order, value, side, *key in zip(*columns, strict=True):
        if facts not in rate_of:
            rate_of[facts] = _rate_of(fills, row, conditions)
        part = _Part(rate_of[facts], tuple(key), value, side == buy)
        orders.setdefault(order, []).append(part)
    unit = Fraction(1, 10**decimals)
    exact = [_exact(rate) for rate in rates]
    limits = [_limit(rate, unit) for rate in exact]
    totals: dict[tuple[int, Key], _Total] = {}
    for parts in orders.values():
        for part in parts:
            total = totals.setdefault((part.rate, part.key), _Total())
            total.values[part.is_purchase] += part.value
        if len(parts) > 1:
            for part, share in zip(parts, _shares(parts, exact, unit), strict=True):
                totals[part.rate, part.key].shared += share
        elif (limit := limits[part.rate]) is not None and part.value > limit:
            total.capped += 1
        else:
            total.uncapped[0] += 1
            total.uncapped[1] += part.value
    sums: dict[Key, list[Fraction]] = {}
    for (rate, key), total in totals.items():
        amounts = sums.setdefault(key, [Fraction(0)] * 6)
        for place, levy in enumerate(_levies(total, exact[rate], unit)):
            amounts[place] += levy
    return sums


class _Part(NamedTuple):
    """The trades of an executed order that have one key and one rate; the value is in units."""

    rate: int
    key: Key
    value: int
    is_purchase: bool


@dataclass
class _Total:
    """What the trades of one key and rate add up to, so that few fractions are computed."""

    values: list[int] = field(default_factory=lambda: [0, 0])  # sold and bought
    capped: int = 0  # orders that are charged the cap
    uncapped: list[int] = field(default_factory=lambda: [0, 0])  # the other orders, their value
    shared: Fraction = Fraction(0)  # brokerage of orders with several rates or keys


def _limit(rate: dict[str, Fraction], unit: Fraction) -> int | None:
    """Returns the largest value, in units, whose brokerage the cap does not limit."""
    if "cap" not in rate or not rate["brokerage"]:
        return None
    return rate["cap"] // (rate["brokerage"] * unit)


def _exact(rate: ChargeRate) -> dict[str, Fraction]:
    given = {name: getattr(rate, name) for name in (*_RATES, *_AMOUNTS)}
    return {name: Fraction(repr(value)) for name, value in given.items() if value is not None}


def _shares(parts: list[_Part], rates: list[dict[str, Fraction]], unit: Fraction) -> list[Fraction]:
    """Returns the brokerage of each part of an order, which is charged once.

    The first of its rates has the amount per order and the cap.
    """
    first = rates[min(part.rate for part in parts)]
    shares = [rates[part.rate]["brokerage"] * part.value * unit for part in parts]
    total, value = sum(shares), sum(part.value for part in parts)
    capped = min(total, first.get("cap", total)) / total if total else Fraction(0)
    even = Fraction(1, len(parts))
    weights = [Fraction(part.value, value) if value else even for part in parts]
    return [
        share * capped + first["per_order"] * weight
        for share, weight in zip(shares, weights, strict=True)
    ]


def _levies(total: _Total, rate: dict[str, Fraction], unit: Fraction) -> list[Fraction]:
    sold, bought = (value * unit for value in total.values)
    count, value = total.uncapped
    brokerage = (
        rate["brokerage"] * value * unit
        + rate.get("cap", Fraction(0)) * total.capped
        + rate["per_order"] * (count + total.capped)
        + total.shared
    )
    exchange, sebi = (rate[name] * (bought + sold) for name in ("exchange", "sebi"))
    return [
        brokerage,
        rate["stt_buy"] * bought + rate["stt_sell"] * sold,
        exchange,
        sebi,
        rate["stamp_buy"] * bought,
        rate["gst"] * (brokerage + exchange + sebi),
    ]


def _conditions(rows: Slice, rates: Any) -> list[list[CoreCondition]]:
    """Returns the conditions of each rate."""
    if not isinstance(rates, Sequence) or not all(isinstance(each, ChargeRate) for each in rates):
        raise TypeError(f"rates must be a sequence of td.ChargeRate, not {shown(rates)}")
    found = [core_conditions(rows, rate._conditions()) for rate in rates]
    for each in found:
        rows[:0].where(each)  # raises for a value that its field never has
    return found


def _rate_of(fills: Fills, row: int, conditions: list[list[CoreCondition]]) -> int:
    """Returns the number of the first rate whose conditions a trade meets."""
    rows = fills.rows
    for number, each in enumerate(conditions):
        if len(rows[row : row + 1].where(each)):
            return number
    facts = ("trade_no", "exchange", "segment", "product", "txn_type")
    found = ", ".join(f"{name} {rows[row][name]!r}" for name in facts)
    raise ValueError(
        f"no rate applies to the trade in {fills.where(row)} ({found}): add a ChargeRate for "
        "it, or one without conditions as the last"
    )
