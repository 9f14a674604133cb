"""Which record of one book is which of an earlier one.

Records are matched by their declared identity and the day of their times. A value that a service
sends late, or loses for one response, must not make a new record of an old one, so what is left
over on both sides is matched again with missing values fitting any value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .. import _core
from .._util.declarations import RECORDS
from .issues import repeated

if TYPE_CHECKING:
    from datetime import date, datetime

    Identity = tuple[Any, ...]

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
# If a key has more rows than this on one side, they are paired in order, not compared one by one.
_MOST_COMPARED = 16


def paired(
    records: _core.Slice, previous: _core.Slice, values: Sequence[str]
) -> tuple[list[int | None], list[int]]:
    """Matches each record with the same one among earlier records.

    Args:
        records: The current records.
        previous: The earlier records, of the same type.
        values: The fields that make records of one key equal, or more or less alike.

    Returns:
        For each record its row in ``previous``, or None; then the rows of ``previous`` that have no
        match.
    """
    keys, known_keys = _keys(records), _keys(previous)
    known = {key: row for row, key in enumerate(known_keys)}
    if len(known) == len(known_keys) and len(set(keys)) == len(keys):
        matches = [known.pop(key, None) for key in keys]
        left = list(known.values())
    else:
        matches, left = _by_key(records, previous, keys, known_keys, values)
    if left and None in matches:
        _fit(records, previous, keys, known_keys, matches, left)
    return matches, left


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


def _by_key(
    records: _core.Slice,
    previous: _core.Slice,
    keys: list[Identity],
    known_keys: list[Identity],
    values: Sequence[str],
) -> tuple[list[int | None], list[int]]:
    """Matches records some of which have the same key: equal ones first, then the most alike."""
    matches: list[int | None] = [None] * len(keys)
    rows, known = _rows_by(keys), _rows_by(known_keys)
    for key, now_rows in rows.items():
        earlier = known.get(key, [])
        if len(now_rows) == len(earlier) == 1:
            matches[now_rows[0]] = earlier.pop()
        elif earlier:
            now = dict(zip(now_rows, _values(records, now_rows, values), strict=True))
            was = dict(zip(earlier, _values(previous, earlier, values), strict=True))
            for row, match in _closest(now, was):
                matches[row] = match
                earlier.remove(match)
    return matches, sorted(row for left in known.values() for row in left)


def _rows_by(keys: Iterable[Any]) -> defaultdict[Any, list[int]]:
    rows: defaultdict[Any, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    return rows


def _values(records: _core.Slice, rows: list[int], names: Sequence[str]) -> list[Identity]:
    return list(zip(*records.cells(rows, names), strict=True)) if names else [()] * len(rows)


def _closest(now: dict[int, Identity], was: dict[int, Identity]) -> list[tuple[int, int]]:
    """Pairs rows of one key, by their values; removes them from both."""
    pairs = []
    equal = defaultdict(list)
    for row, value in was.items():
        equal[value].append(row)
    for rows in equal.values():
        rows.reverse()
    for row, value in list(now.items()):
        if equal[value]:
            pairs.append((row, equal[value].pop()))
            del now[row], was[pairs[-1][1]]
    if max(len(now), len(was)) > _MOST_COMPARED:
        return [*pairs, *zip(now, was, strict=False)]
    for row, value in now.items():
        if was:
            match = min(was, key=lambda other: _differences(value, was[other]))
            pairs.append((row, match))
            del was[match]
    return pairs


def _differences(value: Identity, other: Identity) -> int:
    return sum(a != b for a, b in zip(value, other, strict=True))


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
        rows_with: defaultdict[Any, list[int]] = defaultdict(list)
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
