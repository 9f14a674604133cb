"""What an archive means: a day is the fold of its responses, in the order they were received.

Open this file first. Everything else stores responses, finds those of a day, and shows the rows
that `fold` gives for them, for one account and one book at a time.

Of two rows of one record, the one that was received later stays. If responses were lost, the fold
begins with the rows that the day's file has of them; two rows that are both in that file leave each
other alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

from .._core import Slice


class Row(NamedTuple):
    """A row of a response or of a day's file; times are microseconds since 1970, in UTC.

    Attributes:
        key: Its number (of the trade, of the order); the tuple of all its values if it has none.
        identity: The other fields that tell the records of one number apart.
        side: Buy or sale, which a correction may change.
        dated: Whether it has a time of its own.
        fetch_id: The id of the response that showed it last.
        received_at: When that was received; 0 if it is not known.
        last_seen: When a complete response showed it last; None for a row of partial books.
        table: The table with its values.
        place: Its place in the table.
    """

    key: Hashable
    identity: tuple[object, ...]
    side: object
    dated: bool
    fetch_id: str
    received_at: int
    last_seen: int | None
    table: Slice
    place: int

    @property
    def name(self) -> tuple[object, ...]:
        """What tells it from all other rows but those that share its fate."""
        return self.fetch_id, self.key, self.identity, self.side, self.dated


class Part(NamedTuple):
    """The part of a response that concerns one day.

    Attributes:
        rows: Its rows of the day.
        elsewhere: Its rows of other days that have a time.
    """

    rows: Sequence[Row]
    elsewhere: Sequence[Row] = ()


def fold(
    parts: Iterable[Part], state: Sequence[Row] = (), file: Collection[object] = ()
) -> Sequence[Row]:
    """Returns the rows of a day after some more responses, the oldest first.

    Args:
        parts: What the responses have of the day.
        state: The rows before them.
        file: The names of all rows of the day's file, if the state is what it has of lost ones.
    """
    for part in parts:
        state = step(state, part, file)
    return state


def step(state: Sequence[Row], part: Part, file: Collection[object] = ()) -> Sequence[Row]:
    """Returns the rows of a day after one more response.

    A row of the response replaces the row of the same record. What the response lacks stays: an
    order book that the service has cleared removes nothing. A row without a time falls when the
    response has its record with a time, which is of another day. The same response once more
    changes nothing.
    """
    if not state:
        return part.rows
    places: dict[Hashable, list[int]] = {}
    for place, row in enumerate(state):
        places.setdefault(row.key, []).append(place)
    counts = Counter(row.key for row in part.rows)
    gone: set[int] = set()
    rows = []
    for row in part.rows:
        known = places.get(row.key, ())
        is_single = len(known) == 1 == counts[row.key]
        seen, is_late = row.last_seen, False
        for place in known:
            old = state[place]
            if _is_same(old, row, is_single=is_single) and not _are_in(file, old, row):
                if old.received_at > row.received_at:
                    is_late = True
                else:
                    gone.add(place)
                    seen = seen or old.last_seen
        if not is_late:
            rows.append(row if seen == row.last_seen else row._replace(last_seen=seen))
    for row in part.elsewhere:
        for place in places.get(row.key, ()):
            old = state[place]
            if not old.dated and old.received_at <= row.received_at and _is_part(old, row):
                gone.add(place)
    return [row for place, row in enumerate(state) if place not in gone] + rows


def _are_in(file: Collection[object], *rows: Row) -> bool:
    return bool(file) and all(row.name in file for row in rows)


def _is_same(old: Row, new: Row, *, is_single: bool) -> bool:
    """Returns whether two rows of one key are of one record.

    A number that each of the two has once is one record unless a field that both have differs. If
    one of them has it more than once (legs, both sides of a trade with oneself), all must be equal.
    """
    if old.identity == new.identity:
        return is_single or old.side == new.side
    pairs = zip(old.identity, new.identity, strict=True)
    return is_single and all(one == other or one is None or other is None for one, other in pairs)


def _is_part(undated: Row, row: Row) -> bool:
    """Returns whether a row with a time says everything that one of its number without a time does.

    This depends on no other rows: of those that are left, none falls when the response is repeated.
    """
    pairs = zip((*undated.identity, undated.side), (*row.identity, row.side), strict=True)
    return all(one is None or one == other for one, other in pairs)
