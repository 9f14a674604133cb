"""What a result leaves out or could not prove: rows with its key, a heading and one warning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from .._util.warn import warn_user
from ..display.text import group
from ..errors import DataWarning
from .keys import KEYED, Lead
from .result_table import ResultTable

UNPRICED = "without a price"
UNOPENED = "sold without an opening"
EXPIRED = "expired, not settled"
UNPROVED = "multiplier not proved"
TIED = "order within a second unknown"
IDLE = "no trades on the day"
UNUSED = "key that matched nothing"
FREE = "price of 0"
NO_ENTRY = "time of entry missing"
NO_EXPIRY = "expiry date missing"
DIFFERENT = "attributes of one contract differ"
ALIKE = "codes that differ in case or spaces"
FRACTION = "fraction of a share"
EARLIER = "change before the opening"
UNCHANGED = "change without its lots"
ELSEWHERE = "same ISIN under another id"
NO_ISIN = "not an ISIN"
STALE = "priced on an earlier day"
FROM_COST = "measured from cost"

NO_KEY = Lead._make([None] * len(KEYED))  # of what is about the whole result

_NAMED = 3  # details that a warning has


class Note(NamedTuple):
    """An issue: the leading columns of the row that it is about, and the other columns."""

    lead: Any
    problem: str
    detail: str
    number: int = 1


Result = TypeVar("Result", bound=ResultTable[Any])


def noted(result: Result, notes: list[Note], *, warn: bool = True) -> Result:
    """Returns a result with its issues, of which it warns in one sentence."""
    rows = [(*note.lead, note.problem, note.number, note.detail) for note in notes]
    result._issues = result._issues_of(rows)
    if warn and notes:
        problems: dict[str, list[Note]] = {}
        for note in notes:
            problems.setdefault(note.problem, []).append(note)
        parts = []
        for problem, alike in problems.items():
            named = "; ".join(note.detail for note in alike[:_NAMED])
            more = f"; {group(len(alike) - _NAMED)} more" if len(alike) > _NAMED else ""
            parts.append(f"{problem}: {group(sum(note.number for note in alike))} ({named}{more})")
        warn_user(DataWarning(f"{', '.join(parts)}: see .issues of the result"))
    return result


def unused(argument: str, keys: Sequence[Any]) -> list[Note]:
    """Returns the issue of keys of an argument that are about nothing in the result."""
    text = ", ".join(map(repr, keys[:_NAMED])) + (", ..." if len(keys) > _NAMED else "")
    note = f"{argument} has {text}, which names no contract here"
    return [Note(NO_KEY, UNUSED, note, len(keys))] if keys else []


def about(lead: Lead, problem: str, detail: str = "", number: int = 1) -> Note:
    """Returns an issue whose detail names the contract that it is about."""
    return Note(lead, problem, f"{lead}: {detail}" if detail else str(lead), number)
