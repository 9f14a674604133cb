"""Between worker and event loop: loops that watch no descriptors, and events that are lost."""

from __future__ import annotations

import asyncio
import threading
import types
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, good_book, within
from service import Service, reply, stall
from systems import WINDOWS
from tradingdata import _core


class NoReaders(asyncio.SelectorEventLoop):
    """A loop that watches no descriptors, as Windows' Proactor loop."""

    def add_reader(self, *arguments: Any) -> None:  # type: ignore[override]
        raise NotImplementedError


class NoDescriptor:
    """A worker that has no descriptor to watch, as on Windows."""

    def __init__(self, core: Any) -> None:
        self._worker = _core.Worker(core)

    def notification_fd(self) -> int:
        return -1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._worker, name)


@pytest.mark.parametrize(
    "lacks",
    [
        "readers",
        "descriptor",
        pytest.param(
            "both", marks=pytest.mark.skipif(not WINDOWS, reason="only Windows has that loop")
        ),
    ],
)
def test_a_loop_that_watches_no_descriptors(
    lacks: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = NoReaders if lacks == "readers" else asyncio.SelectorEventLoop
    if lacks == "both":
        factory = asyncio.ProactorEventLoop  # type: ignore[attr-defined]
    if lacks == "descriptor":
        core = types.SimpleNamespace(Worker=NoDescriptor)
        monkeypatch.setattr("tradingdata.client.bridge._core", core)
    service.script(reply(503), good_book(), stall(), good_book(), stall())
    reported: list[td.types.Retry] = []

    async def run() -> None:
        client = td.AsyncClient(service.base_url, access_token=TOKEN, on_retry=reported.append)
        async with client:
            assert len(await client.trade_book()) == 3
            assert len(reported) == 1
            relays = [one for one in threading.enumerate() if one.name == "tradingdata-relay"]
            assert [one.daemon for one in relays] == [True], "a client left open ends with Python"
            with within(0.1), pytest.raises(TimeoutError):
                await asyncio.wait_for(client.trade_book(), 0.1)
            assert len(await client.trade_book()) == 3
            call = asyncio.create_task(client.trade_book())
            await asyncio.sleep(0.1)
        with pytest.raises(td.ClientClosedError):
            await call

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(run())
    service.wait_for_open(0)


@pytest.mark.parametrize("factory", [NoReaders, asyncio.SelectorEventLoop])
def test_a_new_loop_ends_the_workers_of_those_that_are_closed(
    factory: Any, service: Service
) -> None:
    service.script(then=good_book())
    client = td.AsyncClient(service.base_url, access_token=TOKEN)
    for _ in range(3):
        with asyncio.Runner(loop_factory=factory) as runner:
            assert len(runner.run(client.trade_book())) == 3
    service.wait_for_open(1)
    asyncio.run(client.aclose())
    service.wait_for_open(0)


class LosesEvents(NoDescriptor):
    """A worker whose first events are lost on their way, as where memory runs out."""

    lost = False

    def wait(self, patience: float, outcomes: dict[int, Any]) -> Any:
        retries = self._worker.wait(patience, outcomes)
        if outcomes and not self.lost:
            self.lost = True
            raise MemoryError
        return retries


class LosesWatchedEvents(LosesEvents):
    """The same where the loop watches the worker's descriptor."""

    def notification_fd(self) -> int:
        return self._worker.notification_fd()


@pytest.mark.parametrize(
    "worker",
    [
        LosesEvents,
        pytest.param(
            LosesWatchedEvents,
            marks=pytest.mark.skipif(WINDOWS, reason="no loop watches descriptors here"),
        ),
    ],
)
def test_calls_whose_outcome_is_lost_end_with_an_error(
    worker: type[LosesEvents], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not wait for ever, and the calls after them are served."""
    service.script(then=good_book())
    monkeypatch.setattr("tradingdata.client.bridge._core", types.SimpleNamespace(Worker=worker))
    errors: list[object] = []

    async def run() -> int:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context["exception"]))
        async with td.AsyncClient(service.base_url, access_token=TOKEN) as client:
            with pytest.raises(MemoryError):
                await client.trade_book(timeout=5)
            return len(await client.trade_book())

    assert asyncio.run(run()) == 3
    assert len(errors) == (worker is LosesWatchedEvents)
