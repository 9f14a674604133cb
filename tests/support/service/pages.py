"""The stock search with its page and limit, well behaved or not (F74-F77)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .connection import Behaviour
from .replies import json_reply
from .request import Request
from .script import Choice

DEFAULT_PAGE = 1
DEFAULT_LIMIT = 10


def pages(
    rows: Sequence[object],
    *,
    most: int | None = None,
    ignore_page: bool = False,
    shift: int = 0,
    faults: Mapping[int, Iterable[Behaviour]] | None = None,
) -> Choice:
    """Return a choice that answers a search with its page of `rows`.

    `most` is the greatest limit that counts (F75); `ignore_page` gives page 1 for ever (F74);
    `shift` moves the listing by so many rows with each request, down (rows come twice) or, if
    negative, up (rows are missed) (F76); `faults` are used up, page by page, before its rows (F77).
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
        start = 0 if ignore_page else (page - 1) * size
        start = max(0, start - shift * seen)
        seen += 1
        return json_reply(list(rows[start : start + size]))

    return choose
