"""The events of a ledger: opening lots, trades, changes of lots, and what contracts they are of.

Reads and checks them; the ledger puts them in the order of their time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime, time, tzinfo
from fractions import Fraction
from functools import cached_property, partial
from numbers import Rational
from typing import Any

from .. import _core
from .._core import Groups, Slice, Trade
from .._util import validate
from .._util.declarations import kinds_of
from .._util.validate import shown, text
from ..books.book import TradeBook
from ..books.issues import repeated
from ..table.conditions import moment_of
from .inputs import (
    Lookup,
    Multipliers,
    amount,
    as_conditions,
    day_from,
    days_of,
    days_text,
    is_missing,
    patched,
    rows_in,
    tables_of,
)
from .keys import (
    CODES,
    CONTRACT,
    KEY,
    KEYED,
    NAMES,
    REQUIRED,
    SOME_MISSING,
    VARIOUS,
    Key,
    Lead,
    contract_of,
    missing_expiries,
)
from .multipliers import Proof, multipliers_of
from .results import (
    ATTRIBUTES,
    LONG,
    NO_KEY,
    SHORT,
    Column,
    Lot,
    Lots,
    Note,
    Problem,
    about,
    unused,
)

# -- checks --


def check_codes(buy: str, sell: str) -> None:
    """Raises TypeError or ValueError unless the side codes are two different strings."""
    text("buy", buy)
    text("sell", sell)
    if buy == sell:
        raise ValueError(f"buy and sell must be two different codes, not {buy!r} twice")


def require_values(rows: Slice, *names: str) -> None:
    """Raises ValueError for the first row in which a required value is missing."""
    missing = rows.missing(names)
    if missing is not None:
        name, row = missing
        raise ValueError(
            f"{name} is missing in row {row} ({_trade(rows, row)}) and cannot be treated as zero: "
            "see `trades.issues`, then correct such rows, or leave them out with "
            f"`td.TradeBook(t for t in trades if t.{name} is not None)`"
        )


def _trade(rows: Slice, row: int) -> str:
    return f"trade_no {rows[row].trade_no!r}"


def require_sides(rows: Slice, buy: str, sell: str) -> None:
    """Raises ValueError for a transaction type that is neither code."""
    if {buy, sell}.issuperset(rows.distinct("txn_type")):
        return
    pass_codes = "pass the codes of the service as `buy` and `sell`"
    _refuse(rows, "txn_type", "ne", [buy, sell], f"neither {buy!r} nor {sell!r}: {pass_codes}")


def _refuse(rows: Slice, field: str, comparison: str, values: list[object], problem: str) -> None:
    """Raises ValueError for the first row whose field meets a condition."""
    refused = rows.where([(field, comparison, "all", False, values)])
    if len(refused):
        row = list(rows).index(refused[0])
        where = f"{field} is {refused[0][field]!r} in row {row} ({_trade(rows, row)})"
        raise ValueError(f"{where}, {problem}")


_IDENTITY = ("trade_no", *KEY, "order_no", "txn_type", "exch_trade_time.day")


def require_once(rows: Slice) -> None:
    """Raises ValueError for a trade that the book contains twice, which would count twice."""
    for first, row in repeated(rows, _IDENTITY):
        raise ValueError(
            f"rows {first} and {row} are one trade ({_trade(rows, row)}) and would count twice: "
            "keep one of each if they are equal, with td.TradeBook(dict.fromkeys(trades))"
        )


def require_fills(rows: Slice, buy: str, sell: str, *, timed: bool = False) -> None:
    """Raises ValueError for a row of trades that cannot be added up.

    That is a row that lacks a required value (with ``timed``, also ``exch_trade_time``), has
    another ``txn_type`` than the two codes or a quantity below 1, or appears twice.
    """
    check_codes(buy, sell)
    time = ["exch_trade_time"] if timed else []
    require_values(rows, *REQUIRED, "txn_type", "quantity", "trade_value", *time)
    require_sides(rows, buy, sell)
    at_least = "but a trade has at least 1: correct the row or leave it out"
    _refuse(rows, "quantity", "lt", [1], at_least)
    require_once(rows)


# -- lots --

GivenLots = Lots | Iterable[Lot | Mapping[str, Any]]

_FIELDS = tuple(kinds_of(Lot))
_NEEDED = (*REQUIRED, "quantity", "value")
_OF_LOT = ("side", "time", "value", "multiplier", "as_of", "by")  # fields that trades do not have
_EXPECTED = (
    "the argument {} takes lots, not {}: pass the open_lots of an earlier result, or one dict for "
    "each lot (of a data frame, frame.to_dict('records'))"
)


def read_lots(argument: str, lots: object) -> list[Lot]:
    """Returns the lots in the order given, with the expiry of their contract if they lack one.

    A ``multiplier`` of 0 is that of shares, unless trades prove another; None is not proved.

    Raises:
        TypeError: If ``lots`` is not a collection of lots, or a value has the wrong type.
        ValueError: If a lot is incomplete, unmatched, or has a value that a lot cannot have.
    """
    if isinstance(lots, (str, bytes, Mapping)) or not isinstance(lots, (Lots, Iterable)):
        raise TypeError(_EXPECTED.format(argument, type(lots).__name__))
    read = [_read(argument, at, lot) for at, lot in enumerate(lots)]
    expiries = missing_expiries(list(map(contract_of, read)))
    for at, expiry in expiries.items():
        known = read[at].multiplier or None
        read[at] = read[at]._replace(expiry_date=expiry, multiplier=known)
    return read


def _read(argument: str, at: int, lot: object) -> Lot:
    values = lot._asdict() if isinstance(lot, Lot) else lot
    if not isinstance(values, Mapping):
        raise TypeError(_EXPECTED.format(argument, f"{type(lot).__name__} (lot {at})"))
    read: dict[str, Any] = {"side": LONG}
    if CONTRACT[-1] not in values and "multiplier" not in values:
        read["multiplier"] = 0
    read |= {name: value for name, value in values.items() if not is_missing(value)}
    if isinstance(expiry := read.get("expiry_date"), datetime):  # pandas stores dates as times
        read["expiry_date"] = expiry.date()
    try:
        valid = Lot(**read)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"lot {at}: {error}") from None
    for name in _NEEDED:
        if getattr(valid, name) is None:
            raise ValueError(f"lot {at} has no {name}: it needs {', '.join(_NEEDED)}")
    if valid.side not in (LONG, SHORT):
        raise ValueError(f"lot {at}: side must be {LONG!r} or {SHORT!r}, not {valid.side!r}")
    if (
        valid.quantity < 1
        or values.get("multiplier", 1) in (0, False)
        or (valid.multiplier or 0) < 0
    ):
        raise ValueError(
            f"lot {at}: quantity and multiplier must be at least 1, not {valid.quantity} and "
            f"{valid.multiplier}; side={SHORT!r} marks a short lot"
        )
    return valid


def as_trades(lots: list[Lot], zone: tzinfo | None, buy: str, sell: str) -> Slice:
    """Returns the lots as trades, whose times are on the clock of this zone."""
    rows = [
        Trade(
            **{name: getattr(lot, name) for name in _FIELDS if name not in _OF_LOT},
            txn_type=buy if lot.side == LONG else sell,
            trade_value=lot.value,
            exch_trade_time=lot.time,
        )
        for lot in lots
    ]
    return _core.from_rows("Trade", rows).with_zone(zone)


def on_clock(lots: list[Lot], zone: tzinfo | None) -> list[Lot]:
    """Returns lots whose times are on the clock of a zone; a naive time is taken to be on it.

    Raises:
        ValueError: If the time of a lot has a zone and the trades have none.
    """
    moved = []
    for at, lot in enumerate(lots):
        words = {"time": f"lot {at}", "as_of": "as_of of a lot"}
        times = {
            name: time for name in words if (time := getattr(lot, name)) is not None and time.tzinfo
        }
        moves = {name: wall_clock(words[name], time, zone) for name, time in times.items()}
        moved.append(lot._replace(**moves) if moves else lot)
    return moved


def wall_clock(name: str, time: datetime, zone: tzinfo | None) -> datetime:
    """Returns a time on the clock of a zone; a naive one is taken to be on it."""
    if time.tzinfo is None:
        return time
    if zone is None:
        raise ValueError(
            f"{name}: its time has a zone, but the trades have none: localize the trades"
        )
    return time.astimezone(zone).replace(tzinfo=None)


# -- changes --

_REPLACEABLE = (*KEYED, *ATTRIBUTES, "multiplier")
Ratio = int | Fraction | Sequence[int]


@dataclass(frozen=True, slots=True)
class LotChange:
    """A change of the open lots that meet conditions, from a moment on.

    A split, a merger, a new ISIN, another series or exchange, a conversion of the product: lots
    keep their value, time and trade number. A bonus is no change, but an opening lot of value 0
    with the time of its allotment. Lots that would become such of which there are lots of the other
    side stay as they are, with an issue.

    Attributes:
        at: The moment, as a time, or as a day at whose beginning it is; also ISO text.
        where: Conditions as in ``lots.filter``, such as ``{"isin": "INE009A01021"}``; without any,
            all open lots change. A list, as TOML has it, stands for a set of values. A change that
            no lot matches is in the ``issues`` of the result.
        ratio: What quantities are multiplied by, and so prices divided by: a whole number, a
            ``Fraction`` or a pair, such as 10 for a split of 1 share into 10, or ``(1, 2)``. What
            is left of a share stays in the last lot, with an issue, unless ``cash`` pays for it.
            Lots that would have no whole share stay as they are, with an issue.
        replace: Fields that change, such as ``{"product": "C"}`` or ``{"isin": "INE009A01099"}``.
        quantity: Largest quantity that changes, of the first lots; ``None`` for all.
        into: Fields of a second lot that each lot also becomes, as in a demerger. ``ratio`` is then
            that of the second lot.
        cost: The fraction of the value that goes to the second lot.
        cash: What is paid for a whole new share where a fraction of one is left; ends that
            fraction, and realises what it is more than its cost.
        add: What is added to the value for each share held, without a change of quantity: a call on
            partly paid shares, or with a minus a return of capital.

    Example:
        >>> split = td.LotChange("2026-11-18", where={"symbol": "INFY"}, ratio=10)
        >>> td.realised_pnl(trades, changes=[split])
    """

    at: date | datetime | str
    _: KW_ONLY
    where: Mapping[str, Any] = field(default_factory=dict)
    ratio: Ratio = 1
    replace: Mapping[str, Any] = field(default_factory=dict)
    quantity: int | None = None
    into: Mapping[str, Any] | None = None
    cost: float | None = None
    cash: float | None = None
    add: float | None = None

    def __post_init__(self) -> None:
        _ = self._moment(), self.share  # raise for values that are none
        for name in ("where", "replace", "into"):
            value = getattr(self, name)
            if not isinstance(value, Mapping) and (value is not None or name != "into"):
                raise TypeError(f"{name} must be a dict, not {shown(value)}")
        Lots._of([]).filter(**as_conditions(self.where))
        for name, value in (*self.replace.items(), *(self.into or {}).items()):
            if name not in _REPLACEABLE:
                raise ValueError(f"{name} cannot be replaced: pass some of {_REPLACEABLE}")
            if value is None and name in REQUIRED:
                raise ValueError(f"{name} cannot be replaced by None: every lot needs it")
            Lot(**{name: value})  # raises for a value of the wrong type
        if (self.into is None) is not (self.cost is None):
            raise ValueError("into and cost go together: pass both or neither")
        reads: dict[str, Callable[[str, float], float]] = {"cost": amount, "cash": amount}
        reads |= {"quantity": validate.count, "add": partial(amount, signed=True)}
        for name, read in reads.items():
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, read(name, value))
        if self.cost is not None and self.cost > 1:
            raise ValueError(f"cost is a fraction of the value, such as 0.2, not {self.cost!r}")
        if self.cash is not None and self.share.denominator == 1:
            raise ValueError(
                f"cash is paid for a fraction of a share, which a ratio of {self.share} never "
                "leaves: leave it out, or pass what is paid for each share held as `add`"
            )
        if self.renews_multiplier and self.quantity is not None:
            raise ValueError("a multiplier is that of all lots of a contract: leave out quantity")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[LotChange, ...]:
        """Reads changes from a TOML file, one ``[[change]]`` table each.

        Args:
            path: The file. The keys of a table are the attributes of a change.

        Returns:
            The changes.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not TOML, or has anything but such tables with these fields.
        """
        return tables_of(path, "change", cls)

    @property
    def renews_multiplier(self) -> bool:
        """Whether it replaces the multiplier of its lots."""
        return "multiplier" in self.replace or "multiplier" in (self.into or {})

    def _moment(self) -> datetime:
        problem = f"at must be a date, a time or ISO text, not {shown(self.at)}"
        try:
            at = moment_of(self.at) if isinstance(self.at, str) else self.at
        except ValueError:
            raise ValueError(problem) from None
        if not isinstance(at, date):
            raise TypeError(problem)
        return at if isinstance(at, datetime) else datetime.combine(at, time.min)

    @property
    def share(self) -> Fraction:
        """``ratio`` as a fraction."""
        pair = self.ratio if isinstance(self.ratio, Sequence) else (self.ratio,)
        is_valid = [isinstance(part, Rational) and not isinstance(part, bool) for part in pair]
        if not 1 <= len(pair) <= 2 or not all(is_valid):
            raise TypeError(f"ratio must be an int, a Fraction or a pair, not {shown(self.ratio)}")
        if not all(part > 0 for part in pair):
            raise ValueError(f"ratio must be above 0, not {self.ratio!r}")
        return Fraction(*(Fraction(str(part)) for part in pair))  # without integers of NumPy


Timed = tuple[datetime, LotChange]


def moments_of(changes: object, zone: tzinfo | None) -> list[Timed]:
    """Returns changes with their moments on the clock of a zone, in order."""
    if not isinstance(changes, Sequence) or not all(isinstance(x, LotChange) for x in changes):
        raise TypeError(f"changes must be a sequence of td.LotChange, not {shown(changes)}")
    moments = [wall_clock("a change", change._moment(), zone) for change in changes]
    return sorted(zip(moments, changes, strict=True), key=lambda pair: pair[0])


def under(lot: Lot, contract: Key) -> Lot:
    """Returns a lot as one of another contract."""
    return lot._replace(**dict(zip(CONTRACT, contract, strict=True)))


def unmet(change: LotChange, lacks: str) -> Note:
    """Returns the issue of a change that did not find its lots."""
    return Note(
        NO_KEY, Problem.UNCHANGED, f"change of {change.at}, where {dict(change.where)}: {lacks}"
    )


# -- ISINs --

MATCH_BY = ("security_id", "isin")
DELIVERY = "C"  # the product whose purchases and sales are settled together, wherever they were
_ISIN, _TIME = "isin", "exch_trade_time"
_FORM = re.compile("[A-Z]{2}[A-Z0-9]{9}[0-9]")

Same = dict[Key, tuple[Key, ...]]  # by contract, those that are one security with it


def is_by_isin(match_by: object) -> bool:
    """Returns whether ISINs decide what is one security; raises for what is no such choice."""
    problem = f"match_by must be {' or '.join(map(repr, MATCH_BY))}, not {shown(match_by)}"
    if not isinstance(match_by, str):
        raise TypeError(problem)
    if match_by not in MATCH_BY:
        raise ValueError(problem)
    return match_by == MATCH_BY[1]


def is_isin(text: str | None) -> bool:
    """Returns whether text has the form of an ISIN, which placeholders such as NA do not have."""
    return text is not None and _FORM.fullmatch(text) is not None


def by_isin(
    rows: Slice, more: Sequence[Trade] = ()
) -> tuple[Slice, Same, dict[Key, Key], list[Note]]:
    """Returns rows of shares under the exchange and id of the last trade of their security.

    Rows of one account, client and product with one ISIN or one id are of one security; other
    products than delivery only within an exchange, where they are closed. What is no ISIN joins
    nothing, and is noted. Other rows (``more``) only join.

    Returns:
        The rows, the contracts of each security, the contract of each key and ISIN, and the issues.
    """
    groups = Groups([rows], [*KEY, _ISIN])
    keys = list(zip(*rows.cells(groups.first(), [*KEY, _ISIN]), strict=True))
    others = list(dict.fromkeys(tuple(row[name] for name in (*KEY, _ISIN)) for row in more))
    roots: dict[Key, Key] = {}

    def root(node: Key) -> Key:
        while roots.setdefault(node, node) != node:
            node = roots[node]
        return node

    def nodes(account: object, client: object, place: object, *others: object) -> tuple[Key, Key]:
        segment, security, _, product, isin = others
        holder = account, client, product, None if product == DELIVERY else place
        return (*holder, place, segment, security), (*holder, isin)

    notes = []
    for key in (*keys, *others):
        of_id, of_isin = nodes(*key)
        if is_isin(key[-1]):
            roots[root(of_id)] = root(of_isin)
        elif key[-1]:
            notes.append(about(Lead(*key[:-1]), Problem.NO_ISIN, f"{key[-1]!r}; matched by its id"))
    ends: dict[
        Key, tuple[datetime, int, Key]
    ] = {}  # by security: time and row of its last trade, and its contract
    moments = groups.extremes(_TIME, True)
    for key, moment, row in zip(keys, moments, groups.last(), strict=True):
        if key[5] is None:
            end = (moment or datetime.min).replace(tzinfo=None), row, key[2:6]
            security = root(nodes(*key)[0])
            ends[security] = max(ends.get(security, end), end, key=lambda last: last[:2])
    targets: dict[Key, Key] = {}
    same: dict[Key, dict[Key, None]] = {}
    for key in (*keys, *others):
        if key[5] is None:
            security = root(nodes(*key)[0])
            target = ends.setdefault(security, (datetime.min, -1, key[2:6]))[-1]
            targets[key] = target
            same.setdefault(target, {target: None})[key[2:6]] = None
    moved = {
        number: dict(zip(CONTRACT, targets[key], strict=True))
        for number, key in enumerate(keys)
        if targets.get(key, key[2:6]) != key[2:6]
    }
    numbers = groups.numbers() if moved else []
    changes = {row: moved[number] for row, number in enumerate(numbers) if number in moved}
    ids = {key: tuple(contracts) for key, contracts in same.items()}
    return patched(rows, changes), ids, targets, notes


# -- trades --

_ROWS = 5  # rows listed in an issue, at most


def strikes_of(
    rows: Slice, groups: Groups, numbers: Callable[[], Sequence[int]], *, are_changed: bool = False
) -> list[float | None]:
    """Returns the strike price of each key, the last that is known.

    ``are_changed`` says that rows behind those that are grouped may have other ones.
    """
    name = ATTRIBUTES[0]
    strikes: list[float | None]
    (strikes,) = rows.cells(groups.last(), [name])
    if are_changed or max(groups.likenesses(name), default=0) > SOME_MISSING:
        of_rows = numbers()
        strikes += [None] * (max(of_rows, default=-1) + 1 - len(strikes))
        for strike, number in zip(rows.column(name), of_rows, strict=True):
            strikes[number] = strikes[number] if strike is None else strike
    return strikes


def sides_of(
    rows: Slice, sides: Groups, keys: Sequence[int], buy: str, decimals: int
) -> dict[tuple[int, bool], tuple[int, int, int]]:
    """Returns the number, quantity and value of purchases and of sales, by key and whether bought.

    ``sides`` are groups by key and side, and ``keys`` has the number of each group's key.
    """
    (codes,) = rows.cells(sides.first(), ["txn_type"])
    quantities, values = sides.sums("quantity", 0), sides.sums("trade_value", decimals)
    columns = zip(keys, codes, sides.counts(), quantities, values, strict=True)
    return {
        (key, code == buy): (count, quantity or 0, value or 0)  # a row without one is refused
        for key, code, count, quantity, value in columns
    }


def average_of(quantity: int, value: int, multiplier: int | None, scale: int) -> float | None:
    """Returns the average price of a quantity that was traded for a value."""
    return value / (scale * quantity * multiplier) if quantity and multiplier else None


class Events:
    """Opening lots and trades, as rows whose expiry dates are complete.

    Attributes:
        lots: The opening lots, in the order of their rows.
        sent: The opening lots, then the trades, as they were sent.
        rows: The same rows, in which shares of one ISIN have one id if they are matched by it.
        opening: Number of opening lots.
        day: The day, if only its trades are here.
        days: The days of the trades.
        same: The contracts that are one security, by the contract that stands for them.
        notes: The issues found so far.
        given: The multipliers that the caller knows.
    """

    def __init__(
        self,
        trades: TradeBook,
        buy: str,
        sell: str,
        *,
        multipliers: Multipliers | None = None,
        lots: Sequence[Lot] = (),
        timed: bool = True,
    ) -> None:
        """Reads trades, which must be complete; their times only with ``timed``."""
        self.trades = trades
        rows = rows_in("trades", trades, TradeBook)
        require_fills(rows, buy, sell, timed=timed)
        self.day: date | None = None
        self.notes: list[Note] = []
        self.given = None if multipliers is None else Lookup("multipliers", multipliers)
        self.days = days_of(rows)
        self.lots = on_clock(_with_accounts(list(lots), rows), rows.zone)
        self.opening = len(self.lots)
        self._numbers: Sequence[int] = range(-self.opening, len(trades))
        if self.lots:
            rows = _core.join([as_trades(self.lots, rows.zone, buy, sell), rows])
        self._by_key = rows, Groups([rows], KEY)
        expiries = _missing_expiries(*self._by_key)
        self.rows = self.sent = patched(rows, expiries)
        self._completed = set(expiries)
        self.same: Same = {}

    def on(self, day: date | str | None) -> Events:
        """Returns the trades of a day only, for which there must be no lots; all if it is None."""
        if day is None:
            return self
        of_day = copy(self)
        of_day.day = day_from(day)
        require_known(of_day.day, self.days, self.lots)
        of_day.notes = self.notes + idle(of_day.day, self.days)
        at = self.traded(of_day.day)
        of_day.rows = of_day.sent = self.rows.take(at)
        of_day._numbers = [self._numbers[row] for row in at]
        of_day._completed = {new for new, row in enumerate(at) if row in self._completed}
        return of_day

    def joined(self, more: Sequence[Trade] = ()) -> dict[Key, Key]:
        """Makes shares of one ISIN one security, also with lots that changes make of others.

        Returns:
            What contract they are of, by account, client, contract, product and ISIN.
        """
        self.rows, self.same, targets, notes = by_isin(self.sent, more)
        self.notes += notes
        if self.given is not None:
            self.given.same = self.same
        return targets

    def traded(self, day: date) -> list[int]:
        """Returns the rows of the trades of a day."""
        groups = Groups([self.rows], ["exch_trade_time.day"])
        (times,) = self.rows.cells(groups.first(), ["exch_trade_time"])
        wanted = [time is not None and time.date() == day for time in times]
        numbers = groups.numbers()[self.opening :]
        return [row for row, number in enumerate(numbers, self.opening) if wanted[number]]

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

    def all_keys(self) -> list[Key]:
        """Returns the keys of the rows."""
        return list(zip(*self.rows.cells(self.by_key.first(), KEY), strict=True))

    def leading(self) -> list[Column]:
        """Returns the leading columns of each key, with the names of its last row."""
        return [(self.rows, self.by_key.first(), KEY), (self.rows, self.by_key.last(), NAMES)]

    @cached_property
    def proofs(self) -> list[Proof]:
        """The multiplier of each key."""
        return multipliers_of(self.rows, self.by_key, self.where, given=self.given, lots=self.lots)

    def all_notes(self) -> list[Note]:
        """Returns the issues found so far, and those of keys and rows."""
        names = self.rows.cells(self.by_key.last(), NAMES)
        leads = [Lead(*key, *of_key) for key, *of_key in zip(self.all_keys(), *names, strict=True)]
        notes = [*self.notes]
        for lead, proof in zip(leads, self.proofs, strict=True):
            if proof.multiplier is None:
                notes.append(about(lead, Problem.UNPROVED, proof.lacks))
        notes += self.odd_rows(self.by_key.numbers, leads)
        notes += self.odd_keys(self.by_key, leads)
        if self.given is not None:
            contracts = [lead.contract for lead in leads]
            notes += unused("multipliers", self.given.unmatched(contracts))
        return notes

    def of_rows(
        self, problem: str, rows: Iterable[int], numbers: Sequence[int], leads: Sequence[Lead]
    ) -> list[Note]:
        """Returns the issues of rows, by key; ``numbers`` has the number of each row's key."""
        by_key: dict[int, list[int]] = {}
        for row in rows:
            by_key.setdefault(numbers[row], []).append(row)
        notes = []
        for number, of_key in by_key.items():
            text = ", ".join(map(self.where, of_key[:_ROWS])) + ", ..." * (len(of_key) > _ROWS)
            notes.append(about(leads[number], problem, text, len(of_key)))
        return notes

    @cached_property
    def odd(self) -> dict[str, list[int]]:
        """The rows that took the expiry of their id, and those at a price of 0."""
        problems = {Problem.NO_EXPIRY: sorted(self._completed), Problem.FREE: []}
        if len(self.rows.where([("traded_price", "eq", "all", False, [0.0])])):
            prices = enumerate(self.rows.column("traded_price"))
            problems[Problem.FREE] = [row for row, price in prices if price == 0]
        return problems

    def odd_rows(
        self,
        numbers: Callable[[], Sequence[int]],
        leads: Sequence[Lead],
        is_counted: Callable[[int], bool] = lambda row: True,
    ) -> list[Note]:
        """Returns the issues of rows that count, by key."""
        rows = {problem: [*filter(is_counted, odd)] for problem, odd in self.odd.items() if odd}
        keys = numbers() if any(rows.values()) else []
        notes: list[Note] = []
        for problem, of_problem in rows.items():
            notes += self.of_rows(problem, of_problem, keys, leads)
        return notes

    def odd_keys(self, groups: Groups, leads: Sequence[Lead]) -> list[Note]:
        """Returns the issues of keys whose rows disagree, and of codes that look alike."""
        notes = [
            Note(leads[number], Problem.DIFFERENT, f"{leads[number]} has several {name}")
            for name in ATTRIBUTES[:2]
            for number, likeness in enumerate(groups.likenesses(name))
            if likeness & VARIOUS
        ]
        columns = dict(zip(KEY, self.rows.cells(groups.first(), KEY), strict=True))
        for name in CODES:
            spelled: dict[str, dict[str, None]] = {}
            for code in dict.fromkeys(columns[name]):
                spelled.setdefault(code.strip().casefold(), {})[code] = None
            for codes in spelled.values():
                if len(codes) > 1:
                    text = f"{name} {' and '.join(map(repr, codes))} count as different"
                    notes.append(Note(NO_KEY, Problem.ALIKE, text, len(codes)))
        return notes


def require_known(day: date, days: Sequence[date], lots: Iterable[Lot]) -> None:
    """Raises ValueError for a day before all that is known."""
    times = [lot.time for lot in lots]
    known = {*days, *(time.date() for time in times if time is not None)}
    if known and day < min(known) and None not in times:
        raise ValueError(f"{day} is before all that is known: {days_text(sorted(known))}")


def idle(day: date, days: Sequence[date]) -> list[Note]:
    """Returns the issue of a day without trades."""
    if day in days:
        return []
    text = f"none on {day}" + (f"; the book has {days_text(days)}" if days else "")
    return [Note(NO_KEY, Problem.IDLE, text)]


def _with_accounts(lots: list[Lot], trades: Slice) -> list[Lot]:
    """Returns lots with the account of their client's trades, where one of them has no label."""
    accounts: dict[str | None, list[str | None]] = {}
    pair = KEY[:2]
    first = Groups([trades], pair).first() if lots else []
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


def _missing_expiries(rows: Slice, groups: Groups) -> dict[int, dict[str, object]]:
    """Returns the expiry of their contract for the rows that lack it."""
    of_contracts, of_ids = groups.coarser(CONTRACT), groups.coarser(CONTRACT[:-1])
    if of_contracts == of_ids:  # each id has one expiry, or none
        return {}
    expiries = missing_expiries(list(zip(*rows.cells(groups.first(), CONTRACT), strict=True)))
    numbers = enumerate(groups.numbers() if expiries else [])
    return {row: {CONTRACT[-1]: expiries[group]} for row, group in numbers if group in expiries}
