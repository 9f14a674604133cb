"""Comparison of two order books: which orders are new, changed or gone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from .. import _core
from .._util.declarations import RECORDS
from .._util.validate import shown
from ..display.text import instrument_name, value_of
from ..table.rows import Order

_KEY = RECORDS["Order"]["identity"]
_FIELDS = [
    field["name"]
    for field in RECORDS["Order"]["fields"]
    if field["kind"] != "timestamp" and not field["personal"]
]
# Whoever keeps a record keeps at most this many in memory.
_TOGETHER = 16
_ABSENT = object()


class OrderChange(NamedTuple):
    """An order that is new, has changed or is gone; its records own their storage.

    Attributes:
        kind: ``"new"``, ``"changed"`` or ``"gone"``. ``"gone"`` means that the order is no longer
            in the book. It does not say why; in particular, not that it was cancelled.
        order: The current record; the last known one if the order is gone.
        previous: The earlier record; ``None`` for a new order.
        fields: Wire names of the changed fields in the record's order, unknown fields last. Empty
            unless ``kind`` is ``"changed"``.
    """

    kind: Literal["new", "changed", "gone"]
    order: Order
    previous: Order | None
    fields: tuple[str, ...]

    def __repr__(self) -> str:
        order = self.order
        known = (self.kind, order.order_no, instrument_name(order), order.txn_type)
        what = " ".join(part for part in known if part)
        shown = [self._values(name) for name in self.fields[:4]]
        more = f" and {len(self.fields) - 4} more" if len(self.fields) > 4 else ""
        values = f" ({', '.join(shown)}{more})" if shown else ""
        return f"<OrderChange {what}{values}>"

    def _values(self, name: str) -> str:
        if _core.is_personal(name):
            return name
        values = f"{value_of(self.previous, name)!r} -> {value_of(self.order, name)!r}"
        return f"{name}: {_core.displayed(name, values)}"


def changes_of(
    orders: _core.Slice, previous: _core.Slice, ignore: Iterable[str]
) -> tuple[OrderChange, ...]:
    """Returns the changes in the order of ``orders``, then what is gone since ``previous``.

    Values count; timestamps, account numbers and the fields of ``ignore`` do not.
    """
    known = {key: row for row, key in enumerate(_keys(previous))}
    matches = [known.pop(key, None) for key in _keys(orders)]
    pairs = [(row, old) for row, old in enumerate(matches) if old is not None]
    fields = _differing(orders, previous, pairs, frozenset(ignore))
    wanted = [(row, old) for row, old in enumerate(matches) if old is None or row in fields]
    now = copies(orders, [row for row, _ in wanted])
    was = iter(copies(previous, [old for _, old in wanted if old is not None]))
    changes = [
        OrderChange("new", order, None, ())
        if old is None
        else OrderChange("changed", order, next(was), tuple(fields[row]))
        for order, (row, old) in zip(now, wanted, strict=True)
    ]
    gone = copies(previous, list(known.values()))
    return (*changes, *(OrderChange("gone", order, order, ()) for order in gone))


def _differing(
    orders: _core.Slice, previous: _core.Slice, pairs: list[tuple[int, int]], ignore: frozenset[str]
) -> dict[int, list[str]]:
    """Returns the fields that differ, for each row of ``orders`` that has changed."""
    found: dict[int, list[str]] = defaultdict(list)
    # Most polls begin with the orders of the one before, and most of these are equal.
    in_step = all(at == row == old for at, (row, old) in enumerate(pairs))
    shared = len(pairs)
    for name in _FIELDS:
        if name in ignore:
            continue
        now, was = orders.column(name), previous.column(name)
        if in_step and now[:shared] == was[:shared]:
            continue
        for row, old in pairs:
            if now[row] != was[old]:
                found[row].append(name)
    if orders.extra_names() or previous.extra_names():
        for row, old in pairs:
            a, b = map(_core.row_extras, (orders[row], previous[old]))
            for name in sorted(a.keys() | b.keys()):
                if name not in ignore and a.get(name, _ABSENT) != b.get(name, _ABSENT):
                    found[row].append(name)
    return found


def _keys(orders: _core.Slice) -> list[tuple[Any, ...]]:
    """Returns the identity of each order; those that repeat one also have their number."""
    keys: list[tuple[Any, ...]] = list(zip(*map(orders.column, _KEY), strict=True))
    if len(set(keys)) == len(keys):
        return keys
    seen: Counter[tuple[Any, ...]] = Counter()
    for row, key in enumerate(keys):
        seen[key] += 1
        if seen[key] > 1:
            keys[row] = (*key, seen[key])
    return keys


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
