"""Suggestions for misspelt names, for messages that say "did you mean"."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

_LEAST_PART = 3  # characters; shorter text is part of almost every name

if TYPE_CHECKING:
    from collections.abc import Iterable


def closest(name: object, known: Iterable[str]) -> str | None:
    """Returns the known name most similar to ``name``, ignoring case, or None if none is close.

    A name that contains it counts as close: ``traded_price`` for ``price``.
    """
    from difflib import get_close_matches

    by_folded = {candidate.casefold(): candidate for candidate in known}
    wanted = str(name).casefold()
    near = get_close_matches(wanted, by_folded, n=1)
    if not near and len(wanted) >= _LEAST_PART:
        near = [folded for folded in by_folded if wanted in folded]
    return by_folded[near[0]] if near else None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Returns ``; did you mean 'symbol'?``, or empty text if no known name is close."""
    near = closest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def no_field(record: str, known: Iterable[str], name: str) -> str:
    """Returns the message for an unknown field, with the closest known one."""
    return _no_field(record, tuple(known), name)


@lru_cache(256)  # libraries probe for the same few names, and the search takes half a millisecond
def _no_field(record: str, known: tuple[str, ...], name: str) -> str:
    return f"{record} has no field {name!r}{did_you_mean(name, known)}"
