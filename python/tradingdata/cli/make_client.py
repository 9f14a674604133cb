"""Creates a command's client from its options; fetches books without Python's warnings."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tradingdata.client.base import BASE_URL_VARIABLE
from tradingdata.client.client import Client
from tradingdata.client.tokens import ACCESS_TOKEN_VARIABLE
from tradingdata.errors import ConfigurationError, DataWarning

from .exit_codes import UsageError
from .options import Care, Connection
from .terminal import remark, watched

if TYPE_CHECKING:
    from tradingdata.client.call_log import Retry

    Result = TypeVar("Result")


def connect(
    connection: Connection,
    care: Care | None = None,
    *,
    token: bool = True,
    keep_personal_data: bool = False,
    on_retry: Callable[[Retry], object] | None = None,
) -> Client:
    """Returns a client for the profile or, without one, for the environment.

    Raises ConfigurationError where that gives no address, or no token and one is needed.
    """
    options = client_options(connection)
    # Not set is not said: a profile may ask for either.
    if care is not None and care.strict:
        options["strict"] = True
    if keep_personal_data or (care is not None and care.keep_personal_data):
        options["keep_personal_data"] = True
    if "base_url" not in options and not os.environ.get(BASE_URL_VARIABLE):
        raise ConfigurationError(
            f"no address of the service: set {BASE_URL_VARIABLE} or use --profile NAME; "
            "to try the package without an account, run `tradingdata sandbox`"
        )
    if on_retry is not None:
        options["on_retry"] = on_retry
    client = Client(**options)
    if token:
        token_source(connection, client)
    return client


def client_options(connection: Connection) -> dict[str, Any]:
    """Returns the options of `Client` for the options of a command."""
    options = connection.chosen[1]
    if connection.timeout is not None:
        if not 0 < connection.timeout < float("inf"):
            raise UsageError("--timeout is a number of seconds above 0")
        options["timeout"] = connection.timeout
    return {**options, "on_retry": _tell_retry}


def token_source(connection: Connection, client: Client) -> str:
    """Returns the source of the client's token. Raises ConfigurationError if it has none."""
    if not client._tokens.known:
        raise ConfigurationError(
            f"no access token: set {ACCESS_TOKEN_VARIABLE} or use --profile NAME"
        )
    name, options = connection.chosen
    if "access_token" in options:
        return f"the profile {name}"
    return ACCESS_TOKEN_VARIABLE


def received(call: Callable[[], Result]) -> Result:
    """Returns the result of a call. Lost values are reported later, with the book's issues."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return call()


def retry_text(retry: Retry) -> str:
    """Returns which attempt failed, why, and when the next one follows."""
    return f"attempt {retry.attempt} failed ({retry.reason}), next in {retry.delay:.1f} s"


def _tell_retry(retry: Retry) -> None:
    if watched():
        remark(f"{retry.call}: {retry_text(retry)}")
