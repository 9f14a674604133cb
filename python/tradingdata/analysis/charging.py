"""Charges of trades at the rates that the caller passes: brokerage, taxes and fees.

Trades that are charged alike form a *case*. What is a fraction of a value is computed by case,
brokerage by executed order. Amounts are whole numbers (or fractions) of a small unit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from math import lcm
from operator import itemgetter
from typing import Literal, TypedDict, Unpack, overload

from .. import _core
from .._core import Groups, Slice
from .._util.validate import shown
from ..books.book import TradeBook
from ..table.conditions import Condition, CoreCondition, core_conditions
from .charge_rates import (
    AMOUNTS,
    BY_VALUE,
    FRACTIONS,
    LEVIES,
    ChargeRate,
    RateConditions,
    Rates,
    rates_of,
)
from .events import Events
from .inputs import IST, Lookup, Multipliers, amount, chosen
from .keys import CONTRACT, EXECUTED, KEY, KEYED, Key
from .multipliers import multipliers_at
from .results import Charges, Column, TradeCharges, noted

_NOTE = {name: 1.0 if name in ("stt", "stamp") else 0.01 for name in LEVIES}
_PAISA = Fraction(1, 100)
_SMALLEST = Fraction(1, 10**9)  # to which the shares of trades are rounded without a note
_DAY_BEGINS = timedelta(hours=6)  # of orders, as of an archive's books

Rounding = str | Mapping[str, float] | None


class _Options(TypedDict, total=False):
    day: date | str | None
    rounding: Rounding
    multipliers: Multipliers | None
    buy: str
    sell: str


@overload
def charges(
    trades: TradeBook, rates: Rates, *, per: None = None, **options: Unpack[_Options]
) -> Charges: ...
@overload
def charges(
    trades: TradeBook, rates: Rates, *, per: Literal["trade"], **options: Unpack[_Options]
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
    trades_of_all = Events(trades, buy, sell, multipliers=multipliers)
    counted = trades_of_all.on(day)
    bill = Bill(
        trades_of_all.sent,  # of all days, since an order may be filled on two
        rates,
        buy,
        by_key=trades_of_all.by_key,
        day=counted.day,
        rounding=rounding,
        by_trade=per == "trade",
        multipliers=trades_of_all.given,
        where=trades_of_all.where,
    )
    notes = counted.all_notes()
    if per == "trade":
        shares = {row: levies for row, levies in enumerate(bill.by_trade) if levies is not None}
        rows, names = trades_of_all.rows, [*KEYED, _ORDER_NO, "trade_no", _TIME]
        leads: list[Column] = [(rows, list(shares), names)]
        columns = _columns(shares.values(), bill.unit)
        return noted(TradeCharges._of_named(leads, columns, rows.zone), notes)
    sums: dict[Key, Levies] = {}
    for place in bill.places:
        _add(sums.setdefault(place.key, _NOTHING.copy()), place.levies)
    columns = _columns([sums[key] for key in counted.all_keys()], bill.unit)
    return noted(Charges._of_named(counted.leading(), columns), notes)


Amount = int | Fraction
Levies = dict[str, Amount]  # in a small unit; fractions where a value is divided
Terms = list[tuple[str, int]]  # levies, with what they are of a value
_NOTHING: Levies = dict.fromkeys(LEVIES, 0)
_DAY, _ORDER_NO, _SIDE = EXECUTED[2], *EXECUTED[-2:]
_TIME = _DAY.removesuffix(".day")
_BY_LOT = ("per_lot", "minimum_per_lot", "cap_per_lot")


def _add(levies: Levies, more: Levies) -> None:
    for name, levy in more.items():
        levies[name] += levy


def _columns(rows: Iterable[Levies], unit: int) -> dict[str, Column]:
    """Returns a column for each levy, and one of their sums."""
    rows = list(rows)
    columns: dict[str, Column] = {
        "exchange_charges" if name == "exchange" else name: [float(of[name] / unit) for of in rows]
        for name in LEVIES
    }
    return columns | {"total": [float(sum(levies.values()) / unit) for levies in rows]}


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


@dataclass(slots=True)
class _Rate:
    """A rate in whole numbers, and its conditions in the core's form.

    Attributes:
        place: Its place among the rates, the first of which that applies counts.
        rate: The rate.
        given: Its conditions.
        of_trade: Those on a trade.
        of_order: Those on the value of the order, as conditions on ``trade_value``.
        numbers: Its fractions and amounts, in ``1 / scale``.
        of_value: The levies on values, as fractions in ``1 / scale ** 2``, for purchases and sales.
        of_average: The same for levies on the average price of the day.
        gst: The tax on brokerage, as a fraction in ``1 / scale``.
    """

    place: int
    rate: ChargeRate
    given: RateConditions
    of_trade: list[CoreCondition]
    of_order: list[CoreCondition]
    numbers: dict[str, int]
    of_value: tuple[Terms, Terms]
    of_average: tuple[Terms, Terms]
    gst: int


@dataclass(slots=True)
class _Case:
    """Trades of one place and side to which one rate applies, or two, each to a part of them.

    Attributes:
        place: Where the levies are added.
        is_sale: Whether the trades are sales.
        parts: Each rate, and the part of the trades that it applies to.
        average: The day's average price, as the value of a quantity of 1.
    """

    place: Place
    is_sale: bool
    parts: list[tuple[_Rate, Amount]] = field(default_factory=list)
    average: Amount = 0

    @property
    def rate(self) -> _Rate:
        """Its rate, once parts are cases of their own."""
        return self.parts[0][0]


class Bill:
    """What trades are charged, exactly, by day and key.

    Trades of one case and one order are a *line*; to divide the levies, so is each trade. If a part
    of them has another rate, it is a line and a case of its own.

    Attributes:
        places: The levies of each day and key.
        unit: How many units of them are 1.
        by_trade: The share of each trade, if asked for; None for one of another day. Each is part
            of its own day: an order across midnight is paid for by the trades of its first.
    """

    # Of each line: its first row, and the numbers of its case and of its order; its value, never
    # negative; its quantity and its lots, where they count; its weight in an order without a value.
    _row: list[int]
    _case: list[int]
    _order: list[int]
    _value: list[Amount]
    _quantity: list[Amount]
    _lots: list[Amount]
    _even: list[Amount]

    def __init__(
        self,
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
    ) -> None:
        """Charges trades.

        Args:
            rows: The trades as they were sent, with complete expiry dates. Also with ``day`` these
                are the trades of all days, since an order may be filled on two. Settlements may be
                among them: trades of a contract without an order number and a trade number.
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
        steps = rounding_units(rounding)
        count = len(rows)
        self._numbers: Sequence[int] = range(count)  # of the rows that count
        joined = rows if joined is None else joined
        if day is not None:
            self._numbers = at = _rows_of_orders(rows, day)
            rows, joined, by_key = rows.take(at), joined.take(at), None
        self._rows, self._joined, self._buy = rows, joined, buy
        self._multipliers, self._named = multipliers, where
        self._settlements = self._settled_rows()
        self._read(rates_of(rates))
        self._group(by_key)
        self._cases = self._cases_of_lines()
        self._levies = [case.place.levies for case in self._cases]
        if by_trade:
            self._divide()
        whole = list(zip(self._cases, self._levies, strict=True))
        self._split()
        self._count_lots()
        self._charge_values()
        self._charge_orders()
        shares: dict[int, list[Levies]] = defaultdict(list)  # by place
        for case, levies in whole if by_trade else ():
            shares[id(case.place)].append(levies)
            _add(case.place.levies, levies)
        places = {id(case.place): case.place for case in self._cases}.values()
        self.places = [place for place in places if day in (None, place.day)]
        if steps:
            _round_notes(self.places, steps, self.unit)
        self.by_trade: list[Levies | None] = [None] * count
        if not by_trade:
            return
        for place in self.places:
            for name, levy in place.levies.items():
                step = _SMALLEST if steps is None else min(steps[name], _PAISA)
                _share(shares[id(place)], name, step * self.unit, levy)
        for row, (case, levies) in zip(self._numbers, whole, strict=True):
            if day in (None, case.place.day):
                self.by_trade[row] = levies

    # -- rates, lines and cases --

    def _where(self, row: int) -> str:
        """Returns how a message names a row."""
        return self._named(self._numbers[row])

    def _settled_rows(self) -> set[int]:
        """Returns the rows that are settlements."""
        settlements: set[int] = set()
        if self._rows.missing([_ORDER_NO]) is None:
            return settlements
        columns = (self._rows.column(name) for name in (_ORDER_NO, "trade_no", CONTRACT[-1]))
        for row, (order_no, trade_no, expiry) in enumerate(zip(*columns, strict=True)):
            if order_no is None and trade_no is None and expiry is not None:
                settlements.add(row)
            elif order_no is None:
                raise ValueError(
                    f"{_ORDER_NO} is missing in {self._where(row)} (trade_no {trade_no!r}), and "
                    "brokerage is charged by order: correct such rows, or leave them out"
                )
        return settlements

    def _read(self, rates: tuple[ChargeRate, ...]) -> None:
        """Reads the rates, and finds the units of values and of levies."""
        exact: list[dict[str, Fraction]] = []
        for rate in rates:
            numbers = {name: getattr(rate, name) for name in (*FRACTIONS, *AMOUNTS)}
            known = {name: number for name, number in numbers.items() if number is not None}
            exact.append({name: Fraction(repr(number)) for name, number in known.items()})
        scale = lcm(*(number.denominator for numbers in exact for number in numbers.values()))
        self._decimals = _core.decimals_of([(self._rows, "trade_value")])
        self._value_unit = int(10**self._decimals)
        self._scale, self.unit = scale, self._value_unit * scale**2
        self._rates = []
        for place, (rate, fractions) in enumerate(zip(rates, exact, strict=True)):
            whole = {name: int(number * scale) for name, number in fractions.items()}
            given = rate._conditions()
            of_trade = core_conditions(self._rows, given.of_trade)
            self._rows[:0].where(of_trade)  # raises for a value that its field never has
            of_order = _on_values(self._rows, given.order_value)
            averaged = ["stt"] if rate.average else []
            others = [name for name in BY_VALUE if name not in averaged]
            terms, of_average = (
                (_terms(rate, whole, scale, levies, 0), _terms(rate, whole, scale, levies, 1))
                for levies in (others, averaged)
            )
            gst = whole["gst"] if "brokerage" in rate.gst_on else 0
            conditions = given, of_trade, of_order
            self._rates.append(_Rate(place, rate, *conditions, whole, terms, of_average, gst))

    def _any_has(self, *names: str) -> bool:
        """Returns whether one of the rates has one of these amounts."""
        values = [getattr(rate.rate, name) for rate in self._rates for name in names]
        return any(value not in (None, 0) for value in values)

    def _group(self, by_key: Groups | None) -> None:
        """Groups the trades by case and order; those of one case are equal in all that is asked."""
        rows = self._rows
        self._asked = sorted({name for rate in self._rates for name, *_ in rate.of_trade})
        alike = [*dict.fromkeys((*KEY, _DAY, _SIDE, *self._asked))]
        finer = {*alike, *EXECUTED}
        if self._any_has(*_BY_LOT):
            finer.add("lot_size")
        if len(rows.where([("trade_value", "lt", "all", False, [0.0])])):
            finer.add("trade_value")  # a spread may have a negative price, but no negative charge
        on_order_days = _on_order_days(rows)
        if on_order_days is rows:
            by_key = Groups([rows], KEY) if by_key is None else by_key
            groups = Groups([rows], sorted(finer.difference(KEY)), by_key)
            self._row, self._order = groups.first(), groups.coarser(EXECUTED)
        else:
            by_order = Groups([on_order_days], EXECUTED)
            groups = Groups([rows], sorted(finer), by_order)
            self._row, number_of = groups.first(), by_order.numbers()
            self._order = [number_of[row] for row in self._row]
        self._groups, self._case = groups, groups.coarser(alike)
        values = groups.sums("trade_value", self._decimals)
        self._value = [abs(value or 0) for value in values]  # none is None: such rows are refused
        squares = any(rate.given.squared_off is not None for rate in self._rates)
        counts = squares or self._any_has("average", *_BY_LOT)
        quantities = groups.sums("quantity", 0) if counts else []
        self._quantity = [quantity or 0 for quantity in quantities]
        self._even = [1] * len(self._row)
        self._met: dict[int, tuple[bool, ...]] = {}  # by case: what orders meet of each rate
        if self._settlements or any(rate.of_order for rate in self._rates):
            self._divide_cases()

    def _divide_cases(self) -> None:
        """Divides cases by the value of their orders, and makes settlements of one key an order."""
        if self._settlements:
            of_keys = self._groups.coarser((*KEY, _DAY, _SIDE))
            for line, row in enumerate(self._row):
                if row in self._settlements:
                    self._order[line] = -1 - of_keys[line]  # no other order has such a number
        totals: dict[int, Amount] = defaultdict(int)
        for order, value in zip(self._order, self._value, strict=True):
            totals[order] += value
        as_trades = [
            _core.Trade(row_no=number, trade_value=float(total / self._value_unit))
            for number, total in enumerate(totals.values())
        ]
        rows = _core.from_rows("Trade", as_trades)
        of_rates = [set(rows.where(rate.of_order).column("row_no")) for rate in self._rates]
        met = {
            order: tuple(number in of_rate for of_rate in of_rates)
            for number, order in enumerate(totals)
        }
        numbers: dict[tuple[int, tuple[bool, ...], bool], int] = {}
        for line, row in enumerate(self._row):
            of_order = met[self._order[line]]
            part = self._case[line], of_order, row in self._settlements
            self._case[line] = numbers.setdefault(part, len(numbers))
            self._met[self._case[line]] = of_order

    def _cases_of_lines(self) -> list[_Case]:
        """Returns the cases by number, with their rates."""
        first_rows: dict[int, int] = {}
        for number, row in zip(self._case, self._row, strict=True):
            first_rows.setdefault(number, row)
        at = [first_rows[number] for number in range(len(first_rows))]
        times, codes = self._rows.cells(at, [_TIME, _SIDE])
        sent = keys = list(zip(*self._rows.cells(at, KEY), strict=True))
        if self._joined is not self._rows:
            keys = list(zip(*self._joined.cells(at, KEY), strict=True))
        places: dict[tuple[date, Key], Place] = {}
        cases = []
        for moment, code, key_sent, key in zip(times, codes, sent, keys, strict=True):
            place = places.get((moment.date(), key_sent))
            if place is None:
                place = Place(moment.date(), key_sent, key)
                places[place.day, key_sent] = place
            cases.append(_Case(place, code != self._buy))
        offset = self._offset(cases, at)
        facts: list[Key] = [()] * len(at)
        if self._asked:
            facts = list(zip(*self._rows.cells(at, self._asked), strict=True))
        known: dict[Key, _Rate] = {}  # the rate of trades by what rates ask about
        for number, (case, row, fact) in enumerate(zip(cases, at, facts, strict=True)):
            parts: list[tuple[bool | None, Amount]] = [(None, 1)]
            if number in offset:
                parts = [(True, offset[number]), (False, 1 - offset[number])]
            for squared_off, part in parts:
                if not part:
                    continue
                met = self._met.get(number)
                kind = fact, squared_off, row in self._settlements, met
                if kind not in known:
                    known[kind] = self._rate_of(row, squared_off, met)
                case.parts.append((known[kind], part))
        return cases

    def _offset(self, cases: list[_Case], at: list[int]) -> dict[int, Amount]:
        """Returns the part of each case that is squared off, and sets the average price of cases.

        ``at`` has a row of each case.
        """
        squares = any(rate.given.squared_off is not None for rate in self._rates)
        averages = self._any_has("average")
        if not squares and not averages:
            return {}
        values, quantities = self._sums(self._value), self._sums(self._quantity)
        contracts = [case.place.contract for case in cases]
        traded: defaultdict[Key, list[Amount]] = defaultdict(lambda: [0, 0])  # bought and sold
        turnover: dict[Key, Amount] = defaultdict(int)
        for number, (case, contract) in enumerate(zip(cases, contracts, strict=True)):
            if at[number] not in self._settlements:
                traded[contract][case.is_sale] += quantities[number]
                turnover[contract] += values[number]
        offset: dict[int, Amount] = {}
        for number, (case, contract) in enumerate(zip(cases, contracts, strict=True)):
            if at[number] in self._settlements:
                offset[number] = 0
                continue
            own, other = traded[contract][case.is_sale], traded[contract][not case.is_sale]
            offset[number] = 1 if own <= other else Fraction(other, own)
            if averages:
                case.average = Fraction(turnover[contract], own + other)
        return offset if squares else {}

    def _sums(self, amounts: Sequence[Amount]) -> list[Amount]:
        """Returns the sum of amounts of lines by case."""
        sums: list[Amount] = [0] * (max(self._case, default=-1) + 1)
        for number, of_line in zip(self._case, amounts, strict=True):
            sums[number] += of_line
        return sums

    def _rate_of(self, row: int, squared_off: bool | None, met: tuple[bool, ...] | None) -> _Rate:
        """Returns the first rate whose conditions a trade meets."""
        rows, settled = self._rows, row in self._settlements
        meant: tuple[bool | None, ...] = (None, settled)
        if settled and any(rate.given.settled for rate in self._rates):
            meant = (True,)  # one of the rates is for settlements
        for rate in self._rates:
            if rate.given.squared_off not in (None, squared_off) or rate.given.settled not in meant:
                continue
            is_met = met is None or met[rate.place]
            if is_met and len(rows[row : row + 1].where(rate.of_trade)):
                return rate
        names = ("trade_no", *CONTRACT[:2], KEY[-1], _SIDE)
        trade = ", ".join(f"{name} {rows[row][name]!r}" for name in names)
        if settled:
            raise ValueError(
                f"no rate applies to the settlement in {self._where(row)} ({trade}): add a "
                'ChargeRate with where={"settled": True}'
            )
        raise ValueError(
            f"no rate applies to the trade in {self._where(row)} ({trade}): add a ChargeRate for "
            "it, or one without conditions as the last"
        )

    def _divide(self) -> None:
        """Makes each trade a line and a case of its own."""
        line_of, counts = self._groups.numbers(), self._groups.counts()
        amounts: list[float] = self._rows.column("trade_value")
        self._value = [int(abs(Decimal(repr(value))) * self._value_unit) for value in amounts]
        self._quantity = self._rows.column("quantity")
        self._even = [Fraction(1, counts[line]) for line in line_of]
        self._order = [self._order[line] for line in line_of]
        self._cases = [self._cases[self._case[line]] for line in line_of]
        self._row, self._case = list(range(len(line_of))), list(range(len(line_of)))
        self._levies = [_NOTHING.copy() for _ in line_of]

    def _split(self) -> None:
        """Makes the second part of trades that have two rates a line and a case of its own."""
        second: dict[int, int] = {}
        for number, case in enumerate([*self._cases]):
            if len(case.parts) > 1:
                second[number] = len(self._cases)
                self._cases.append(replace(case, parts=case.parts[1:]))
                self._levies.append(self._levies[number])
        for line, number in enumerate([*self._case] if second else ()):
            if number in second:
                (_, part), (_, other) = self._cases[number].parts
                self._row.append(self._row[line])
                self._order.append(self._order[line])
                self._case.append(second[number])
                for amounts in (self._value, self._quantity, self._even):
                    amounts.append(amounts[line] * other)
                    amounts[line] *= part

    def _count_lots(self) -> None:
        """Finds the lots of lines whose rates need them; a quantity counts shares or contracts."""
        self._lots = [0] * len(self._row)
        if not self._any_has(*_BY_LOT):
            return
        rates = [case.rate.rate for case in self._cases]
        pairs = zip(self._order, self._case, strict=True)
        limited = {
            order
            for order, case in pairs
            if rates[case].minimum_per_lot or rates[case].cap_per_lot is not None
        }
        proofs = multipliers_at(self._joined, self._row, self._where, self._multipliers)
        (sizes,) = self._rows.cells(self._row, ["lot_size"])
        for line, (row, proof, size) in enumerate(zip(self._row, proofs, sizes, strict=True)):
            if not rates[self._case[line]].per_lot and self._order[line] not in limited:
                continue
            counts_shares = proof.multiplier == 1
            if proof.multiplier is None or (counts_shares and (size or 0) < 1):
                raise ValueError(
                    "per_lot needs the multiplier and the lot size of the trade in "
                    f"{self._where(row)}: pass `multipliers`, or correct its lot_size"
                )
            quantity = self._quantity[line]
            self._lots[line] = Fraction(quantity, size) if counts_shares else quantity

    # -- levies --

    def _charge_values(self) -> None:
        """Adds what is levied on the values of trades."""
        values = self._sums(self._value)
        averages = self._any_has("average")
        quantities = self._sums(self._quantity) if averages else values
        columns = zip(self._cases, values, quantities, self._levies, strict=True)
        for case, value, quantity, levies in columns:
            for name, of_value in case.rate.of_value[case.is_sale]:
                levies[name] += of_value * value
            for name, of_value in case.rate.of_average[case.is_sale]:
                levies[name] += of_value * case.average * quantity

    def _charge_orders(self) -> None:
        """Adds the brokerage of each order, and the tax on it."""
        if not self._any_has("brokerage", "minimum", "per_order", *_BY_LOT):
            return
        by_lot = self._any_has(*_BY_LOT)
        alone: list[list[Amount]] = [[] for _ in self._cases]  # by case, orders of one line
        if by_lot or self._met or max(self._order, default=-1) + 1 != len(self._order):
            of_orders: dict[int, list[int]] = defaultdict(list)
            for line, order in enumerate(self._order):
                of_orders[order].append(line)
            for of_order in of_orders.values():
                if len(of_order) == 1 and not by_lot:
                    alone[self._case[of_order[0]]].append(self._value[of_order[0]])
                else:
                    self._charge_order(of_order)
        else:
            for number, value in zip(self._case, self._value, strict=True):
                alone[number].append(value)
        for case, values, levies in zip(self._cases, alone, self._levies, strict=True):
            if values:
                fraction = case.rate.numbers["brokerage"]
                least, most = self._limits(case.rate, 0)
                owed = [max(least, value * fraction) for value in values]
                owed = owed if most is None else [min(most, brokerage) for brokerage in owed]
                self._pay(case.rate, levies, sum(owed), case.rate, len(values))

    def _charge_order(self, lines: list[int]) -> None:
        """Adds the brokerage of one order to its lines of the day of its first fill."""
        cases = [self._cases[self._case[line]] for line in lines]
        rates = [case.rate for case in cases]
        first = min(rates, key=lambda rate: rate.place)
        values = [self._value[line] for line in lines]
        owed = [
            rate.numbers["brokerage"] * value for rate, value in zip(rates, values, strict=True)
        ]
        by_lot = [
            rate.numbers["per_lot"] * self._lots[line] * self._value_unit
            for rate, line in zip(rates, lines, strict=True)
        ]
        total = sum(owed)
        least, most = self._limits(first, sum([self._lots[line] for line in lines]))
        brokerage = max(least, total) if most is None else min(most, max(least, total))
        day = min([case.place.day for case in cases])
        paying = [at for at, case in enumerate(cases) if case.place.day == day]
        if len(paying) < len(lines):  # what the other days owe is an amount too
            brokerage += sum(by_lot)
            by_lot = [0] * len(lines)
        even = [self._even[lines[at]] for at in paying]
        by_value = _parts([values[at] for at in paying], even)
        is_free = brokerage == total and len(paying) == len(lines)
        by_brokerage = by_value
        if not is_free and any(owed[at] for at in paying):
            by_brokerage = _parts([owed[at] for at in paying], even)
        for at, part, of_brokerage in zip(paying, by_value, by_brokerage, strict=True):
            own = (owed[at] if is_free else brokerage * of_brokerage) + by_lot[at]
            self._pay(rates[at], self._levies[self._case[lines[at]]], own, first, part)

    def _limits(self, rate: _Rate, lots: Amount) -> tuple[Amount, Amount | None]:
        """Returns the least and the largest brokerage of an order of so many lots."""
        numbers = rate.numbers
        least = max(numbers["minimum"], numbers["minimum_per_lot"] * lots) * self._value_unit
        caps: list[Amount] = [numbers["cap"]] if "cap" in numbers else []
        if "cap_per_lot" in numbers:
            caps.append(numbers["cap_per_lot"] * lots)
        most = min(caps) * self._value_unit if caps else None
        return (least if most is None else min(least, most)), most

    def _pay(
        self, rate: _Rate, levies: Levies, brokerage: Amount, first: _Rate, orders: Amount
    ) -> None:
        """Adds brokerage and the tax on it, with what the first rate takes of so many orders."""
        brokerage += first.numbers["per_order"] * orders * self._value_unit
        levies["brokerage"] += brokerage * self._scale  # GST is a fraction of a fraction
        levies["gst"] += rate.gst * brokerage


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


def _parts(amounts: list[Amount], even: Sequence[Amount]) -> list[Amount]:
    """Returns which part of their sum each amount is, or each weight in ``even`` if that is 0."""
    if len(amounts) == 1:
        return [1]
    weights = amounts if any(amounts) else even
    total = sum(weights)
    return [Fraction(weight) / total for weight in weights]


def rounding_units(rounding: Rounding) -> dict[str, Fraction] | None:
    """Returns the unit to which each levy is rounded."""
    if rounding is None:
        return None
    if rounding != "note" and not isinstance(rounding, Mapping):
        raise TypeError(f'rounding must be "note" or a dict of levies, not {shown(rounding)}')
    changed = {} if isinstance(rounding, str) else dict(rounding)
    chosen("rounding", [*changed], LEVIES, "a dict of levies")
    steps = {name: Fraction(repr(amount(name, step))) for name, step in (_NOTE | changed).items()}
    if not all(steps.values()):
        raise ValueError("rounding takes units above 0, such as 0.01")
    return steps


def _round_notes(places: list[Place], steps: dict[str, Fraction], unit: int) -> None:
    """Rounds each levy of each contract note."""
    notes: dict[Key, list[Levies]] = defaultdict(list)
    for place in places:
        notes[(place.day, *place.sent[:4])].append(place.levies)  # to the segment
    for rows in notes.values():
        for name, step in steps.items():
            total = _half_up(sum([row[name] for row in rows]), step * unit)
            _share(rows, name, min(step, _PAISA) * unit, total)


def _share(rows: list[Levies], name: str, step: Fraction, total: Amount) -> None:
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


def _half_up(value: Amount, step: Fraction) -> Amount:
    """Returns the multiple of a unit that is nearest to a value."""
    whole: Amount = step.numerator if step.denominator == 1 else step
    return (2 * value + whole) // (2 * whole) * whole
