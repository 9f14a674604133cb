"""The commands as one program."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import typer

from tradingdata._core import __version__

from .commands import (
    check,
    demo,
    orders,
    pnl,
    positions,
    sandbox,
    search,
    stock,
    trades,
    versions,
    watch,
)
from .commands.archive import group
from .exit_codes import MEANINGS
from .option_groups import spread
from .options import Debug, switch

_SUMMARY = "Trade book, order book and stock search of the Trading Data Service."
_SETUP = (
    "The address and the token come from TRADINGDATA_BASE_URL and TRADINGDATA_ACCESS_TOKEN, or "
    "from a profile (--profile NAME); a token is never an argument."
)
_EXAMPLES = """
tradingdata demo
tradingdata check
tradingdata trades --where symbol=INFY -o infy.csv
"""

COMMANDS = (
    (demo, demo.demo),
    (check, check.check),
    (trades, trades.trades),
    (orders, orders.orders),
    (search, search.search),
    (stock, stock.stock),
    (positions, positions.show),
    (pnl, pnl.show),
    (watch, watch.watch),
    (sandbox, sandbox.sandbox),
    (versions, versions.versions),
)


def make_command() -> Any:
    """The program as a command that can be run; rich shows its help on a terminal only."""
    styled = sys.stdout.isatty()
    markup: Literal["rich"] | None = "rich" if styled else None
    app = typer.Typer(
        name="tradingdata",
        rich_markup_mode=markup,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        epilog=_examples(_EXAMPLES, styled)
        + "\n\n"
        + _listed("Exit codes", [f"{code:>3}  {text}" for code, text in MEANINGS.items()], styled),
    )
    app.callback(help=f"{_SUMMARY}\n\n{_SETUP}")(_main)
    _add(app, COMMANDS, styled)
    archive = typer.Typer(
        rich_markup_mode=markup,
        help=group.SUMMARY,
        epilog=_examples(group.EXAMPLES, styled),
    )
    _add(archive, group.COMMANDS, styled)
    app.add_typer(archive, name="archive")
    return typer.main.get_command(app)


def _add(app: typer.Typer, commands: Any, styled: bool) -> None:
    for module, function in commands:
        name = module.__name__.rpartition(".")[2]
        app.command(name, epilog=_examples(module.EXAMPLES, styled))(spread(function))


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
    """Lines that the help shows as they are: a backspace keeps click from filling them into one."""
    kept = [f"  {line}" for line in lines if line]
    if styled:
        return "\n".join([f"[bold]{title}[/bold]", *kept])
    return "\n".join(["\b", f"{title}:", *kept])
