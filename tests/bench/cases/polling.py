"""A process that polls many accounts, each at its own moment of the period.

    python -m bench.cases.polling LABEL SOURCE

It prints CPU seconds a call, the latencies' median and 99th percentile in seconds, and the bytes
by which the resident set grew for each account, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from ..harness.case import Source, peer
from ..harness.peak import status
from .http_cases import BODY, HEADERS, TOKEN, url_of

ACCOUNTS = 1000
PERIOD = 5  # seconds
PERIODS = 3  # the first is not measured: it connects

Call = Callable[[], Awaitable[Any]]


async def ours(source: Source, closing: AsyncExitStack) -> list[Call]:
    """A client for each account, since each has its own token."""
    client = peer("tradingdata").AsyncClient
    clients = [client(source.base_url, access_token=f"{TOKEN}-{i}") for i in range(ACCOUNTS)]
    return [(await closing.enter_async_context(one)).trade_book for one in clients]


async def aiohttp_and_msgspec(source: Source, closing: AsyncExitStack) -> list[Call]:
    """One session, whose connections all accounts share."""
    from .models import struct_decoder

    aiohttp, url, decode = peer("aiohttp"), url_of(source), struct_decoder(source.record).decode
    connector = aiohttp.TCPConnector(limit=0)
    session = await closing.enter_async_context(aiohttp.ClientSession(connector=connector))

    def call_of(account: int) -> Call:
        headers = HEADERS | {"Authorization": f"Bearer {TOKEN}-{account}"}

        async def call() -> Any:
            async with session.post(url, data=BODY, headers=headers) as response:
                return decode(await response.read()).data

        return call

    return [call_of(account) for account in range(ACCOUNTS)]


POLLERS = {"tradingdata": ours, "aiohttp+msgspec": aiohttp_and_msgspec}


async def _poll(call: Call, first: float, latencies: list[float]) -> None:
    for turn in range(PERIODS):
        due = first + turn * PERIOD
        await asyncio.sleep(max(due - time.perf_counter(), 0))
        await call()
        if turn:
            latencies.append(time.perf_counter() - due)


async def _measure(label: str, source: Source) -> dict[str, float]:
    for module in label.split("+"):
        peer(module)  # its code is not the accounts' memory
    before = status("VmRSS")
    latencies: list[float] = []
    async with AsyncExitStack() as closing:
        calls = await POLLERS[label](source, closing)
        started = time.perf_counter()
        polls = [
            asyncio.create_task(_poll(call, started + at * PERIOD / ACCOUNTS, latencies))
            for at, call in enumerate(calls)
        ]
        await asyncio.sleep(PERIOD)
        cpu = time.process_time()
        await asyncio.gather(*polls)
        cpu = time.process_time() - cpu
        memory = status("VmRSS") - before
    percentiles = statistics.quantiles(latencies, n=100)
    return {
        "cpu": cpu / len(latencies),
        "p50": percentiles[49],
        "p99": percentiles[98],
        "memory": memory / ACCOUNTS,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measure(sys.argv[1], Source(**json.loads(sys.argv[2]))))))
