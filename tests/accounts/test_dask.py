"""Books on a Dask cluster: a partition an account, and no token in the graph."""

from __future__ import annotations

import functools
import importlib
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import tradingdata as td
import tradingdata.dask
from tradingdata import sandbox

dask = pytest.importorskip("dask")
cloudpickle = pytest.importorskip("cloudpickle")
distributed = pytest.importorskip("distributed")


@pytest.fixture
def service() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=4, orders=12) as running, dask.config.set(scheduler="synchronous"):
        yield running


@pytest.fixture
def labels(service: sandbox.Service, profiles: Path) -> list[str]:
    return with_profiles(service, profiles)


def with_profiles(service: sandbox.Service, file: Path) -> list[str]:
    """Profiles of all accounts, whose tokens are in files beside theirs."""
    lines = []
    for label in service.accounts:
        (file.parent / label).write_text(service.token(label))
        (file.parent / label).chmod(0o600)
        lines += [
            f"[{label}]",
            f'base_url = "{service.base_url}"',
            f"access_token_file = '{file.parent / label}'",
        ]
    file.write_text("\n".join(lines))
    file.chmod(0o600)
    return list(service.accounts)


def fetched(folder: Path, accounts: Any, **options: Any) -> tuple[td.Archive, Any, Any]:
    """An archive, and the entries and the errors of fetching the accounts into it."""
    archive = td.Archive(folder / "books")
    try:
        return archive, tradingdata.dask.fetch(accounts, archive, **options), {}
    except td.AccountsError as error:
        return archive, error.received, error.errors


def test_each_account_is_in_the_archive(
    service: sandbox.Service, labels: list[str], tmp_path: Path
) -> None:
    archive, found, errors = fetched(tmp_path, labels, share=3)
    assert list(found) == list(service.accounts)
    assert errors == {}
    for label in service.accounts:
        client = service.client(label)
        assert list(archive.trades(account=label)) == list(client.trade_book())
    assert len(list(Path(archive.path).glob("responses/*/*"))) == 2, "one file for each share"


def test_a_bad_account_is_an_error_of_its_own(
    labels: list[str], profiles: Path, tmp_path: Path
) -> None:
    (profiles.parent / "desk3").write_text("expired")
    archive, found, errors = fetched(tmp_path, labels)
    assert list(errors) == ["desk3"]
    assert list(found) == ["desk1", "desk2", "desk4"]
    assert isinstance(errors["desk3"], td.AuthenticationError)
    assert errors["desk3"].account == "desk3"
    assert {entry.account for entry in archive.fetches() if not entry.ok} == {"desk3"}


_CLIENTS = """
import os
import tradingdata as td
def of(label):
    token = os.environ["TOKEN_OF_" + label.upper()]
    return td.Client(os.environ["SERVICE"], access_token=token, account=label)
"""


def test_a_function_may_create_the_clients(
    service: sandbox.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clients_of_mine.py").write_text(_CLIENTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("SERVICE", service.base_url)
    for label in service.accounts:
        monkeypatch.setenv(f"TOKEN_OF_{label.upper()}", service.token(label))
    make = importlib.import_module("clients_of_mine").of
    archive, found, _ = fetched(tmp_path, list(service.accounts), client=make)
    assert set(found) == set(service.accounts)
    counts = archive.sql("SELECT count(*) FROM trades GROUP BY account", sandbox.DEFAULT_DAY)
    assert len(counts) == 4


def test_what_may_hold_a_token_is_refused_without_showing_it(service: sandbox.Service) -> None:
    archive: Any = SimpleNamespace()
    secret = "canary-5f0e"
    options: Any = {"base_url": service.base_url, "access_token": secret}
    with pytest.raises(td.ConfigurationError, match="would appear in the task graph") as caught:
        tradingdata.dask.fetch({"desk1": options}, archive)
    assert "canary" not in str(caught.value)
    functions: list[Any] = [
        lambda label: td.Client(access_token=secret, account=label),
        service.client,
        functools.partial(td.Client, access_token=secret),
        options,
    ]
    for function in functions:
        with pytest.raises(td.ConfigurationError, match="cannot be imported by name") as caught:
            tradingdata.dask.fetch(["desk1"], archive, client=function)
        assert "canary" not in str(caught.value)


def test_an_account_without_a_token_of_its_own_is_an_error(
    service: sandbox.Service, profiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a token of the worker's environment would return one account's books for all."""
    labels = with_profiles(service, profiles)
    profiles.write_text(f"{profiles.read_text()}\n[bare]\nbase_url = '{service.base_url}'\n")
    (profiles.parent / "desk2").unlink()
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", service.token("desk1"))
    _, found, failed = fetched(tmp_path, [*labels, "bare", "none"], share=1)
    errors = {label: str(error) for label, error in failed.items()}
    assert set(found) == {"desk1", "desk3", "desk4"}
    assert "has no access token of its own" in errors["bare"]
    assert "the token file cannot be read" in errors["desk2"]
    assert "has no profile of that name" in errors["none"]


@pytest.mark.parametrize("accounts", [6, 200])
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what distributed itself warns of is not ours
@pytest.mark.timeout(600)
def test_on_a_cluster_of_processes(accounts: int, profiles: Path, tmp_path: Path) -> None:
    """A worker is killed on the way; each record is there once, and no token in the graph."""
    with (
        sandbox.start(accounts=accounts, orders=8) as service,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        given = with_profiles(service, profiles)
        (profiles.parent / "desk2").write_text("expired")
        archive = td.Archive(tmp_path / "books")
        graphs: list[str] = []
        submit = client._graph_to_futures

        def watched(*arguments: Any, **options: Any) -> Any:
            graph = options["expr"] if "expr" in options else arguments[0]
            graphs.append(f"{cloudpickle.dumps(graph)!r}")
            worker = next(iter(cluster.workers.values()))
            threading.Timer(0.3, lambda: os.kill(worker.pid, signal.SIGKILL)).start()
            return submit(*arguments, **options)

        client._graph_to_futures = watched
        with pytest.raises(td.AccountsError) as caught:
            tradingdata.dask.fetch(given, archive, share=max(1, accounts // 8))
        assert graphs
        tokens = [service.token(label) for label in service.accounts]
        assert not [token for token in tokens if any(token in graph for graph in graphs)]
        assert list(caught.value.errors) == ["desk2"]
        assert len(caught.value.received) == accounts - 1
        rows = archive.sql(
            "SELECT account, count(*), count(DISTINCT trade_no || order_no) FROM trades GROUP BY 1",
            missing_ok=True,
        )
        assert {account for account, _, _ in rows} == set(service.accounts) - {"desk2"}
        assert all(count == distinct > 0 for _, count, distinct in rows)
        assert archive.verify() > 0
