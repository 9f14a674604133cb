"""Parquet files, written through pyarrow or polars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._util.atomic_file import whole_file
from .._util.optional_imports import require

if TYPE_CHECKING:
    import os

    from .selection import Selection


def write_parquet(selection: Selection, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Writes through pyarrow or, if that is missing, polars."""
    try:
        require("pyarrow", "arrow", "writing Parquet")
    except ImportError as missing:
        try:
            require("polars", "polars", "writing Parquet")
        except ImportError:
            raise missing from None
        with whole_file(path, overwrite=overwrite) as draft:
            selection.polars().write_parquet(draft, compression="zstd")
    else:
        writer = require("pyarrow.parquet", "arrow", "writing Parquet")
        with whole_file(path, overwrite=overwrite) as draft:
            writer.write_table(selection.arrow(), draft, compression="zstd")
