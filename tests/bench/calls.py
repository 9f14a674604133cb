"""Calls to a service on loopback: one after the other, and many at once."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from functools import partial
from operator import getitem
from typing import Any

from nginx import PATHS

from .bodies import book
from .case import OURS, ZLIB, Ready, Ways, peer, served
from .decoding import DECODERS, fact_of_records

CALLS = 20  # in one run, so that reading the clocks costs nothing
TOKEN, BODY = "bench-token", b'{"source":"N"}'
HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
Call = Callable[[], Any]
check = partial(fact_of_records, "Trade")


def base_url(size: int, compressed: bool = False, secure: bool = False) -> str:
    """Where a book of so many trades is served."""
    name = f"{size}-{'gzip' if compressed else 'plain'}"
    served().add(name, "Trade", book("Trade", size), compressed=compressed)
    return f"{served().https if secure else served().http}/{name}"


def typed() -> Callable[[bytes], Any]:
    """What decodes the bodies of peers, since our calls decode."""
    return DECODERS["msgspec"]("Trade").decode


def ours(base_url: str, ca_file: str = "") -> Call:
    secure = {"ca_file": ca_file} if ca_file else {}
    call: Call = peer("tradingdata").Client(base_url, access_token=TOKEN, **secure).trade_book
    return call


def requests_json(base_url: str, ca_file: str = "") -> Call:
    url, session = f"{base_url}/{PATHS['Trade']}", peer("requests").Session()
    options = {"data": BODY, "headers": HEADERS, "verify": ca_file or True}
    return lambda: session.post(url, **options).json()["data"]


def httpx_msgspec(base_url: str, ca_file: str = "") -> Call:
    context = peer("ssl").create_default_context(cafile=ca_file or None)
    url, client, decode = (
        f"{base_url}/{PATHS['Trade']}",
        peer("httpx").Client(verify=context),
        typed(),
    )
    return lambda: decode(client.post(url, content=BODY, headers=HEADERS).content)


def curl_handle(base_url: str, ca_file: str = "") -> Any:
    handle = peer("pycurl").Curl()
    handle.setopt(handle.URL, f"{base_url}/{PATHS['Trade']}")
    handle.setopt(handle.POSTFIELDS, BODY.decode())
    handle.setopt(handle.ACCEPT_ENCODING, "gzip")
    if ca_file:
        handle.setopt(handle.CAINFO, ca_file)
    handle.setopt(handle.HTTPHEADER, [f"{name}: {value}" for name, value in HEADERS.items()])
    return handle


def pycurl_msgspec(base_url: str, ca_file: str = "") -> Call:
    handle, decode = curl_handle(base_url, ca_file), typed()

    def call() -> Any:
        handle.setopt(handle.WRITEDATA, received := io.BytesIO())
        handle.perform()
        return decode(received.getvalue())

    return call


CLIENTS = {
    OURS: ours,
    ZLIB: ours,
    "pycurl and msgspec": pycurl_msgspec,
    "httpx and msgspec": httpx_msgspec,
    "requests and json": requests_json,
}


def _one_by_one(name: str, compressed: bool, secure: bool, calls: int, size: int) -> Ready:
    url, get = base_url(size, compressed, secure), getitem if "json" in name else getattr
    call = CLIENTS[name](url, served().ca_file if secure else "")

    def run() -> Any:
        for _ in range(calls - 1):
            call()
        return call()

    return Ready(run, lambda made: check(made, get), calls)


def clients(*, compressed: bool = False, secure: bool = False, calls: int = 1) -> Ways:
    """Ways to call one after the other over a kept connection."""
    names = (name for name in CLIENTS if compressed or name != ZLIB)
    return {name: partial(_one_by_one, name, compressed, secure, calls) for name in names}


def ours_async(base_url: str) -> Call:
    call: Call = peer("tradingdata").AsyncClient(base_url, access_token=TOKEN).trade_book
    return call


def aiohttp_msgspec(base_url: str) -> Call:
    url, decode = f"{base_url}/{PATHS['Trade']}", typed()
    session = peer("aiohttp").ClientSession()

    async def call() -> Any:
        async with session.post(url, data=BODY, headers=HEADERS) as response:
            return decode(await response.read())

    return call


def httpx_async(base_url: str) -> Call:
    url, client, decode = f"{base_url}/{PATHS['Trade']}", peer("httpx").AsyncClient(), typed()

    async def call() -> Any:
        return decode((await client.post(url, content=BODY, headers=HEADERS)).content)

    return call


HTTPX = "httpx and msgspec"
ASYNC_CLIENTS = {OURS: ours_async, "aiohttp and msgspec": aiohttp_msgspec, HTTPX: httpx_async}


def _in_a_loop(make: Callable[[str], Call], at_once: int, size: int) -> Ready:
    loop = asyncio.new_event_loop()

    async def made() -> Call:
        return make(base_url(size))

    call = loop.run_until_complete(made())

    async def series() -> Any:
        for _ in range(CALLS - 1):
            await call()
        return await call()

    async def play() -> Any:
        return (await asyncio.gather(*(series() for _ in range(at_once))))[-1]

    run = play if at_once > 1 else series
    return Ready(lambda: loop.run_until_complete(run()), check, at_once * CALLS)


def _curl_multi(at_once: int, size: int) -> Ready:
    """Handles in one multi handle, each put back until it has made its calls."""
    multi, decode = peer("pycurl").CurlMulti(), typed()
    handles = [curl_handle(base_url(size)) for _ in range(at_once)]

    def begin(handle: Any) -> None:
        handle.received = io.BytesIO()
        handle.setopt(handle.WRITEDATA, handle.received)
        multi.add_handle(handle)

    def run() -> Any:
        left = dict.fromkeys(handles, CALLS)
        for handle in handles:
            begin(handle)
        records = None
        while left:
            multi.perform()
            _, done, failed = multi.info_read()
            if failed:
                raise ConnectionError(failed[0][2])
            for handle in done:
                multi.remove_handle(handle)
                records = decode(handle.received.getvalue())
                left[handle] -= 1
                begin(handle) if left[handle] else left.pop(handle)
            if left and not done:
                multi.select(1.0)
        return records

    return Ready(run, check, at_once * CALLS)


def at_once(number: int) -> Ways:
    """Ways to make that many calls at once, each of which decodes, on one thread or in one loop."""
    ways: Ways = {name: partial(_in_a_loop, make, number) for name, make in ASYNC_CLIENTS.items()}
    if number > 16:
        del ways[HTTPX]  # it takes seconds
    multi: Ways = {"pycurl's multi and msgspec": partial(_curl_multi, number)}
    return ways | (multi if number > 1 else {})
