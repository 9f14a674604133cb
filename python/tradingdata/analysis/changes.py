"""Changes of open lots that no trade makes: splits, mergers, new ISINs, conversions, demergers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date, datetime, time, tzinfo
from decimal import Decimal
from fractions import Fraction
from math import floor
from numbers import Rational
from typing import Any

from .. import _core
from .._util import validate
from .._util.validate import shown
from ..table.conditions import moment_of
from .inputs import amount, as_conditions, tables_of
from .isins import Same
from .issues import EARLIER, FRACTION, NO_KEY, UNCHANGED, Note, about
from .keys import CONTRACT, KEYED, REQUIRED, Key, contract_of, key_of, lead_of
from .realised import ATTRIBUTES, Lot, Lots, wall_clock

_REPLACEABLE = (*KEYED, *ATTRIBUTES, "multiplier")
Ratio = int | Fraction | Sequence[int]


@dataclass(frozen=True, slots=True)
class LotChange:
    """A change of the open lots that meet conditions, from a moment on.

    A split, a merger, a new ISIN, another series or exchange, a conversion of the product: lots
    keep their value, time and trade number. A bonus is no change, but an opening lot of value 0
    with the time of its allotment.

    Attributes:
        at: The moment, as a time, or as a day at whose beginning it is; also ISO text.
        where: Conditions as in ``lots.filter``, such as ``{"isin": "INE009A01021"}``; without any,
            all open lots change. A list, as TOML has it, stands for a set of values. A change that
            no lot matches is in the ``issues`` of the result.
        ratio: What quantities are multiplied by, and so prices divided by: a whole number, a
            ``Fraction`` or a pair, such as 10 for a split of 1 share into 10, or ``(1, 2)``. What
            is left of a share stays in the last lot, with an issue.
        replace: Fields that change, such as ``{"product": "C"}`` or ``{"isin": "INE009A01099"}``.
        quantity: Largest quantity that changes, of the first lots; ``None`` for all.
        into: Fields of a second lot that each lot also becomes, as in a demerger. ``ratio`` is then
            that of the second lot.
        cost: The fraction of the value that goes to the second lot.

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

    def __post_init__(self) -> None:
        self._moment()
        self._ratio()
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
        if self.quantity is not None:
            object.__setattr__(self, "quantity", validate.count("quantity", self.quantity))
        if (self.into is None) is not (self.cost is None):
            raise ValueError("into and cost go together: pass both or neither")
        if self.cost is not None:
            object.__setattr__(self, "cost", amount("cost", self.cost))
            if self.cost > 1:
                raise ValueError(f"cost is a fraction of the value, such as 0.2, not {self.cost!r}")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[LotChange, ...]:
        """Reads changes from a TOML file, one ``[[change]]`` table each.

        Raises:
            OSError: The file cannot be read.
            ValueError: It is not TOML, or has anything but such tables with these fields.
        """
        return tables_of(path, "change", cls)

    def _moment(self) -> datetime:
        problem = f"at must be a date, a time or ISO text, not {shown(self.at)}"
        try:
            at = moment_of(self.at) if isinstance(self.at, str) else self.at
        except ValueError:
            raise ValueError(problem) from None
        if not isinstance(at, date):
            raise TypeError(problem)
        return at if isinstance(at, datetime) else datetime.combine(at, time.min)

    def _ratio(self) -> Fraction:
        pair: Any = self.ratio if isinstance(self.ratio, Sequence) else (self.ratio,)
        is_valid = [isinstance(part, Rational) and not isinstance(part, bool) for part in pair]
        if not 1 <= len(pair) <= 2 or not all(is_valid):
            raise TypeError(f"ratio must be an int, a Fraction or a pair, not {shown(self.ratio)}")
        if not all(part > 0 for part in pair):
            raise ValueError(f"ratio must be above 0, not {self.ratio!r}")
        return Fraction(*(Fraction(str(part)) for part in pair))  # without integers of NumPy


Timed = tuple[datetime, LotChange]


def moments_of(changes: Any, zone: tzinfo | None) -> list[Timed]:
    """Returns changes with their moments on the clock of a zone, in order."""
    if not isinstance(changes, Sequence) or not all(isinstance(x, LotChange) for x in changes):
        raise TypeError(f"changes must be a sequence of td.LotChange, not {shown(changes)}")
    moments = [wall_clock("a change", change._moment(), zone) for change in changes]
    return sorted(zip(moments, changes, strict=True), key=lambda pair: pair[0])


def begun(
    lots: list[Lot], changes: list[Timed], zone: tzinfo | None, first: date | None, same: Same
) -> tuple[list[Lot], list[Note]]:
    """Returns opening lots after the changes that are due before the first trade.

    A lot without ``as_of`` is as it was at the beginning of the first day.
    """
    notes: list[Note] = []
    for at, change in changes:
        due, waits, is_earlier = _lots_meeting(lots, change, same), not lots, False
        for lot in lots:
            since = lot.as_of and wall_clock("as_of of a lot", lot.as_of, zone)
            if since is not None and since >= at:
                due.discard(lot)
                continue
            waits = True
            if since is None and first is None and lot in due:
                raise ValueError(f"the lot of {lead_of(lot)} needs as_of: what changes are in it?")
            if since is None and first is not None and at.date() < first and lot in due:
                text = f"{at} is before the first trade, and the lot has no as_of"
                notes.append(about(lead_of(lot), EARLIER, text))
                due.discard(lot)
                is_earlier = True
        if due or (waits and not is_earlier):
            lots, left_over = after_change(lots, change, same, due)
            notes += left_over
    return lots, notes


def after_change(
    lots: list[Lot], change: LotChange, same: Same, due: set[Lot] | None = None
) -> tuple[list[Lot], list[Note]]:
    """Returns lots after a change, what is left of their shares, and what the change lacked.

    Of ``same``, a lot meets the conditions under any id of its security.
    """
    due = _lots_meeting(lots, change, same) if due is None else due
    ratio, most = change._ratio(), change.quantity
    after: list[Lot] = []
    states: dict[Key, _Changed] = {}
    for lot in lots:
        taken = lot.quantity if most is None else min(most, lot.quantity)
        if lot not in due or not taken:
            after.append(lot)
            continue
        most = None if most is None else most - taken
        value, rest = _shared(lot.value, Fraction(taken, lot.quantity))
        fields = change.replace
        if change.into is not None:
            kept, value = _shared(value, 1 - Fraction(repr(change.cost)))
            after.append(_with(lot, taken, kept, fields))
            fields = change.into
        state = states.setdefault(key_of(lot), _Changed(lot))
        quantity = floor(ratio * (state.quantity + taken)) - floor(ratio * state.quantity)
        state.quantity += taken
        state.value += Fraction(repr(value))
        if quantity:
            state.last = len(after)
            after.append(_with(lot, quantity, float(state.value), fields))
            state.value = Fraction(0)
        if taken < lot.quantity:
            after.append(_with(lot, lot.quantity - taken, rest, {}))
    notes = []
    if most or not states:
        lacks = f"{most} of {change.quantity} not held" if states and most else "no lot matches"
        notes.append(unmet(change, lacks))
    for state in states.values():
        if state.last is None:
            raise ValueError(
                f"the change of {change.at} makes {ratio * state.quantity} of a share of "
                f"{lead_of(state.lot)}, which no lot can hold: leave these lots out with `where`, "
                "and count what was paid for the fraction apart"
            )
        last = after[state.last]
        value = float(Fraction(repr(last.value)) + state.value)
        after[state.last] = _with(last, last.quantity, value, {})
        if part := ratio * state.quantity % 1:
            text = f"{part} of one, whose value is in the last lot"
            notes.append(about(lead_of(last), FRACTION, text))
    if change.replace or change.into:  # which may have joined lots of another key
        after.sort(key=lambda lot: lot.time.replace(tzinfo=None) if lot.time else datetime.min)
    return after, notes


@dataclass
class _Changed:
    """What has changed of one key: a lot, its quantity, value without a share, and its last lot."""

    lot: Lot
    quantity: int = 0
    value: Fraction = Fraction(0)
    last: int | None = None


def _lots_meeting(lots: list[Lot], change: LotChange, same: Same) -> set[Lot]:
    known: dict[Lot, Lot] = {lot: lot for lot in lots}
    for ids in same.values():
        for lot in lots if len(ids) > 1 else ():
            if contract_of(lot) in ids:
                known |= {under(lot, contract): lot for contract in ids}
    table = Lots._over(_core.from_rows(Lot, [*known]))
    return {known[row] for row in table.filter(**as_conditions(change.where))}


def under(lot: Lot, contract: Key) -> Lot:
    """Returns a lot as one of another contract."""
    return lot._replace(**dict(zip(CONTRACT, contract, strict=True)))


def unmet(change: LotChange, lacks: str) -> Note:
    """Returns the issue of a change that did not find its lots."""
    return Note(NO_KEY, UNCHANGED, f"change of {change.at}, where {dict(change.where)}: {lacks}")


def require_one_side(lots: list[Lot], keys: Iterable[Key], cause: str, remedy: str) -> None:
    """Raises ValueError for a key with long and short lots at once, which close each other."""
    sides: dict[Key, str] = {}
    for lot, key in zip(lots, keys, strict=True):
        if sides.setdefault(key, lot.side) != lot.side:
            raise ValueError(
                f"{cause} long and short lots of {lead_of(lot)}, product {key[-1]}: {remedy}"
            )


def _shared(value: float, part: Fraction) -> tuple[float, float]:
    """Returns a part of a value to its smallest decimal, at least the paisa, and the rest."""
    exact = Decimal(repr(value))
    unit = 10 ** max(2, -int(exact.as_tuple().exponent))
    units = int(exact * unit)
    share = floor(units * part)
    return share / unit, (units - share) / unit


def _with(lot: Lot, quantity: int, value: float, fields: Mapping[str, Any]) -> Lot:
    return lot._replace(**fields, quantity=quantity, value=value)
