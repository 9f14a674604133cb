"""Books as files: comma-separated values, Parquet and Excel workbooks, whole or not at all."""

from __future__ import annotations

from .plain import PlainExport
from .selection import Choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Sequence
    from typing import overload

    Path = str | os.PathLike[str]


class FileExport(PlainExport):
    """What a book offers to files; one that is there is only replaced with ``overwrite=True``."""

    __slots__ = ()

    if TYPE_CHECKING:

        @overload
        def to_csv(
            self,
            path: None = None,
            columns: Sequence[str] | None = None,
            *,
            extra: bool = False,
            spreadsheet: bool = False,
        ) -> str: ...
        @overload
        def to_csv(
            self,
            path: Path,
            columns: Sequence[str] | None = None,
            *,
            extra: bool = False,
            spreadsheet: bool = False,
            overwrite: bool = False,
        ) -> None: ...

    def to_csv(
        self,
        path: Path | None = None,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        spreadsheet: bool = False,
        overwrite: bool = False,
    ) -> str | None:
        """Writes comma-separated values in UTF-8, or returns them as text where there is no path.

        They are exact: a line of names, then a line for each record; no value is an empty cell,
        empty text is ``""``, numbers read back to the same value, times stand as the service writes
        them, with an offset in a localized book. ``columns`` picks and orders the fields;
        ``extra=True`` adds the unknown ones as their JSON text.

        With ``spreadsheet=True`` they are for Excel and its like, which run and guess: an
        apostrophe goes before text that begins like a formula (``=``, ``+``, ``-``, ``@``) and
        before text that would be taken for a number and changed (15 and more digits, leading zeros,
        ``12E45``).

        Raises FileExistsError unless ``overwrite``, and KeyError for a field that the record does
        not have.
        """
        choice = Choice(self, columns, extra=extra)
        content = choice.table.to_csv(
            choice.start, choice.stop, list(choice.kinds), choice.extra, spreadsheet
        )
        if path is None:
            return content.decode()
        from .._util.atomic_file import whole_file

        with whole_file(path, overwrite=overwrite) as draft, open(draft, "wb") as file:
            file.write(content)
        return None

    def to_parquet(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        categories: Collection[str] = (),
        overwrite: bool = False,
    ) -> None:
        """Writes a Parquet file (zstd), through pyarrow or, where that is missing, polars.

        The arguments and types are those of ``to_arrow``. Raises FileExistsError unless
        ``overwrite``, KeyError for a field that the record does not have, and ImportError without
        either library.
        """
        from .to_parquet import write_parquet

        choice = Choice(self, columns, extra=extra, categories=categories, text="small")
        write_parquet(choice, path, overwrite=overwrite)

    def to_excel(
        self,
        path: Path,
        columns: Sequence[str] | None = None,
        *,
        extra: bool = False,
        overwrite: bool = False,
    ) -> None:
        """Writes an Excel workbook (.xlsx) with one sheet, through XlsxWriter.

        Text stays text, so order numbers keep all their digits and nothing runs as a formula;
        integers of 16 and more digits become text for the same reason. Times show the wall clock of
        the book, since a workbook knows no zones.

        Raises FileExistsError unless ``overwrite``, KeyError for a field that the record does not
        have, ValueError for a path that does not end in .xlsx and for what a sheet cannot hold
        (more than 1,048,575 rows, text of more than 32,767 characters), and ImportError without
        XlsxWriter.
        """
        from .to_excel import write_excel

        write_excel(Choice(self, columns, extra=extra), path, overwrite=overwrite)
