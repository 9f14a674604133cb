"""`tradingdata profiles check`: whether each profile can be used, without a request."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradingdata._util.private_file import require_private
from tradingdata.cli.options import Debug
from tradingdata.cli.report import Report
from tradingdata.client.client import Client
from tradingdata.client.profiles import Profiles, read_profiles
from tradingdata.errors import ConfigurationError

EXAMPLES = """
tradingdata profiles check
tradingdata profiles check desk1 desk2
"""

Names = Annotated[
    list[str] | None, typer.Argument(metavar="[NAME]...", help="The profiles (default: all).")
]


def check(names: Names = None, debug: Debug = False) -> None:
    """Check the profiles without a call.

    Checks their options and the files of their tokens. To try a profile with the service, run
    `tradingdata check --profile NAME`.
    """
    profiles = read_profiles()
    chosen = names or profiles.names
    if not chosen:
        raise ConfigurationError(f"{profiles.path} has no profile: add one")
    report = Report(chosen)
    for name in chosen:
        with report.step(name, "check the file", go_on=True):
            report.ok(_checked(profiles, name))
    raise typer.Exit(report.end())


def _checked(profiles: Profiles, name: str) -> str:
    """Returns where a profile leads to. Raises ConfigurationError or OSError."""
    options = profiles.options(name)
    with Client(**options) as client:
        address = client.base_url
    source: Any = options.get("access_token")
    if source is None:
        return f"{address}, without a token of its own"
    if not callable(source):
        return f"{address}, with a token"
    if not source():
        raise ConfigurationError("the token file is empty: write the token to it")
    path = profiles.token_path(name)
    with open(path, "rb") as file:
        require_private(file, path)
    return f"{address}, with the token of {path}"
