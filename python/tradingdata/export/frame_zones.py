"""The time zone of the times in a frame, for ``tz=`` of ``to_pandas`` and its siblings.

A naive table is declared to be in the zone, as by ``localize``. Times that have a zone are
converted, which each library does without touching the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._util.time_zones import zone_from
from .pandas_dtypes import time_zone

if TYPE_CHECKING:
    from datetime import tzinfo

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from .selection import Selection


def pandas_frame(selection: Selection, tz: str | tzinfo | None) -> pd.DataFrame:
    """Returns a pandas DataFrame with its times in a zone; ``None`` leaves them as they are."""
    selection, other = _declared(selection, tz)
    frame = selection.pandas()
    if other is not None:
        for name in _times(selection):
            frame[name] = frame[name].dt.tz_convert(time_zone(other))
    return frame


def polars_frame(selection: Selection, tz: str | tzinfo | None) -> pl.DataFrame:
    """Returns a polars DataFrame with its times in a zone; ``None`` leaves them as they are."""
    selection, other = _declared(selection, tz)
    frame = selection.polars()
    if other is not None:
        converted = [frame[name].dt.convert_time_zone(str(other)) for name in _times(selection)]
        frame = frame.with_columns(converted)
    return frame


def arrow_table(selection: Selection, tz: str | tzinfo | None) -> pa.Table:
    """Returns a pyarrow Table with its times in a zone; ``None`` leaves them as they are."""
    selection, other = _declared(selection, tz)
    table = selection.arrow()
    if other is not None:
        import pyarrow

        kind = pyarrow.timestamp("us", tz=str(other))
        for at, name in enumerate(table.column_names):
            if name in _times(selection):
                table = table.set_column(at, name, table.column(at).cast(kind))
    return table


def _declared(selection: Any, tz: str | tzinfo | None) -> tuple[Selection, tzinfo | None]:
    """Returns the selection, in the zone if it was naive, and the zone to convert to, if any."""
    zone = zone_from(tz)
    if zone is None or zone == selection.zone:
        return selection, None
    if selection.zone is None:
        return selection.localized(zone), None
    return selection, zone


def _times(selection: Selection) -> list[str]:
    return [name for name, kind in selection.kinds.items() if kind == "timestamp"]
