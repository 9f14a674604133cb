"""Books as data frames."""

from __future__ import annotations


class FrameExport:
    """The frame methods of a book."""

    __slots__ = ()
