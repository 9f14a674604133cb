"""Time zones by name, and as text that a file keeps."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, tzinfo


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


def zone_from(tz: str | tzinfo | None) -> tzinfo | None:
    """The zone that a caller gave by name or as a tzinfo.

    A pytz zone is replaced by the one of its name: attached to a time, it would give local mean
    time (+05:53 for Asia/Kolkata). Raises TypeError for other values, ValueError for unknown names.
    """
    from datetime import timezone, tzinfo

    if isinstance(tz, str):
        return zone_named(tz)
    if tz is not None and not isinstance(tz, tzinfo):
        raise TypeError(f"a time zone is a name such as 'Asia/Kolkata' or a tzinfo, not {tz!r}")
    if tz is None or not hasattr(tz, "localize"):
        return tz
    name = getattr(tz, "zone", None)
    if isinstance(name, str):
        return zone_named(name)
    offset = tz.utcoffset(None)
    return tz if offset is None else timezone(offset)


def zone_of_record(time: datetime) -> tzinfo | None:
    """The zone of a time that a record is to hold as a clock time, without its ``fold``.

    Raises ValueError where that would be another instant: the second of two equal clock times, or
    a time with a pytz zone attached directly.
    """
    zone = zone_from(time.tzinfo)
    if time.replace(tzinfo=zone, fold=0).utcoffset() != time.utcoffset():
        raise ValueError(
            f"{time!r} has another offset than its clock time has in {zone}: pass it in UTC, or,"
            " with a zone of pytz, attach the zone with its localize()"
        )
    return zone


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
