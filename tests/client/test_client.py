"""The client itself: its options at work, its end, and what its responses contain."""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import pickle
import re
import threading
import traceback
import warnings
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from unittest import mock

import pytest

import tradingdata as td
from calls import TOKEN, at_once, both, failure, good_book, within
from service import Service, book_reply, hold, reply, stall, trades
from tradingdata import _core

pytestmark = pytest.mark.sanitize

PAN = "ABCPK1234F"


def test_the_environment_gives_url_and_token(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", "from-the-environment")
    service.script(then=good_book())
    with td.Client() as client:
        client.trade_book()
    with td.Client(access_token="given") as client:
        client.trade_book()
    tokens = [request.header("authorization") for request in service.requests]
    assert tokens == ["Bearer from-the-environment", "Bearer given"]


def test_an_empty_variable_is_no_token(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", "")
    with td.Client(service.base_url) as client:
        assert "without a token" in repr(client)
        with pytest.raises(td.ConfigurationError, match="need an access token"):
            client.trade_book()


@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
def test_a_repr_shows_where_and_who_but_no_token(kind: Any) -> None:
    url = "https://api.example.test"
    name = kind.__name__
    assert repr(kind(url, access_token=TOKEN)) == f"<{name} {url}, with a token>"
    assert repr(kind(url, account="desk1")) == f"<{name} {url}, account='desk1', without a token>"
    assert repr(kind(url, access_token=lambda: TOKEN)) == f"<{name} {url}, with a token>"


class TestClose:
    """Twice, use after it, during a call, in any order."""

    def test_twice_and_use_after(self, service: Service) -> None:
        service.script(then=good_book())
        with suppress(ZeroDivisionError), td.Client(service.base_url, access_token=TOKEN) as client:
            client.trade_book()
            assert not client.closed
            raise ZeroDivisionError  # `with` closes after an error too
        assert client.closed
        client.close()
        client.close()
        assert repr(client).endswith("closed>")
        service.wait_for_open(0)
        for use in (client.trade_book, client.order_book, lambda: client.search("x").all()):
            with pytest.raises(td.ClientClosedError, match="the client is closed: make a new one"):
                use()
        with pytest.raises(td.ClientClosedError):
            client.stock("INFY")

    def test_a_closed_client_asks_no_token_function(self) -> None:
        asked: list[None] = []

        def token() -> str:
            asked.append(None)
            return "x"

        client = td.Client("http://127.0.0.1:1", access_token=token)
        client.close()
        with pytest.raises(td.ClientClosedError):
            client.trade_book()
        assert not asked

    def test_the_last_reference_closes(self, service: Service) -> None:
        service.script(good_book())
        client = td.Client(service.base_url, access_token=TOKEN)
        book = client.trade_book()
        del client
        gc.collect()
        service.wait_for_open(0)
        assert len(book) == 3

    def test_close_ends_a_call_on_another_thread_at_once(self, service: Service) -> None:
        service.script(stall())
        client = td.Client(service.base_url, access_token=TOKEN)
        errors: list[BaseException] = []

        def call() -> None:
            try:
                client.trade_book()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=call)
        thread.start()
        service.wait_for_requests(1)
        with within(0.1):
            client.close()
            thread.join(5)
        assert isinstance(errors[0], td.ClientClosedError)
        service.wait_for_open(0)


def test_a_timeout_per_call_replaces_the_client_s(service: Service) -> None:
    service.script(stall(), stall(), good_book())
    with td.Client(service.base_url, access_token=TOKEN, timeout=0.2) as client:
        with within(0.2, at_least=0.15), pytest.raises(td.DeadlineError):
            client.trade_book()
        with within(0.4, at_least=0.35), pytest.raises(TimeoutError):
            client.trade_book(timeout=0.4)
        assert len(client.trade_book(timeout=10)) == 3


@both
def test_a_book_has_the_facts_of_its_response(call: Any, service: Service) -> None:
    service.script(reply(503), book_reply(trades(2)))
    before = datetime.now(UTC)
    book = call(service.base_url, account="desk1", keep_personal_data=True)
    response = book.response
    assert response.status_code == 200
    assert response.account == "desk1"
    assert response.attempts == 2
    assert 0 < response.elapsed < 10
    assert before <= response.received_at <= before + timedelta(seconds=10)
    assert response.received_at.utcoffset() == timedelta(0)
    assert response.masked is False
    assert response.content.startswith(b'{"data":[{')
    assert response.sha256 == sha256(response.content).hexdigest()
    assert repr(response) == (
        f"<Response 200 account='desk1' {len(response.content):,} bytes, 2 attempts>"
    )


@both
def test_an_error_tells_what_is_known_of_the_call(call: Any, service: Service) -> None:
    service.script(then=reply(503, b'{"status":"error","message":"Market closed","data":null}'))
    error = failure(service.base_url, call=call, account="desk1", attempts=2)
    assert isinstance(error, td.ServerError)
    assert error.status_code == 503
    assert error.account == "desk1"
    assert error.attempts == 2
    assert 0 <= error.elapsed < 10
    assert error.retryable
    assert error.service_message == "Market closed"
    assert error.body == '{"status":"error","message":"Market closed","data":null}'
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)


@both
def test_strict_makes_what_is_lost_an_error(call: Any, service: Service) -> None:
    service.script(then=book_reply(trades(2, quantity="many")))
    error = failure(service.base_url, call=call, strict=True)
    assert isinstance(error, td.DecodeError)
    assert error.path is not None
    assert error.path.startswith("$.data[0].quantity")
    with pytest.warns(td.DataWarning, match="quantity"):
        book = call(service.base_url)
    assert book[0].quantity is None
    assert [issue.field for issue in book.issues] == ["quantity"]


def test_a_data_warning_points_at_the_line_that_made_the_call(service: Service) -> None:
    service.script(then=book_reply(trades(2, quantity="many")))
    with (
        td.Client(service.base_url, access_token=TOKEN) as client,
        warnings.catch_warnings(record=True) as reported,
    ):
        warnings.simplefilter("always")
        client.trade_book()
        asyncio.run(await_book(service.base_url))
    assert [warning.filename for warning in reported] == [__file__, __file__]


async def await_book(url: str) -> None:
    async with td.AsyncClient(url, access_token=TOKEN) as client:
        await client.trade_book()


def test_one_client_on_many_threads(service: Service) -> None:
    bodies = {n: book_reply(trades(n)) for n in range(1, 9)}
    service.choose(lambda request: bodies[1 + len(service.requests) % 8])
    with td.Client(service.base_url, access_token=TOKEN) as client:
        lengths = at_once(8, lambda _: [len(client.trade_book()) for _ in range(25)])
    assert {length for each in lengths for length in each} <= set(bodies)
    assert len(service.connections) <= 8


def test_threads_wait_at_the_same_time(service: Service) -> None:
    """The GIL is free during a call: eight calls wait at once, and Python runs on."""
    gate = threading.Event()
    service.script(then=hold(gate, good_book()))

    def work(number: int) -> int:
        if number < 8:
            return len(client.trade_book())
        service.wait_for_requests(8)
        gate.set()
        return 3

    with td.Client(service.base_url, access_token=TOKEN) as client:
        assert at_once(9, work) == [3] * 9


URL = "https://x.example"
CLIENTS: dict[str, Any] = {"Client": td.Client(URL), "AsyncClient": td.AsyncClient(URL)}
FIXED: dict[str, Any] = {
    **CLIENTS,
    "Accounts": td.Accounts({"desk1": {"base_url": URL, "access_token": TOKEN}}),
    **{f"search of {name}": client.search("tata") for name, client in CLIENTS.items()},
    **{f"watch of {name}": client.watch_orders() for name, client in CLIENTS.items()},
}


@pytest.mark.parametrize("name", FIXED)
def test_what_has_a_connection_is_not_copied_or_pickled(name: str) -> None:
    """A copy of an iterator closed the search of the original when it was dropped."""
    whole = FIXED[name]
    parts = [whole]
    if name in CLIENTS:
        parts.append(whole._core)
    elif name.startswith("search"):
        parts.append(whole.pages())
    for part in parts:
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"cannot be (copied|pickled)|cannot pickle"):
                attempt(part)
    with pytest.raises(TypeError, match=f"^an? {type(whole).__name__} cannot be copied or pickled"):
        copy.copy(whole)


def test_a_response_is_not_changed_by_init() -> None:
    """As ``frozendict`` was (python/cpython#145089)."""
    response = td.TradeBook.from_json(b'{"status": "success", "data": []}', account="a").response
    assert response is not None
    before = hash(response)
    response.__init__(response._rows, "b")  # type: ignore[misc]
    assert (response.account, hash(response)) == ("a", before)


@pytest.mark.parametrize("name", FIXED)
@pytest.mark.parametrize("attribute", ["timeout", "acces_token", "max_items", "interval"])
def test_an_attribute_that_would_be_ignored_is_refused(name: str, attribute: str) -> None:
    with pytest.raises(AttributeError) as caught:
        setattr(FIXED[name], attribute, TOKEN)
    assert caught.value.name == attribute
    frames = [frame.frame.f_locals for frame in inspect.getinnerframes(caught.tb)]
    assert not [values for values in frames[1:] if TOKEN in map(str, values.values())]
    assert not hasattr(FIXED[name], attribute)


def test_mocks_and_subclasses_may_assign() -> None:
    class Desk(td.Client):
        def __init__(self) -> None:
            super().__init__(URL)
            self.desk = "desk1"

    assert Desk().desk == "desk1"
    client = td.Client(URL)
    with mock.patch.object(client, "trade_book", return_value=td.TradeBook()):
        assert len(client.trade_book()) == 0
    assert "trade_book" not in vars(client)


WRONG: dict[str, str] = {
    "token": "use access_token=",
    "acces_token": "did you mean 'access_token'?",
    "retries": "use attempts=",
    "verify": "certificates are always verified",
}
MAKERS: list[Any] = [
    lambda options: td.Client(URL, **options),
    lambda options: td.AsyncClient(URL, **options),
    lambda options: td.Client.from_profile("none", **options),
    lambda options: td.Accounts({"a": {"base_url": URL, **options}}).trade_book(),
]
URL = "https://x.example"


def package_locals(error: BaseException) -> str:
    """What an error reporter prints of the frames in the package."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return repr([frame.f_locals for frame in frames if "tradingdata" in frame.f_code.co_filename])


@pytest.mark.parametrize("make", MAKERS, ids=["sync", "async", "profile", "accounts"])
def test_a_wrong_option_names_the_right_one_and_shows_no_value(make: Any) -> None:
    for option, says in WRONG.items():
        with pytest.raises(TypeError, match=re.escape(says)) as caught:
            make({option: TOKEN})
        assert TOKEN not in str(caught.value) + package_locals(caught.value)


def core_options() -> dict[str, Any]:
    """The options that a client passes to the core."""
    with mock.patch.object(_core, "Client") as core:
        td.Client(URL, trust_env=False)
    return dict(core.call_args.kwargs)


CORE = core_options()


def test_a_call_ends_after_thirty_seconds_at_most() -> None:
    """Where nothing else is said: no call waits for ever."""
    assert CORE["timeout"] == 30


@pytest.mark.parametrize("name", [name for name, value in CORE.items() if value is not None])
def test_the_core_names_an_option_that_is_none_or_missing(name: str) -> None:
    """And shows no value: a proxy's URL may have a password."""
    secret = {"proxy": f"http://desk:{TOKEN}@proxy.example"}
    without = {option: value for option, value in CORE.items() if option != name}
    for options in (CORE | {name: None}, without):
        with pytest.raises(TypeError, match=f"^the option {name} is missing") as caught:
            _core.Client(**options | secret)
        assert TOKEN not in str(caught.value)


def test_the_core_refuses_an_option_that_it_does_not_know() -> None:
    assert _core.Client(**CORE).base_url == URL
    with pytest.raises(TypeError, match="no such option"):
        _core.Client(**CORE, retries=1)


def test_arguments_of_the_wrong_kind_show_no_token() -> None:
    options = {"base_url": URL, "access_token": TOKEN}
    for accounts in ({"a": options, "b": 5}, [options], {5: options}):
        with pytest.raises(TypeError) as caught:
            td.Accounts(accounts)  # type: ignore[arg-type]
        assert TOKEN not in str(caught.value) + package_locals(caught.value)
    for kind in (td.Client, td.AsyncClient):
        with pytest.raises(TypeError, match=f"{kind.__name__} takes options by name") as raised:
            kind(URL, TOKEN)  # type: ignore[call-arg]
        assert TOKEN not in package_locals(raised.value)
