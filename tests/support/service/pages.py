"""The stock search with its page and limit, well behaved or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .connection import Behaviour, Request
from .responses import json_reply
from .server import Choice

DEFAULT_PAGE = 1
DEFAULT_LIMIT = 10


def pages(
    rows: Sequence[object],
    *,
    most: int | None = None,
    ignore_page: bool = False,
    repeat_last: bool = False,
    faults: Mapping[int, Iterable[Behaviour]] | None = None,
) -> Choice:
    """Returns a choice that replies to a search with its page of `rows`.

    Args:
        rows: The complete list.
        most: The greatest limit that counts.
        ignore_page: Whether every page is page 1.
        repeat_last: Whether the last page is given for every later one.
        faults: Behaviours that are used up, page by page, before its rows.
    """
    left = {page: iter(behaviours) for page, behaviours in (faults or {}).items()}

    def choose(request: Request) -> Behaviour:
        asked = dict(request.query)
        page = int(asked.get("page", DEFAULT_PAGE))
        limit = int(asked.get("limit", DEFAULT_LIMIT))
        if fault := next(left.get(page, iter(())), None):
            return fault
        size = limit if most is None else min(limit, most)
        last = max(-(-len(rows) // size), 1)
        if ignore_page:
            page = 1
        elif repeat_last:
            page = min(page, last)
        start = (page - 1) * size
        return json_reply(list(rows[start : start + size]))

    return choose
