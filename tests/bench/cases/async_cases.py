"""Cases of asyncio: calls one after the other, and many at once, in an event loop that stays."""

from __future__ import annotations

import asyncio
import functools
import io
from collections.abc import Awaitable, Callable
from typing import Any

from ..harness.case import Prepare, Ready, Source, peer
from .http_cases import (
    AT_ONCE,
    BODY,
    CALLS,
    HEADERS,
    TOKEN,
    pycurl_handle,
    size_of,
    url_of,
)

MANY_AT_ONCE = (64, 256)

AsyncCall = Callable[[], Awaitable[Any]]
# Makes a client within the loop; gives its call, and its close.
Maker = Callable[[Source], tuple[AsyncCall, AsyncCall]]


def ours(source: Source) -> tuple[AsyncCall, AsyncCall]:
    client = peer("tradingdata").AsyncClient(source.base_url, access_token=TOKEN)
    return client.trade_book, client.aclose


def aiohttp_session(source: Source) -> tuple[AsyncCall, AsyncCall]:
    session, url = peer("aiohttp").ClientSession(), url_of(source)

    async def call() -> Any:
        async with session.post(url, data=BODY, headers=HEADERS) as response:
            return await response.read()

    return call, session.close


def httpx_client(source: Source) -> tuple[AsyncCall, AsyncCall]:
    client, url = peer("httpx").AsyncClient(), url_of(source)

    async def call() -> Any:
        return (await client.post(url, content=BODY, headers=HEADERS)).content

    return call, client.aclose


async def _series(call: AsyncCall) -> Any:
    for _ in range(CALLS - 1):
        await call()
    return await call()


def _together(at_once: int) -> Callable[[AsyncCall], Awaitable[Any]]:
    async def play(call: AsyncCall) -> Any:
        return (await asyncio.gather(*(_series(call) for _ in range(at_once))))[-1]

    return play


def _case(make: Maker, play: Callable[[AsyncCall], Any], calls: int) -> Prepare:
    def prepare(source: Source) -> Ready:
        loop = asyncio.new_event_loop()

        async def made() -> tuple[AsyncCall, AsyncCall]:
            return make(source)

        call, close = loop.run_until_complete(made())

        async def closed() -> None:
            await close()

        return Ready(
            lambda: loop.run_until_complete(play(call)),
            size_of,
            calls,
            lambda: loop.run_until_complete(closed()),
        )

    return prepare


def _pycurl_multi(source: Source, at_once: int) -> Ready:
    """Handles in one multi handle, each put back until it has made its calls."""
    multi = peer("pycurl").CurlMulti()
    handles = [pycurl_handle(source) for _ in range(at_once)]

    def begin(handle: Any) -> None:
        handle.received = io.BytesIO()
        handle.setopt(handle.WRITEDATA, handle.received)
        multi.add_handle(handle)

    def run() -> bytes:
        left = dict.fromkeys(handles, CALLS)
        for handle in handles:
            begin(handle)
        body = b""
        while left:
            multi.perform()
            _, done, failed = multi.info_read()
            if failed:
                raise ConnectionError(failed[0][2])
            for handle in done:
                multi.remove_handle(handle)
                body = handle.received.getvalue()
                left[handle] -= 1
                if left[handle]:
                    begin(handle)
                else:
                    del left[handle]
            if left and not done:
                multi.poll(1.0) if hasattr(multi, "poll") else multi.select(1.0)
        return body

    return Ready(run, size_of, at_once * CALLS)


MAKERS = {"tradingdata": ours, "aiohttp": aiohttp_session, "httpx": httpx_client}
CASES: dict[str, Prepare] = {
    **{f"call:{name}": _case(make, _series, CALLS) for name, make in MAKERS.items()},
    **{
        f"{at_once}:{name}": _case(make, _together(at_once), at_once * CALLS)
        for at_once in (AT_ONCE, *MANY_AT_ONCE)
        for name, make in MAKERS.items()
    },
    **{
        f"{at_once}:pycurl": functools.partial(_pycurl_multi, at_once=at_once)
        for at_once in (AT_ONCE, *MANY_AT_ONCE)
    },
}
