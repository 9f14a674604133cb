"""Time zones: looked up by name, validated, and converted to and from text for files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from .validate import shown

if TYPE_CHECKING:
    from datetime import datetime, tzinfo


def zone_named(name: str) -> tzinfo:
    """Returns the zone with that name. Raises ValueError if the system does not have it."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(
            f"there is no time zone {name!r}: use a name such as 'Asia/Kolkata', or run"
            " `pip install tzdata` if the system has no time zone data"
        ) from None


def zone_from(tz: str | tzinfo | None) -> tzinfo | None:
    """Returns the zone that a caller passed by name or as a tzinfo.

    A pytz zone is replaced by the zoneinfo zone of the same name: attached directly, it would give
    local mean time (+05:53 for Asia/Kolkata). Raises TypeError for values of other types and
    ValueError for unknown names.
    """
    if tz is None:  # the usual case, for each book: even a cached import takes time
        return None
    from datetime import timezone, tzinfo

    if isinstance(tz, str):
        return zone_named(tz)
    if not isinstance(tz, tzinfo):
        raise TypeError(
            f"a time zone is a name such as 'Asia/Kolkata' or a tzinfo, not {shown(tz)}"
        )
    if not hasattr(tz, "localize"):
        return tz
    name = getattr(tz, "zone", None)
    if isinstance(name, str):
        return zone_named(name)
    offset = tz.utcoffset(None)
    return tz if offset is None else timezone(offset)


def checked_zone(name: str, value: str | tzinfo | None) -> tzinfo | None:
    """Returns the zone of an argument, as ``zone_from``. An unknown one is a ConfigurationError."""
    try:
        return zone_from(value)
    except ValueError as error:
        raise ConfigurationError(f"{name}: {error}") from None


def zone_of_text(text: str) -> tzinfo:
    """Returns the zone of a name or an offset such as "+05:30", as files and Arrow have them."""
    from datetime import datetime

    if text[:1] not in "+-":
        return zone_named(text)
    zone = datetime.strptime(text, "%z").tzinfo
    assert zone is not None
    return zone


def zone_of_record(time: datetime) -> tzinfo | None:
    """Returns the zone of a time that a record stores as clock time without ``fold``.

    Raises ValueError if that would be a different instant: the second of two equal clock times, or
    a time to which a pytz zone was attached directly.
    """
    zone = zone_from(time.tzinfo)
    if time.replace(tzinfo=zone, fold=0).utcoffset() != time.utcoffset():
        raise ValueError(
            f"the UTC offset of {time!r} differs from that of its clock time in {zone}: pass it in"
            " UTC, or attach a pytz zone with its localize()"
        )
    return zone


def zone_as_text(zone: tzinfo | None) -> str | None:
    """Returns a zone's name, or its offset such as "+05:30", for ``zone_of_text``.

    Raises ValueError for a zone that has neither.
    """
    from datetime import datetime, timezone

    if zone is None:
        return None
    if isinstance(zone, timezone):
        return datetime(2000, 1, 1, tzinfo=zone).isoformat()[len("2000-01-01T00:00:00") :]
    name = getattr(zone, "key", None)
    if not isinstance(name, str):
        raise ValueError(
            f"a file cannot store the zone {zone!r}: localize with a name such as 'Asia/Kolkata'"
        )
    return name
