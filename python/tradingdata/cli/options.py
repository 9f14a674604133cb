"""The options that several commands share, as groups; each option is defined once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from .chosen_profile import chosen_profile
from .completion import complete_columns, complete_filters, complete_profiles, complete_sort


class Format(StrEnum):
    """The output formats."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    NDJSON = "ndjson"
    PARQUET = "parquet"
    XLSX = "xlsx"


def switch(name: str, meaning: str, **settings: Any) -> Any:
    """An option without a value."""
    return typer.Option(name, help=meaning, **settings)


Debug = Annotated[bool, switch("--debug", "Show the traceback of an error.")]
Keep = Annotated[
    bool, switch("--keep-personal-data", "Do not mask account numbers (PAN) in files.")
]
Chosen = Annotated[
    str | None,
    typer.Option(
        "--columns",
        "-c",
        metavar="A,B,...",
        help="Columns to show, in this order; 'all' for all. Files contain all by default.",
        autocompletion=complete_columns,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Account and timeout."""

    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            "-p",
            metavar="NAME",
            help="Take address and token from this profile (default: TRADINGDATA_PROFILE).",
            autocompletion=complete_profiles,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Time limit of a call with its retries (default: 30)."
        ),
    ] = None
    env_file: Annotated[
        Path | None,
        typer.Option(
            "--env-file",
            metavar="FILE",
            help="Set the TRADINGDATA_* variables of this file, such as .env, unless they are set.",
            envvar="TRADINGDATA_ENV_FILE",
            show_envvar=False,
        ),
    ] = None
    debug: Debug = False

    @cached_property
    def chosen(self) -> tuple[str | None, dict[str, Any]]:
        """The name and the options of the profile, whose file is read once a command."""
        return chosen_profile(self.profile, self.env_file)


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Selection of columns."""

    columns: Chosen = None
    extra: Annotated[
        bool,
        switch("--extra", "Include fields that the service does not document."),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Selection of rows."""

    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            "-w",
            metavar="CONDITION",
            help="Keep rows with NAME=VALUE. Separate several values by commas; NAME= means no "
            "value. Also !=, <, <=, > and >=: 'traded_price>100'. Repeat it to combine conditions.",
            autocompletion=complete_filters,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Selection(Filter):
    """Selection, order and number of rows."""

    sort: Annotated[
        str | None,
        typer.Option(
            metavar="A,-B,...",
            help="Sort by these columns; a minus sorts in descending order.",
            autocompletion=complete_sort,
        ),
    ] = None
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep the first N rows.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class TimedSelection(Selection):
    """Selection of rows of a book with times."""

    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Keep trades executed, or orders entered, since then: 10:30, 2026-11-20 or "
            "'2026-11-20 10:30'.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Output:
    """Destination and format of the output."""

    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="table, csv, json, ndjson, parquet or xlsx. Default: by the suffix of -o, "
            "otherwise table.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write to this file, which must not exist; - is standard output.",
        ),
    ] = None
    force: Annotated[bool, switch("--force", "Overwrite the file of -o.")] = False
    rows: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of rows in a table on a terminal; 0 for all. Default: what fits.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Care:
    """Treatment of malformed and personal values."""

    strict: Annotated[
        bool,
        switch("--strict", "Treat a lost or missing value as an error."),
    ] = False
    keep_personal_data: Keep = False
