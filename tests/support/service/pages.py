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
    offset_as_requested: bool = False,
    ignore_page: bool = False,
    repeat_last: bool = False,
    shift: int = 0,
    faults: Mapping[int, Iterable[Behaviour]] | None = None,
) -> Choice:
    """Returns a choice that replies to a search with its page of `rows`.

    Args:
        rows: The complete list.
        most: The greatest limit that counts.
        offset_as_requested: Whether the offset counts pages of the limit requested, also where
            `most` caps it; otherwise pages as long as given.
        ignore_page: Whether every page is page 1.
        repeat_last: Whether the last page is given for every later one.
        shift: How many rows the list moves with each request: down (rows come twice) or, if
            negative, up (rows are missed).
        faults: Behaviours that are used up, page by page, before its rows.
    """
    left = {page: iter(behaviours) for page, behaviours in (faults or {}).items()}
    seen = 0

    def choose(request: Request) -> Behaviour:
        nonlocal seen
        asked = dict(request.query)
        page = int(asked.get("page", DEFAULT_PAGE))
        limit = int(asked.get("limit", DEFAULT_LIMIT))
        if fault := next(left.get(page, iter(())), None):
            return fault
        size = limit if most is None else min(limit, most)
        step = limit if offset_as_requested else size
        last = max(-(-len(rows) // step), 1)
        if ignore_page:
            page = 1
        elif repeat_last:
            page = min(page, last)
        start = max(0, (page - 1) * step - shift * seen)
        seen += 1
        return json_reply(list(rows[start : start + size]))

    return choose
