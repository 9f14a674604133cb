"""Books of many accounts on a Dask cluster: each worker fetches a share into one archive.

The graph contains no token. Workers look tokens up, so the profiles, files and variables that the
accounts name must exist on the workers, and the archive must have one path or address for all.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from ._util.optional_imports import require
from ._util.validate import count
from .accounts.fetch import client_of, named_accounts
from .client.client import Client
from .client.profiles import check_options
from .client.tokens import token_file
from .errors import ConfigurationError, TradingDataError

if TYPE_CHECKING:
    from .accounts.fetch import Accounts
    from .archive import Archive, FetchedAccounts

    Recipe = str | dict[str, Any]  # a profile, or options of a client without any secret

__all__ = ["fetch"]

_FILE, _VARIABLE, _FUNCTION = "access_token_file", "access_token_variable", "access_token"
_SOURCES = (
    "name a profile, or pass access_token_file= (a path), access_token_variable= (the name of an "
    "environment variable) or access_token= (an importable function), which the worker evaluates"
)


def fetch(
    accounts: Accounts,
    archive: Archive,
    *,
    share: int = 25,
    concurrency: int = 8,
    timeout: float | None = None,
) -> FetchedAccounts:
    """Fetches the order and trade books of many accounts into an archive, on Dask's workers.

    Runs on the current Dask client, or else as Dask is configured, and returns when all are stored.
    Each task fetches a share of the accounts concurrently and stores it in one commit. Dask may run
    a task again when a worker fails; books that are stored already are then stored once.

    Args:
        accounts: Names of profiles, or a mapping from a label to the name of a profile or to
            options. The options are those of a profile and must say where to find the token:
            ``access_token_file``, a path; ``access_token_variable``, the name of an environment
            variable; or ``access_token``, an importable function. All three are evaluated on the
            worker. A literal token is refused, because it would appear in the graph and on the
            dashboard.
        archive: The archive. Workers find it at the same path or address; with object storage they
            take the credentials from their environment.
        share: Number of accounts in each task.
        concurrency: Maximum number of accounts that a task fetches at a time.
        timeout: Seconds for each call.

    Returns:
        The log entries by account, and the errors of the accounts that failed.

    Raises:
        ConfigurationError: An account contains a token or does not say where one is, or the archive
            has ``storage_options``, which may contain credentials.
        ArchiveError: A share could not be stored.
        ImportError: dask is not installed.
    """
    dask = require("dask", "dask", "tradingdata.dask")
    from .archive import FetchedAccounts

    recipes = {label: _recipe_of(label, given) for label, given in named_accounts(accounts).items()}
    if archive._store.options:
        raise ConfigurationError(
            "the archive has storage_options, which would appear in the task graph: set the "
            "storage's environment variables on the workers, and open the archive without them"
        )
    size = count("share", share)
    count("concurrency", concurrency)
    labels = list(recipes)
    task = dask.delayed(_fetch_share, pure=False)
    tasks = [
        task(
            archive,
            {label: recipes[label] for label in labels[start : start + size]},
            concurrency,
            timeout,
            # Without a name of its own, a later call could return the result of this one.
            dask_key_name=f"tradingdata-fetch-{uuid.uuid4().hex}",
        )
        for start in range(0, len(labels), size)
    ]
    found = dask.compute(*tasks)
    fetched: dict[str, Any] = {}
    errors: dict[str, Exception] = {}
    for part in found:
        fetched |= part.fetched
        errors |= part.errors
    return FetchedAccounts(fetched, errors)


def _fetch_share(
    archive: Archive, recipes: dict[str, Recipe], concurrency: int, timeout: float | None
) -> FetchedAccounts:
    """Fetches and stores some accounts; an account without a client is an error of its own."""
    from .archive import FetchedAccounts

    clients, errors = [], {}
    try:
        for label, recipe in recipes.items():
            try:
                clients.append(_client_of(label, recipe))
            except TradingDataError as error:
                error.account = error.account or label
                errors[label] = error
        done = archive.fetch(clients, timeout=timeout, concurrency=concurrency)
    finally:
        for client in clients:
            client.close()
    return FetchedAccounts(done.fetched, {**errors, **done.errors})


def _recipe_of(label: str, account: object) -> Recipe:
    """Returns how a worker creates the client of an account.

    It is part of the task graph, which schedulers store and display. Raises ConfigurationError if
    it would contain a secret, or does not say where a token is.
    """
    if isinstance(account, str):
        return account
    if not isinstance(account, Mapping):
        raise ConfigurationError(
            f"account {label!r} is a {type(account).__name__}, which cannot leave this process: "
            f"{_SOURCES}"
        )
    options = {**account, "account": label}
    token, variable = options.pop(_FUNCTION, None), options.pop(_VARIABLE, None)
    if isinstance(token, str):
        raise ConfigurationError(
            f"account {label!r} contains its access token, which would appear in the task graph "
            f"and on the dashboard: {_SOURCES}"
        )
    check_options(f"account {label!r}", options)
    for name in ("base_url", "proxy"):
        if "@" in options.get(name, ""):
            raise ConfigurationError(
                f"account {label!r}: {name} contains a password, which would appear in the task "
                "graph: put it into a profile"
            )
    sources = {_FILE: options.pop(_FILE, None), _VARIABLE: variable}
    sources[_FUNCTION] = None if token is None else _reference(label, token)
    given = {name: source for name, source in sources.items() if source is not None}
    if len(given) != 1:
        named = " and ".join(given) if given else "no access token of its own"
        raise ConfigurationError(f"account {label!r} has {named}: {_SOURCES}")
    if variable is not None and not (isinstance(variable, str) and variable.isidentifier()):
        # The message omits the value: it may be a token, passed instead of the variable's name.
        raise ConfigurationError(
            f"account {label!r}: {_VARIABLE} must be the name of an environment variable"
        )
    return {**options, **given}


def _reference(label: str, function: object) -> str:
    """Returns ``module:name`` of a function, which is passed to workers by name, never by value."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if callable(function) and module != "__main__" and module and name:
        with suppress(AttributeError, KeyError):
            if attrgetter(name)(sys.modules[module]) is function:
                return f"{module}:{name}"
    raise ConfigurationError(
        f"account {label!r}: its access_token function cannot be imported by name, and pickling it "
        f"would copy the values it refers to: define it in a module; or {_SOURCES}"
    )


def _client_of(label: str, recipe: Recipe) -> Client:
    """Creates the client and looks up its token in this process. Raises ConfigurationError."""
    if isinstance(recipe, str):
        return client_of(label, recipe)
    options = dict(recipe)
    if _FILE in recipe:
        token: Any = token_file(options.pop(_FILE))
    elif _VARIABLE in recipe:
        variable = options.pop(_VARIABLE)

        def token() -> str:
            try:
                return os.environ[variable]
            except KeyError:
                raise ConfigurationError(
                    f"{variable} is not set in this worker's environment: set it before starting "
                    "the worker"
                ) from None

    else:
        name = options.pop(_FUNCTION)
        try:
            token = resolve_name(name)
        except (ImportError, AttributeError) as error:
            raise ConfigurationError(
                f"account {label!r}: its access_token function {name} cannot be imported here: "
                f"{error}"
            ) from None
    return Client(**options, access_token=token)


def __dir__() -> list[str]:
    return sorted(__all__)
