"""Profit and loss by day: realised, change of unrealised, charges and net, which add up."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

from ..books.book import TradeBook
from ..display.text import counted, group
from ..display.view import View
from ..table.rows import declared
from .changes import LotChange
from .charging import ChargeRate, Rounding, charged
from .fills import Fills
from .inputs import Lookup, Multipliers, Prices, day_from, days_text
from .isins import MATCH_BY
from .issues import FROM_COST, STALE, UNPRICED, Note, named, noted, unused
from .keys import CONTRACT, EXPIRY_AT, KEY, KEYED, SECURITY_AT, Key, key_of
from .pnl import Matching, matched, realised_of
from .realised import GivenLots, RealisedPnl, read_lots
from .result_table import ResultTable

DayPrices = Callable[[date, Any], float | None] | Mapping[Any, Prices] | Iterable[Any]

_SECURITY = KEYED[SECURITY_AT]
_DIGITS = 6  # of the amounts of a day, so that they add up
_LOOK_BACK = 7  # days before the first, in which a function is asked for its price


@declared
class DailyRow:
    """One client's profit and loss of one day, with what was carried from the day before.

    Attributes:
        account: Local label of the account, if known.
        client_id: Client identifier.
        day: The day.
        realised: Profit of what was closed on the day, from cost, before charges.
        unrealised: Value of what is open at the end of the day, less its cost.
        change: ``unrealised`` less that of the day before.
        charges: Charges of the day's trades; 0 if no rates were passed.
        net: ``realised + change - charges``: what the day earned.
    """

    account: str | None
    client_id: str
    day: date
    realised: float
    unrealised: float
    change: float
    charges: float
    net: float


class DailyPnl(ResultTable[DailyRow]):
    """Result of ``daily_pnl``: one row for each day, account and client.

    Attributes:
        pnl: The realised profit and loss of all days, with its matches and lots.
    """

    _row = DailyRow
    _view = View(
        "day",
        columns=("net", "realised", "change", "charges", "unrealised"),
        sums=("net", "realised", "change", "charges"),
        names=("day",),
        apart=("account", "client_id"),
    )

    pnl: RealisedPnl

    def _keys(self) -> list[Key]:
        return list(zip(*map(self._column, KEY[:2]), strict=True))

    @property
    def realised(self) -> float:
        """Sum of what was realised, before charges."""
        return self._sum("realised")

    @property
    def charges(self) -> float:
        """Sum of the charges."""
        return self._sum("charges")

    @property
    def net(self) -> float:
        """Sum of what the days earned: exactly what they earned as a whole."""
        return self._sum("net")

    def _heading(self) -> str:
        days = sorted(set(self._column("day")))
        text = f"net {group(self.net, 2)}, realised {group(self.realised, 2)}"
        return f"{days_text(days) if days else 'no days'}: {text}, charges {group(self.charges, 2)}"


def daily_pnl(
    trades: TradeBook,
    *,
    prices: DayPrices,
    days: Iterable[date | str] | None = None,
    opening: GivenLots | None = None,
    settle: Prices | None = None,
    multipliers: Multipliers | None = None,
    changes: Sequence[LotChange] = (),
    match_by: str = MATCH_BY[0],
    charges: ChargeRate | Sequence[ChargeRate] | None = None,
    rounding: Rounding = None,
    shorts: bool | Collection[str] = True,
    buy: str = "B",
    sell: str = "S",
) -> DailyPnl:
    """Computes the profit and loss of each day, by account and client.

    What is open at the end of a day is valued at its price; ``net`` has the change since the day
    before. So the days add up, to the last digit, to what was realised and the change of what is
    unrealised, less charges. An equity curve is the running sum of ``net``. Amounts are exact, to
    six decimals. (Service: "Trade record".)

    Args:
        trades: A trade book of any number of days, of one or several accounts.
        prices: Closing prices by day: a function of a day and a row of a contract; a data frame, or
            dicts, with ``day``, ``security_id`` and ``price``, and where an id means several
            contracts also ``expiry_date``, or ``exchange`` and ``segment``; or a mapping of days to
            the prices of ``unrealised_pnl``. A price that is missing is that of the day before,
            with an issue.
        days: Days to report besides those of trades and settlements; needed for a function, to
            value what is open on days without trades. Otherwise the days of a frame from the first
            trade on.
        opening: Lots that were open before the first trade, as in ``realised_pnl``. They are
            measured from the last price before the first day (a function is asked for the seven
            days before), or from cost, with an issue.
        settle: Settlement prices of expired contracts, as in ``realised_pnl``.
        multipliers: Multipliers of contracts that their trades do not prove.
        changes: Changes of open lots, as in ``realised_pnl``.
        match_by: ``"isin"`` matches shares of one ISIN as one security, as in ``realised_pnl``.
        charges: Rates of charges, as in ``charges``; without them, charges are 0.
        rounding: Rounds charges, as in ``charges``.
        shorts: Whether sales may open short lots, as in ``realised_pnl``.
        buy: ``txn_type`` of a purchase, which the service does not document.
        sell: ``txn_type`` of a sale.

    Returns:
        A row for each day, account and client, the earliest day first, with ``issues``, ``pnl`` and
        the sums ``realised``, ``charges`` and ``net``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: As ``realised_pnl`` and ``charges``, or for a price that is not finite.

    Warns:
        DataWarning: If the result has issues.

    Example:
        >>> daily = td.daily_pnl(trades, prices=closes, charges=rates)
        >>> daily.to_pandas().groupby("day")["net"].sum().cumsum()
    """
    lots = [] if opening is None else read_lots("opening", opening)
    price_of = _ByDay(prices)
    wanted = price_of.days if days is None else [*map(day_from, days)]
    more: Any = {"multipliers": multipliers, "changes": changes, "match_by": match_by}
    fills = Fills(trades, None, buy, sell, lots=lots, until=max(wanted, default=None), **more)
    stages = matched(fills, settle, shorts, buy, sell)
    pnl = realised_of(fills, stages)
    for stage in stages:
        price_of.same |= stage.fills.same
    moves, realised = _moves(fills, stages)
    known = [*fills.days, *({} if days is None else wanted)]
    first = min(known, default=min(wanted, default=date.max))
    closed = {day for of_holder in realised.values() for day in of_holder}
    reported = sorted(day for day in {*known, *wanted, *closed} if day >= first)
    held = _held(moves, price_of, reported, pnl, fills.notes)
    costs: dict[Any, Fraction] = defaultdict(Fraction)
    for (day, key), cost in charged(fills.on_day(None), charges, buy, rounding).items():
        costs[key[:2], day] += cost
    made = []
    for holder, values in held.items():
        before = [Fraction(0), values[0], Fraction(0)]  # realised, unrealised, charges
        for day, value in zip(reported, values[1:], strict=True):
            after = [before[0] + realised[holder][day], value, before[2] + costs[holder, day]]
            # Rounding what has added up leaves days that add up.
            rounded = [[round(each, _DIGITS) for each in state] for state in (before, after)]
            gained, change, cost = (now - then for then, now in zip(*rounded, strict=True))
            row = gained, rounded[1][1], change, cost, gained + change - cost
            made.append((*holder, day, *map(float, row)))
            before = after
    result = DailyPnl._of(sorted(made, key=lambda row: row[2]))
    result.pnl = noted(pnl, list(fills.notes), warn=False)
    return noted(result, fills.notes)


Moves = dict[Key, list[tuple[date, int, Fraction]]]  # by key: day, quantity and value that it opens


def _moves(fills: Fills, stages: list[Matching]) -> tuple[Moves, dict[Any, dict[date, Fraction]]]:
    """Returns what each day opened and closed of each key, and what each holder realised.

    The first day of opening lots is ``date.min``.
    """
    moves: Moves = defaultdict(list)
    realised: dict[Any, dict[date, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    starts = [date.min, *(at.date() for at in dict.fromkeys(at for at, _ in fills.changes))]
    for number, (stage, start) in enumerate(zip(stages, starts, strict=True)):
        ends = starts[number + 1 : number + 2]  # none of the last
        scale = 10**stage.decimals
        for leading, opened, closed, quantity, units, gained in stage.parts():
            key, value, expiry = key_of(leading), Fraction(units, scale), leading[EXPIRY_AT]
            moves[key].append((opened or start, quantity, value))
            if closed is not None:
                realised[key[:2]][closed] += Fraction(gained, scale)
            elif not ends and expiry is not None and expiry < fills.last:
                closed = expiry + timedelta(days=1)  # expired and not settled: no longer open
            for end in ends if closed is None else [closed]:
                moves[key].append((end, -quantity, -value))
    return moves, realised


def _held(
    moves: Moves, price_of: _ByDay, days: list[date], pnl: RealisedPnl, notes: list[Note]
) -> dict[Any, list[Fraction]]:
    """Returns what open lots are worth more than they cost, before the days and on each."""
    held = {key[:2]: [Fraction(0)] * (len(days) + 1) for key in sorted(pnl._contracts, key=str)}
    rows = {tuple(getattr(row, name) for name in KEY): row for row in pnl}
    for key, of_key in moves.items():
        multiplier, _ = pnl._contracts[key]
        steps: dict[int, list[Any]] = defaultdict(lambda: [0, Fraction(0)])
        for day, quantity, value in of_key:
            step = steps[0 if day == date.min else bisect_left(days, day) + 1]
            step[0], step[1] = step[0] + quantity, step[1] + value
        first, quantity, value = min(steps), 0, Fraction(0)
        missing: Counter[str] = Counter()
        price: Fraction | None = None
        tried = first - 1  # the last day for which a price was asked
        for at in range(first, len(days) + 1):
            quantity, value = quantity + steps[at][0], value + steps[at][1]
            is_old = False
            if quantity:
                asked = ((on, price_of.at(days, on, rows[key])) for on in range(at, tried, -1))
                on, found = next((each for each in asked if each[1] is not None), (tried, None))
                price, tried, is_old = price if found is None else found, at, on < at
            if quantity and price is None:
                missing[FROM_COST if not at else UNPRICED] += 1
            elif quantity and multiplier is None:
                continue  # which a note says
            else:
                missing[STALE] += is_old
                held[key[:2]][at] += (price or 0) * quantity * (multiplier or 1) - value
        for problem, count in missing.items():
            if count:
                leading = tuple(getattr(rows[key], name) for name in KEYED)
                days_of = f": {counted(count, 'day')}" if problem != FROM_COST else ""
                notes.append(Note(leading, problem, f"{named(leading)}{days_of}", count))
    if any(note.problem == UNPRICED for note in notes):  # else what more a list has is no error
        notes += unused("prices", price_of.unmatched({key[2:-1] for key in moves}))
    return held


class _ByDay:
    """Prices by day, of a function, a frame or a mapping of days."""

    def __init__(self, prices: Any) -> None:
        self._given = prices if callable(prices) else _by_day(prices)
        self._lookups: dict[date, Lookup] = {}
        self.days = [] if callable(prices) else sorted(self._given)
        self.same: dict[Key, tuple[Key, ...]] = {}

    def __call__(self, day: date, row: Any) -> Fraction | None:
        if day not in self._lookups:
            given = self._given
            of_day = partial(given, day) if callable(given) else given.get(day, {})
            self._lookups[day] = Lookup("prices", of_day)
            self._lookups[day].same = self.same
        return self._lookups[day](row)

    def at(self, days: list[date], place: int, row: Any) -> Fraction | None:
        """Returns the price of a day; day 0 is before the first."""
        tried = [days[place - 1]] if place else self._before(days)
        return next((price for day in tried if (price := self(day, row)) is not None), None)

    def unmatched(self, contracts: Collection[Key]) -> list[Any]:
        """Returns the keys that are about none of the contracts of a result."""
        found = (lookup.unmatched(contracts) for lookup in self._lookups.values())
        return list(dict.fromkeys(key for of_day in found for key in of_day))

    def _before(self, days: list[date]) -> list[date]:
        if not days:
            return []
        if not callable(self._given):
            return [day for day in reversed(self.days) if day < days[0]]
        return [days[0] - timedelta(days=number) for number in range(1, _LOOK_BACK + 1)]


def _by_day(prices: Any) -> dict[date, Any]:
    """Returns the prices of each day, from a mapping of days or from rows."""
    if isinstance(prices, Mapping):
        return {day_from(day): of_day for day, of_day in prices.items()}
    for name, more in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if hasattr(prices, name):
            prices = getattr(prices, name)(*more)
            break
    if isinstance(prices, str) or not isinstance(prices, Iterable):
        raise TypeError(
            "prices must be a function of a day and a row, a data frame or dicts with day, "
            f"security_id and price, or a mapping of days to prices, not {type(prices).__name__}"
        )
    found: dict[date, dict[Any, Any]] = {}
    for row in prices:
        if not isinstance(row, Mapping) or not {"day", _SECURITY, "price"} <= row.keys():
            raise TypeError(f"prices must have the columns day, {_SECURITY} and price")
        names = [name for name in CONTRACT if name in row]
        key = tuple(row[name] for name in names)
        of_day = found.setdefault(day_from(row["day"]), {})
        if of_day.setdefault(key if len(key) > 1 else key[0], row["price"]) is not row["price"]:
            raise ValueError(f"prices has {row[_SECURITY]!r} twice on {row['day']}")
    return found
