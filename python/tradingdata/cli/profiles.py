"""`tradingdata profiles`: shows the profiles, without their tokens."""

from __future__ import annotations

import re

from tradingdata.client.profiles import read_profiles

from .options import command
from .output import write_lines
from .terminal import remark


@command("profiles", "tradingdata profiles\ntradingdata trades --profile desk1")
def profiles() -> None:
    """Show the profiles.

    Shows addresses, accounts and where the tokens are, but no token. To add a profile, edit the
    file that is named below the list.
    """
    known = read_profiles()
    rows = []
    for name, table in known.tables.items():
        if not isinstance(table, dict):
            continue
        token = "in the profile" if "access_token" in table else table.get("access_token_file")
        # The client refuses an address with a user name or password; do not show them here.
        address = getattr(table.get("base_url"), "value", "")
        address = re.sub("//.*@", "//", str(address), flags=re.DOTALL) or None
        rows.append((name, address, table.get("tz"), table.get("account", name), token))
    write_lines(("profile", "base_url", "tz", "account", "token"), rows)
    remark(f"in {known.path}")
