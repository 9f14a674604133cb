"""What an archive means: a day is the fold of its responses, in the order they were received.

Open this file first. Everything else stores responses, finds those of a day, and shows the rows
that `fold` gives for them, for one account and one book at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class Row(NamedTuple):
    """A row of a response, with what the fold has to know of it.

    Attributes:
        key: Its number (of the trade, of the order); the tuple of all its values if it has none.
        identity: The other fields that tell the records of one number apart.
        side: Buy or sale, which a correction may change.
        dated: Whether it has a time of its own.
        last_seen: When a complete response showed it last; None for a row of a partial book.
        source: The response, which has its values.
        place: Its place in the response.
    """

    key: Any
    identity: tuple[Any, ...]
    side: Any
    dated: bool
    last_seen: int | None
    source: Any
    place: int


class Part(NamedTuple):
    """The part of a response that concerns one day.

    Attributes:
        rows: Its rows of the day.
        elsewhere: Its rows of other days.
        stays: Whether a row is not replaced: what is left of a lost response stood beside it.
    """

    rows: Sequence[Row]
    elsewhere: Sequence[Row] = ()
    stays: Callable[[Row], bool] | None = None


def fold(parts: Iterable[Part], state: Sequence[Row] = ()) -> list[Row]:
    """Returns the rows of a day after some more responses, the oldest first."""
    for part in parts:
        state = step(state, part)
    return list(state)


def step(state: Sequence[Row], part: Part) -> Sequence[Row]:
    """Returns the rows of a day after one more response.

    A row of the response replaces the row of the same record. What the response lacks stays: an
    order book that the service has cleared removes nothing. A row without a time falls when the
    response has its record with a time, which is of another day. The same response once more
    changes nothing.
    """
    if not state:
        return part.rows
    known, counts = _places(state), Counter(row.key for row in part.rows)
    gone: set[int] = set()
    rows = []
    for row in part.rows:
        places = known.get(row.key, ())
        is_single = len(places) == 1 == counts[row.key]
        same = [place for place in places if _is_same(state[place], row, is_single=is_single)]
        if part.stays is not None:
            same = [place for place in same if not part.stays(state[place])]
        gone.update(same)
        if same and row.last_seen is None:
            rows.append(row._replace(last_seen=state[same[0]].last_seen))
        else:
            rows.append(row)
    for row in part.elsewhere:
        undated = (place for place in known.get(row.key, ()) if not state[place].dated)
        gone.update(place for place in undated if _is_part(state[place], row))
    return [row for place, row in enumerate(state) if place not in gone] + rows


def _places(rows: Sequence[Row]) -> dict[Any, list[int]]:
    places: dict[Any, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.key, []).append(place)
    return places


def _is_same(old: Row, new: Row, *, is_single: bool) -> bool:
    """Returns whether two rows of one key are of one record.

    A number that each of the two has once is one record unless a field that both have differs. If
    one of them has it more than once (legs, both sides of a trade with oneself), all must be equal.
    """
    if not is_single:
        return old.identity == new.identity and old.side == new.side
    if old.identity == new.identity:
        return True
    pairs = zip(old.identity, new.identity, strict=True)
    return all(one == other or one is None or other is None for one, other in pairs)


def _is_part(undated: Row, row: Row) -> bool:
    """Returns whether a row with a time says everything that one of its number without a time does.

    This depends on no other rows: of those that are left, none falls when the response is repeated.
    """
    pairs = zip((*undated.identity, undated.side), (*row.identity, row.side), strict=True)
    return all(one is None or one == other for one, other in pairs)
