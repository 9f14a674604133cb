"""What commands share: how they register, and their options with what these select.

That is a client, and the rows and columns of `--columns`, `--where` and `--sort`.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import date, datetime, time
from enum import StrEnum
from inspect import Parameter, getdoc, signature
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import click

from tradingdata import _core
from tradingdata._util import validate
from tradingdata._util.declarations import RECORDS, kinds_of
from tradingdata._util.plans import Result
from tradingdata._util.validate import did_you_mean, shown
from tradingdata.client.client import Client
from tradingdata.client.profiles import PROFILE_VARIABLE, load_profile
from tradingdata.errors import DataWarning
from tradingdata.table.conditions import Condition, moment_of

from .errors import UsageError
from .terminal import remark, watched

if TYPE_CHECKING:
    from typing import Self

    from tradingdata.books.book import AnyBook
    from tradingdata.client.options import Retry


COMMANDS: dict[str, tuple[Callable[..., int | None], str]] = {}
"""The function and the examples of each command, by its name; in a group, that has two words.

The docstring of a function is the text of its help, above the examples. A parameter whose type is a
dataclass stands for the options that are its fields.
"""

GROUPS: dict[str, tuple[str, str]] = {}
"""The summary and the examples of each group of commands."""

Function = TypeVar("Function", bound=Callable[..., int | None])


def command(name: str, examples: str) -> Callable[[Function], Function]:
    """Registers a function as a command."""

    def register(function: Function) -> Function:
        COMMANDS[name] = function, examples
        return function

    return register


def option(meaning: str, metavar: str | None = None, *names: str, **settings: Any) -> Any:
    """An option with a value, by default named after its parameter."""
    return click.Option, names, {"help": meaning, "metavar": metavar, **settings}


def switch(name: str, meaning: str) -> Any:
    """An option without a value."""
    return click.Option, (name,), {"help": meaning, "is_flag": True}


def argument(meaning: str, metavar: str) -> Any:
    """A positional argument."""
    return click.Argument, (), {"help": meaning, "metavar": metavar}


Debug = Annotated[bool, switch("--debug", "Show the traceback of an error.")]


def click_command(name: str, function: Callable[..., int | None], **settings: Any) -> click.Command:
    """Returns a command for click: groups of options as their fields, and `--debug`."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {key: hint for key, hint in hints.items() if is_dataclass(hint)}
    parameters: list[click.Parameter] = []
    for key, parameter in signature(function).parameters.items():
        if key in groups:
            of_fields = get_type_hints(groups[key], include_extras=True)
            for own in signature(groups[key]).parameters.values():
                parameters.append(click_parameter(own.name, of_fields[own.name], own.default))
        else:
            parameters.append(click_parameter(key, hints[key], parameter.default))

    def run(*, debug: bool, **values: Any) -> int | None:
        values = {key: _expanded(value) for key, value in values.items()}
        for key, group in groups.items():
            names = signature(group).parameters
            values[key] = group(**{name: values.pop(name) for name in names})
        return function(**values)

    parameters.append(click_parameter("debug", Debug, False))
    meaning = getdoc(function)
    return click.Command(name, callback=run, params=parameters, help=meaning, **settings)


def click_parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    """Returns an option or argument for click, of an annotation and a default value."""
    make: Callable[..., click.Parameter]
    kind, (make, names, settings) = get_args(hint)
    if get_origin(kind) is UnionType:
        kind, _none = get_args(kind)
    settings = {"default": default, **settings} if default is not Parameter.empty else {**settings}
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
        settings |= {"nargs": -1} if make is click.Argument else {"multiple": True}
    least = settings.pop("min", None)
    if least is not None:
        settings["type"] = (click.IntRange if kind is int else click.FloatRange)(min=least)
        settings["type"].name = "integer" if kind is int else "number"  # in messages
    elif issubclass(kind, StrEnum):
        settings["type"] = click.Choice([member.value for member in kind])
        settings["callback"] = lambda _context, _parameter, value: value and kind(value)
    else:
        settings["type"] = click.Path(path_type=Path) if kind is Path else kind
    if make is click.Argument and default is not Parameter.empty:
        settings["metavar"] = f"[{settings['metavar']}]"
    if make is click.Option:
        names = names or (f"--{name.replace('_', '-')}",)
        settings["show_default"] = default != ""
    return make([name, *names], **settings)


def _expanded(value: Any) -> Any:
    """Returns paths with their ``~`` replaced; shells leave that of ``--output=~/x`` alone."""
    if isinstance(value, tuple):
        return [_expanded(item) for item in value]
    return Path(validate.path("path", value)) if isinstance(value, Path) else value


class Format(StrEnum):
    """The output formats, each with the suffixes of its files."""

    suffixes: tuple[str, ...]

    def __new__(cls, value: str, *suffixes: str) -> Self:
        """Creates a format."""
        member = str.__new__(cls, value)
        member._value_, member.suffixes = value, suffixes
        return member

    TABLE = "table"
    CSV = "csv", ".csv"
    JSON = "json", ".json"
    NDJSON = "ndjson", ".ndjson", ".jsonl"
    PARQUET = "parquet", ".parquet"
    XLSX = "xlsx", ".xlsx"

    @property
    def is_binary(self) -> bool:
        """Whether a terminal cannot show it."""
        return self in (Format.PARQUET, Format.XLSX)


Keep = Annotated[
    bool, switch("--keep-personal-data", "Do not mask account numbers (PAN) in files.")
]
Chosen = Annotated[
    str | None,
    option(
        "Columns to show, in this order; 'all' for all. Files contain all by default.",
        *("A,B,...", "--columns", "-c"),
    ),
]


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Account and timeout."""

    profile: Annotated[
        str | None,
        option(
            "Take address and token from this profile (default: TRADINGDATA_PROFILE).",
            *("NAME", "--profile", "-p"),
        ),
    ] = None
    timeout: Annotated[
        float | None, option("Time limit of a call with its retries (default: 30).", "SECONDS")
    ] = None

    def client(self, *, token: bool = True, **asked: Any) -> Client:
        """Returns a client for the profile or, without one, for the environment.

        Raises ConfigurationError where that gives no address, or no token and one is needed.
        """
        if self.timeout is not None and not 0 < self.timeout < float("inf"):
            raise UsageError("--timeout is a number of seconds above 0")
        name = self.profile or os.environ.get(PROFILE_VARIABLE)
        options = load_profile(name) if name else {}
        # An option that is not set leaves the choice to the profile.
        chosen = {key: value for key, value in {**asked, "timeout": self.timeout}.items() if value}
        client = Client(**{"on_retry": _remark_retry, **options, **chosen})
        if token:
            client._calls.tokens.require()
        return client


def received(call: Callable[[], Result]) -> Result:
    """Returns the result of a call. Lost values are reported later, with the book's issues."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return call()


def _remark_retry(retry: Retry) -> None:
    """Reports which attempt failed, why, and when the next one follows."""
    if watched():
        failed = f"{retry.call}: attempt {retry.attempt} failed ({retry.reason})"
        remark(f"{failed}, next in {retry.delay:.1f} s")


@dataclass(frozen=True, kw_only=True)
class Care:
    """Treatment of malformed and personal values."""

    strict: Annotated[bool, switch("--strict", "Treat a lost or missing value as an error.")] = (
        False
    )
    keep_personal_data: Keep = False


@dataclass(frozen=True, kw_only=True)
class Output:
    """Destination and format of the output."""

    format: Annotated[
        Format | None,
        option(
            f"{', '.join(list(Format)[:-1])} or {list(Format)[-1]}. Default: by the suffix of -o, "
            "otherwise table.",
            *("FORMAT", "--format", "-f"),
        ),
    ] = None
    output: Annotated[
        Path | None,
        option(
            "Write to this file, which must not exist; - is standard output.",
            *("FILE", "--output", "-o"),
        ),
    ] = None
    force: Annotated[bool, switch("--force", "Overwrite the file of -o.")] = False


@dataclass(frozen=True, kw_only=True)
class BookOutput(Output):
    """Destination, format and columns of a book."""

    columns: Chosen = None
    extra: Annotated[
        bool, switch("--extra", "Include fields that the service does not document.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Selection of rows."""

    where: Annotated[
        list[str] | None,
        option(
            "Keep rows with NAME=VALUE. Separate several values by commas; NAME= means no value. "
            "Also !=, <, <=, > and >=: 'traded_price>100'. Repeat it to combine conditions.",
            *("CONDITION", "--where", "-w"),
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RowOptions(Filter):
    """Selection, order and number of rows."""

    sort: Annotated[
        str | None, option("Sort by these columns; a minus sorts in descending order.", "A,-B,...")
    ] = None
    limit: Annotated[int | None, option("Keep the first N rows.", "N", min=1)] = None


_CONDITION = re.compile(r"\s*([^<>=!\s]+)\s*(!=|<=|>=|==|=|<|>)(.*)", re.DOTALL)
_COMPARISONS = {"=": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

_TOO_LARGE = 2**63


class RowChoice:
    """Row selection of a command's options, validated before any request.

    Raises:
        UsageError: An option names an unknown field, or a value that its field cannot have.
    """

    def __init__(self, record: str, options: Filter) -> None:
        self.conditions = [_condition(record, text) for text in options.where or ()]
        self._keys: list[tuple[str, bool]] = []
        self._limit: int | None = None
        if isinstance(options, RowOptions):
            self._limit = options.limit
            if options.sort is not None:
                known = _core.names_of(record)
                names = _listed_columns(RECORDS[record]["noun"][1], known, "--sort", options.sort)
                self._keys = [(name.removeprefix("-"), name.startswith("-")) for name in names]

    def apply(self, book: AnyBook) -> AnyBook:
        """Returns the rows, sorted and limited."""
        part = book._where(self.conditions) if self.conditions else book
        if self._keys:
            part = part._sorted(self._keys)
        return part if self._limit is None or len(part) <= self._limit else part[: self._limit]


def chosen_columns(what: str, known: Sequence[str], text: str | None) -> list[str] | None:
    """Returns the selected columns, or None if the format decides."""
    if text is None:
        return None
    return list(known) if text == "all" else _listed_columns(what, known, "--columns", text)


def _listed_columns(what: str, known: Sequence[str], name: str, text: str) -> list[str]:
    """Returns the columns that an option lists; those of `--sort` may begin with a minus."""
    names = [column.strip() for column in text.split(",") if column.strip()]
    if not names:
        rest = "; 'all' is all of them" if name == "--columns" else ""
        raise UsageError(f"{name} names no column{rest}")
    plain = [column.removeprefix("-") if name == "--sort" else column for column in names]
    for column in plain:
        if column not in known:
            raise UsageError(
                f"{name}: {what} have no field {column!r}{did_you_mean(column, known)}"
            )
        if plain.count(column) > 1:
            raise UsageError(f"{name} names {column} twice")
    return names


def _condition(record: str, text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UsageError(
            "--where takes NAME=VALUE, or another of != < <= > >= in place of =: symbol=INFY, "
            "'traded_price>100'"
        )
    name, sign, values = match.groups()
    kinds = kinds_of(record)
    if name not in kinds:
        what = RECORDS[record]["noun"][1]
        raise UsageError(f"--where: {what} have no field {name!r}{did_you_mean(name, kinds)}")
    what, kind, comparison = f"--where: {name}", kinds[name], _COMPARISONS[sign]
    if comparison not in ("eq", "ne"):
        return Condition(name, comparison, parsed(what, kind, values))
    wanted: set[Any] = set()
    for part in values.split(","):
        # An empty value matches missing values and, in text fields, empty text.
        none = {None, ""} if kind == "text" else {None}
        wanted |= {parsed(what, kind, part)} if part.strip() else none
    if len({type(value) for value in wanted - {None}}) > 1:
        raise UsageError(f"--where: {name} takes times or days, not both at once")
    return Condition(name, comparison, wanted)


def parsed(what: str, kind: str, text: str) -> Any:
    """Returns the value that an option gives for a field of this kind."""
    if kind == "text":
        return text.strip()
    parser, example = _KINDS[kind]
    try:
        return parser(text.strip())
    except ValueError:
        raise UsageError(f"{what} takes {example}, not {shown(text.strip())}") from None


def _number(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("not finite")
    return number


def _whole(text: str) -> int:
    number = int(text)
    if not -_TOO_LARGE <= number < _TOO_LARGE:
        raise ValueError("more than 64 bits")
    return number


def _moment(text: str) -> datetime | date | time:
    """Returns a time of day, a day, or a time on a day; the service's times have no zone."""
    moment = moment_of(text)
    if getattr(moment, "tzinfo", None) is not None:
        raise ValueError("a time with a zone")
    return moment


_KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "integer": (_whole, "a whole number of at most 64 bits"),
    "number": (_number, "a number"),
    "timestamp": (_moment, "a time such as 09:15, 2026-11-20 or '2026-11-20 09:15:00'"),
    "date": (date.fromisoformat, "a date such as 2026-11-26"),
}
