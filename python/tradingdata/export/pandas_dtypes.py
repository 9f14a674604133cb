"""Dtypes that depend on the pandas that is installed: pandas 2.2 and later are supported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import tzinfo


def text_dtype(pandas: Any, numpy: Any) -> Any:
    """Returns ``str``, or in pandas 2.2 ``string`` in the storage that pandas is set to."""
    try:
        return pandas.StringDtype(na_value=numpy.nan)
    except TypeError:  # pandas 2.2 takes the storage only
        return pandas.StringDtype()


def time_zone(zone: tzinfo) -> str | tzinfo:
    """Returns the zone as pandas is to take it: by name, if it has one.

    pandas 2 makes pytz zones of names, and never considers one of these equal to a ``ZoneInfo``.
    """
    return getattr(zone, "key", None) or zone
