"""The books of many accounts: books and errors by account, and one frame of one schema."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import within
from sandbox_calls import arguments
from tradingdata import sandbox

LABELS = ("desk1", "desk2", "desk3")


@pytest.fixture
def service() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=LABELS, orders=12) as running:
        yield running


def test_a_mapping_of_arguments_a_list_of_profiles_and_clients_are_the_same(
    service: sandbox.Service, profiles: Path
) -> None:
    names = service.accounts
    for label in names:
        with profiles.open("a") as file:
            file.write(f'[{label}]\nbase_url = "{service.base_url}"\n')
            file.write(f'access_token = "{service.token(label)}"\n')
    by_arguments = td.trade_books(arguments(service))
    expected = {label: service.client(label).trade_book() for label in names}
    assert by_arguments == expected
    assert list(by_arguments) == list(names)
    assert by_arguments.errors == {}
    assert td.trade_books(names) == expected
    of_desk2 = td.trade_books({f"of {name}": name for name in names})["of desk2"]
    assert {trade.account for trade in of_desk2} == {"of desk2"}
    assert of_desk2.response.content == expected["desk2"].response.content
    clients = {name: service.client(name) for name in names}
    assert td.trade_books(clients) == expected
    assert not any(client.closed for client in clients.values())
    response = by_arguments["desk2"].response
    assert response is not None
    assert response.account == "desk2"


def test_order_books_too(service: sandbox.Service) -> None:
    found = td.order_books(arguments(service))
    assert {label: len(book) for label, book in found.items()} == dict.fromkeys(LABELS, 12)
    assert found.to_pandas()["account"].unique().tolist() == list(LABELS)


def test_both_books_of_each_account_agree(service: sandbox.Service) -> None:
    both = td.fetch_books(arguments(service))
    orders, trades = both.orders, both.trades
    assert list(both) == list(orders) == list(trades) == list(LABELS)
    for label in LABELS:
        assert both[label] == (orders[label], trades[label])
        assert td.reconcile(orders[label], trades[label]).agrees
    assert (orders.errors, trades.errors) == ({}, {})


def test_pairs_of_books_are_no_single_table(service: sandbox.Service) -> None:
    both = td.fetch_books(arguments(service))
    for use in (both.to_pandas, both.to_dicts):
        with pytest.raises(TypeError, match=r"use `\.orders` or `\.trades`"):
            use()
    assert repr(both) == "<AccountBooks: Books of 3 accounts>"
    with pytest.raises(AttributeError, match="OrderBook has no 'trades'"):
        _ = both.orders.trades  # type: ignore[misc]


def test_an_account_whose_books_cannot_be_had_is_missing_from_both(
    service: sandbox.Service,
) -> None:
    accounts = arguments(service)
    accounts["desk2"]["access_token"] = "expired"
    with pytest.warns(td.DataWarning, match="1 account failed: desk2") as caught:
        both = td.fetch_books(accounts)
    assert [warning.filename for warning in caught] == [__file__]
    assert list(both.orders) == list(both.trades) == ["desk1", "desk3"]
    assert both.orders.errors == both.trades.errors
    assert isinstance(both.trades.errors["desk2"], td.AuthenticationError)


def test_one_frame_has_the_account(service: sandbox.Service) -> None:
    found = td.trade_books(arguments(service))
    whole = td.concat(list(found.values()))
    labels = [label for label, book in found.items() for _ in book]
    pandas, polars, arrow = found.to_pandas(), found.to_polars(), found.to_arrow()
    assert pandas.columns.tolist() == polars.columns == arrow.column_names
    assert polars.columns == whole.columns
    assert pandas["account"].tolist() == polars["account"].to_list() == labels
    assert arrow["account"].to_pylist() == found.to_dict()["account"] == labels
    assert pandas.equals(whole.to_pandas())
    assert found.to_dicts()[3] == whole.to_dicts()[3]
    picked = found.to_polars(["account", "symbol"])
    assert picked.columns == ["account", "symbol"]
    assert found.to_pandas(["symbol"]).columns.tolist() == ["symbol"]


def test_a_bad_account_is_visible_and_stops_no_other(service: sandbox.Service) -> None:
    accounts = arguments(service)
    accounts["desk2"]["access_token"] = "expired"
    with pytest.warns(
        td.DataWarning, match=r"^1 account failed: desk2 \(Authentication"
    ) as reported:
        found = td.trade_books(accounts)
    assert reported[0].filename == __file__
    assert list(found) == ["desk1", "desk3"]
    assert found.to_pandas()["account"].unique().tolist() == ["desk1", "desk3"]
    assert isinstance(found.errors["desk2"], td.AuthenticationError)
    assert found.errors["desk2"].account == "desk2"
    assert repr(found) == (
        "<AccountBooks: TradeBook of 2 accounts, 1 account failed: desk2 (AuthenticationError)>"
    )
    with pytest.raises(KeyError, match=r"'desk2' failed, see `\.errors`") as caught:
        found["desk2"]
    assert isinstance(caught.value.__cause__, td.AuthenticationError)
    with pytest.raises(KeyError, match="desk9"):
        found["desk9"]
    with pytest.raises(td.AuthenticationError):
        found.raise_errors()


@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_the_schema_is_the_same_when_all_failed_or_nobody_traded(
    service: sandbox.Service,
) -> None:
    full = td.trade_books(arguments(service))
    failed = td.trade_books(
        {label: {**given, "access_token": "x"} for label, given in arguments(service).items()}
    )
    service.advance_to("09:00")
    empty, none = td.trade_books(arguments(service)), td.trade_books([])
    assert (len(failed.errors), len(empty)) == (3, 3)
    for found in (failed, empty, none):
        assert found.to_pandas().dtypes.equals(full.to_pandas().dtypes)
        assert found.to_polars().schema == full.to_polars().schema
        assert found.to_arrow().schema == full.to_arrow().schema
        assert (len(found.to_pandas()), found.to_dicts()) == (0, [])
    with pytest.raises(ExceptionGroup, match="3 accounts failed: desk1") as caught:
        failed.raise_errors()
    assert len(caught.value.exceptions) == 3
    assert repr(none) == "<AccountBooks: TradeBook of 0 accounts>"
    empty.raise_errors()


@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_the_token_of_the_environment_serves_no_several_accounts(
    service: sandbox.Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would show the books of one account under the labels of all."""
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", service.token())
    without = {label: {"base_url": service.base_url} for label in LABELS}
    found = td.trade_books(without)
    assert found == {}
    assert "no access token of its own" in str(found.errors["desk1"])
    assert len(td.trade_books({"desk1": without["desk1"]})) == 1


def test_what_is_no_account_is_refused(service: sandbox.Service) -> None:
    with pytest.raises(TypeError, match=r"use \['desk1'\]"):
        td.trade_books("desk1")
    with pytest.raises(ValueError, match="names a profile twice"):
        td.trade_books(["desk1", "desk1"])
    with pytest.raises(TypeError, match="label must be non-empty text, not 5"):
        td.trade_books([5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"'desk1' must be the name of a profile, .* not int"):
        td.trade_books({"desk1": 5})
    with pytest.raises(TypeError, match="unexpected keyword argument 'tokn'"):
        td.trade_books({"desk1": {"base_url": service.base_url, "tokn": "x"}})
    with pytest.raises(td.ConfigurationError, match="concurrency"):
        td.trade_books([], concurrency=0)


def test_an_argument_that_no_client_takes_is_reported_with_its_account(
    service: sandbox.Service,
) -> None:
    token = service.token("desk1")
    arguments = {"base_url": service.base_url, "access_token": token}
    with pytest.raises(TypeError, match="attemps") as caught:
        td.trade_books({"mine": arguments, "yours": {**arguments, "attemps": 1}})
    assert caught.value.__notes__ == ["account 'yours'"]


def test_no_more_are_asked_at_once_than_allowed() -> None:
    lock, at_once, most = threading.Lock(), 0, 0
    gate = threading.Event()

    def token() -> str:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        gate.wait(0.02)
        with lock:
            at_once -= 1
        raise LookupError("no token")

    accounts = {
        f"desk{n}": {"base_url": "http://127.0.0.1:9", "access_token": token} for n in range(12)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", td.DataWarning)
        found = td.trade_books(accounts, concurrency=3)
    assert (len(found.errors), most) == (12, 3)


def interrupted() -> str:
    raise KeyboardInterrupt


def test_an_interrupt_ends_the_calls_of_all_others(service: sandbox.Service) -> None:
    service.fail_next("stall", seconds=60, account="desk2", times=None)

    accounts = arguments(service)
    accounts["desk1"]["access_token"] = interrupted
    with within(5), pytest.raises(KeyboardInterrupt):
        td.trade_books(accounts)


def test_an_interrupt_ends_the_calls_of_clients_made_after_it(service: sandbox.Service) -> None:
    service.fail_next("stall", seconds=60, account="desk2", times=None)
    raised = threading.Event()

    class Late(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            assert raised.wait(5)
            time.sleep(0.2)  # the calling thread closes the other clients meanwhile
            return super().get(key, default)

    def interrupted() -> str:
        raised.set()
        raise KeyboardInterrupt

    accounts = arguments(service)
    accounts["desk1"]["access_token"] = interrupted
    accounts["desk2"] = Late(accounts["desk2"])
    with within(5), pytest.raises(KeyboardInterrupt):
        td.trade_books(accounts)


def test_an_interrupt_does_not_wait_for_clients_of_the_caller(
    service: sandbox.Service, tmp_path: Path
) -> None:
    service.fail_next("stall", seconds=60, account="desk2", times=None)

    options = arguments(service)
    options["desk1"]["access_token"] = interrupted
    for fetch in (
        lambda clients: td.trade_books(clients),
        lambda clients: td.Archive(tmp_path / "archive").fetch(list(clients.values())),
    ):
        with ExitStack() as stack:
            clients = {
                label: stack.enter_context(td.Client(**arguments, account=label))
                for label, arguments in options.items()
            }
            with within(5), pytest.raises(KeyboardInterrupt):
                fetch(clients)


def test_timeout_is_for_each_account(service: sandbox.Service) -> None:
    service.fail_next("stall", seconds=60, account="desk2", times=None)
    with within(5), pytest.warns(td.DataWarning):
        found = td.trade_books(arguments(service), timeout=0.5)
    assert isinstance(found.errors["desk2"], td.DeadlineError)


@pytest.mark.parametrize("call", [td.trade_books, td.order_books, td.fetch_books])
def test_progress_counts_the_accounts(
    service: sandbox.Service, call: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    call(arguments(service), progress=True)
    assert "3/3" in capsys.readouterr().err
    call(arguments(service))
    assert capsys.readouterr().err == ""
    with pytest.raises(TypeError, match="progress"):
        call(arguments(service), progress="yes")
