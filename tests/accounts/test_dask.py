"""Books on a Dask cluster: a partition an account, and no token in the graph."""

from __future__ import annotations

import datetime as dt
import importlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
import tradingdata.dask
from private_files import make_private
from tradingdata import sandbox

dask = pytest.importorskip("dask")
cloudpickle = pytest.importorskip("cloudpickle")
distributed = pytest.importorskip("distributed")

Accounts = dict[str, dict[str, Any]]


@pytest.fixture
def service() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=4, orders=12) as running, dask.config.set(scheduler="synchronous"):
        yield running


def books(accounts: object, **options: Any) -> Any:
    return tradingdata.dask.trade_books(accounts, **options)  # type: ignore[arg-type]


def with_files(service: sandbox.Service, folder: Path) -> Accounts:
    """Accounts whose tokens are in files."""
    for label in service.accounts:
        (folder / label).write_text(service.token(label))
    return {
        label: {"base_url": service.base_url, "access_token_file": str(folder / label)}
        for label in service.accounts
    }


def test_to_make_the_frame_asks_nothing_and_its_schema_holds(
    service: sandbox.Service, tmp_path: Path
) -> None:
    accounts = with_files(service, tmp_path)
    frames: list[Any] = [books(accounts), tradingdata.dask.order_books(accounts)]
    for frame in frames:
        assert len(service.requests) == 0
        assert frame.npartitions == 4
        found = frame.compute()
        assert found.dtypes.equals(frame.dtypes)
        assert found["account"].unique().tolist() == list(service.accounts)
        assert len(service.requests) == 4
        service.requests.clear()


def test_the_rows_are_those_of_the_books(service: sandbox.Service, tmp_path: Path) -> None:
    found = books(with_files(service, tmp_path)).compute()
    expected = td.trade_books({label: service.client(label) for label in service.accounts})
    assert found.reset_index(drop=True).equals(expected.to_pandas().astype(found.dtypes))


def test_columns_are_picked_and_a_computation_takes_those_it_needs(
    service: sandbox.Service, tmp_path: Path
) -> None:
    accounts = with_files(service, tmp_path)
    frame = books(accounts, columns=["symbol", "trade_value"])
    assert frame.compute().columns.tolist() == ["account", "symbol", "trade_value"]
    whole = books(accounts)
    total = whole.groupby("account")["trade_value"].sum().compute()
    for label in service.accounts:
        value = sum(trade.trade_value or 0 for trade in service.client(label).trade_book())
        assert total[label] == pytest.approx(value)
    with pytest.raises(KeyError, match="has no field 'price'"):
        books(accounts, columns=["price"])


def test_each_call_asks_anew(service: sandbox.Service, tmp_path: Path) -> None:
    """A cluster takes equal names for one result: a response of an hour ago must not come back."""
    accounts = with_files(service, tmp_path)
    names = {books(accounts)._name for _ in range(3)}
    assert len(names) == 3


def test_a_bad_account_is_the_error_or_a_row(service: sandbox.Service, tmp_path: Path) -> None:
    accounts = with_files(service, tmp_path)
    (tmp_path / "desk3").write_text("expired")
    with pytest.raises(td.AuthenticationError) as caught:
        books(accounts).compute()
    assert caught.value.account == "desk3"
    assert caught.value.__notes__ == ["account 'desk3'"]
    assert "desk3" in pickle.loads(pickle.dumps(caught.value)).__notes__[0]
    frame = books(accounts, errors="keep")
    found = frame.compute()
    assert found.dtypes.equals(frame.dtypes)
    assert found.columns[-1] == "error"
    bad = found[found["error"].notna()]
    assert bad["account"].tolist() == ["desk3"]
    assert bad["error"].iloc[0].startswith("AuthenticationError: POST /api/v1/trade/book: HTTP 401")
    assert bad.drop(columns=["account", "error"]).isna().all(axis=None)
    assert set(found[found["error"].isna()]["account"]) == {"desk1", "desk2", "desk4"}


def test_tokens_may_come_from_profiles_variables_and_functions(
    service: sandbox.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "profiles.toml"
    file.write_text(f'[p1]\nbase_url = "{service.base_url}"\naccess_token = "{service.token()}"\n')
    make_private(file)
    monkeypatch.setenv("TRADINGDATA_PROFILES", str(file))
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
    found = books(accounts).compute()
    assert found.groupby("account").size().nunique() == 1
    assert set(found["account"]) == set(accounts)
    assert len(books(["p1"]).compute()) * 3 == len(found)


def refused(account: object) -> str:
    with pytest.raises(td.ConfigurationError) as caught:
        books({"desk1": account})
    return str(caught.value)


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
    with pytest.raises(ValueError, match="accounts is empty"):
        books([])
    with pytest.raises(ValueError, match="errors is 'raise' or 'keep', not 'ignore'"):
        books(["p1"], errors="ignore")


def test_a_token_that_is_not_on_the_worker_is_reported(
    service: sandbox.Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADINGDATA_PROFILES", str(tmp_path / "none.toml"))
    url = {"base_url": service.base_url}
    frame = books(
        {
            "a": {**url, "access_token_variable": "NOT_SET_ANYWHERE"},
            "b": {**url, "access_token_file": str(tmp_path / "no-file")},
            "c": "no-profile",
        },
        errors="keep",
    )
    errors = frame.compute()["error"].tolist()
    failed = "AuthenticationError: the access_token function failed: "
    assert errors[0].startswith(f"{failed}NOT_SET_ANYWHERE is not set")
    assert errors[1].startswith(f"{failed}the token file cannot be read")
    assert "ConfigurationError: there is no profile file" in errors[2]


@pytest.mark.parametrize("accounts", [6, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore")  # what distributed itself warns of is not ours
@pytest.mark.timeout(300)
def test_on_a_cluster_of_processes(accounts: int, tmp_path: Path) -> None:
    """Tokens, tasks as the scheduler holds them, one bad account, and a day without a time zone."""
    with (
        sandbox.start(accounts=accounts, orders=8) as service,
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        given = with_files(service, tmp_path)
        (tmp_path / "desk2").write_text("expired")
        frame = books(given, errors="keep")
        kept = frame.persist()
        distributed.wait(kept)
        # As the scheduler holds it, and the dashboard shows it.
        reported = client.run_on_scheduler(
            lambda dask_scheduler: "\n".join(
                f"{key} {task.run_spec!r} {cloudpickle.dumps(task.run_spec)!r}"
                for key, task in dask_scheduler.tasks.items()
            )
        )
        assert "trade-books" in reported
        tokens = [service.token(label) for label in service.accounts]
        assert not [token for token in tokens if token in reported]
        workers = {worker for who in client.who_has().values() for worker in who}
        assert len(workers) == 2
        found = kept.compute()
        assert sorted(set(found["account"])) == sorted(service.accounts)
        bad = found[found["error"].notna()]
        assert bad["account"].tolist() == ["desk2"]
        good = found[found["error"].isna()]
        assert len(set(good["client_id"])) == accounts - 1
        assert (good["exch_trade_time"].dt.date == dt.date(2026, 11, 20)).all()
        assert len(service.requests) == accounts
        with pytest.raises(td.AuthenticationError) as caught:
            books(given).compute()
        assert "desk2" in caught.value.__notes__[0]
