"""Whether two answers say the same of a record, and how what they say becomes its states."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TICKING = {"row_no", "ref_ltp"}  # they change while the order does not


@lru_cache(4)
def _ignored(record: str) -> frozenset[str]:
    """Fields that make no state: the ticking ones, and personal ones, masked in some answers."""
    fields = _core.fields_of(record)
    return frozenset(name for name, _, _, personal in fields if personal or name in _TICKING)


def same_content(record: str, one: str, other: str) -> bool:
    """Whether two JSON texts of a record say the same, whatever their spaces and order of keys.

    The texts are compared as they were sent, not as this version decodes them, so that what is the
    same today is the same with any later version.
    """
    return one == other or _values(record, one) == _values(record, other)


def _values(record: str, text: str) -> Any:
    try:
        values: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):  # numbers and nesting beyond Python's limits
        return text
    for name in _ignored(record):
        values.pop(name, None)
    return values


class State(NamedTuple):
    """A state of a record; ``seen_at`` is ``""`` where the answer's time is not known.

    ``id`` is ``None`` where the file does not have it yet.
    """

    seen_at: str
    id: int | None
    json: str


def merge(
    record: str,
    known: Sequence[State],
    seen_at: str,
    text: str,
    next_answer: Callable[[str, str | None], str | None],
) -> list[State]:
    """The states to write so that the record's history tells of one more sight of it.

    Those with an id are there already and change their ``seen_at``. ``known`` is in order of time.
    Answers may be filed in any order: the result is that of their order in time. A state is written
    when it begins, so when an older answer splits one, the state goes on from ``next_answer(after,
    before)``: when the next whole answer with rows of that day was received, or None.

    A sight without a time adds a state only where none says the same, and before all others.
    """
    if not seen_at:
        told = any(same_content(record, state.json, text) for state in known)
        return [] if told else [State("", None, text)]
    earlier = [state for state in known if state.seen_at <= seen_at]
    later = known[len(earlier) :]
    last = earlier[-1] if earlier else None
    if last and same_content(record, last.json, text):
        return [] if last.seen_at else [last._replace(seen_at=seen_at)]
    until = later[0].seen_at if later else None
    goes_on = next_answer(seen_at, until) if last and last.seen_at else None
    if last and goes_on:
        return [State(seen_at, None, text), State(goes_on, None, last.json)]
    if later and same_content(record, later[0].json, text):
        return [later[0]._replace(seen_at=seen_at)]
    return [State(seen_at, None, text)]
