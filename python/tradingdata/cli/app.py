"""Assembles the commands into one program with its help."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import Annotated, Any, Literal

import typer

from tradingdata._core import __version__

from .commands import books, check, demo, pnl, positions, sandbox, search, stock, versions, watch
from .commands.archive import group as archive_group
from .commands.profiles import group as profiles_group
from .exit_codes import MEANINGS
from .option_groups import spread
from .options import Debug, switch

_HELP = """Trade book, order book and stock search of the Trading Data Service.

Address and token come from TRADINGDATA_BASE_URL and TRADINGDATA_ACCESS_TOKEN, or from a profile
(--profile NAME, TRADINGDATA_PROFILE). A token is never an argument.
"""
_EXAMPLES = """
tradingdata demo
tradingdata check
tradingdata trades --where symbol=INFY -o infy.csv
"""
_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_BOXES_FROM = 80  # columns of a terminal; in fewer, boxes leave the texts no room

COMMANDS = {
    "demo": (demo.demo, demo.EXAMPLES),
    "check": (check.check, check.EXAMPLES),
    "trades": (books.trades, books.TRADES_EXAMPLES),
    "orders": (books.orders, books.ORDERS_EXAMPLES),
    "search": (search.search, search.EXAMPLES),
    "stock": (stock.stock, stock.EXAMPLES),
    "positions": (positions.show, positions.EXAMPLES),
    "pnl": (pnl.show, pnl.EXAMPLES),
    "watch": (watch.watch, watch.EXAMPLES),
    "sandbox": (sandbox.sandbox, sandbox.EXAMPLES),
    "versions": (versions.versions, versions.EXAMPLES),
}
GROUPS = {"profiles": profiles_group, "archive": archive_group}


def make_command() -> Any:
    """Returns the program as a click command; rich formats its help on wide terminals only."""
    styled = sys.stdout.isatty() and get_terminal_size().columns >= _BOXES_FROM
    markup: Literal["rich"] | None = "rich" if styled else None
    codes = [f"{code:>3}  {text}" for code, text in MEANINGS.items()]
    app = typer.Typer(
        name="tradingdata",
        rich_markup_mode=markup,
        context_settings=_SETTINGS,
        epilog=f"{_examples(_EXAMPLES, styled)}\n\n{_listed('Exit codes', codes, styled)}",
    )
    app.callback(help=_flowing(_HELP))(_main)
    _add(app, COMMANDS, styled)
    for name, group in GROUPS.items():
        commands = typer.Typer(
            rich_markup_mode=markup,
            help=group.SUMMARY,
            epilog=_examples(group.EXAMPLES, styled),
        )
        _add(commands, group.COMMANDS, styled)
        app.add_typer(commands, name=name)
    command = typer.main.get_command(app)
    _without_types(command)
    return command


def _add(app: typer.Typer, commands: dict[str, Any], styled: bool) -> None:
    for name, (function, examples) in commands.items():
        help_text = _flowing(function.__doc__)
        app.command(name, help=help_text, epilog=_examples(examples, styled))(spread(function))


def _flowing(text: str) -> str:
    """Joins the lines of each paragraph, because rich would keep the line ends of the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _without_types(command: Any) -> None:
    """Removes ``<bool>`` of flags and ``<str>`` of arguments, which typer adds, from the help."""
    parameters = [*command.params, command.get_help_option(typer.Context(command, **_SETTINGS))]
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            parameter.display_type = parameter.display_type_rich = lambda ctx: ""
    for each in getattr(command, "commands", {}).values():
        _without_types(each)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"tradingdata {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        switch("--version", "Show the version.", callback=_version, is_eager=True),
    ] = False,
    debug: Debug = False,
) -> None:
    pass


def _examples(text: str, styled: bool) -> str:
    return _listed("Examples", text.split("\n"), styled)


def _listed(title: str, lines: list[str], styled: bool) -> str:
    """Formats lines for the help; the backspace keeps click from joining them."""
    kept = [f"  {line}" for line in lines if line]
    if styled:
        return "\n".join([f"[bold]{title}[/bold]", *kept])
    return "\n".join(["\b", f"{title}:", *kept])
