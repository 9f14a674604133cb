"""Books on a Dask cluster: a partition an account, and no token in the graph."""

from __future__ import annotations

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

Accounts = dict[str, dict[str, Any]]


@pytest.fixture
def service() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=4, orders=12) as running, dask.config.set(scheduler="synchronous"):
        yield running


def with_files(service: sandbox.Service, folder: Path) -> Accounts:
    """Accounts whose tokens are in files."""
    for label in service.accounts:
        (folder / label).write_text(service.token(label))
    return {
        label: {"base_url": service.base_url, "access_token_file": str(folder / label)}
        for label in service.accounts
    }


def fetched(folder: Path, accounts: object, **options: Any) -> Any:
    """An archive, and the result of fetching the accounts into it."""
    archive = td.Archive(folder / "books")
    return archive, tradingdata.dask.fetch(accounts, archive, **options)  # type: ignore[arg-type]


def test_each_account_is_in_the_archive(service: sandbox.Service, tmp_path: Path) -> None:
    archive, found = fetched(tmp_path, with_files(service, tmp_path), share=3)
    assert list(found.fetched) == list(service.accounts)
    assert found.errors == {}
    for label in service.accounts:
        client = service.client(label)
        assert list(archive.trades(account=label)) == list(client.trade_book())
    assert len(archive.files("trades")) == 2, "a commit for each share"


def test_a_bad_account_is_an_error_of_its_own(service: sandbox.Service, tmp_path: Path) -> None:
    accounts = with_files(service, tmp_path)
    (tmp_path / "desk3").write_text("expired")
    archive, found = fetched(tmp_path, accounts)
    assert list(found.errors) == ["desk3"]
    assert list(found.fetched) == ["desk1", "desk2", "desk4"]
    with pytest.raises(td.AuthenticationError) as caught:
        found.raise_errors()
    assert caught.value.account == "desk3"
    assert {entry.account for entry in archive.fetches() if not entry.ok} == {"desk3"}


def test_tokens_may_come_from_profiles_variables_and_functions(
    service: sandbox.Service, tmp_path: Path, profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = f'access_token = "{service.token()}"'
    profiles.write_text(f'[p1]\nbase_url = "{service.base_url}"\n{secret}\n')
    monkeypatch.setenv("TOKEN_OF_DESK1", service.token())
    (tmp_path / "tokens_of_mine.py").write_text(
        "import os\ndef desk1():\n    return os.environ['TOKEN_OF_DESK1']\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    tokens_of_mine = importlib.import_module("tokens_of_mine")

    url = {"base_url": service.base_url}
    accounts: dict[str, Any] = {
        "profile": "p1",
        "variable": {**url, "access_token_variable": "TOKEN_OF_DESK1"},
        "function": {**url, "access_token": tokens_of_mine.desk1},
    }
    archive, found = fetched(tmp_path, accounts)
    assert set(found.fetched) == set(accounts)
    counts = archive.sql("SELECT count(*) FROM trades GROUP BY account", sandbox.DEFAULT_DAY)
    assert len(counts) == 3
    assert len(set(counts)) == 1


def refused(account: object) -> str:
    archive: Any = SimpleNamespace(_store=SimpleNamespace(options=None))
    with pytest.raises(td.ConfigurationError) as caught:
        tradingdata.dask.fetch({"desk1": account}, archive)
    return str(caught.value)


def test_credentials_of_the_storage_stay_out_of_the_graph() -> None:
    archive: Any = SimpleNamespace(_store=SimpleNamespace(options={"secret": "canary"}))
    with pytest.raises(td.ConfigurationError, match="storage_options") as caught:
        tradingdata.dask.fetch(["p1"], archive)
    assert "canary" not in str(caught.value)


def test_what_holds_a_token_is_refused_without_showing_it(service: sandbox.Service) -> None:
    url = {"base_url": service.base_url}
    reported = refused({**url, "access_token": "canary-5f0e"})
    assert "would appear in the task graph and on the dashboard" in reported
    assert "access_token_variable=" in reported
    assert "canary" not in reported
    secret = "canary-5f0e"
    for function in (lambda: secret, service.token, td.token_file("canary-5f0e")):
        reported = refused({**url, "access_token": function})
        assert "cannot be imported by name" in reported
        assert "canary" not in reported
    reported = refused({**url, "access_token_file": "t", "proxy": "http://me:canary@proxy:8080"})
    assert "proxy contains a password" in reported
    assert "canary" not in reported
    assert "is a Client, which cannot leave this process" in refused(service.client())


def test_an_account_says_where_its_token_is_and_says_it_once(service: sandbox.Service) -> None:
    url = {"base_url": service.base_url}
    assert "has no access token of its own" in refused(url)
    assert "access_token_file and access_token_variable" in refused(
        {**url, "access_token_file": "a", "access_token_variable": "b"}
    )
    reported = refused({**url, "access_token_variable": "eyJhbGciOiJIUzI1NiJ9.canary"})
    assert "access_token_variable must be the name of an environment variable" in reported
    assert "canary" not in reported
    assert "has an unknown option 'tokn'" in refused({**url, "tokn": "x"})


def test_a_token_that_is_not_on_the_worker_is_reported(
    service: sandbox.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADINGDATA_PROFILES", str(tmp_path / "none.toml"))
    url = {"base_url": service.base_url}
    _, found = fetched(
        tmp_path,
        {
            "a": {**url, "access_token_variable": "NOT_SET_ANYWHERE"},
            "b": {**url, "access_token_file": str(tmp_path / "no-file")},
            "c": "no-profile",
        },
    )
    errors = {label: str(error) for label, error in found.errors.items()}
    failed = "the access_token function failed: "
    assert errors["a"].startswith(f"{failed}NOT_SET_ANYWHERE is not set")
    assert errors["b"].startswith(f"{failed}the token file cannot be read")
    assert "there is no profile file" in errors["c"]


@pytest.mark.parametrize("accounts", [6, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what distributed itself warns of is not ours
@pytest.mark.timeout(600)
def test_on_a_cluster_of_processes(accounts: int, tmp_path: Path) -> None:
    """A worker is killed on the way; each record is there once, and no token in the graph."""
    with (
        sandbox.start(accounts=accounts, orders=8) as service,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        given = with_files(service, tmp_path)
        (tmp_path / "desk2").write_text("expired")
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
        found = tradingdata.dask.fetch(given, archive, share=max(1, accounts // 8))
        assert graphs
        tokens = [service.token(label) for label in service.accounts]
        assert not [token for token in tokens if any(token in graph for graph in graphs)]
        assert list(found.errors) == ["desk2"]
        assert len(found.fetched) == accounts - 1
        rows = archive.sql(
            "SELECT account, count(*), count(DISTINCT trade_no || order_no) FROM trades GROUP BY 1",
            missing_ok=True,
        )
        assert {account for account, _, _ in rows} == set(service.accounts) - {"desk2"}
        assert all(count == distinct > 0 for _, count, distinct in rows)
        assert archive.verify() > 0
