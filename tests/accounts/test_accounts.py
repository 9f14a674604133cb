"""A client of many accounts: one book, its rows labelled, or an error with what was received."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import within
from sandbox_calls import arguments
from tradingdata import sandbox

LABELS = ("desk1", "desk2", "desk3")
CALLS = ("trade_book", "order_book", "books")


@pytest.fixture
def service() -> Iterator[sandbox.Service]:
    with sandbox.start(accounts=LABELS, orders=12) as running:
        yield running


def labels_of(book: Any) -> list[str]:
    return list(dict.fromkeys(row.account for row in book))


def test_a_mapping_of_arguments_a_list_of_profiles_and_clients_are_the_same(
    service: sandbox.Service, profiles: Path
) -> None:
    for label in LABELS:
        with profiles.open("a") as file:
            file.write(f'[{label}]\nbase_url = "{service.base_url}"\n')
            file.write(f'access_token = "{service.token(label)}"\n')
    expected = td.concat([service.client(label).trade_book() for label in LABELS])
    assert labels_of(expected) == list(LABELS)
    clients = {label: service.client(label) for label in LABELS}
    for accounts in (arguments(service), LABELS, clients):
        with td.Accounts(accounts) as many:
            assert many.labels == LABELS
            assert many.trade_book() == expected
            assert many.trade_book() == expected
    assert not any(client.closed for client in clients.values())


def test_both_books_of_each_account_agree(service: sandbox.Service) -> None:
    many = td.Accounts(arguments(service))
    orders, trades = many.books()
    assert many.order_book() == orders
    assert len(orders) == 12 * len(LABELS)
    assert labels_of(orders) == labels_of(trades) == list(LABELS)
    assert td.reconcile(orders, trades).agrees


def test_a_label_of_a_mapping_is_that_of_the_rows(service: sandbox.Service) -> None:
    client = service.client("desk1")
    book = td.Accounts({"a": client, "b": client}).trade_book()
    assert labels_of(book) == ["a", "b"]
    assert client.trade_book()[0].account == client.account == "desk1"
    a, b = (book.filter(account=label) for label in "ab")
    assert [row._replace(account="b") for row in a] == list(b)


@pytest.mark.parametrize("call", CALLS)
def test_a_bad_account_stops_no_other_and_cannot_be_missed(
    service: sandbox.Service, call: str
) -> None:
    accounts = arguments(service)
    accounts["desk2"]["access_token"] = "expired"
    many = td.Accounts(accounts)
    with pytest.raises(td.AccountsError, match=r"^1 account failed: desk2 \(Authent") as caught:
        getattr(many, call)()
    error = caught.value
    assert list(error.errors) == ["desk2"]
    assert isinstance(error.errors["desk2"], td.AuthenticationError)
    assert error.errors["desk2"].account == "desk2"
    received = error.received if call == "books" else [error.received]
    for book in received:
        assert labels_of(book) == ["desk1", "desk3"]
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.received) == (str(error), error.received)
    assert str(again.errors["desk2"]) == str(error.errors["desk2"])


@pytest.mark.parametrize("call", CALLS)
def test_the_schema_is_the_same_when_all_failed_or_nobody_traded(
    service: sandbox.Service, call: str
) -> None:
    def books(result: Any) -> list[Any]:
        return list(result) if call == "books" else [result]

    many = td.Accounts(arguments(service))
    full = books(getattr(many, call)())
    bad = {label: {**given, "access_token": "x"} for label, given in arguments(service).items()}
    with pytest.raises(td.AccountsError, match="3 accounts failed: desk1") as caught:
        getattr(td.Accounts(bad), call)()
    service.advance_to("09:00")
    for found in (caught.value.received, getattr(many, call)()):
        for book, whole in zip(books(found), full, strict=True):
            assert len(book) == 0
            assert book.to_pandas().dtypes.equals(whole.to_pandas().dtypes)
            assert book.to_polars().schema == whole.to_polars().schema


def test_an_error_may_be_tried_again_if_all_of_it_may(service: sandbox.Service) -> None:
    service.fail_next(503, account="desk2", times=None)
    many = td.Accounts(arguments(service))
    with pytest.raises(td.AccountsError) as caught:
        many.trade_book(timeout=0.5)
    assert caught.value.retryable
    accounts = arguments(service)
    accounts["desk1"]["access_token"] = "expired"
    with pytest.raises(td.AccountsError) as caught:
        td.Accounts(accounts).trade_book(timeout=0.5)
    assert not caught.value.retryable


def test_times_of_another_zone_are_an_error_of_their_account(service: sandbox.Service) -> None:
    accounts = arguments(service)
    accounts["desk2"]["tz"] = "Asia/Kolkata"
    with pytest.raises(td.AccountsError) as caught:
        td.Accounts(accounts).trade_book()
    assert list(caught.value.errors) == ["desk2"]
    assert "give all the same `tz`" in str(caught.value.errors["desk2"])
    assert labels_of(caught.value.received) == ["desk1", "desk3"]


def test_the_token_of_the_environment_serves_no_several_accounts(
    service: sandbox.Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would show the books of one account under the labels of all."""
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", service.token())
    without = {label: {"base_url": service.base_url} for label in LABELS}
    with pytest.raises(td.AccountsError) as caught:
        td.Accounts(without).trade_book()
    error = caught.value.errors["desk1"]
    assert "no access token of its own" in str(error)
    assert isinstance(error, td.ConfigurationError)
    assert error.account == "desk1"
    assert labels_of(td.Accounts({"desk1": without["desk1"]}).trade_book()) == ["desk1"]


def test_what_is_no_account_is_refused(service: sandbox.Service) -> None:
    nobody: list[Any] = [[], {}, ()]
    for none in nobody:
        with pytest.raises(td.ConfigurationError, match="there are no accounts: pass names of"):
            td.Accounts(none)
    with pytest.raises(TypeError, match=r"use \['desk1'\]"):
        td.Accounts("desk1")
    with pytest.raises(ValueError, match="names a profile twice"):
        td.Accounts(["desk1", "desk1"])
    with pytest.raises(TypeError, match="label must be non-empty text, not 5"):
        td.Accounts([5])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"'desk1' must be the name of a profile, .* not int"):
        td.Accounts({"desk1": 5})
    with pytest.raises(td.ConfigurationError, match="concurrency"):
        td.Accounts(["desk1"], concurrency=0)
    with pytest.raises(TypeError, match="progress"):
        td.Accounts(["desk1"], progress="yes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="timeout"):
        td.Accounts(arguments(service)).trade_book(timeout="5")  # type: ignore[arg-type]


def test_an_argument_that_no_client_takes_is_reported_with_its_account(
    service: sandbox.Service,
) -> None:
    token = service.token("desk1")
    arguments = {"base_url": service.base_url, "access_token": token}
    with pytest.raises(TypeError, match="account 'yours': Client has no option 'token': use a"):
        td.Accounts({"mine": arguments, "yours": {**arguments, "token": token}})
    accounts = td.Accounts({"mine": arguments, "yours": {**arguments, "attempts": "2"}})
    with pytest.raises(TypeError, match="attempts must be an integer") as caught:
        accounts.trade_book()
    assert caught.value.__notes__ == ["account 'yours'"]


def test_clients_and_their_tokens_are_kept_between_calls(service: sandbox.Service) -> None:
    asked: list[str] = []

    def token_of(label: str) -> Callable[[], str]:
        def token() -> str:
            asked.append(label)
            return service.token(label)

        return token

    accounts = {
        label: {"base_url": service.base_url, "access_token": token_of(label)} for label in LABELS
    }
    with td.Accounts(accounts) as many:
        for _ in range(3):
            many.trade_book()
        clients = list(many._clients.values())
    assert sorted(asked) == sorted(LABELS)
    assert many.closed
    assert [client.closed for client in clients] == [True] * len(LABELS)
    many.close()
    with pytest.raises(td.ClientClosedError, match="make a new Accounts"):
        many.trade_book()


def test_more_accounts_than_are_kept_open(
    service: sandbox.Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tradingdata.accounts._MOST_KEPT", 2)
    with td.Accounts(arguments(service)) as many:
        assert many.trade_book() == many.trade_book()
        assert many._clients == {}


def test_token_functions_run_side_by_side_and_no_more_than_allowed() -> None:
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
    with pytest.raises(td.AccountsError) as caught:
        td.Accounts(accounts, concurrency=3).trade_book()
    assert (len(caught.value.errors), most) == (12, 3)
    assert "desk2 (AuthenticationError), 9 more: `errors` has them" in str(caught.value)


def test_an_accounts_shows_no_token_and_cannot_be_pickled(service: sandbox.Service) -> None:
    many = td.Accounts(arguments(service))
    assert repr(many) == "<Accounts: 3 accounts>"
    assert len(many) == 3
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(many)


def test_an_interrupt_ends_the_calls_of_clients_made_after_it(service: sandbox.Service) -> None:
    service.fail_next("stall", seconds=60, account="desk2", times=None)
    raised = threading.Event()

    class Late(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            assert raised.wait(5)
            time.sleep(0.2)  # the calling thread has stopped waiting meanwhile
            return super().get(key, default)

    def interrupted() -> str:
        raised.set()
        raise KeyboardInterrupt

    accounts = arguments(service)
    accounts["desk1"]["access_token"] = interrupted
    accounts["desk2"] = Late(accounts["desk2"])
    with within(5), pytest.raises(KeyboardInterrupt):
        td.Accounts(accounts).trade_book()


def test_timeout_is_for_each_account(service: sandbox.Service) -> None:
    service.fail_next("stall", seconds=60, account="desk2", times=None)
    with within(5), pytest.raises(td.AccountsError) as caught:
        td.Accounts(arguments(service)).trade_book(timeout=0.5)
    assert isinstance(caught.value.errors["desk2"], td.DeadlineError)


@pytest.mark.parametrize("call", CALLS)
def test_progress_counts_the_accounts(
    service: sandbox.Service, call: str, capsys: pytest.CaptureFixture[str]
) -> None:
    getattr(td.Accounts(arguments(service), progress=True), call)()
    assert "3/3" in capsys.readouterr().err
    getattr(td.Accounts(arguments(service)), call)()
    assert capsys.readouterr().err == ""
