"""Tokens that die: where the next one comes from, and that it is asked for once by many."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import at_once, both, good_book, served, within
from echoes import said_by
from service import Behaviour, Request, Service, json_reply, reply
from systems import WINDOWS
from token_sources import AsyncSource, Source, accepting, tokens_sent

pytestmark = pytest.mark.sanitize

NO = {"status": "error", "message": "Session expired", "data": None}
REFUSALS = [
    pytest.param(reply(401), td.AuthenticationError, id="401"),
    pytest.param(reply(403), td.AuthenticationError, id="403"),
    pytest.param(json_reply(NO), td.ServiceError, id="refusal inside 200"),
]


@both
def test_a_function_is_asked_when_a_token_is_first_needed_and_then_kept(
    call: Any, service: Service
) -> None:
    service.script(then=good_book())
    source = Source()
    client = td.Client(service.base_url, access_token=source)
    assert source.asked == 0
    client.trade_book()
    client.trade_book()
    assert source.asked == 1
    call(service.base_url, access_token=source)
    assert tokens_sent(service) == ["token-1", "token-1", "token-2"]


@both
@pytest.mark.parametrize(("refusal", "kind"), REFUSALS)
def test_a_refusal_asks_once_and_sends_once_more(
    call: Any, refusal: Behaviour, kind: type[td.TradingDataError]
) -> None:
    source = Source()
    with Service() as service:
        service.choose(accepting("token-2", refusal))
        assert len(call(service.base_url, access_token=source)) == 3
        assert tokens_sent(service) == ["token-1", "token-2"]
    assert source.asked == 2
    source = Source()
    with served(then=refusal) as service:
        with pytest.raises(kind) as caught:
            call(service.base_url, access_token=source, account="desk1")
        assert tokens_sent(service) == ["token-1", "token-2"]
    assert source.asked == 2
    assert caught.value.account == "desk1"


@both
@pytest.mark.parametrize(("refusal", "kind"), REFUSALS)
@pytest.mark.parametrize("fixed", [True, False], ids=["text", "a function that has no other"])
def test_a_token_that_was_refused_is_sent_once(
    call: Any, refusal: Behaviour, kind: type[td.TradingDataError], fixed: bool
) -> None:
    source = Source(last=1)
    with served(then=refusal) as service:
        with pytest.raises(kind):
            call(service.base_url, access_token="token-1" if fixed else source)
        assert len(service.requests) == 1
    assert source.asked == (0 if fixed else 2)


@both
def test_other_failures_ask_for_no_token(call: Any) -> None:
    source = Source()
    with served(then=reply(500)) as service, pytest.raises(td.ServerError):
        call(service.base_url, access_token=source, attempts=2)
    assert source.asked == 1


def test_assignment_replaces_a_dead_token_and_a_function(service: Service) -> None:
    service.choose(accepting("fresh"))
    with td.Client(service.base_url, access_token="stale") as client:
        with pytest.raises(td.AuthenticationError, match="pass a new `access_token`"):
            client.trade_book()
        client.access_token = "fresh"
        assert len(client.trade_book()) == 3
        source = Source()
        client.access_token = source
        with pytest.raises(td.AuthenticationError):
            client.trade_book()
        assert source.asked == 2
        client.access_token = lambda: "fresh"
        assert len(client.trade_book()) == 3
        with pytest.raises(AttributeError, match="can be assigned, not read"):
            _ = client.access_token


@both
def test_a_token_file_is_read_again_when_its_token_was_refused(
    call: Any, tmp_path: Path, service: Service
) -> None:
    """It may have a byte order mark, white space and Windows' line ends, as editors write it."""
    file = tmp_path / "token"
    file.write_text("yesterday\n")

    def refuse(request: Request) -> Behaviour:
        file.write_bytes(b"\xef\xbb\xbf  today \r\n")  # the job that logs in each morning
        return accepting("today")(request)

    service.choose(refuse)
    assert len(call(service.base_url, access_token=td.token_file(file))) == 3
    assert tokens_sent(service) == ["yesterday", "today"]


@both
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            None,
            "there is no access token: the token file cannot be read (No such file or directory): "
            "check `access_token_file`",
        ),
        (
            Path.mkdir,
            f"file cannot be read ({'Permission denied' if WINDOWS else 'Is a directory'})",
        ),
        (b"", "a token that cannot be used: access_token cannot be sent in a header: it is empty"),
        (b"canary\ncanary", "it contains a line break"),
        (b" \r\n", "it is empty"),
        (b"canary \xff", "it contains a character outside ASCII"),
        (b"canary" * 20_000, "it is longer than 64 KiB"),
    ],
    ids=["missing", "folder", "empty", "two lines", "white space", "no text", "long"],
)
def test_a_token_file_that_cannot_be_used(
    call: Any, tmp_path: Path, content: Any, message: str, service: Service
) -> None:
    file = tmp_path / "token"
    if callable(content):
        content(file)
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(td.AuthenticationError) as caught:
        call(service.base_url, access_token=td.token_file(file))
    assert message in str(caught.value)
    assert "canary" not in said_by(caught.value)
    assert service.connections == []


def failing() -> str:
    raise LookupError("no such vault: canary")


@both
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (failing, "the access_token function failed with LookupError: see the error above"),
        (lambda: "", "it is empty"),
        (lambda: None, "the access_token function returned NoneType, not text"),
        (lambda: b"canary", "the access_token function returned bytes, not text"),
        (lambda: "canary\n", "it contains a line break"),
        (lambda: "can\ud800ary", "it contains a character outside ASCII"),
    ],
    ids=["raises", "empty", "None", "bytes", "newline", "half a character"],
)
def test_a_function_that_gives_no_token(
    call: Any, function: Callable[[], str], message: str, service: Service
) -> None:
    with pytest.raises(td.AuthenticationError) as caught:
        call(service.base_url, access_token=function, account="desk1")
    assert message in str(caught.value)
    shown = str if function is failing else said_by
    assert "canary" not in shown(caught.value)
    assert caught.value.account == "desk1"
    assert isinstance(caught.value.__cause__, LookupError) == (function is failing)
    assert service.connections == []


def test_a_function_that_uses_its_own_client_is_reported(service: Service) -> None:
    client = td.Client(service.base_url, access_token=lambda: str(client.trade_book()))
    with within(1), pytest.raises(td.AuthenticationError) as caught:
        client.trade_book()
    assert "used the client that is waiting for its token" in str(caught.value.__cause__)


def test_a_function_may_use_another_client(service: Service) -> None:
    service.script(then=good_book())
    other = td.Client(service.base_url, access_token="other")
    client = td.Client(service.base_url, access_token=lambda: f"token-{len(other.trade_book())}")
    client.trade_book()
    assert tokens_sent(service) == ["other", "token-3"]


@pytest.mark.parametrize("first", [True, False], ids=["first token", "refusal"])
def test_many_threads_ask_once(service: Service, first: bool) -> None:
    service.choose(accepting("token-1" if first else "token-2"))
    source = Source(seconds=0.1)
    with td.Client(service.base_url, access_token=source) as client:
        if not first:
            client.access_token = "stale"
            client.access_token = source
        assert at_once(8, lambda _: len(client.trade_book())) == [3] * 8
    assert source.asked == (1 if first else 2)
    assert source.most_at_once == 1


@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
def test_calls_that_wait_share_the_failure_of_a_function(service: Service, kind: Any) -> None:
    """Each of them called it again: eight logins with a wrong password (fpindej/netrock#57)."""
    asked: list[int] = []
    begun: list[int] = []

    def fail() -> str:
        asked.append(1)
        while kind is td.Client and len(begun) < 8:
            time.sleep(0.01)
        time.sleep(0.2)
        raise OSError

    def call(_: object) -> str:
        begun.append(1)
        with pytest.raises(td.AuthenticationError, match="function failed with OSError") as caught:
            client.trade_book()
        return str(caught.value)

    async def main() -> list[Any]:
        async with client:
            calls = (client.trade_book() for _ in range(8))
            return await asyncio.gather(*calls, return_exceptions=True)

    client = kind(service.base_url, access_token=fail)
    errors = at_once(8, call) if kind is td.Client else asyncio.run(main())
    assert len(asked) == 1
    assert sum("in another call" in str(error) for error in errors) == 7
    assert {str(error)[:45] for error in errors} == {
        "the access_token function failed with OSError"
    }
    assert service.requests == []
    if kind is td.Client:
        call(None)
        assert len(asked) == 2, "the next call asks again"


@pytest.mark.parametrize("make", [Source, AsyncSource])
@pytest.mark.parametrize("first", [True, False], ids=["first token", "refusal"])
def test_tasks_of_several_loops_ask_once(service: Service, make: type[Source], first: bool) -> None:
    service.choose(accepting("token-1" if first else "token-2"))
    source = make(seconds=0.1)
    client = td.AsyncClient(service.base_url, access_token=source)

    async def run() -> list[int]:
        books = await asyncio.gather(*(client.trade_book() for _ in range(4)))
        return [len(book) for book in books]

    assert at_once(3, lambda _: asyncio.run(run())) == [[3] * 4] * 3
    assert source.asked == (1 if first else 2)
    assert source.most_at_once == 1
    asyncio.run(client.aclose())


def test_a_slow_function_uses_up_the_call_s_time(service: Service) -> None:
    source = Source(seconds=0.3)
    with td.Client(service.base_url, access_token=source, timeout=0.2) as client:
        for _ in range(2):
            client.access_token = source
            with pytest.raises(td.DeadlineError, match="waiting for the access_token function"):
                client.trade_book()
    assert service.connections == []


def test_a_deadline_that_has_passed_blames_no_token_function_without_one(service: Service) -> None:
    client = td.Client(service.base_url, access_token="any", timeout=1e-9)
    with client, pytest.raises(td.DeadlineError, match="while preparing the request: pass a"):
        client.trade_book()
    assert service.connections == []


def test_who_waits_for_another_s_token_does_so_until_its_own_deadline(service: Service) -> None:
    service.script(then=good_book())
    entered, gate = threading.Event(), threading.Event()

    def source() -> str:
        entered.set()
        assert gate.wait(10)
        return "token"

    with td.Client(service.base_url, access_token=source) as client:
        leader = threading.Thread(target=client.trade_book)
        leader.start()
        entered.wait(10)
        late = pytest.raises(td.DeadlineError, match="waiting for the access_token function")
        with within(0.2, at_least=0.15), late:
            client.trade_book(timeout=0.2)
        gate.set()
        leader.join()
        assert len(service.requests) == 1


@pytest.mark.parametrize("make", [Source, AsyncSource])
def test_a_slow_function_is_given_up_at_the_deadline_by_asyncio(
    make: type[Source], service: Service
) -> None:
    source = make(seconds=0.5)

    async def run() -> None:
        async with td.AsyncClient(service.base_url, access_token=source) as client:
            with within(0.2, at_least=0.15), pytest.raises(td.DeadlineError):
                await client.trade_book(timeout=0.2)

    asyncio.run(run())
    assert service.connections == []


def test_a_cancelled_leader_lets_the_next_one_ask(service: Service) -> None:
    service.script(then=good_book())
    source = AsyncSource(seconds=0.2)

    async def run() -> None:
        async with td.AsyncClient(service.base_url, access_token=source) as client:
            leader, follower = (asyncio.create_task(client.trade_book()) for _ in range(2))
            await asyncio.sleep(0.05)
            leader.cancel()
            assert len(await follower) == 3
            assert leader.cancelled()

    asyncio.run(run())
    assert source.asked == 2


async def awaited_token() -> str:
    return "token-1"


@pytest.mark.parametrize(
    "function",
    [awaited_token, partial(awaited_token), lambda: awaited_token(), AsyncSource()],
    ids=["async def", "partial", "lambda", "object"],
)
def test_an_async_function_is_for_the_async_client(service: Service, function: Any) -> None:
    service.script(then=good_book())

    async def run() -> int:
        async with td.AsyncClient(service.base_url, access_token=function) as client:
            return len(await client.trade_book())

    assert asyncio.run(run()) == 3
    with pytest.raises((td.ConfigurationError, td.AuthenticationError)) as caught:
        td.Client(service.base_url, access_token=function).trade_book()
    assert "async function" in str(caught.value) or "returned coroutine" in str(caught.value)
    assert tokens_sent(service) == ["token-1"]
