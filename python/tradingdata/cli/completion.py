"""Shell completion of columns, filters and profiles, without any request to the service."""

from __future__ import annotations

import typer

from tradingdata import _core

_RECORDS = {
    "trades": "Trade",
    "orders": "Order",
    "watch": "Order",
    "search": "Stock",
    "stock": "Stock",
}


def columns_of(command: str | None) -> list[str]:
    """Returns the columns of a command's output."""
    if command in ("positions", "pnl"):
        from tradingdata.analysis import Position, Realised
        from tradingdata.analysis.result_table import kinds_of

        return list(kinds_of(Position if command == "positions" else Realised))
    return _core.names_of(_RECORDS.get(command or "", "Trade"))


def complete_columns(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes the column after the last comma, excluding those before it."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    names = [name for name in columns_of(ctx.info_name) if name not in taken]
    return [before + comma + name for name in names if name.startswith(last)]


def complete_sort(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes columns that a minus may precede."""
    before, comma, last = incomplete.rpartition(",")
    sign = "-" if last.startswith("-") else ""
    found = complete_columns(ctx, before.replace("-", "") + comma + last.removeprefix("-"))
    return [before + comma + sign + name.rpartition(",")[2] for name in found]


def complete_filters(ctx: typer.Context, incomplete: str) -> list[str]:
    """Completes the column of a condition, with the equals sign."""
    names = columns_of(ctx.info_name)
    return [f"{name}=" for name in names if name.startswith(incomplete)]


def complete_profiles(incomplete: str) -> list[str]:
    """Completes the names of profiles."""
    from tradingdata.client.profiles import read_profiles
    from tradingdata.errors import ConfigurationError

    try:
        return [name for name in read_profiles().names if name.startswith(incomplete)]
    except (ConfigurationError, OSError):
        return []
