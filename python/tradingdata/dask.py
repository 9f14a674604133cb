"""Books of many accounts on a Dask cluster: each worker fetches a share into one archive.

The graph contains labels of accounts and no token: workers create the clients. So what these need
must exist on the workers, and the archive's folder must have one path for all.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter

from ._util.optional_imports import require
from ._util.validate import count, shown
from .accounts import Accounts, accounts_error, client_of, named_accounts
from .archive import Archive, Fetched
from .client.client import Client
from .client.tokens import hide
from .errors import AccountsError, ConfigurationError

__all__ = ["fetch"]


def fetch(
    accounts: Iterable[str],
    archive: Archive,
    *,
    client: Callable[[str], Client] | None = None,
    share: int = 25,
    concurrency: int = 8,
    timeout: float | None = None,
) -> dict[str, Fetched]:
    """Fetches the order and trade books of many accounts into an archive, on Dask's workers.

    Runs on the current Dask client, or else as Dask is configured, and returns when all are stored.
    Each task fetches a share of the accounts concurrently and stores it, for which it needs no
    lock; whoever holds the archive's lock puts everything into its days. Dask may run a task again
    when a worker fails: records are there once all the same.

    Args:
        accounts: Names of profiles, or any labels with ``client``.
        archive: The archive, in a folder that workers find at the same path.
        client: A function of a module that workers can import, which returns the client of a label:
            it looks up the token on the worker, and passes ``account=`` on to ``Client``.
        share: Number of accounts in each task.
        concurrency: Maximum number of accounts that a task fetches at a time.
        timeout: Seconds for each call.

    Returns:
        The log entries by account.

    Raises:
        ConfigurationError: ``client`` cannot be imported.
        AccountsError: Accounts failed; ``received`` has the log entries of the others, which are
            stored.
        ArchiveError: A share could not be stored.
        ImportError: dask is not installed.
    """
    dask = require("dask", "dask", "tradingdata.dask")
    if isinstance(accounts, Mapping):
        raise ConfigurationError(
            "accounts is a mapping, which would appear in the task graph and on the dashboard: "
            "pass a list of profiles, or of labels and `client`, a function that creates a client"
        )
    labels = list(named_accounts(hide(accounts)))
    if client is not None and not _is_importable(client):
        raise ConfigurationError(
            "client cannot be imported by name, and pickling it would copy the values that it "
            "refers to into the task graph: pass a function of a module"
        )
    if not isinstance(archive, Archive):
        raise TypeError(f"archive must be a td.Archive, not {shown(archive)}")
    size = count("share", share)
    count("concurrency", concurrency)
    task = dask.delayed(_fetch_share, pure=False)
    tasks = [
        task(
            archive,
            labels[start : start + size],
            client,
            concurrency,
            timeout,
            # The key is unique, or Dask could return the result of an earlier call.
            dask_key_name=f"tradingdata-fetch-{uuid.uuid4().hex}",
        )
        for start in range(0, len(labels), size)
    ]
    fetched_by_account: dict[str, Fetched] = {}
    errors: dict[str, Exception] = {}
    for fetched, failed in dask.compute(*tasks):
        fetched_by_account |= fetched
        errors |= failed
    if errors:
        raise accounts_error(errors, fetched_by_account)
    return fetched_by_account


class _Share(Accounts):
    """Some of the accounts, whose clients a function may create."""

    def __init__(
        self, labels: Sequence[str], create: Callable[[str], Client] | None, concurrency: int
    ) -> None:
        super().__init__(labels, concurrency=concurrency)
        self._create = create

    def _make(self, label: str) -> Client:
        # A share may have one account, and the environment's token may be that of another one.
        return self._create(label) if self._create else client_of(label, label)


def _fetch_share(
    archive: Archive,
    labels: Sequence[str],
    create: Callable[[str], Client] | None,
    concurrency: int,
    timeout: float | None,
) -> tuple[dict[str, Fetched], Mapping[str, Exception]]:
    """Fetches and stores some accounts; returns the entries and the errors by label."""
    with _Share(labels, create, concurrency) as accounts:
        try:
            return archive.fetch(accounts, timeout=timeout), {}
        except AccountsError as error:
            return error.received, error.errors


def _is_importable(function: object) -> bool:
    """Returns whether a function is passed to workers by its name, never by value."""
    module, name = (
        getattr(function, attribute, "") for attribute in ("__module__", "__qualname__")
    )
    try:
        return module != "__main__" and attrgetter(name)(sys.modules[module]) is function
    except (AttributeError, KeyError, TypeError):
        return False


def __dir__() -> list[str]:
    return sorted(__all__)
