"""The options that commands share, the client that they configure, and how help is written."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tradingdata._util import validate
from tradingdata._util.waiting import Result
from tradingdata.client.client import Client
from tradingdata.client.profiles import PROFILE_VARIABLE, load_profile
from tradingdata.display import folded
from tradingdata.errors import DataWarning

from .terminal import UsageError, remark

if TYPE_CHECKING:
    from tradingdata.client.options import Retry

Function = TypeVar("Function", bound=Callable[..., Any])
Given = Mapping[str, Any]
"""The values of a command's options and arguments, by their names."""


class Command(click.Command):
    """A command: a function of its options, whose docstring is the help and ends with examples."""

    def __init__(
        self, name: str, *, callback: Callable[[Given], object], help: str, **settings: Any
    ) -> None:
        text, _, examples = cleandoc(help).partition("\n\nExamples:\n")
        super().__init__(name, help=text, callback=lambda **given: callback(given), **settings)
        self._examples = [line.strip() for line in examples.splitlines()]
        traceback = "Show the traceback of an error."  # read where errors are reported
        debug = click.Option(["--debug"], is_flag=True, expose_value=False, help=traceback)
        self.params.append(debug)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples. A long one goes on in the next line, as in a shell."""
        with formatter.indentation(), formatter.section("Examples"):
            for example in self._examples:
                parts = folded(example, formatter.width - 8)
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

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:
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
        client._tokens.require()
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
