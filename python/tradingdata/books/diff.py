"""Comparison of two books: which record is which, and which are new, changed or gone.

Records are matched by their declared identity and the day of their times. A value that a service
sends late, or loses for one response, must not make a new record of an old one, so what is left
over on both sides is matched again with missing values fitting any value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .. import _core
from .._util.declarations import RECORDS
from .._util.validate import shown
from ..display import instrument_name, value_of
from ..table.rows import Order, Trade
from .issues import repeated

if TYPE_CHECKING:
    from datetime import date, datetime

    Identity = tuple[Any, ...]

_COUNTED = [
    field["name"]
    for field in RECORDS["Order"]["fields"]
    if field["kind"] != "timestamp" and not field["personal"]
]
# The fields of a trade that calculations use.
_EXECUTED = ("txn_type", "quantity", "traded_price")
# Keeping one record alive retains at most this many.
_TOGETHER = 16
_ABSENT = object()
_NOTHING = (None, "")


class OrderChange(NamedTuple):
    """An order that is new, has changed, is gone or has returned; its records own their storage.

    Attributes:
        kind: ``"new"``, ``"changed"``, ``"gone"`` or, from a watch, ``"returned"``. ``"gone"``
            means that the order is no longer in the book. It does not say why; in particular, not
            that it was cancelled. ``"returned"`` means that it is in the book again.
        order: The current record; the last known one if the order is gone.
        previous: The last known record before; ``None`` for a new order.
        fields: Wire names of the fields that differ in the two records, in the record's order,
            unknown fields last. Empty for a new order, one that is gone, and one that has returned
            as it was.
    """

    kind: Literal["new", "changed", "gone", "returned"]
    order: Order
    previous: Order | None
    fields: tuple[str, ...]

    def __repr__(self) -> str:
        order = self.order
        known = (self.kind, order.order_no, instrument_name(order), order.txn_type)
        return _change_text(self, known, self.previous, order)


class TradeChange(NamedTuple):
    """A trade reported before that has changed; its records own their storage.

    The quantity executed changes by that of ``trade`` minus that of ``previous``, where ``None``
    counts as 0.

    Attributes:
        kind: ``"corrected"``: its quantity, price or side differs. ``"busted"``: it is no longer in
            a book that is otherwise there. ``"returned"``: it was busted, and is there again.
        trade: The current record; ``None`` for a busted trade.
        previous: The record before; ``None`` for a trade that has returned.
        fields: Wire names of the fields that differ. Empty unless ``kind`` is ``"corrected"``.
    """

    kind: Literal["corrected", "busted", "returned"]
    trade: Trade | None
    previous: Trade | None
    fields: tuple[str, ...]

    def __repr__(self) -> str:
        trade: Any = self.previous if self.trade is None else self.trade
        known = (self.kind, trade.trade_no, instrument_name(trade), trade.txn_type)
        return _change_text(self, known, self.previous, trade)


def _change_text(
    change: OrderChange | TradeChange, known: Iterable[str | None], before: Any, now: Any
) -> str:
    def values(name: str) -> str:
        if _core.is_personal(name):
            return name
        both = f"{value_of(before, name)!r} -> {value_of(now, name)!r}"
        return f"{name}: {_core.displayed(name, both)}"

    what = " ".join(part for part in known if part)
    shown = [values(name) for name in change.fields[:4]]
    more = f" and {len(change.fields) - 4} more" if len(change.fields) > 4 else ""
    differences = f" ({', '.join(shown)}{more})" if shown else ""
    return f"<{type(change).__name__} {what}{differences}>"


class Comparison(NamedTuple):
    """What has happened to the records of a book since earlier ones.

    Attributes:
        matches: For each record the row of the same one among the earlier records, or None.
        left: The rows of the earlier records that have no match.
        fields: By row, the fields of a record that differ from the earlier one.
    """

    matches: list[int | None]
    left: list[int]
    fields: dict[int, list[str]]


def compare(records: _core.Slice, previous: _core.Slice, ignore: Iterable[str] = ()) -> Comparison:
    """Compares the records of two books of one type; of trades, only what was executed.

    Of orders, all values count but timestamps, account numbers and the fields of ``ignore``.
    """
    is_order = records.record == "Order"
    ignored = frozenset(ignore)
    names = [name for name in (_COUNTED if is_order else _EXECUTED) if name not in ignored]
    matches, left = paired(records, previous, names)
    pairs = [(row, old) for row, old in enumerate(matches) if old is not None]
    fields = _differing(records, previous, pairs, names)
    if is_order and (records.extra_names() or previous.extra_names()):
        for row, old in pairs:
            a, b = map(_core.row_extras, (records[row], previous[old]))
            for name in sorted(a.keys() | b.keys()):
                if name not in ignored and a.get(name, _ABSENT) != b.get(name, _ABSENT):
                    fields[row].append(name)
    return Comparison(matches, left, fields)


def _differing(
    records: _core.Slice,
    previous: _core.Slice,
    pairs: list[tuple[int, int]],
    names: Sequence[str],
) -> defaultdict[int, list[str]]:
    """Returns the fields that differ, by row of ``records``.

    Empty text and a missing value count as equal: a CSV file has one for both.
    """
    fields: defaultdict[int, list[str]] = defaultdict(list)
    # Most books begin with the records of the one before, and most of these are equal.
    in_step = all(at == row == old for at, (row, old) in enumerate(pairs))
    shared = len(pairs)
    for name in names:
        now, was = records.column(name), previous.column(name)
        if in_step and now[:shared] == was[:shared]:
            continue
        for row, old in pairs:
            if now[row] != was[old] and not (now[row] in _NOTHING and was[old] in _NOTHING):
                fields[row].append(name)
    return fields


def changes_of(
    orders: _core.Slice, previous: _core.Slice, compared: Comparison, *, present: int
) -> tuple[OrderChange, ...]:
    """Returns the changes in the order of ``orders``, then what is gone since ``previous``.

    Args:
        orders: The current orders.
        previous: The earlier orders, of which the first ``present`` were in the last book; the
            others had left it before, and return.
        compared: How the two compare.
        present: Number of orders in the last book.
    """
    wanted = [
        (row, old)
        for row, old in enumerate(compared.matches)
        if old is None or old >= present or row in compared.fields
    ]
    now = copies(orders, [row for row, _ in wanted])
    was = iter(copies(previous, [old for _, old in wanted if old is not None]))
    changes = [
        OrderChange("new", order, None, ())
        if old is None
        else OrderChange(
            "changed" if old < present else "returned",
            order,
            next(was),
            tuple(compared.fields.get(row, ())),
        )
        for order, (row, old) in zip(now, wanted, strict=True)
    ]
    gone = copies(previous, [row for row in compared.left if row < present])
    return (*changes, *(OrderChange("gone", order, order, ()) for order in gone))


def copies(records: _core.Slice, rows: list[int]) -> list[Any]:
    """Returns the records of some rows, of which keeping one alive keeps few others."""
    parts = (rows[at : at + _TOGETHER] for at in range(0, len(rows), _TOGETHER))
    return [record for part in parts for record in records.take(part)]


def checked_ignore(ignore: Iterable[str]) -> list[str]:
    """Returns the names of fields to ignore, as a list; raises TypeError for anything but names."""
    names = list(ignore)
    if isinstance(ignore, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"ignore= takes a collection of field names, not {shown(ignore)}")
    return names


# The second number of a record, and the values that must fit too if the first number is missing.
_SECOND = {"Trade": "order_no", "Order": "exch_order_no"}
_PROOF = {
    "Trade": ("security_id", "txn_type", "quantity", "traded_price"),
    "Order": ("security_id", "txn_type", "quantity"),
}
# The times whose days distinguish records with the same number. The day on which the exchange
# received an order is not among them: an order for several days may reach it on each.
_DAYS = {
    "Trade": RECORDS["Trade"]["event_times"],
    "Order": RECORDS["Order"]["event_times"][:1],
}


def paired(
    records: _core.Slice, previous: _core.Slice, values: Sequence[str]
) -> tuple[list[int | None], list[int]]:
    """Matches each record with the same one among earlier records.

    Args:
        records: The current records.
        previous: The earlier records, of the same type.
        values: Fields to compare where several records have the same key. Those that agree in all
            of them are matched first, the rest in order.

    Returns:
        For each record its row in ``previous``, or None; then the rows of ``previous`` that have no
        match.
    """
    keys, known_keys = _keys(records), _keys(previous)
    matches: list[int | None] = [None] * len(keys)
    left = list(range(len(known_keys)))
    if len(set(keys)) < len(keys) or len(set(known_keys)) < len(known_keys):
        equal = _with_values(records, keys, values), _with_values(previous, known_keys, values)
        left = _match(matches, left, *equal)
    left = _match(matches, left, keys, known_keys)
    if left and None in matches:
        _fit(records, previous, keys, known_keys, matches, left)
    return matches, left


def _match(
    matches: list[int | None], left: list[int], now: list[Identity], was: list[Identity]
) -> list[int]:
    """Pairs rows of the same identity, in order, in ``matches``; returns the rows left over."""
    rows: defaultdict[Identity, list[int]] = defaultdict(list)
    for row in reversed(left):
        rows[was[row]].append(row)
    for row, identity in enumerate(now):
        if matches[row] is None and rows[identity]:
            matches[row] = rows[identity].pop()
    return sorted(row for unmatched in rows.values() for row in unmatched)


def distinct(trades: _core.Slice) -> _core.Slice:
    """Returns the trades without those that a book lists once more.

    A trade without a number is not recognised as such.
    """
    days = (f"{name}.day" for name in _DAYS["Trade"])
    again = {row for _, row in repeated(trades, [*RECORDS["Trade"]["identity"], *days])}
    return trades.take([row for row in range(len(trades)) if row not in again]) if again else trades


def _keys(records: _core.Slice) -> list[Identity]:
    """Returns the identity of each record, with the days of its times; the number comes first."""
    record = RECORDS[records.record]
    days = (map(_day_of, records.column(name)) for name in _DAYS[record["name"]])
    return list(zip(*map(records.column, record["identity"]), *days, strict=True))


def _day_of(moment: datetime | None) -> date | None:
    return None if moment is None else moment.date()


def _with_values(
    records: _core.Slice, keys: list[Identity], names: Sequence[str]
) -> list[Identity]:
    """Returns the identity and the values of each record; empty text and None count as equal."""
    columns = ([None if x == "" else x for x in records.column(name)] for name in names)
    return list(zip(keys, *columns, strict=True))


def _values(records: _core.Slice, rows: list[int], names: Sequence[str]) -> list[Identity]:
    return list(zip(*records.cells(rows, names), strict=True))


def _fit(
    records: _core.Slice,
    previous: _core.Slice,
    keys: list[Identity],
    known_keys: list[Identity],
    matches: list[int | None],
    left: list[int],
) -> None:
    """Matches what is left where all known values agree; updates ``matches`` and ``left``."""
    rows = [row for row, match in enumerate(matches) if match is None]
    facts = _SECOND[records.record], *_PROOF[records.record]
    now = [
        (*keys[row], *more) for row, more in zip(rows, _values(records, rows, facts), strict=True)
    ]
    was = {
        row: (*known_keys[row], *more)
        for row, more in zip(left, _values(previous, left, facts), strict=True)
    }
    # A record that is found by its number has to agree in its key; by its second number, in all
    # facts.
    second = len(keys[0])
    for place, length in (0, second), (second, second + len(facts)):
        rows_with: defaultdict[object, list[int]] = defaultdict(list)
        for row, values in was.items():
            rows_with[values[place]].append(row)
        for row, values in zip(rows, now, strict=True):
            if matches[row] is not None or _is_missing(values[place]):
                continue
            for match in rows_with[values[place]]:
                if match in was and _may_be_same(values[:length], was[match][:length]):
                    matches[row] = match
                    del was[match]
                    break
    left[:] = was


def _may_be_same(values: Identity, others: Identity) -> bool:
    return all(
        value == other or _is_missing(value) or _is_missing(other)
        for value, other in zip(values, others, strict=True)
    )


def _is_missing(value: object) -> bool:
    return value is None or value == ""
