"""The options that commands share, the rows and columns they select, and how help is written."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from inspect import cleandoc
from math import isfinite
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeVar

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
from .terminal import remark

if TYPE_CHECKING:
    from tradingdata.books.book import AnyBook
    from tradingdata.client.options import Retry

Function = TypeVar("Function", bound=Callable[..., Any])
Given = Mapping[str, Any]
"""The values of a command's options and arguments, by their names."""


class Command(click.Command):
    """A command, whose function's docstring is its help and may end with examples."""

    def __init__(self, name: str | None, *, help: str | None = None, **settings: Any) -> None:
        text, _, examples = cleandoc(help or "").partition("\n\nExamples:\n")
        super().__init__(name, help=text, **settings)
        self._examples = [line.strip() for line in examples.splitlines()]
        traceback = "Show the traceback of an error."  # read where errors are reported
        debug = click.Option(["--debug"], is_flag=True, expose_value=False, help=traceback)
        self.params.append(debug)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples. A long one goes on in the next line, as in a shell."""
        with formatter.indentation(), formatter.section("Examples"):
            for example in self._examples:
                parts = wrap(example, formatter.width - 8, break_on_hyphens=False)
                formatter.write("    " + " \\\n      ".join(parts) + "\n")


class Group(Command, click.Group):
    """A group of such commands, in the order in which they were defined."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the commands."""
        return list(self.commands)


def option(
    declaration: str, help: str, type: Any = None, **settings: Any
) -> Callable[[Function], Function]:
    """Declares an option such as ``-p --profile NAME``, or a switch, which has no value."""
    words = declaration.split()
    names = [word for word in words if word.startswith("-")]
    settings |= {"metavar": words[-1], "type": type} if words != names else {"is_flag": True}
    return click.option(*names, help=help, **settings)


def together(*declarations: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Joins options and arguments that commands share, in this order."""

    def decorate(function: Function, /) -> Function:
        for declaration in reversed(declarations):
            function = declaration(function)
        return function

    return decorate


class _Path(click.ParamType[Path]):
    """A path; ``~`` is replaced, which shells leave alone in ``--output=~/x``."""

    name = "path"

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        """Returns the path."""
        return Path(validate.path("path", value or self.fail("name a file", param, ctx)))


PATH = _Path()
COUNT, AMOUNT = click.IntRange(min=1), click.FloatRange(min=0)
COUNT.name, AMOUNT.name = "integer", "number"  # in messages

connection = together(
    option(
        "-p --profile NAME",
        f"Take address and token from this profile (default: {PROFILE_VARIABLE}).",
    ),
    option("--timeout SECONDS", "Time limit of a call with its retries (default: 30).", float),
)
where = option(
    "-w --where CONDITION",
    "Keep rows with NAME=VALUE. Separate several values by commas; NAME= means no value. Also !=, "
    "<, <=, > and >=: 'traded_price>100'. Repeat it to combine conditions.",
    multiple=True,
)
selection = together(
    where,
    option("--sort A,-B,...", "Sort by these columns; a minus sorts in descending order."),
    option("--limit N", "Keep the first N rows.", COUNT),
)
FORMATS = ("table", "csv", "json", "ndjson", "jsonl", "parquet", "xlsx")
output = together(
    option(
        "-f --format FORMAT",
        "table, csv, json, ndjson, parquet or xlsx. Default: by the suffix of -o, otherwise table.",
        click.Choice(FORMATS),
    ),
    option(
        "-o --output FILE", "Write to this file, which must not exist; - is standard output.", PATH
    ),
    option("--force", "Overwrite the file of -o."),
)
columns = option(
    "-c --columns A,B,...",
    "Columns to show, in this order; 'all' for all. Files contain all by default.",
    multiple=True,
)
book_output = together(
    output, columns, option("--extra", "Include fields that the service does not document.")
)
keep_personal_data = option("--keep-personal-data", "Do not mask PANs (tax numbers) in files.")
care = together(
    option("--strict", "Treat a lost or missing value as an error."), keep_personal_data
)


def client_of(given: Given, *cared: str, token: bool = True) -> Client:
    """Returns a client for the profile or, without one, for the environment.

    The options ``cared`` for are passed on. Raises ConfigurationError where the profile or the
    environment gives no address, or no token and one is needed.
    """
    timeout = given["timeout"]
    if timeout is not None and not 0 < timeout < float("inf"):
        raise UsageError("--timeout is a number of seconds above 0")
    name = given["profile"] or os.environ.get(PROFILE_VARIABLE)
    options = load_profile(name) if name else {}
    # An option that is not set leaves the choice to the profile.
    asked = {key: given[key] for key in ("timeout", *cared) if given[key]}
    client = Client(**{"on_retry": _remark_retry, **options, **asked})
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
    if sys.stderr.isatty():
        failed = f"{retry.call}: attempt {retry.attempt} failed ({retry.reason})"
        remark(f"{failed}, next in {retry.delay:.1f} s")


_CONDITION = re.compile(r"\s*([^<>=!\s]+)\s*(!=|<=|>=|==|=|<|>)(.*)", re.DOTALL)
_COMPARISONS = {"=": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_GROUPED = re.compile(r"-?\d{1,3}(,\d\d)*,\d{3}|-?\d{1,3}(,\d{3})+")  # as tables show numbers
_SHORT_HOUR = re.compile(r"(^|[ T])(\d:)")
_TOO_LARGE = 2**63


class RowChoice:
    """The rows that options select, validated before any request.

    Raises:
        UsageError: An option names an unknown field, or a value that its field cannot have.
    """

    def __init__(self, record: str, given: Given) -> None:
        self.conditions = [_condition(record, text) for text in given.get("where", ())]
        self._limit = given.get("limit")
        sort, what = given.get("sort"), RECORDS[record]["noun"][1]
        names = [] if sort is None else _listed(what, _core.names_of(record), "--sort", [sort])
        self._keys = [(name.removeprefix("-"), name.startswith("-")) for name in names]

    def apply(self, book: AnyBook) -> AnyBook:
        """Returns the rows, sorted and limited."""
        part = book._where(self.conditions) if self.conditions else book
        if self._keys and len(part):
            part = part._sorted(self._keys)
        return part if self._limit is None or len(part) <= self._limit else part[: self._limit]


def chosen_columns(what: str, known: Sequence[str], given: Given) -> list[str] | None:
    """Returns the selected columns, or None if the format decides."""
    texts = given["columns"]
    if not texts:
        return None
    return list(known) if "all" in texts else _listed(what, known, "--columns", texts)


def _listed(what: str, known: Sequence[str], option: str, texts: Sequence[str]) -> list[str]:
    """Returns the columns that an option lists; those of `--sort` may begin with a minus."""
    names = [name.strip() for name in ",".join(texts).split(",") if name.strip()]
    if not names:
        rest = "; 'all' is all of them" if option == "--columns" else ""
        raise UsageError(f"{option} names no column{rest}")
    plain = [name.removeprefix("-") if option == "--sort" else name for name in names]
    for name in plain:
        if name not in known:
            field, colon, _ = name.partition(":")
            hint = f"; write {field} or -{field}" if colon else did_you_mean(name, known)
            raise UsageError(f"{option}: {what} have no field {name!r}{hint}")
        if plain.count(name) > 1:
            raise UsageError(f"{option} names {name} twice")
    return names


def _condition(record: str, text: str) -> Condition:
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise UsageError(
            "--where takes NAME=VALUE, or another of != < <= > >= in place of =: symbol=INFY, "
            "'traded_price>100'"
        )
    name, sign, values = match.groups()
    kinds, noun = kinds_of(record), RECORDS[record]["noun"][1]
    if name not in kinds:
        raise UsageError(f"--where: {noun} have no field {name!r}{did_you_mean(name, kinds)}")
    what, kind, comparison = f"--where: {name}", kinds[name], _COMPARISONS[sign]
    if values[:1] in ("<", ">", "=", "!"):
        raise UsageError(f"{what}{sign}{values[0]} is no comparison: write one of = != < <= > >=")
    if comparison not in ("eq", "ne"):
        return Condition(name, comparison, parsed(what, kind, values))
    wanted: set[Any] = set()
    for part in values.split(","):
        # An empty value matches missing values and, in text fields, empty text.
        none = {None, ""} if kind == "text" else {None}
        wanted |= {parsed(what, kind, part)} if part.strip() else none
    if len({type(value) for value in wanted - {None}}) > 1:
        raise UsageError(f"--where: {name} takes times or days, not both at once")
    if kind in ("integer", "number") and _GROUPED.fullmatch(values.strip()):
        one = f"for one number, write {name}{sign}{values.replace(',', '').strip()}"
        listed = " or ".join(str(parsed(what, kind, part)) for part in values.split(","))
        remark(f"{what} is {listed}; {one}", "yellow")
    return Condition(name, comparison, wanted)


def parsed(what: str, kind: str, text: str) -> Any:
    """Returns the value that an option gives for a field of this kind."""
    parser, example = _KINDS[kind]
    try:
        return parser(text.strip())
    except ValueError:
        raise UsageError(f"{what} takes {example}, not {shown(text.strip())}") from None


def _text(text: str) -> str:
    text.encode()  # bytes that are no UTF-8 are half surrogate pairs among the arguments
    return text


def _number(text: str) -> float:
    if not isfinite(number := float(text)):
        raise ValueError("not finite")
    return number


def _whole(text: str) -> int:
    if not -_TOO_LARGE <= (number := int(text)) < _TOO_LARGE:
        raise ValueError("more than 64 bits")
    return number


def _moment(text: str) -> datetime | date | time:
    """Returns a time of day, a day, or a time on a day; the service's times have no zone."""
    moment = moment_of(_SHORT_HOUR.sub(r"\g<1>0\2", text))
    if getattr(moment, "tzinfo", None) is not None:
        raise ValueError("a time with a zone")
    return moment


_KINDS: dict[str, tuple[Callable[[str], Any], str]] = {
    "text": (_text, "text in UTF-8"),
    "integer": (_whole, "a whole number of at most 64 bits"),
    "number": (_number, "a number"),
    "timestamp": (_moment, "a time such as 09:15, 2026-11-20 or '2026-11-20 09:15:00'"),
    "date": (date.fromisoformat, "a date such as 2026-11-26"),
}
