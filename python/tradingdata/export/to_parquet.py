"""Parquet files."""

from __future__ import annotations

from .._util.atomic_file import whole_file
from .._util.optional_imports import require

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from .selection import Choice


def write_parquet(choice: Choice, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Writes through pyarrow or, where that is missing, polars."""
    try:
        pyarrow = require("pyarrow", "arrow", "to_parquet()")
    except ImportError as missing:
        try:
            polars = require("polars", "polars", "to_parquet()")
        except ImportError:
            raise missing from None
        with whole_file(path, overwrite=overwrite) as draft:
            polars.DataFrame(choice).write_parquet(draft, compression="zstd")
    else:
        writer = require("pyarrow.parquet", "arrow", "to_parquet()")
        with whole_file(path, overwrite=overwrite) as draft:
            writer.write_table(pyarrow.table(choice), draft, compression="zstd")
