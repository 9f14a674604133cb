"""Charges of trades at the rates that the caller passes: brokerage, taxes and fees."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from itertools import repeat
from math import floor, inf, lcm
from operator import itemgetter
from typing import Any

from .. import _core
from .._core import Slice
from .._util.validate import shown
from ..books.book import TradeBook
from ..display.text import group
from ..table.conditions import CoreCondition, core_conditions
from ..table.rows import declared
from .charge_rates import AMOUNTS, BY_VALUE, FRACTIONS, LEVIES, ChargeRate
from .checks import require_values
from .fills import Fills, multipliers_at
from .inputs import Multipliers, amount, chosen
from .issues import noted
from .keys import CONTRACT, EXECUTED, KEY, Key, Keyed
from .result_table import BY_CONTRACT, ResultTable

_NOTE = {name: 1.0 if name in ("stt", "stamp") else 0.01 for name in LEVIES}

Rounding = str | Mapping[str, float] | None


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
    sums: dict[Key, Levies] = {}
    places, unit = charge_sums(fills, rates, buy, rounding)
    for place in places:
        levies = sums.setdefault(place.key, place.levies)
        for name, levy in place.levies.items() if levies is not place.levies else ():
            levies[name] += levy
    of_keys = [sums[key] for key in zip(*fills.facts().keys, strict=True)]
    amounts = [[float(levies[name] / unit) for levies in of_keys] for name in LEVIES]
    totals = [float(sum(levies.values()) / unit) for levies in of_keys]
    return noted(Charges._of_columns([*fills.leads(), *amounts, totals]), fills.notes)


Rates = ChargeRate | Sequence[ChargeRate]
Levies = dict[str, Any]  # whole numbers of a unit, or fractions where a value is divided


_NOTHING: Levies = dict.fromkeys(LEVIES, 0)


@dataclass(slots=True)
class Place:
    """The levies of one day and key as it was ``sent``; its ``key`` may be that of several."""

    day: date
    sent: Key
    key: Key
    levies: Levies = field(default_factory=_NOTHING.copy)


# The part of an order's value that has one place and the rate of one number; 1 if it is all.
_Portion = tuple[Place, int, Any]


@dataclass(slots=True)
class _Kind:
    """Orders whose values are divided alike, so that they are charged together."""

    shares: list[_Portion]
    is_purchase: bool
    values: list[int] = field(default_factory=list)
    lots: Any = 0


def charge_sums(
    fills: Fills, rates: Rates, buy: str, rounding: Rounding = None
) -> tuple[list[Place], int]:
    """Returns the levies of each day and key, exactly, and how many units of them are 1."""
    steps = _rounding_units(rounding)
    rates = [rates] if isinstance(rates, ChargeRate) else rates
    rows = fills.sent
    require_values(rows, EXECUTED[-2])  # brokerage is by order
    conditions = _rate_conditions(rows, rates)
    fields = sorted({name for _, of_rate in conditions for name, *_ in of_rate})
    alike = [*dict.fromkeys((*KEY, EXECUTED[2], EXECUTED[-1], *fields))]
    more = ["lot_size"] if any(rate.per_lot for rate in rates) else []
    if len(rows.where([("trade_value", "lt", "all", False, [0.0])])):
        more.append("trade_value")  # a spread may have a negative price, but no negative charge
    by_key = fills.by_key if rows is fills.rows else _core.Groups([rows], KEY)
    finer = {*alike, *EXECUTED, *more}.difference(KEY)
    groups = _core.Groups([rows], sorted(finer), by_key)
    first, numbers, orders = groups.first(), groups.coarser(alike), groups.coarser(EXECUTED)
    decimals = _core.decimals_of([(rows, "trade_value")])
    sums: Any = groups.sums
    values = sums("trade_value", decimals)
    begins = dict(zip(reversed(numbers), reversed(first), strict=True))  # first rows of kinds
    traded: Counter[int] = Counter()
    if any(squared is not None for squared, _ in conditions):
        for number, quantity in zip(numbers, sums("quantity", 0), strict=True):
            traded[number] += quantity
    kinds, places = _kinds(
        fills, conditions, fields, buy, [*map(begins.get, range(len(begins)))], traded
    )
    if "lot_size" in more:
        _add_lots(fills, rates, list(zip(numbers, first, sums("quantity", 0), strict=True)), kinds)
    mixed = []
    if max(orders, default=-1) + 1 == len(orders):  # each order is of one kind
        for number, value in zip(numbers, map(abs, values), strict=True):
            kinds[number].values.append(value)
    else:
        by_order: dict[int, Counter[int]] = defaultdict(Counter)
        for order, number, value in zip(orders, numbers, map(abs, values), strict=True):
            by_order[order][number] += value
        for of_order in by_order.values():
            if len(of_order) > 1:
                mixed.append(_mixed([(kinds[number], value) for number, value in of_order.items()]))
            for number, value in of_order.items() if len(of_order) == 1 else ():
                kinds[number].values.append(value)
    unit = _levy([*kinds, *mixed], rates, 10**decimals)
    if steps:
        _round(places, steps, unit)
    return places, unit


Conditions = list[tuple[bool | None, list[CoreCondition]]]


def _kinds(
    fills: Fills,
    conditions: Conditions,
    fields: list[str],
    buy: str,
    at: list[Any],
    traded: Mapping[int, int],
) -> tuple[list[_Kind], list[Place]]:
    """Returns how the values of some rows are divided, and their places.

    What offsets each other is of one day and contract: neither exchanges nor the tax know of
    products. ``traded`` has the quantity of each row, if it counts.
    """
    times, codes = fills.sent.cells(at, ["exch_trade_time", EXECUTED[-1]])
    facts = zip(*fills.sent.cells(at, fields), strict=True) if fields else repeat(())
    sent = keys = list(zip(*fills.sent.cells(at, KEY), strict=True))
    if fills.rows is not fills.sent:
        keys = list(zip(*fills.rows.cells(at, KEY), strict=True))
    quantities: Counter[Any] = Counter()
    for number, quantity in traded.items():
        is_purchase = codes[number] == buy
        quantities[times[number].date(), sent[number][:-1], is_purchase] += quantity
    places: dict[Any, Place] = {}
    rate_of: dict[Any, int] = {}
    kinds = []
    columns = zip(at, times, codes, sent, keys, facts, strict=False)
    for row, time, code, key, of_key, values in columns:
        day, is_purchase = time.date(), code == buy
        place = places.get((day, key))
        if place is None:
            place = places[day, key] = Place(day, key, of_key)
        parts: Any = ((None, 1),)
        if traded:
            sides = is_purchase, not is_purchase
            own, other = (quantities[day, key[:-1], side] for side in sides)
            part = Fraction(min(own, other), own)
            parts = (True, part), (False, 1 - part)
        shares = []
        for squared, part in parts:
            fact = squared, values
            if part and fact not in rate_of:
                rate_of[fact] = _rate_of(fills, row, conditions, squared)
            if part:
                shares.append((place, rate_of[fact], part))
        kinds.append(_Kind(shares, is_purchase))
    return kinds, list(places.values())


def _mixed(parts: list[tuple[_Kind, int]]) -> _Kind:
    """Returns the kind of an order whose values are of several."""
    total = sum(value for _, value in parts)
    shares = [
        (place, rate, part * (Fraction(value, total) if total else Fraction(1, len(parts))))
        for kind, value in parts
        for place, rate, part in kind.shares
    ]
    return _Kind(shares, parts[0][0].is_purchase, [total])


def _add_lots(fills: Fills, rates: Sequence[ChargeRate], groups: Any, kinds: list[_Kind]) -> None:
    """Adds the lots of groups of rows, whose kind, first row and quantity are given.

    A quantity counts shares or contracts.
    """
    first = [row for _, row, _ in groups]
    proofs = multipliers_at(fills.rows, first, fills.where, fills.given)
    (sizes,) = fills.rows.cells(first, ["lot_size"])
    for (number, row, quantity), proof, size in zip(groups, proofs, sizes, strict=True):
        kind = kinds[number]
        if not any(rates[rate].per_lot for _, rate, _ in kind.shares):
            continue
        if proof.multiplier is None or (proof.multiplier == 1 and (size or 0) < 1):
            raise ValueError(
                "per_lot needs the multiplier and the lot size of the trade in "
                f"{fills.where(row)}: pass `multipliers`, or correct its lot_size"
            )
        kind.lots += Fraction(quantity, size) if proof.multiplier == 1 else quantity


def _scaled(rates: Sequence[ChargeRate]) -> tuple[list[dict[str, Any]], int]:
    """Returns the numbers of each rate as whole numbers of a unit, and that unit's reciprocal."""
    exact = [
        {
            name: Fraction(repr(number))
            for name in (*FRACTIONS, *AMOUNTS)
            if (number := getattr(rate, name)) is not None
        }
        for rate in rates
    ]
    scale = lcm(*(number.denominator for of_rate in exact for number in of_rate.values()))
    return [
        {"cap": inf} | {name: int(number * scale) for name, number in of_rate.items()}
        for of_rate in exact
    ], scale


def _terms(
    rate: ChargeRate, number: dict[str, Any], scale: int, is_sale: bool
) -> list[tuple[str, int]]:
    """Returns the levies of a value, without brokerage, as whole numbers of ``1 / scale**2``."""
    of_value = {name: number.get(of_sides[is_sale], 0) for name, of_sides in BY_VALUE.items()}
    gst = number["gst"] * sum(of_value.get(name, 0) for name in rate.gst_on)
    terms = [*((name, levy * scale) for name, levy in of_value.items()), ("gst", gst)]
    return [(name, levy) for name, levy in terms if levy]


def _levy(kinds: Iterable[_Kind], rates: Sequence[ChargeRate], unit: int) -> int:
    """Adds what orders are charged to their places, in units; returns how many of them are 1."""
    numbers, scale = _scaled(rates)
    terms = [
        [_terms(rate, number, scale, is_sale) for rate, number in zip(rates, numbers, strict=True)]
        for is_sale in (False, True)
    ]
    for kind in kinds:
        # Lists, since a generator takes longer than its one share.
        first = numbers[min([rate for _, rate, _ in kind.shares])]
        owed: Any = sum([numbers[rate]["brokerage"] * part for _, rate, part in kind.shares])
        fraction, whole = owed.numerator, owed.denominator
        minimum, cap = first["minimum"] * unit, first["cap"] * unit
        least, most = minimum * whole, cap * whole
        total = sum(kind.values)
        varies = fraction or minimum  # the brokerage, with the value of an order
        # Values of which brokerage is a fraction, and brokerages that are not.
        free, bound = 0 if varies else total, 0
        for value in kind.values if varies else ():
            if value * fraction > most:
                bound += cap
            elif value * fraction < least:
                bound += minimum
            else:
                free += value
        for place, rate, part in kind.shares:
            number, levies = numbers[rate], place.levies
            own = number["brokerage"] * part
            weight = part if not owed else 1 if own == owed else Fraction(own) / owed
            fixed = len(kind.values) * first["per_order"] + kind.lots * number["per_lot"]
            brokerage = own * free + weight * bound + fixed * unit * part
            levies["brokerage"] += brokerage * scale  # GST is a fraction of a fraction
            if "brokerage" in rates[rate].gst_on:
                levies["gst"] += number["gst"] * brokerage
            for name, of_value in terms[not kind.is_purchase][rate]:
                levies[name] += of_value * total * part
    return unit * scale**2


def _rounding_units(rounding: Any) -> dict[str, Fraction] | None:
    """Returns the unit to which each levy is rounded."""
    if rounding is None:
        return None
    if rounding != "note" and not isinstance(rounding, Mapping):
        raise TypeError(f'rounding must be "note" or a dict of levies, not {shown(rounding)}')
    changed = {} if rounding == "note" else dict(rounding)
    chosen("rounding", [*changed], LEVIES, "a dict of levies")
    steps = {name: Fraction(repr(amount(name, step))) for name, step in (_NOTE | changed).items()}
    if not all(steps.values()):
        raise ValueError("rounding takes units above 0, such as 0.01")
    return steps


def _round(places: list[Place], steps: dict[str, Fraction], unit: int) -> None:
    """Rounds each levy of each note; its largest rows have the difference, and none is below 0."""
    notes: dict[Any, list[Levies]] = {}
    for place in places:
        notes.setdefault((place.day, *place.sent[:4]), []).append(place.levies)  # to the segment
    for rows in notes.values():
        for name, step in steps.items():
            rest = _half_up(sum(row[name] for row in rows), step * unit)
            largest = sorted(rows, key=itemgetter(name), reverse=True)
            for row in rows:
                row[name] = _half_up(row[name], min(step, Fraction(1, 100)) * unit)
                rest -= row[name]
            for row in largest:
                added = max(rest, -row[name])
                row[name] += added
                rest -= added


def _half_up(value: Any, step: Fraction) -> Fraction:
    whole: int = floor(value / step + Fraction(1, 2))
    return whole * step


def _rate_conditions(rows: Slice, rates: Any) -> Conditions:
    """Returns which part of a day's trades each rate is for, if not all, and its conditions."""
    if not isinstance(rates, Sequence) or not all(isinstance(rate, ChargeRate) for rate in rates):
        raise TypeError(f"rates must be one or several td.ChargeRate, not {shown(rates)}")
    of_rates = []
    for rate in rates:
        squared, conditions = rate._conditions()
        of_rates.append((squared, core_conditions(rows, conditions)))
        rows[:0].where(of_rates[-1][1])  # raises for a value that its field never has
    return of_rates


def _rate_of(fills: Fills, row: int, conditions: Conditions, squared: bool | None) -> int:
    """Returns the number of the first rate whose conditions a trade meets."""
    rows = fills.sent
    for number, (wanted, of_rate) in enumerate(conditions):
        if wanted in (None, squared) and len(rows[row : row + 1].where(of_rate)):
            return number
    facts = ("trade_no", *CONTRACT[:2], KEY[-1], EXECUTED[-1])
    trade = ", ".join(f"{name} {rows[row][name]!r}" for name in facts)
    raise ValueError(
        f"no rate applies to the trade in {fills.where(row)} ({trade}): add a ChargeRate for "
        "it, or one without conditions as the last"
    )
