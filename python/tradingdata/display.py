"""How books look."""

from __future__ import annotations


class BookDisplay:
    """The displays of a book."""

    __slots__ = ()
