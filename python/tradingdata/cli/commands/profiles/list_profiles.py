"""`tradingdata profiles list`: the profiles, without their tokens."""

from __future__ import annotations

from typing import Any

from tradingdata.cli.exportable import ListTable
from tradingdata.cli.options import Debug, Output
from tradingdata.cli.output import Destination
from tradingdata.client.profiles import read_profiles

EXAMPLES = """
tradingdata profiles list
tradingdata profiles list --format json
"""

_COLUMNS = ("profile", "base_url", "account", "tz", "token")


def show(output: Output, debug: Debug = False) -> None:
    """Show the profiles. Tokens are never shown."""
    destination = Destination(output)
    profiles = read_profiles()
    rows = [_row(name, table) for name, table in profiles.tables.items() if isinstance(table, dict)]
    title = f"{len(rows)} {'profile' if len(rows) == 1 else 'profiles'} in {profiles.path}"
    kinds = dict.fromkeys(_COLUMNS, "text")
    destination.take(ListTable(rows, kinds, ("profile", "profiles"), title=title))


def _row(name: str, table: dict[str, Any]) -> dict[str, Any]:
    token = table.get("access_token_file")
    if token is None and "access_token" in table:
        token = "in the profile"
    account = table.get("account", name)
    return {**dict.fromkeys(_COLUMNS), **table, "profile": name, "account": account, "token": token}
