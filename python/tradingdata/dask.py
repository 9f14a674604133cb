"""Books of many accounts on a Dask cluster: each worker fetches a share into one archive.

The graph contains no token. Workers look tokens up, so the profiles, files and variables that the
accounts name must exist on the workers, and the archive must have one path or address for all.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from ._util.optional_imports import require
from ._util.validate import count
from .accounts.client_spec import client_of, recipe_of
from .accounts.fetch import named_accounts
from .errors import ConfigurationError, TradingDataError

if TYPE_CHECKING:
    from .accounts.client_spec import Recipe
    from .accounts.fetch import Accounts
    from .archive import Archive, FetchedAccounts

__all__ = ["fetch"]


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

    recipes = {label: recipe_of(label, given) for label, given in named_accounts(accounts).items()}
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
                clients.append(client_of(label, recipe))
            except TradingDataError as error:
                error.account = error.account or label
                errors[label] = error
        done = archive.fetch(clients, timeout=timeout, concurrency=concurrency)
    finally:
        for client in clients:
            client.close()
    return FetchedAccounts(done.fetched, {**errors, **done.errors})


def __dir__() -> list[str]:
    return sorted(__all__)
