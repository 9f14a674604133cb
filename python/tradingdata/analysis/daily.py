"""Profit and loss by day: realised, change of unrealised, charges and net, which add up."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from ..books.book import TradeBook
from ..display.text import counted
from ..display.view import View
from ..table.rows import declared
from .changes import LotChange
from .charge_rates import Rates
from .charging import Rounding
from .day import NetPnl, charged
from .fills import Fills
from .inputs import Lookup, Multipliers, Prices, day_from, days_text
from .isins import MATCH_BY
from .issues import FROM_COST, STALE, UNPRICED, Note, about, noted, unused
from .keys import CONTRACT, KEY, Key, contract_of, keys_of, lead_of
from .pnl import Matching, facts_of, matched, realised_of
from .realised import GivenLots, RealisedPnl, read_lots

DayPrices = Callable[[date, Any], float | None] | Mapping[Any, Prices] | Iterable[Any]

_SECURITY = CONTRACT[2]
_DIGITS = 6  # decimals to which a day's amounts are rounded
_LOOK_BACK = 7  # days before the first for which a function is asked for a price


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


class DailyPnl(NetPnl[DailyRow]):
    """Result of ``daily_pnl``: one row for each day, account and client.

    Attributes:
        pnl: The realised profit and loss of all days, with its matches and lots.
    """

    _row = DailyRow
    _said = ("net", "realised", "charges")
    _view = View(
        "day",
        columns=("net", "realised", "change", "charges", "unrealised"),
        sums=("net", "realised", "change", "charges"),
        names=("day",),
        apart=("account", "client_id"),
    )

    def _keys(self) -> list[Key]:
        return list(zip(*map(self._column, KEY[:2]), strict=True))

    def _heading(self) -> str:
        days = sorted(set(self._column("day")))
        return f"{days_text(days) if days else 'no days'}: {super()._heading()}"


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
    charges: Rates | None = None,
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
    price_of = _DailyPrices(prices)
    wanted = price_of.days if days is None else [*map(day_from, days)]
    more: Any = {"multipliers": multipliers, "changes": changes, "match_by": match_by}
    fills = Fills(trades, None, buy, sell, lots=lots, until=max(wanted, default=None), **more)
    stages = matched(fills, settle, shorts, buy, sell)
    pnl = realised_of(fills, stages)
    for stage in stages:
        price_of.same |= stage.fills.same
    steps, realised = _steps_of(fills, stages)
    known = [*fills.days, *({} if days is None else wanted)]
    first = min(known, default=min(wanted, default=date.max))
    closed = {day for of_holder in realised.values() for day in of_holder}
    reported = sorted(day for day in {*known, *wanted, *closed} if day >= first)
    held = _held(steps, price_of, reported, pnl, facts_of(stages), fills.notes)
    costs: dict[Any, Fraction] = defaultdict(Fraction)
    levies, unit = charged(fills.on_day(None), charges, buy, rounding)
    for (day, key), levy in levies.items():
        costs[key[:2], day] += Fraction(levy) / unit
    daily_rows = []
    for holder, (value, *values) in held.items():
        gained, paid, then = Fraction(0), Fraction(0), _Totals(unrealised=round(value, _DIGITS))
        for day, value in zip(reported, values, strict=True):
            gained, paid = gained + realised[holder][day], paid + costs[holder, day]
            # Running sums are rounded, not days, so that the days add up exactly.
            now = _Totals._make(round(amount, _DIGITS) for amount in (gained, value, paid))
            earned, change, cost = (one - other for one, other in zip(now, then, strict=True))
            row = earned, now.unrealised, change, cost, earned + change - cost
            daily_rows.append((*holder, day, *map(float, row)))
            then = now
    result = DailyPnl._of(sorted(daily_rows, key=lambda row: row[2]))
    result.pnl = noted(pnl, list(fills.notes), warn=False)
    return noted(result, fills.notes)


class _Totals(NamedTuple):
    """What has added up until the end of a day, rounded."""

    realised: Fraction = Fraction(0)
    unrealised: Fraction = Fraction(0)
    charges: Fraction = Fraction(0)


class _Step(NamedTuple):
    """What a day opens of one key, negative for what it closes."""

    day: date
    quantity: int
    value: Fraction


Steps = dict[Key, list[_Step]]


def _steps_of(
    fills: Fills, stages: list[Matching]
) -> tuple[Steps, dict[Any, dict[date, Fraction]]]:
    """Returns what each day opened and closed of each key, and what each holder realised.

    The first day of opening lots is ``date.min``.
    """
    steps: Steps = defaultdict(list)
    realised: dict[Any, dict[date, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    starts = [date.min, *(at.date() for at in dict.fromkeys(at for at, _ in fills.changes))]
    for number, (stage, start) in enumerate(zip(stages, starts, strict=True)):
        ends = starts[number + 1 : number + 2]  # the last stage has no end
        scale = 10**stage.decimals
        for move in stage.moves():
            key, value, closed = move.lead.key, Fraction(move.value, scale), move.closed
            expiry = move.lead.expiry_date
            steps[key].append(_Step(move.opened or start, move.quantity, value))
            if closed is not None:
                realised[key[:2]][closed] += Fraction(move.realised, scale)
            elif not ends and expiry is not None and expiry < fills.last:
                closed = expiry + timedelta(days=1)  # expired and not settled: no longer open
            for end in ends if closed is None else [closed]:
                steps[key].append(_Step(end, -move.quantity, -value))
    return steps, realised


def _held(
    steps: Steps,
    price_of: _DailyPrices,
    days: list[date],
    pnl: RealisedPnl,
    facts: dict[Key, tuple[int | None, str]],
    notes: list[Note],
) -> dict[Any, list[Fraction]]:
    """Returns what open lots are worth more than they cost, before the days and on each."""
    held = {key[:2]: [Fraction(0)] * (len(days) + 1) for key in sorted(facts, key=str)}
    rows = dict(zip(keys_of(pnl), pnl, strict=True))
    for key, of_key in steps.items():
        multiplier, _ = facts[key]
        by_place: dict[int, list[_Step]] = defaultdict(list)
        for step in of_key:
            by_place[0 if step.day == date.min else bisect_left(days, step.day) + 1].append(step)
        first, quantity, value = min(by_place), 0, Fraction(0)
        missing: Counter[str] = Counter()
        price: Fraction | None = None
        tried = first - 1  # the last day for which a price was asked
        for at in range(first, len(days) + 1):
            quantity += sum(step.quantity for step in by_place.get(at, ()))
            value += sum(step.value for step in by_place.get(at, ()))
            is_old = False
            if quantity:
                asked = ((on, price_of.at(days, on, rows[key])) for on in range(at, tried, -1))
                on, known = next((pair for pair in asked if pair[1] is not None), (tried, None))
                price, tried, is_old = price if known is None else known, at, on < at
            if quantity and price is None:
                missing[FROM_COST if not at else UNPRICED] += 1
            elif quantity and multiplier is None:
                continue  # already in the issues
            else:
                missing[STALE] += is_old
                held[key[:2]][at] += (price or 0) * quantity * (multiplier or 1) - value
        for problem, count in missing.items():
            if count:
                text = counted(count, "day") if problem != FROM_COST else ""
                notes.append(about(lead_of(rows[key]), problem, text, count))
    if any(note.problem == UNPRICED for note in notes):  # else a list with more contracts is fine
        notes += unused("prices", price_of.unmatched({contract_of(rows[key]) for key in steps}))
    return held


class _DailyPrices:
    """Prices by day, of a function, a frame or a mapping of days."""

    def __init__(self, prices: Any) -> None:
        self._given = prices if callable(prices) else _prices_by_day(prices)
        self._lookups: dict[date, Lookup] = {}
        self.days = [] if callable(prices) else sorted(self._given)
        self.same: dict[Key, tuple[Key, ...]] = {}

    def __call__(self, day: date, row: Any) -> Fraction | None:
        if day not in self._lookups:
            prices = self._given
            of_day = partial(prices, day) if callable(prices) else prices.get(day, {})
            self._lookups[day] = Lookup("prices", of_day)
            self._lookups[day].same = self.same
        return self._lookups[day](row)

    def at(self, days: list[date], place: int, row: Any) -> Fraction | None:
        """Returns the price of a day; day 0 is before the first."""
        tried = [days[place - 1]] if place else self._before(days)
        return next((price for day in tried if (price := self(day, row)) is not None), None)

    def unmatched(self, contracts: Collection[Key]) -> list[Any]:
        """Returns the keys that are about none of the contracts of a result."""
        unknown = (lookup.unmatched(contracts) for lookup in self._lookups.values())
        return list(dict.fromkeys(key for of_day in unknown for key in of_day))

    def _before(self, days: list[date]) -> list[date]:
        if not days:
            return []
        if not callable(self._given):
            return [day for day in reversed(self.days) if day < days[0]]
        return [days[0] - timedelta(days=number) for number in range(1, _LOOK_BACK + 1)]


def _prices_by_day(prices: Any) -> dict[date, Any]:
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
    by_day: dict[date, dict[Any, Any]] = {}
    for row in prices:
        if not isinstance(row, Mapping) or not {"day", _SECURITY, "price"} <= row.keys():
            raise TypeError(f"prices must have the columns day, {_SECURITY} and price")
        names = [name for name in CONTRACT if name in row]
        key = tuple(row[name] for name in names)
        of_day = by_day.setdefault(day_from(row["day"]), {})
        if of_day.setdefault(key if len(key) > 1 else key[0], row["price"]) is not row["price"]:
            raise ValueError(f"prices has {row[_SECURITY]!r} twice on {row['day']}")
    return by_day
