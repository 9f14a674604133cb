"""Compares versions of a record and merges them into its history."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from ..errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TICKING = {"row_no", "ref_ltp"}  # these change while the order does not


@lru_cache(4)
def _ignored(record: str) -> frozenset[str]:
    """Returns the fields that are not compared: ticking ones, and those that may be masked."""
    fields = _core.fields_of(record)
    return frozenset(name for name, _, _, personal in fields if personal or name in _TICKING)


def same_content(record: str, one: str, other: str) -> bool:
    """Returns whether two JSON texts of a record are equal, ignoring spaces and key order.

    Compares the texts as they were sent rather than as this version decodes them, so that the
    result does not depend on the version.
    """
    return one == other or _values(record, one) == _values(record, other)


def _values(record: str, text: Any) -> Any:
    try:
        sent = text.encode() if isinstance(text, str) else text  # a damaged file has any type
        values: dict[str, Any] = json.loads(_core.masked_json(sent))
    except (ValueError, RecursionError, DecodeError):  # numbers and nesting beyond Python's limits
        return text
    for name in _ignored(record):
        values.pop(name, None)
    return values


class State(NamedTuple):
    """A state of a record.

    ``seen_at`` is ``""`` if the time of the response is unknown, and ``id`` is ``None`` if the
    state is not in the file yet.
    """

    seen_at: str
    id: int | None
    json: str


def merge(
    record: str,
    known: Sequence[State],
    seen_at: str,
    text: str,
    next_response: Callable[[str, str | None], str | None],
) -> list[State]:
    """Returns the states to write so that a record's history includes one more version of it.

    Responses may be stored in any order; the result is that of their chronological order. Only the
    beginning of a state is stored, so if an older response splits a state, the second part begins
    with the next response that contained it. A version without a time adds a state only if no other
    state equals it; that state precedes all others.

    Args:
        record: The type of the record.
        known: Its states, in order of time.
        seen_at: When the response with the new version was received, or ``""``.
        text: The new version, as JSON.
        next_response: Returns when, between two times, the next complete response with rows of that
            day was received, or None.

    Returns:
        New states, and existing ones (with an id) whose ``seen_at`` changes.
    """
    if not seen_at:
        is_known = any(same_content(record, state.json, text) for state in known)
        return [] if is_known else [State("", None, text)]
    earlier = [state for state in known if state.seen_at <= seen_at]
    later = known[len(earlier) :]
    last = earlier[-1] if earlier else None
    if last and same_content(record, last.json, text):
        return [] if last.seen_at else [last._replace(seen_at=seen_at)]
    until = later[0].seen_at if later else None
    resumes = next_response(seen_at, until) if last and last.seen_at else None
    if last and resumes:
        return [State(seen_at, None, text), State(resumes, None, last.json)]
    if later and same_content(record, later[0].json, text):
        return [later[0]._replace(seen_at=seen_at)]
    return [State(seen_at, None, text)]
