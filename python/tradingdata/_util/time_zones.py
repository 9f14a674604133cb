"""Time zones by name, and as text that a file keeps."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo


def zone_named(name: str) -> tzinfo:
    """The zone of that name. Raises ValueError where the system knows none."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"there is no time zone {name!r} here; names are like 'Asia/Kolkata', and a system"
            " without them takes them from PyPI: pip install tzdata"
        ) from None


def zone_as_text(zone: tzinfo | None) -> str | None:
    """What ``zone_of_text`` reads: a zone's name, or an offset in seconds such as "+19800".

    Raises ValueError for a zone that has neither.
    """
    from datetime import timezone

    if zone is None:
        return None
    if isinstance(zone, timezone):
        return f"{zone.utcoffset(None).total_seconds():+}"
    name = getattr(zone, "key", None)
    if not isinstance(name, str):
        raise ValueError(
            f"a file cannot hold the zone {zone!r}: localize with a name, as 'Asia/Kolkata'"
        )
    return name


def zone_of_text(text: str | None) -> tzinfo | None:
    """The zone that ``zone_as_text`` wrote."""
    from datetime import timedelta, timezone

    if text is None:
        return None
    if text[:1] in "+-":
        return timezone(timedelta(seconds=float(text)))
    return zone_named(text)
