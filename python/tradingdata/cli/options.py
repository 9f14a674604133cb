"""The options that commands share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .completion import complete_columns, complete_filters, complete_profiles, complete_sort


class Format(StrEnum):
    """How a book is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    NDJSON = "ndjson"
    PARQUET = "parquet"
    XLSX = "xlsx"


def switch(name: str, meaning: str, **settings: Any) -> Any:
    """An option without a value; without a metavar, the help would give its type as one."""
    return typer.Option(name, metavar="", help=meaning, **settings)


Debug = Annotated[bool, switch("--debug", "Show the traceback of an error.")]
Keep = Annotated[bool, switch("--keep-personal-data", "Files keep account numbers (PAN) unmasked.")]
Chosen = Annotated[
    str | None,
    typer.Option(
        "--columns",
        "-c",
        metavar="A,B,...",
        help="These columns, in this order; 'all' for all. A file holds all unless given.",
        autocompletion=complete_columns,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Which account, and how long to wait for it."""

    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            "-p",
            metavar="NAME",
            help="Address and token from a profile, not from the environment.",
            autocompletion=complete_profiles,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Time for a call with all its retries (30 unless given)."
        ),
    ] = None
    debug: Debug = False


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns."""

    columns: Chosen = None
    extra: Annotated[
        bool,
        switch("--extra", "Also fields that the service does not document."),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which rows."""

    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            "-w",
            metavar="CONDITION",
            help="Only rows with NAME=VALUE, or one of several values with commas between; NAME= "
            "for rows without a value. Also != < <= > >= ('traded_price>100'). Of several "
            "--where, all must hold.",
            autocompletion=complete_filters,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Selection(Filter):
    """Which rows, in which order, and how many."""

    sort: Annotated[
        str | None,
        typer.Option(
            metavar="A,-B,...",
            help="Sort by these columns; a minus puts the largest first.",
            autocompletion=complete_sort,
        ),
    ] = None
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The first N of these rows.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class TimedSelection(Selection):
    """Which rows of a book that has times."""

    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Only trades executed, or orders entered, at this time or later: 10:30, "
            "2026-11-20 or '2026-11-20 10:30'.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where it goes and how it is written."""

    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="table, csv, json, ndjson, parquet or xlsx; by default as the name of -o "
            "ends, else table.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to a file, which must not exist; - is standard output.",
        ),
    ] = None
    force: Annotated[bool, switch("--force", "Replace the file of -o.")] = False
    rows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Rows that a table on a terminal shows at most; 0 for all. A screenful "
            "unless given.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Care:
    """How values are taken."""

    strict: Annotated[
        bool,
        switch("--strict", "A value that is lost or missing is an error."),
    ] = False
    keep_personal_data: Keep = False
