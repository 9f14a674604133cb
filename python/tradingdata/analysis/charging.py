"""Charges of trades at the rates that the caller passes: brokerage, taxes and fees.

Trades that are charged alike form a *case*. What is a fraction of a value is computed by case,
brokerage by executed order. Amounts are whole numbers (or fractions) of a small unit.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import inf, lcm
from operator import itemgetter
from typing import Any, Literal, NamedTuple, overload

from .. import _core
from .._core import Groups, Slice
from .._util.validate import shown
from ..books.book import TradeBook
from ..table.conditions import Condition, CoreCondition, core_conditions
from .charge_rates import AMOUNTS, BY_VALUE, FRACTIONS, LEVIES, ChargeRate, Rates, rates_of
from .events import Events, multipliers_at
from .inputs import IST, Lookup, Multipliers, amount, chosen
from .keys import CONTRACT, EXECUTED, KEY, KEYED, Key
from .results import Charges, TradeCharges, noted

_NOTE = {name: 1.0 if name in ("stt", "stamp") else 0.01 for name in LEVIES}
_PAISA = Fraction(1, 100)
_SMALLEST = Fraction(1, 10**9)  # to which the shares of trades are rounded without a note
_DAY_BEGINS = timedelta(hours=6)  # of orders, as of an archive's books

Rounding = str | Mapping[str, float] | None


@overload
def charges(
    trades: TradeBook,
    rates: Rates,
    *,
    per: None = None,
    day: date | str | None = None,
    rounding: Rounding = None,
    multipliers: Multipliers | None = None,
    buy: str = "B",
    sell: str = "S",
) -> Charges: ...
@overload
def charges(
    trades: TradeBook,
    rates: Rates,
    *,
    per: Literal["trade"],
    day: date | str | None = None,
    rounding: Rounding = None,
    multipliers: Multipliers | None = None,
    buy: str = "B",
    sell: str = "S",
) -> TradeCharges: ...
def charges(
    trades: TradeBook,
    rates: Rates,
    *,
    per: str | None = None,
    day: date | str | None = None,
    rounding: Rounding = None,
    multipliers: Multipliers | None = None,
    buy: str = "B",
    sell: str = "S",
) -> Charges | TradeCharges:
    """Computes what trades cost at the given rates.

    The first rate whose ``where`` a trade meets applies to it. Brokerage is charged once for each
    executed order, so that entry and exit of a bracket order both pay: ``min(cap, max(minimum,
    brokerage * value)) + per_order``, where the first of its rates has these amounts. An executed
    order is client, day, exchange, segment, order number and side; its day begins at 06:00 (in
    India, where times have a zone), and brokerage is charged on the day of its first fill.
    Everything else is a fraction of each ``trade_value``, whose sign does not count. Amounts are
    exact unless ``rounding`` says otherwise. (Service: "Trade record".)

    Args:
        trades: A trade book, of one or several accounts.
        rates: The rate, or several, those of special cases first, or the path of a TOML file that
            ``ChargeRate.load`` reads.
        per: ``"trade"`` divides the charges among the trades, each levy in proportion to what it is
            levied on. The largest trade has the last paisa, so that trades add up to the contract
            note, however they are grouped.
        day: Counts the trades of this day only; a date or ISO text.
        rounding: ``"note"`` rounds as contract notes do, half up, by account, client, day, exchange
            and segment: ``stt`` and ``stamp`` to the rupee, the others to the paisa. A mapping of
            levies to units, such as ``{"stamp": 0.01}``, changes that. What rounding adds is on the
            largest row of the note; what it takes, on the largest rows.
        multipliers: Multipliers of contracts that their trades do not prove, which amounts per lot
            need, as in ``realised_pnl``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        One row for each key of ``positions``, or with ``per="trade"`` for each trade in the order
        of the book, with the sum ``total``.

    Raises:
        TypeError: If an argument has the wrong type, or a rate has a condition on no field.
        ValueError: If no rate applies to a trade, a trade cannot be used (see ``positions``), or
            the lots that an amount per lot counts are not known of a trade to which it applies.
        OSError: If a file of rates cannot be read.
        OverflowError: If amounts are too large to be added exactly.

    Example:
        >>> delivery = td.ChargeRate(where={"product": "C"}, stt_buy=0.001, stt_sell=0.001)
        >>> td.charges(trades, [delivery, td.ChargeRate(brokerage=0.0003, cap=20)]).total
        >>> td.charges(trades, "charges.toml", per="trade").to_pandas()
    """
    if per not in (None, "trade"):
        raise ValueError(f'per must be "trade" or None, not {shown(per)}')
    fills = every = Events(trades, day, buy, sell, multipliers=multipliers)
    if fills.day is not None:  # an order may be filled on two days
        every = Events(trades, None, buy, sell, multipliers=multipliers)
    levied = levies_of(
        every.sent,
        rates,
        buy,
        by_key=every.by_key,
        day=fills.day,
        rounding=rounding,
        by_trade=per == "trade",
        multipliers=every.given,
        where=every.where,
    )
    facts = fills.facts()
    if per == "trade":
        shares = {row: levies for row, levies in enumerate(levied.by_trade) if levies is not None}
        columns: list[Any] = [(every.rows, list(shares), [*KEYED, _ORDER_NO, "trade_no", _TIME])]
        columns += _columns(shares.values(), levied.unit)
        return noted(TradeCharges._of_columns(columns, every.rows.zone), fills.notes)
    sums: dict[Key, Levies] = {}
    for place in levied.places:
        if place.key in sums:
            _add(sums[place.key], place.levies)
        else:
            sums[place.key] = place.levies
    of_keys = [sums[key] for key in zip(*facts.keys, strict=True)]
    columns = [*fills.leads(), *_columns(of_keys, levied.unit)]
    return noted(Charges._of_columns(columns), fills.notes)


Levies = dict[str, Any]  # whole numbers of a unit, or fractions where a value is divided
_NOTHING: Levies = dict.fromkeys(LEVIES, 0)
_DAY, _ORDER_NO, _SIDE = EXECUTED[2], *EXECUTED[-2:]
_TIME = _DAY.removesuffix(".day")


def _add(levies: Levies, more: Levies) -> None:
    for name, levy in more.items():
        levies[name] += levy


def _columns(rows: Iterable[Levies], unit: int) -> list[list[float]]:
    """Returns a column for each levy, and one of their sums."""
    rows = list(rows)
    columns = [[float(levies[name] / unit) for levies in rows] for name in LEVIES]
    return [*columns, [float(sum(levies.values()) / unit) for levies in rows]]


@dataclass(slots=True)
class Place:
    """The levies of one day and key as it was ``sent``; its ``key`` may be that of several."""

    day: date
    sent: Key
    key: Key
    levies: Levies = field(default_factory=_NOTHING.copy)

    @property
    def contract(self) -> Key:
        """Whose trades offset each other: neither exchanges nor the tax know of products."""
        return (self.day, *self.sent[:-1])


class Levied(NamedTuple):
    """What trades are charged.

    Attributes:
        places: The levies of each day and key.
        unit: How many units of them are 1.
        by_trade: The share of each trade, if asked for; None for one of another day. Each is part
            of its own day: an order across midnight is paid for by the trades of its first.
    """

    places: list[Place]
    unit: int
    by_trade: list[Levies | None]


def levies_of(
    rows: Slice,
    rates: Rates,
    buy: str,
    *,
    joined: Slice | None = None,
    by_key: Groups | None = None,
    day: date | None = None,
    rounding: Rounding = None,
    by_trade: bool = False,
    multipliers: Lookup | None = None,
    where: Callable[[int], str] = "row {}".format,
) -> Levied:
    """Returns what trades are charged, exactly, by day and key.

    Args:
        rows: The trades as they were sent, with complete expiry dates. Also with ``day`` these are
            the trades of all days, since an order may be filled on two. Settlements may be among
            them: trades of a contract without an order number and a trade number.
        rates: As in ``charges``.
        buy: The code of a purchase.
        joined: The same rows, in which shares of one ISIN have one id.
        by_key: These rows by key, if they are grouped already.
        day: The only day that counts.
        rounding: As in ``charges``.
        by_trade: Whether to divide the levies among the trades.
        multipliers: The multipliers that the caller knows.
        where: Returns how a message names a row.
    """
    steps = _rounding_units(rounding)
    joined = rows if joined is None else joined
    count = len(rows)
    numbers: Sequence[int] = range(len(rows))  # of the rows that count
    if day is not None:
        numbers = _rows_of_orders(rows, day)
        rows, joined, by_key = rows.take(numbers), joined.take(numbers), None
    fills = _Fills(rows, joined, buy, lambda row: where(numbers[row]), multipliers)
    tariff = _tariff(rates_of(rates), fills)
    lines = _lines(fills, tariff, by_key)
    cases = _cases(fills, tariff, lines)
    _add_lots(fills, tariff, lines, cases)
    targets = [case.place.levies for case in cases]
    if by_trade:
        lines, cases = _divided(fills, tariff, lines, cases)
        targets = [_NOTHING.copy() for _ in cases]
    _charge_values(tariff, lines, cases, targets)
    _charge_orders(tariff, lines, cases, targets)
    shares: dict[int, list[Levies]] = defaultdict(list)  # by place
    if by_trade:
        for case, levies in zip(cases, targets, strict=True):
            shares[id(case.place)].append(levies)
            _add(case.place.levies, levies)
    places = list({id(case.place): case.place for case in cases}.values())
    places = [place for place in places if day in (None, place.day)]
    if steps:
        _round_notes(places, steps, tariff.unit)
    if not by_trade:
        return Levied(places, tariff.unit, [])
    for place in places:
        for name, levy in place.levies.items():
            step = _SMALLEST if steps is None else min(steps[name], _PAISA)
            _share(shares[id(place)], name, step * tariff.unit, levy)
    of_rows: list[Levies | None] = [None] * count
    for row, case, levies in zip(numbers, cases, targets, strict=True):
        if day in (None, case.place.day):
            of_rows[row] = levies
    return Levied(places, tariff.unit, of_rows)


def _rows_of_orders(rows: Slice, day: date) -> list[int]:
    """Returns the rows of a day, and of the days beside it if an order may be filled on both."""
    days = {day}
    if _on_order_days(rows) is not rows:
        days |= {day - timedelta(days=1), day + timedelta(days=1)}
    by_day = Groups([rows], [_DAY])
    (times,) = rows.cells(by_day.first(), [_TIME])
    counts = [time.date() in days for time in times]
    return [row for row, number in enumerate(by_day.numbers()) if counts[number]]


def _on_order_days(rows: Slice) -> Slice:
    """Returns rows whose times have the day of their order, which begins at 06:00 in India.

    These are the same rows if each day of trades is the day of its orders, as it mostly is.
    """
    days = Groups([rows], [_DAY])
    first, last = (map(_order_day, days.extremes(_TIME, greatest)) for greatest in (False, True))
    pairs = list(zip(first, last, strict=True))
    if len(set(pairs)) == len(pairs) and all(begin == end for begin, end in pairs):
        return rows
    moved = []
    for row in rows:
        begin = datetime.combine(_order_day(row[_TIME]), time.min)
        moved.append(row._replace(**{_TIME: begin}))
    return _core.from_rows(rows.record, moved)


def _order_day(at: datetime) -> date:
    """Returns the day on which an order with this fill is executed."""
    in_india = at if at.tzinfo is None else at.astimezone(IST)
    return (in_india - _DAY_BEGINS).date()


class _Fills:
    """The trades that are charged.

    Attributes:
        rows: The trades as they were sent.
        joined: The same, in which shares of one ISIN have one id.
        buy: The code of a purchase.
        where: Returns how a message names a row.
        multipliers: The multipliers that the caller knows.
        settlements: The rows that are settlements.
    """

    def __init__(
        self,
        rows: Slice,
        joined: Slice,
        buy: str,
        where: Callable[[int], str],
        multipliers: Lookup | None,
    ) -> None:
        self.rows, self.joined, self.buy = rows, joined, buy
        self.where, self.multipliers = where, multipliers
        self.settlements: set[int] = set()
        if rows.missing([_ORDER_NO]) is None:
            return
        columns = (rows.column(name) for name in (_ORDER_NO, "trade_no", CONTRACT[-1]))
        for row, (order_no, trade_no, expiry) in enumerate(zip(*columns, strict=True)):
            if order_no is None and trade_no is None and expiry is not None:
                self.settlements.add(row)
            elif order_no is None:
                raise ValueError(
                    f"{_ORDER_NO} is missing in {where(row)} (trade_no {trade_no!r}), and "
                    "brokerage is charged by order: correct such rows, or leave them out"
                )


class _Conditions(NamedTuple):
    """The conditions of a rate in the core's form; those on orders are on ``trade_value``."""

    squared_off: bool | None
    settled: bool | None
    order_value: list[CoreCondition]
    of_trade: list[CoreCondition]


Terms = list[tuple[str, int]]  # levies, with what they are of a value


@dataclass(slots=True)
class _Tariff:
    """The rates, as whole numbers.

    Attributes:
        rates: The rates.
        conditions: The conditions of each.
        numbers: The fractions and amounts of each, in ``1 / scale``.
        of_value: The levies on values of each, as fractions in ``1 / scale ** 2``, for purchases
            and for sales.
        of_average: The same for levies on the average price of the day.
        decimals: Decimals of the values of trades.
        scale: How many units of a fraction are 1.
    """

    rates: tuple[ChargeRate, ...]
    conditions: list[_Conditions]
    numbers: list[dict[str, Any]]
    of_value: list[tuple[Terms, Terms]]
    of_average: list[tuple[Terms, Terms]]
    decimals: int
    scale: int

    @property
    def value_unit(self) -> int:
        """How many units of a value are 1."""
        return int(10**self.decimals)

    @property
    def unit(self) -> int:
        """How many units of a levy are 1."""
        return self.value_unit * self.scale**2

    def any_has(self, *names: str) -> bool:
        """Returns whether one of the rates has one of these amounts."""
        values = [getattr(rate, name) for rate in self.rates for name in names]
        return any(value not in (None, 0) for value in values)


def _tariff(rates: tuple[ChargeRate, ...], fills: _Fills) -> _Tariff:
    conditions = []
    exact = []
    for rate in rates:
        given = rate._conditions()
        of_trade = core_conditions(fills.rows, given.of_trade)
        fills.rows[:0].where(of_trade)  # raises for a value that its field never has
        of_order = _on_values(fills.rows, given.order_value)
        conditions.append(_Conditions(given.squared_off, given.settled, of_order, of_trade))
        numbers: dict[str, Fraction] = {}
        for name in (*FRACTIONS, *AMOUNTS):
            number = getattr(rate, name)
            if number is not None:
                numbers[name] = Fraction(repr(number))
        exact.append(numbers)
    scale = lcm(*(number.denominator for numbers in exact for number in numbers.values()))
    scaled = [{name: int(number * scale) for name, number in one.items()} for one in exact]
    of_value: list[tuple[Terms, Terms]] = []
    of_average: list[tuple[Terms, Terms]] = []
    for rate, whole in zip(rates, scaled, strict=True):
        averaged = ["stt"] if rate.average else []
        others = [name for name in BY_VALUE if name not in averaged]
        for names, terms in ((others, of_value), (averaged, of_average)):
            of_sides = [_terms(rate, whole, scale, names, side) for side in (0, 1)]
            terms.append((of_sides[0], of_sides[1]))
    decimals = _core.decimals_of([(fills.rows, "trade_value")])
    return _Tariff(rates, conditions, scaled, of_value, of_average, decimals, scale)


def _on_values(rows: Slice, conditions: Iterable[Condition]) -> list[CoreCondition]:
    """Returns conditions on the value of an order as conditions on ``trade_value``."""
    try:
        on_values = core_conditions(rows, [one._replace(field="trade_value") for one in conditions])
        rows[:0].where(on_values)
    except TypeError as error:
        raise TypeError(str(error).replace("trade_value", "order_value")) from None
    return on_values


def _terms(
    rate: ChargeRate, numbers: Mapping[str, int], scale: int, levies: Iterable[str], side: int
) -> Terms:
    """Returns levies, and the tax on them; the side is 0 for purchases, 1 for sales."""
    terms, taxed = [], 0
    for name in levies:
        fraction = numbers.get(BY_VALUE[name][side], 0)
        if fraction:
            terms.append((name, fraction * scale))
        if name in rate.gst_on:
            taxed += fraction
    return [*terms, ("gst", numbers["gst"] * taxed)] if taxed and numbers["gst"] else terms


@dataclass(slots=True)
class _Lines:
    """Trades of one case and one order, in columns; or single trades.

    Attributes:
        groups: The trades of each line.
        row: The first row of each.
        case: The number of its case.
        order: The number of its order.
        value: The value of its trades in ``10 ** -decimals``, never negative.
        quantity: Their quantity; only if it counts.
        lots: Their lots; only if they count.
        even: The weight of each in an order without a value; None if it is the same for all.
        met: For each case, whether its orders meet the conditions that each rate has on them.
    """

    groups: Groups
    row: list[int]
    case: list[int]
    order: list[int]
    value: list[int]
    quantity: list[int]
    lots: list[Any]
    even: list[Any] | None
    met: dict[int, tuple[bool, ...]]


_BY_LOT = ("per_lot", "minimum_per_lot", "cap_per_lot")


def _lines(fills: _Fills, tariff: _Tariff, by_key: Groups | None) -> _Lines:
    """Returns the trades by case and order.

    Trades of one case are equal in all that rates ask about.
    """
    rows = fills.rows
    asked = {name for one in tariff.conditions for name, *_ in one.of_trade}
    alike = [*dict.fromkeys((*KEY, _DAY, _SIDE, *sorted(asked)))]
    finer = {*alike, *EXECUTED}
    if tariff.any_has(*_BY_LOT):
        finer.add("lot_size")
    if len(rows.where([("trade_value", "lt", "all", False, [0.0])])):
        finer.add("trade_value")  # a spread may have a negative price, but no negative charge
    on_order_days = _on_order_days(rows)
    if on_order_days is rows:
        by_key = Groups([rows], KEY) if by_key is None else by_key
        groups = Groups([rows], sorted(finer.difference(KEY)), by_key)
        first, orders = groups.first(), groups.coarser(EXECUTED)
    else:
        by_order = Groups([on_order_days], EXECUTED)
        groups = Groups([rows], sorted(finer), by_order)
        first, number_of = groups.first(), by_order.numbers()
        orders = [number_of[row] for row in first]
    cases = groups.coarser(alike)
    sums: Any = groups.sums
    values = [abs(value) for value in sums("trade_value", tariff.decimals)]
    by_quantity = tariff.any_has("average", *_BY_LOT) or any(
        one.squared_off is not None for one in tariff.conditions
    )
    quantities = sums("quantity", 0) if by_quantity else []
    lines = _Lines(groups, first, cases, orders, values, quantities, [], None, {})
    if fills.settlements or any(one.order_value for one in tariff.conditions):
        _divide_cases(fills, tariff, lines)
    return lines


def _divide_cases(fills: _Fills, tariff: _Tariff, lines: _Lines) -> None:
    """Divides cases by the value of their orders, and makes settlements of one key an order."""
    if fills.settlements:
        of_keys = lines.groups.coarser((*KEY, _DAY, _SIDE))
        for line, row in enumerate(lines.row):
            if row in fills.settlements:
                lines.order[line] = -1 - of_keys[line]  # no other order has such a number
    met = _orders_met(tariff, lines)
    numbers: dict[tuple[int, tuple[bool, ...], bool], int] = {}
    for line, row in enumerate(lines.row):
        of_order = met[lines.order[line]]
        part = lines.case[line], of_order, row in fills.settlements
        lines.case[line] = numbers.setdefault(part, len(numbers))
        lines.met[lines.case[line]] = of_order


def _orders_met(tariff: _Tariff, lines: _Lines) -> dict[int, tuple[bool, ...]]:
    """Returns for each order whether it meets the conditions that each rate has on its value."""
    totals: Counter[int] = Counter()
    for order, value in zip(lines.order, lines.value, strict=True):
        totals[order] += value
    unit = tariff.value_unit
    as_trades = [
        _core.Trade(row_no=number, trade_value=total / unit)
        for number, total in enumerate(totals.values())
    ]
    rows = _core.from_rows("Trade", as_trades)
    of_rates = [set(rows.where(one.order_value).column("row_no")) for one in tariff.conditions]
    return {
        order: tuple(number in of_rate for of_rate in of_rates)
        for number, order in enumerate(totals)
    }


@dataclass(slots=True)
class _Case:
    """Trades of one place and side to which the same rates apply.

    A trade of which a part is squared off may have two rates. Numbers by value or by lot are those
    of its rates, each times its part.

    Attributes:
        place: Where the levies are added.
        is_sale: Whether the trades are sales.
        parts: The number of each rate, and the part of the trades that it applies to.
        average: The day's average price, as the value of a quantity of 1.
        brokerage: Brokerage, as a fraction of the value.
        gst_on_brokerage: The tax on it, as a fraction of the value.
        gst_on_limit: The tax on a brokerage that is a minimum or a cap, as a fraction of it.
        gst_on_order: The tax on an amount by order, as a fraction of it.
        per_lot: The amount for each lot.
        gst_per_lot: The tax on it.
    """

    place: Place
    is_sale: bool
    parts: list[tuple[int, Any]]
    average: Any = 0
    brokerage: Any = 0
    gst_on_brokerage: Any = 0
    gst_on_limit: Any = 0
    gst_on_order: Any = 0
    per_lot: Any = 0
    gst_per_lot: Any = 0

    @property
    def first(self) -> int:
        """The number of the first of its rates, which limits brokerage."""
        return min([rate for rate, _ in self.parts])


def _cases(fills: _Fills, tariff: _Tariff, lines: _Lines) -> list[_Case]:
    """Returns the cases of the lines, by number."""
    first_rows: dict[int, int] = {}
    for number, row in zip(lines.case, lines.row, strict=True):
        first_rows.setdefault(number, row)
    at = [first_rows[number] for number in range(len(first_rows))]
    times, codes = fills.rows.cells(at, [_TIME, _SIDE])
    sent = keys = list(zip(*fills.rows.cells(at, KEY), strict=True))
    if fills.joined is not fills.rows:
        keys = list(zip(*fills.joined.cells(at, KEY), strict=True))
    places: dict[tuple[date, Key], Place] = {}
    cases = []
    for moment, code, key_sent, key in zip(times, codes, sent, keys, strict=True):
        day = moment.date()
        place = places.get((day, key_sent))
        if place is None:
            place = places[day, key_sent] = Place(day, key_sent, key)
        cases.append(_Case(place, code != fills.buy, []))
    offset = _offset(fills, tariff, cases, lines, at)
    asked = sorted({name for one in tariff.conditions for name, *_ in one.of_trade})
    facts = list(zip(*fills.rows.cells(at, asked), strict=True)) if asked else [()] * len(at)
    known: dict[Any, int] = {}  # the rate of trades by what rates ask about
    for number, (case, row, fact) in enumerate(zip(cases, at, facts, strict=True)):
        settled = row in fills.settlements
        parts: list[tuple[bool | None, Any]] = [(None, 1)]
        if number in offset:
            parts = [(True, offset[number]), (False, 1 - offset[number])]
        for squared_off, part in parts:
            if not part:
                continue
            met = lines.met.get(number)
            kind = fact, squared_off, settled, met
            if kind not in known:
                known[kind] = _rate_of(fills, tariff, row, squared_off, settled=settled, met=met)
            case.parts.append((known[kind], part))
        _add_brokerage(case, tariff)
    return cases


def _offset(
    fills: _Fills, tariff: _Tariff, cases: list[_Case], lines: _Lines, at: list[int]
) -> dict[int, Any]:
    """Returns the part of each case that is squared off, and sets the average price of cases."""
    parts = any(one.squared_off is not None for one in tariff.conditions)
    averages = tariff.any_has("average")
    if not parts and not averages:
        return {}
    quantities, values = [0] * len(cases), [0] * len(cases)
    for number, quantity, value in zip(lines.case, lines.quantity, lines.value, strict=True):
        quantities[number] += quantity
        values[number] += value
    settled = {number for number, row in enumerate(at) if row in fills.settlements}
    contracts = [case.place.contract for case in cases]
    traded: defaultdict[Key, list[int]] = defaultdict(lambda: [0, 0])  # bought and sold
    turnover: Counter[Key] = Counter()
    for number, (case, contract) in enumerate(zip(cases, contracts, strict=True)):
        if number not in settled:
            traded[contract][case.is_sale] += quantities[number]
            turnover[contract] += values[number]
    offset: dict[int, Any] = {}
    for number, (case, contract) in enumerate(zip(cases, contracts, strict=True)):
        if number in settled:
            offset[number] = 0
            continue
        own, other = traded[contract][case.is_sale], traded[contract][not case.is_sale]
        offset[number] = 1 if own <= other else Fraction(other, own)
        if averages:
            case.average = Fraction(turnover[contract], own + other)
    return offset if parts else {}


def _rate_of(
    fills: _Fills,
    tariff: _Tariff,
    row: int,
    squared_off: bool | None,
    *,
    settled: bool,
    met: tuple[bool, ...] | None,
) -> int:
    """Returns the number of the first rate whose conditions a trade meets."""
    rows = fills.rows
    meant: tuple[bool | None, ...] = (None, settled)
    if settled and any(one.settled for one in tariff.conditions):
        meant = (True,)  # one of the rates is for settlements
    for number, one in enumerate(tariff.conditions):
        if one.squared_off not in (None, squared_off):
            continue
        if one.settled not in meant:
            continue
        if met is not None and not met[number]:
            continue
        if len(rows[row : row + 1].where(one.of_trade)):
            return number
    names = ("trade_no", *CONTRACT[:2], KEY[-1], _SIDE)
    trade = ", ".join(f"{name} {rows[row][name]!r}" for name in names)
    if settled:
        raise ValueError(
            f"no rate applies to the settlement in {fills.where(row)} ({trade}): add a ChargeRate "
            'with where={"settled": True}'
        )
    raise ValueError(
        f"no rate applies to the trade in {fills.where(row)} ({trade}): add a ChargeRate for "
        "it, or one without conditions as the last"
    )


def _add_brokerage(case: _Case, tariff: _Tariff) -> None:
    """Sets what brokerage and the tax on it are by value, by order and by lot."""
    for rate, part in case.parts:
        numbers = tariff.numbers[rate]
        gst = numbers["gst"] if "brokerage" in tariff.rates[rate].gst_on else 0
        brokerage, per_lot = numbers["brokerage"] * part, numbers["per_lot"] * part
        case.brokerage += brokerage
        case.per_lot += per_lot
        if gst:
            case.gst_on_order += gst * part
            case.gst_on_brokerage += gst * brokerage
            case.gst_per_lot += gst * per_lot
    case.gst_on_limit = case.gst_on_order
    if case.brokerage and len(case.parts) > 1:
        case.gst_on_limit = Fraction(case.gst_on_brokerage) / case.brokerage


def _add_lots(fills: _Fills, tariff: _Tariff, lines: _Lines, cases: list[_Case]) -> None:
    """Sets the lots of lines whose rates need them; a quantity counts shares or contracts."""
    if not tariff.any_has(*_BY_LOT):
        return
    lines.lots = [0] * len(lines.row)
    adds, limits = [], []  # by case, whether lots count for its trades, and for its orders
    for case in cases:
        rates = [tariff.rates[rate] for rate, _ in case.parts]
        adds.append(any(rate.per_lot for rate in rates))
        limits.append(any(rate.minimum_per_lot or rate.cap_per_lot is not None for rate in rates))
    limited = {order for order, case in zip(lines.order, lines.case, strict=True) if limits[case]}
    proofs = multipliers_at(fills.joined, lines.row, fills.where, fills.multipliers)
    (sizes,) = fills.rows.cells(lines.row, ["lot_size"])
    for line, (row, proof, size) in enumerate(zip(lines.row, proofs, sizes, strict=True)):
        if not adds[lines.case[line]] and lines.order[line] not in limited:
            continue
        counts_shares = proof.multiplier == 1
        if proof.multiplier is None or (counts_shares and (size or 0) < 1):
            raise ValueError(
                "per_lot needs the multiplier and the lot size of the trade in "
                f"{fills.where(row)}: pass `multipliers`, or correct its lot_size"
            )
        quantity = lines.quantity[line]
        lines.lots[line] = Fraction(quantity, size) if counts_shares else quantity


def _divided(
    fills: _Fills, tariff: _Tariff, lines: _Lines, cases: list[_Case]
) -> tuple[_Lines, list[_Case]]:
    """Returns each trade as a line and a case of its own."""
    line_of = lines.groups.numbers()
    unit = tariff.value_unit
    values = [int(abs(Decimal(repr(value))) * unit) for value in fills.rows.column("trade_value")]
    quantities: list[int] = fills.rows.column("quantity")
    lots = []
    if lines.lots:
        for line, quantity in zip(line_of, quantities, strict=True):
            lots.append(lines.lots[line] * Fraction(quantity, lines.quantity[line]))
    rows = list(range(len(line_of)))
    orders = [lines.order[line] for line in line_of]
    counts = lines.groups.counts()
    even = [Fraction(1, counts[line]) for line in line_of]
    divided = _Lines(lines.groups, rows, rows, orders, values, quantities, lots, even, {})
    return divided, [cases[lines.case[line]] for line in line_of]


def _charge_values(
    tariff: _Tariff, lines: _Lines, cases: list[_Case], targets: list[Levies]
) -> None:
    """Adds what is levied on the values of trades."""
    values = [0] * len(cases)
    quantities = [0] * len(cases)
    for number, value in zip(lines.case, lines.value, strict=True):
        values[number] += value
    if tariff.any_has("average"):
        for number, quantity in zip(lines.case, lines.quantity, strict=True):
            quantities[number] += quantity
    for case, value, quantity, levies in zip(cases, values, quantities, targets, strict=True):
        for rate, part in case.parts:
            for name, of_value in tariff.of_value[rate][case.is_sale]:
                levies[name] += of_value * value * part
            for name, of_value in tariff.of_average[rate][case.is_sale]:
                levies[name] += of_value * case.average * quantity * part


def _charge_orders(
    tariff: _Tariff, lines: _Lines, cases: list[_Case], targets: list[Levies]
) -> None:
    """Adds the brokerage of each order, and the tax on it."""
    if not tariff.any_has("brokerage", "minimum", "per_order", *_BY_LOT):
        return
    by_lot = tariff.any_has(*_BY_LOT)
    alone: list[list[int]] = [[] for _ in cases]  # by case, the values of orders of one line
    of_orders: dict[int, list[int]] = defaultdict(list)
    if by_lot or max(lines.order, default=-1) + 1 != len(lines.order) or lines.met:
        for line, order in enumerate(lines.order):
            of_orders[order].append(line)
        for of_order in of_orders.values():
            if len(of_order) == 1 and not by_lot:
                alone[lines.case[of_order[0]]].append(lines.value[of_order[0]])
            else:
                _charge_order(tariff, lines, of_order, cases, targets)
    else:
        for number, value in zip(lines.case, lines.value, strict=True):
            alone[number].append(value)
    for case, values, levies in zip(cases, alone, targets, strict=True):
        if values:
            free, limited = _limited(values, case.brokerage, *_limits(tariff, case.first, 0))
            _pay(tariff, case, case.first, levies, free, limited, len(values), 0)


def _limits(tariff: _Tariff, rate: int, lots: Any) -> tuple[Any, Any]:
    """Returns the least and the largest brokerage of an order of so many lots."""
    numbers = tariff.numbers[rate]
    unit = tariff.value_unit
    least = max(numbers["minimum"], numbers["minimum_per_lot"] * lots)
    most = numbers.get("cap", inf)
    if "cap_per_lot" in numbers:
        most = min(most, numbers["cap_per_lot"] * lots)
    return min(least, most) * unit, most * unit


def _limited(values: list[int], brokerage: Any, least: Any, most: Any) -> tuple[int, Any]:
    """Returns the sum of the values of which brokerage is a fraction, and the other brokerages."""
    if not brokerage and not least:
        return sum(values), 0
    fraction, whole = brokerage.numerator, brokerage.denominator
    free, limited = 0, 0
    low, high = least * whole, most * whole
    for value in values:
        if value * fraction > high:
            limited += most
        elif value * fraction < low:
            limited += least
        else:
            free += value
    return free, limited


def _pay(
    tariff: _Tariff,
    case: _Case,
    first: int,
    levies: Levies,
    free: Any,
    limited: Any,
    orders: Any,
    lots: Any,
) -> None:
    """Adds brokerage, and the tax on it.

    Args:
        tariff: The rates.
        case: The case of the trades.
        first: The number of the rate that has the amount by order.
        levies: Where they are added.
        free: The value of which brokerage is a fraction.
        limited: The brokerage that is a minimum or a cap.
        orders: The number of orders, or a part of one.
        lots: The number of lots.
    """
    unit = tariff.value_unit
    of_orders = tariff.numbers[first]["per_order"] * orders * unit
    of_lots = lots * unit
    brokerage = case.brokerage * free + limited + of_orders + case.per_lot * of_lots
    levies["brokerage"] += brokerage * tariff.scale  # GST is a fraction of a fraction
    levies["gst"] += (
        case.gst_on_brokerage * free
        + case.gst_on_limit * limited
        + case.gst_on_order * of_orders
        + case.gst_per_lot * of_lots
    )


def _charge_order(
    tariff: _Tariff, lines: _Lines, of_order: list[int], cases: list[_Case], targets: list[Levies]
) -> None:
    """Adds the brokerage of one order to its lines of the day of its first fill."""
    of_cases = [cases[lines.case[line]] for line in of_order]
    first = min([case.first for case in of_cases])
    lots = [lines.lots[line] if lines.lots else 0 for line in of_order]
    values = [lines.value[line] for line in of_order]
    owed = [case.brokerage * value for case, value in zip(of_cases, values, strict=True)]
    total = sum(owed)
    least, most = _limits(tariff, first, sum(lots))
    brokerage = min(most, max(least, total))
    day = min([case.place.day for case in of_cases])
    paying = [at for at, case in enumerate(of_cases) if case.place.day == day]
    if len(paying) < len(of_order):  # what the other days owe is an amount too
        per_lot = [case.per_lot * some for case, some in zip(of_cases, lots, strict=True)]
        brokerage += sum(per_lot) * tariff.value_unit
        lots = [0] * len(lots)
    even = [1 if lines.even is None else lines.even[of_order[at]] for at in paying]
    by_value = _parts([values[at] for at in paying], even)
    is_free = brokerage == total and len(paying) == len(of_order)
    by_brokerage = by_value
    if not is_free and any(owed[at] for at in paying):
        by_brokerage = _parts([owed[at] for at in paying], even)
    for at, part, of_brokerage in zip(paying, by_value, by_brokerage, strict=True):
        case, levies = of_cases[at], targets[lines.case[of_order[at]]]
        free, limited = (values[at], 0) if is_free else (0, brokerage * of_brokerage)
        _pay(tariff, case, first, levies, free, limited, part, lots[at])


def _parts(amounts: list[Any], even: list[Any]) -> list[Any]:
    """Returns which part of their sum each amount is, or each weight in ``even`` if that is 0."""
    if len(amounts) == 1:
        return [1]
    if not any(amounts):
        amounts = even
    total = sum(amounts)
    return [Fraction(amount) / total for amount in amounts]


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


def _round_notes(places: list[Place], steps: dict[str, Fraction], unit: int) -> None:
    """Rounds each levy of each contract note."""
    notes: dict[Any, list[Levies]] = defaultdict(list)
    for place in places:
        notes[(place.day, *place.sent[:4])].append(place.levies)  # to the segment
    for rows in notes.values():
        for name, step in steps.items():
            total = _half_up(sum([row[name] for row in rows]), step * unit)
            _share(rows, name, min(step, _PAISA) * unit, total)


def _share(rows: list[Levies], name: str, step: Fraction, total: Any) -> None:
    """Rounds a levy of rows, of which the largest have the rest of a total; none is below 0."""
    largest = sorted(rows, key=itemgetter(name), reverse=True)
    rest = total
    for row in rows:
        row[name] = _half_up(row[name], step)
        rest -= row[name]
    for row in largest:
        if not rest:
            break
        added = max(rest, -row[name])
        row[name] += added
        rest -= added


def _half_up(value: Any, step: Fraction) -> Any:
    """Returns the multiple of a unit that is nearest to a value."""
    whole = step.numerator if step.denominator == 1 else step
    return (2 * value + whole) // (2 * whole) * whole
