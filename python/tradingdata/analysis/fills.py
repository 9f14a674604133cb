"""The trades that a calculation counts, after its opening lots, by contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import date, datetime
from functools import cached_property
from typing import Any, NamedTuple

from .. import _core
from .._core import Groups, Slice
from ..books.book import TradeBook
from .changes import LotChange, Timed, begun, moments_of, require_one_side, unmet
from .checks import require_fills
from .inputs import Lookup, Multipliers, day_from, days_of, days_text, patched, rows_in
from .isins import MATCH_BY, Same, by_isin, is_by_isin
from .issues import ALIKE, DIFFERENT, FREE, IDLE, NO_EXPIRY, NO_KEY, UNPROVED, Note, about, unused
from .keys import (
    CODES,
    CONTRACT,
    KEY,
    NAMES,
    SOME_MISSING,
    VARIOUS,
    Key,
    Lead,
    contract_of,
    kind_of,
    missing_expiries,
)
from .realised import ATTRIBUTES, Lot, as_trades, wall_clock

_UNSAID = -1  # from the core: no trade has a price and a value, or a lot size
_ROWS = 5  # rows listed in an issue, at most


class Facts:
    """What is known of the keys of rows.

    In columns, since an object for each key would take longer than matching its trades.

    Attributes:
        keys: The columns of the key.
        multipliers: The multiplier of each key; None: not proved.
    """

    def __init__(self, rows: Slice, groups: Groups, multipliers: list[int | None]) -> None:
        self._rows, self._groups = rows, groups
        self.keys: list[list[Any]] = rows.cells(groups.first(), KEY)
        self.multipliers = multipliers

    def column(self, name: str) -> list[Any]:
        """Returns a column of the key."""
        return self.keys[KEY.index(name)]

    def contracts(self) -> list[Key]:
        """Returns the contract of each key."""
        return list(zip(*map(self.column, CONTRACT), strict=True))

    @cached_property
    def leads(self) -> list[Lead]:
        """The leading columns of each key, with the names of its last row."""
        return list(map(Lead, *self.keys, *self._rows.cells(self._groups.last(), NAMES)))

    @cached_property
    def kinds(self) -> list[str]:
        """What each key is."""
        name = ATTRIBUTES[0]
        (strikes,) = self._rows.cells(self._groups.last(), [name])
        if max(self._groups.likenesses(name), default=0) > SOME_MISSING:
            columns = zip(self._rows.column(name), self._groups.numbers(), strict=True)
            for strike, number in columns:  # the last known one counts
                strikes[number] = strikes[number] if strike is None else strike
        return list(map(kind_of, self.column(CONTRACT[-1]), strikes))


class Proof(NamedTuple):
    """The multiplier of a contract, or why there is none."""

    multiplier: int | None
    lacks: str = ""


class Fills:
    """Opening lots and the trades that count, as rows whose expiry dates are complete.

    Attributes:
        sent: The opening lots, then the trades.
        rows: The same rows, in which shares of one ISIN have one id if they are matched by it.
        opening: Number of opening lots.
        day: The day, if one was asked for.
        days: The days of the trades.
        last: The last day that counts.
        notes: The issues found so far.
        given: The multipliers that the caller knows.
    """

    def __init__(
        self,
        trades: TradeBook,
        day: date | str | None,
        buy: str,
        sell: str,
        *,
        multipliers: Multipliers | None = None,
        lots: list[Lot] | None = None,
        changes: Sequence[LotChange] = (),
        match_by: str = MATCH_BY[0],
        timed: bool = True,
        earlier: bool = False,
        until: date | None = None,
    ) -> None:
        """Reads trades, those of ``day`` only, or with ``earlier`` also those before it.

        All trades given must be complete; their times only with ``timed`` or if there is a day.
        """
        self.rows = rows_in("trades", trades, TradeBook)
        self.day = None if day is None else day_from(day)
        require_fills(self.rows, buy, sell, timed=timed or self.day is not None)
        self.notes: list[Note] = []
        self.given = None if multipliers is None else Lookup("multipliers", multipliers)
        self.days = days_of(self.rows)
        self.last = self.day or max(*self.days, until or date.min, date.min)
        self._lots = _with_accounts(lots or [], self.rows)
        self._codes = buy, sell
        self.is_by_isin = is_by_isin(match_by)
        self._begin(moments_of(changes, self.rows.zone))
        self.opening = len(self._lots)
        self._numbers: Sequence[int] = range(-self.opening, len(trades))
        rows = self._with_lots()
        self._by_key = rows, Groups([rows], KEY)
        expiries = _missing_expiries(*self._by_key)
        self.rows = self.sent = patched(rows, expiries)
        self._completed = set(expiries)
        if self.day is not None:
            self._choose(self.day, earlier)
        self._merge("opening has", "leave out the quantity that both have, which is no longer open")

    def _begin(self, changes: list[Timed]) -> None:
        """Changes opening lots before the first trade, and keeps the changes that come later."""
        end = max({self.last, *self.days})
        self.notes += [
            unmet(change, f"it is after the last day, {end}")
            for at, change in changes
            if at.date() > end
        ]
        changes = [timed for timed in changes if timed[0].date() <= self.last]
        first = self._end(greatest=False) if changes else None
        early = [timed for timed in changes if first is None or timed[0] <= first]
        same: Same = by_isin(self._with_lots())[1] if early and self.is_by_isin else {}
        began = min(self.days, default=self.last)
        self._lots, notes = begun(self._lots, early, self.rows.zone, began, same)
        self.notes += notes
        self.changes = changes[len(early) :]
        zone = self.rows.zone
        known = [wall_clock("a lot", lot.as_of, zone) for lot in self._lots if lot.as_of]
        if any(at <= since for at, _ in self.changes for since in known):
            raise ValueError(
                f"opening lots are as of {max(known)}, which is after the first trade and after a "
                "change: pass the trades after that moment only"
            )
        self._known = max((*known, *(at for at, _ in changes)), default=datetime.min)

    def _end(self, *, greatest: bool) -> datetime | None:
        """Returns the time of the first or the last row, on the clock of the trades."""
        ends = Groups([self.rows], CODES[:1]).extremes("exch_trade_time", greatest)
        times = [at.replace(tzinfo=None) for at in ends if at is not None]
        return (max if greatest else min)(times, default=None)

    def _with_lots(self) -> Slice:
        """Returns the opening lots as rows, and the trades."""
        lots = as_trades(self._lots, self.rows.zone, *self._codes)
        return _core.join([lots, self.rows]) if self._lots else self.rows

    def _merge(self, cause: str, remedy: str) -> None:
        """Makes shares of one ISIN one security; raises if that has open lots of both sides."""
        self.rows = self.sent
        self.same: Same = {}
        if self.is_by_isin:
            self.rows, self.same, notes = by_isin(self.sent)
            self.notes += notes
            if self.given is not None:
                self.given.same = self.same
        keys = zip(*self.rows.cells([*range(self.opening)], KEY), strict=True)
        require_one_side(self._lots, keys, cause, remedy)

    def _choose(self, day: date, earlier: bool) -> None:
        times = [lot.time for lot in self._lots]
        known = {*self.days, *(time.date() for time in times if time is not None)}
        if known and day < min(known) and None not in times:
            raise ValueError(f"{day} is before all that is known: {days_text(sorted(known))}")
        if day not in self.days:
            text = f"none on {day}"
            text += f"; the book has {days_text(self.days)}" if self.days else ""
            self.notes.append(Note(NO_KEY, IDLE, text))
        is_wanted = day.__ge__ if earlier else day.__eq__
        if not all(map(is_wanted, self.days)):
            self._keep([*range(self.opening), *self._traded(is_wanted)])

    def _traded(self, is_wanted: Callable[[date], bool]) -> list[int]:
        """Returns the rows of the trades of some days."""
        groups = Groups([self.rows], ["exch_trade_time.day"])
        (times,) = self.rows.cells(groups.first(), ["exch_trade_time"])
        wanted = [time is not None and is_wanted(time.date()) for time in times]
        if all(wanted):
            return list(range(self.opening, len(self.rows)))
        numbers = groups.numbers()[self.opening :]
        return [row for row, number in enumerate(numbers, self.opening) if wanted[number]]

    def _keep(self, rows: Sequence[int]) -> None:
        """Drops all rows but these, which are in their order."""
        if len(rows) == len(self._numbers):
            return
        is_one = self.rows is self.sent
        self.sent = self.sent.take(rows)
        self.rows = self.sent if is_one else self.rows.take(rows)
        self._numbers = list(map(self._numbers.__getitem__, rows))
        self._completed = {at for at, row in enumerate(rows) if row in self._completed}

    def on_day(self, day: date | None) -> Fills:
        """Returns the trades of a day alone, or of all days, without the notes."""
        fills = copy(self)
        fills.notes, fills._completed = [], set()
        if fills.opening or day is not None:
            fills._keep(fills._traded(lambda traded_on: day in (None, traded_on)))
        fills.opening, fills._lots = 0, []
        return fills

    def stage(
        self,
        start: datetime,
        stop: datetime,
        lots: list[Lot] | None = None,
        multipliers: Mapping[Key, int | None] | None = None,
    ) -> Fills:
        """Returns the trades from one moment until another, after the lots that are open then.

        Their multipliers are those of the contracts in all the trades.
        """
        stage, zone = copy(self), self.rows.zone
        stage._lots = self._lots if lots is None else lots
        stage.opening, stage.notes, stage._completed = len(stage._lots), [], set()
        opened = as_trades(stage._lots, zone, *self._codes)
        stage.sent = _core.join([opened, self.sent[self.opening :]])
        stage._numbers = [*range(-stage.opening, 0), *self._numbers[self.opening :]]
        stage._merge(
            f"the changes of {start} leave",
            "give them a time before the trade that opened the other side, or pass the `opening` "
            "lots or `shorts` that make it close one",
        )
        times = enumerate(self.rows.column("exch_trade_time")[self.opening :], stage.opening)
        kept = [row for row, at in times if start <= at.replace(tzinfo=None) < stop]
        stage._keep([*range(stage.opening), *kept])
        known = multipliers or {}
        stage.given = Lookup("multipliers", lambda row: known.get(contract_of(row)))
        return stage

    def as_of(self) -> datetime | None:
        """Returns the moment of the last trade or change."""
        last = max(self._end(greatest=True) or datetime.min, self._known)
        return None if last == datetime.min else last.replace(tzinfo=self.rows.zone)

    def where(self, row: int) -> str:
        """Returns how a message names a row: as the caller's book numbers it."""
        number = self._numbers[row]
        return f"row {number}" if number >= 0 else f"opening lot {number + self.opening}"

    @property
    def by_key(self) -> Groups:
        """The rows, grouped by key."""
        if self._by_key[0] is not self.rows:
            self._by_key = self.rows, Groups([self.rows], KEY)
        return self._by_key[1]

    def leads(self) -> list[Any]:
        """Returns the leading columns of each key, with the names of its last row."""
        first, last = self.by_key.first(), self.by_key.last()
        return [(self.rows, first, KEY), (self.rows, last, NAMES)]

    def facts(self) -> Facts:
        """Returns what is known of each key, and notes what is not."""
        rows, groups = self.rows, self.by_key
        proofs = multipliers_of(rows, groups, self.where, given=self.given, lots=self._lots)
        facts = Facts(rows, groups, [proof.multiplier for proof in proofs])
        for number, proof in enumerate(proofs):
            if proof.multiplier is None:
                self.notes.append(about(facts.leads[number], UNPROVED, proof.lacks))
        self._note_rows(groups, facts)
        for name in ATTRIBUTES[:2]:
            for number, likeness in enumerate(groups.likenesses(name)):
                if likeness & VARIOUS:
                    lead = facts.leads[number]
                    self.notes.append(Note(lead, DIFFERENT, f"{lead} has several {name}"))
        self._note_codes(facts)
        if self.given is not None:
            self.notes += unused("multipliers", self.given.unmatched(facts.contracts()))
        return facts

    def note_rows(
        self, problem: str, rows: Iterable[int], numbers: Sequence[int], facts: Facts
    ) -> None:
        """Notes rows, by key; ``numbers`` has the number of the key of each row."""
        by_key: dict[int, list[int]] = {}
        for row in rows:
            by_key.setdefault(numbers[row], []).append(row)
        for number, of_key in by_key.items():
            text = ", ".join(map(self.where, of_key[:_ROWS])) + ", ..." * (len(of_key) > _ROWS)
            self.notes.append(about(facts.leads[number], problem, text, len(of_key)))

    def _note_rows(self, groups: Groups, facts: Facts) -> None:
        problems: dict[str, Iterable[int]] = {NO_EXPIRY: sorted(self._completed)}
        if len(self.rows.where([("traded_price", "eq", "all", False, [0.0])])):
            prices = enumerate(self.rows.column("traded_price"))
            problems[FREE] = [row for row, price in prices if price == 0]
        numbers = groups.numbers() if any(problems.values()) else []
        for problem, rows in problems.items():
            self.note_rows(problem, rows, numbers, facts)

    def _note_codes(self, facts: Facts) -> None:
        for name in CODES:
            spelled: dict[str, dict[str, None]] = {}
            for code in dict.fromkeys(facts.column(name)):
                spelled.setdefault(code.strip().casefold(), {})[code] = None
            for codes in spelled.values():
                if len(codes) > 1:
                    text = f"{name} {' and '.join(map(repr, codes))} count as different"
                    self.notes.append(Note(NO_KEY, ALIKE, text, len(codes)))


def _with_accounts(lots: list[Lot], trades: Slice) -> list[Lot]:
    """Returns lots with the account of their client's trades, where one of them has no label."""
    accounts: dict[str, list[Any]] = {}
    pair = KEY[:2]
    first = _core.Groups([trades], pair).first() if lots else []
    for account, client in zip(*trades.cells(first, pair), strict=True):
        accounts.setdefault(client, []).append(account)
    labels: dict[str | None, set[str | None]] = {}
    for lot in lots:
        labels.setdefault(lot.client_id, set()).add(lot.account)
    labelled = []
    for lot in lots:
        known = accounts.get(lot.client_id, [lot.account])
        if known == [None] and len(labels[lot.client_id]) > 1:
            raise ValueError(
                f"opening lots of client {lot.client_id!r} have the accounts "
                f"{', '.join(sorted(map(repr, labels[lot.client_id])))}, but its trades have none: "
                "pass trades with an account"
            )
        if lot.account is None and len(known) > 1:
            raise ValueError(
                f"an opening lot of client {lot.client_id!r} has no account, but trades of that "
                f"client have {', '.join(map(repr, known))}: give it one of them"
            )
        if lot.account is None or known == [None]:
            lot = lot._replace(account=known[0])
        labelled.append(lot)
    return labelled


def _missing_expiries(rows: Slice, groups: Groups) -> dict[int, dict[str, Any]]:
    """Returns the expiry of their contract for the rows that lack it."""
    of_contracts, of_ids = groups.coarser(CONTRACT), groups.coarser(CONTRACT[:-1])
    if of_contracts == of_ids:  # each id has one expiry, or none
        return {}
    expiries = missing_expiries(list(zip(*rows.cells(groups.first(), CONTRACT), strict=True)))
    numbers = enumerate(groups.numbers() if expiries else [])
    return {row: {CONTRACT[-1]: expiries[group]} for row, group in numbers if group in expiries}


def multipliers_of(
    rows: Slice,
    groups: Groups,
    where: Callable[[int], str],
    *,
    given: Lookup | None = None,
    lots: Sequence[Lot] = (),
) -> list[Proof]:
    """Returns the multiplier of each group of trades, or why there is none.

    The service describes a quantity as "shares or contracts". Where it counts contracts, a value is
    ``quantity * price * multiplier``. The values of a contract's trades prove it: 1, the lot size
    or another whole number, whichever gives them all to the paisa, or fits the prices as rounded.
    Shares without any trade count 1 each. Whoever needs a multiplier takes it from here.

    Args:
        rows: The trades, of which the first are the opening lots.
        groups: The trades by a key that contains the contract.
        where: Returns how a message names a row.
        given: The multipliers that the caller knows; they take precedence.
        lots: The opening lots, whose multipliers count where trades prove none.

    Raises:
        ValueError: If two trades of a contract count in different units, because their quantities
            cannot be added up, or a given multiplier is no whole number of at least 1.
    """
    first = groups.first()
    of_lots: dict[Key, int] = {}
    unproved: set[Key] = set()  # contracts with an opening lot without a multiplier
    for lot, number in zip(lots, groups.numbers() if lots else (), strict=False):
        contract = contract_of(rows[first[number]])
        if lot.multiplier is None:
            unproved.add(contract)
        elif lot.multiplier:
            _add_lot(of_lots, contract, lot.multiplier)
    of_groups: tuple[list[int], ...] = groups.multipliers(CONTRACT)
    # One object for all groups whose trades prove the same, unless something else counts too.
    is_shared = given is None and not lots
    shared = {one: Proof(one) for one in set(of_groups[0]) if is_shared and one > 0}
    proofs = []
    for row, proved, odd, other in zip(first, *of_groups, strict=True):
        if proved in shared and other < 0:
            proofs.append(shared[proved])
            continue
        contract = contract_of(rows[row])
        multiplier = proved if proved > 0 else None
        known = None if given is None else given(rows[row])
        if known is not None:
            if known.denominator != 1 or known < 1:
                raise ValueError(f"multipliers must be whole numbers of at least 1, not {known}")
            multiplier = int(known)
        elif other >= 0:
            raise ValueError(_units(rows, where, other, odd))
        elif contract in of_lots:
            multiplier = _add_lot(of_lots, contract, multiplier or of_lots[contract])
        elif proved == _UNSAID and contract[-1] is None and contract not in unproved:
            multiplier = 1  # a quantity of shares is counted in shares
        lacks = "" if multiplier is not None else _reason(rows, where, odd)
        proofs.append(Proof(multiplier, lacks))
    return proofs


def multipliers_at(
    trades: Slice, rows: Sequence[int], where: Callable[[int], str], given: Lookup | None
) -> list[Proof]:
    """Returns the multiplier of the contract of some trades; the row -1 is none and has none."""
    groups = _core.Groups([trades], CONTRACT)
    proofs = [*multipliers_of(trades, groups, where, given=given), Proof(None)]
    numbers = [*groups.numbers(), -1]
    return [proofs[numbers[row]] for row in rows]


def _add_lot(of_lots: dict[Key, int], contract: Key, multiplier: int) -> int:
    """Keeps the multiplier of a contract's lots, which must not have two."""
    known = of_lots.setdefault(contract, multiplier)
    if known != multiplier:
        raise ValueError(
            f"an opening lot of security_id {contract[-2]!r} has the multiplier {known}, but other "
            f"lots or trades of it have {multiplier}: convert its quantity"
        )
    return known


def _units(rows: Slice, where: Callable[[int], str], first: int, other: int) -> str:
    units = []
    for row in sorted((first, other)):
        trade = rows[row]
        product = trade.quantity * trade.traded_price
        unit = (
            f"quantity * traded_price * {round(trade.trade_value / product)}"
            if product
            else (f"{trade.trade_value} at a price of 0")
        )
        units.append(f"trade_value is {unit} in {where(row)}")
    return (
        f"trades of one contract count quantities in different units: {' and '.join(units)}: see "
        "trades.check(), then calculate them separately or pass `multipliers`"
    )


def _reason(rows: Slice, where: Callable[[int], str], odd: int) -> str:
    if odd < 0:
        return "no trade has a price and a value that prove it; pass `multipliers`"
    trade = rows[odd]
    return (
        f"trade_value {trade.trade_value} in {where(odd)} is no whole multiple of quantity "
        f"{trade.quantity} * traded_price {trade.traded_price}, or fits several; pass "
        "`multipliers`"
    )
