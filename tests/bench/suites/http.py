"""Calls over loopback: one after the other, many at once, large books, and accounts that poll.

`python -m bench.suites.http LABEL SOURCE` polls many accounts in one process, each at its own
moment of the period. It prints CPU seconds a call, the latencies' median and 99th percentile in
seconds, and the bytes by which the resident set grew for each account, as JSON.
"""

from __future__ import annotations

import asyncio
import functools
import io
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

from ..bodies import book, compressed, libcurl_floor
from ..contest import Contest, Entry, Fact, Prepare, Ready, Source, peer, run_module
from ..report import Goal, Run, Table
from ..report import time as shown
from ..servers import BOOK_PATH, last_byte, pacing, serving
from .process import status
from .records import item, of_records, struct_decoder, trades

CALLS = 20  # in one run, so that reading the clocks costs nothing
AT_ONCE, MANY_AT_ONCE = 16, (64, 256)
TOKEN = "bench-token"
BODY = b'{"source":"N"}'
HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}

Call = Callable[[], Any]
AsyncCall = Callable[[], Awaitable[Any]]


def url_of(source: Source) -> str:
    return f"{source.base_url}/{BOOK_PATH}"


def decoder_of(source: Source) -> Callable[[bytes], Any]:
    """What decodes the bodies of peers, since our calls decode."""
    decode = struct_decoder(source.record).decode
    return lambda body: decode(body).data


def check_of(source: Source) -> Callable[[Any], Fact]:
    return functools.partial(of_records, source.record)


# One call after the other.


def ours_call(source: Source) -> Call:
    secure = {"ca_file": source.ca_file} if source.ca_file else {}
    client = peer("tradingdata").Client(source.base_url, access_token=TOKEN, **secure)
    call: Call = client.trade_book
    return call


def requests_call(source: Source) -> Call:
    post, url = peer("requests").Session().post, url_of(source)
    return lambda: post(url, data=BODY, headers=HEADERS).content


def httpx_call(source: Source) -> Call:
    post, url = peer("httpx").Client(verify=source.ca_file or True).post, url_of(source)
    return lambda: post(url, content=BODY, headers=HEADERS).content


def pycurl_handle(source: Source) -> Any:
    handle = peer("pycurl").Curl()
    handle.setopt(handle.URL, url_of(source))
    handle.setopt(handle.POSTFIELDS, BODY.decode())
    handle.setopt(handle.ACCEPT_ENCODING, "gzip")
    if source.ca_file:
        handle.setopt(handle.CAINFO, source.ca_file)
    handle.setopt(handle.HTTPHEADER, [f"{name}: {value}" for name, value in HEADERS.items()])
    return handle


def pycurl_call(source: Source) -> Call:
    handle = pycurl_handle(source)

    def call() -> bytes:
        received = io.BytesIO()
        handle.setopt(handle.WRITEDATA, received)
        handle.perform()
        return received.getvalue()

    return call


def _discarded(source: Source) -> Ready:
    """The body is received as sent, neither kept nor inflated."""
    handle = pycurl_handle(source)
    handle.setopt(handle.HTTP_CONTENT_DECODING, 0)
    handle.setopt(handle.BUFFERSIZE, 256 << 10)
    handle.setopt(handle.WRITEFUNCTION, lambda piece: None)
    return Ready(handle.perform, lambda nothing: {})


def _decoding(make: Callable[[Source], Call]) -> Callable[[Source], Call]:
    def decoding_call(source: Source) -> Call:
        call, decode = make(source), decoder_of(source)
        return lambda: decode(call())

    return decoding_call


CALLERS = {
    "tradingdata": ours_call,
    "pycurl+msgspec": _decoding(pycurl_call),
    "httpx+msgspec": _decoding(httpx_call),
    "requests+msgspec": _decoding(requests_call),
}


def _one_by_one(make: Callable[[Source], Call], calls: int) -> Prepare:
    def prepare(source: Source) -> Ready:
        call = make(source)

        def run() -> Any:
            for _ in range(calls - 1):
                call()
            return call()

        return Ready(run, check_of(source), calls)

    return prepare


def _fetched(
    make: Callable[[Source], Call],
    decode: Callable[[Any], Any] | None = None,
    get: Callable[[Any, str], Any] = getattr,
) -> Prepare:
    """Fetched and decoded to records, by msgspec if nothing else."""

    def prepare(source: Source) -> Ready:
        call, decoded = make(source), decode or decoder_of(source)
        since = last_byte(source.clock) if source.clock else None
        check = functools.partial(of_records, source.record, get=get)
        return Ready(lambda: decoded(call()), check, since=since)

    return prepare


# Many at once, in an event loop that stays. What makes a client returns its call and its close.


def ours_async(source: Source) -> tuple[AsyncCall, AsyncCall]:
    client = peer("tradingdata").AsyncClient(source.base_url, access_token=TOKEN)
    return client.trade_book, client.aclose


def aiohttp_session(source: Source) -> tuple[AsyncCall, AsyncCall]:
    session, url = peer("aiohttp").ClientSession(), url_of(source)
    decode = decoder_of(source)

    async def call() -> Any:
        async with session.post(url, data=BODY, headers=HEADERS) as response:
            return decode(await response.read())

    return call, session.close


def httpx_client(source: Source) -> tuple[AsyncCall, AsyncCall]:
    client, url = peer("httpx").AsyncClient(), url_of(source)
    decode = decoder_of(source)

    async def call() -> Any:
        return decode((await client.post(url, content=BODY, headers=HEADERS)).content)

    return call, client.aclose


def _async(make: Callable[[Source], tuple[AsyncCall, AsyncCall]], at_once: int) -> Prepare:
    def prepare(source: Source) -> Ready:
        loop = asyncio.new_event_loop()

        async def made() -> tuple[AsyncCall, AsyncCall]:
            return make(source)

        call, close = loop.run_until_complete(made())

        async def series() -> Any:
            for _ in range(CALLS - 1):
                await call()
            return await call()

        async def play() -> Any:
            if at_once == 1:
                return await series()
            return (await asyncio.gather(*(series() for _ in range(at_once))))[-1]

        return Ready(
            lambda: loop.run_until_complete(play()),
            check_of(source),
            at_once * CALLS,
            lambda: loop.run_until_complete(close()),
        )

    return prepare


def _pycurl_multi(source: Source, at_once: int) -> Ready:
    """Handles in one multi handle, each put back until it has made its calls."""
    multi = peer("pycurl").CurlMulti()
    handles = [pycurl_handle(source) for _ in range(at_once)]
    decode = decoder_of(source)

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
                if left[handle]:
                    begin(handle)
                else:
                    del left[handle]
            if left and not done:
                multi.poll(1.0) if hasattr(multi, "poll") else multi.select(1.0)
        return records

    return Ready(run, check_of(source), at_once * CALLS)


MAKERS = {
    "tradingdata": ours_async,
    "aiohttp+msgspec": aiohttp_session,
    "httpx+msgspec": httpx_client,
}
MULTI = "pycurl+msgspec, multi"
CASES: dict[str, Prepare] = {
    **{f"call:{name}": _one_by_one(make, CALLS) for name, make in CALLERS.items()},
    **{f"download:{name}": _one_by_one(make, 1) for name, make in CALLERS.items()},
    "fetch:tradingdata": _fetched(ours_call, lambda book: book),
    "fetch:pycurl+msgspec": _fetched(pycurl_call),
    "fetch:httpx+msgspec": _fetched(httpx_call),
    "fetch:requests+json": _fetched(requests_call, lambda body: json.loads(body)["data"], item),
    "fetch:discard": _discarded,
    **{
        f"async {at_once}:{name}": _async(make, at_once)
        for at_once in (1, AT_ONCE, *MANY_AT_ONCE)
        for name, make in MAKERS.items()
    },
    **{
        f"async {at_once}:{MULTI}": functools.partial(_pycurl_multi, at_once=at_once)
        for at_once in (AT_ONCE, *MANY_AT_ONCE)
    },
}

# The suites.

FLOOR, BARE = "libcurl and the decoder, C++", "libcurl alone, C++"
DISCARDED = "pycurl, body discarded"
UNPACED = "decoding at once, no line"
WIRE_PEERS = ("pycurl+msgspec", "httpx+msgspec")
AIOHTTP = "aiohttp+msgspec"
INTERPRETER = "what is left beside libcurl and the decoder is the interpreter and the bindings"
LOOP = "a third of such a call is the event loop's; libcurl on the loop's own thread was no faster"
FETCH_PEERS = {"httpx+msgspec": (4, 6), "requests+json": (6, 10)}  # gate and aim


def floors(source: Source, calls: int, at_once: int) -> list[Entry]:
    program = (str(libcurl_floor()), url_of(source), str(calls), str(at_once))
    modes = {FLOOR: "decode", BARE: "plain"}
    return [Entry(label, "", "", source, (*program, mode)) for label, mode in modes.items()]


def entries(source: Source, cases: Mapping[str, str]) -> list[Entry]:
    return [Entry(label, "http", case, source) for label, case in cases.items()]


def at_once_of(source: Source, number: int, *makers: str) -> Contest:
    """Calls at once on one thread or in one event loop, each of which decodes."""
    cases = {label: f"async {number}:{label}" for label in ("tradingdata", MULTI, *makers)}
    title = f"{number} calls of 4.5 KB at once, for each"
    return Contest(title, (*entries(source, cases), *floors(source, CALLS, number)))


def fetches(source: Source, *labels: str) -> list[Entry]:
    return entries(source, {label: f"fetch:{label}" for label in ("tradingdata", *labels)})


def http(run: Run) -> None:
    """Calls over loopback: one after the other, 16 at once, with decoding, and a large download."""
    sizes = {"small": 5, "hundred": 100, "large": 10_000}  # trades; five are 4.5 KB
    with serving({name: book("Trade", count) for name, count in sizes.items()}) as at:
        small, hundred, large = (Source("Trade", base_url=f"{at.http}/{name}") for name in sizes)

        def call() -> Contest:
            first, *more = entries(small, {name: f"call:{name}" for name in CALLERS})
            loops = entries(small, {f"{name}, async": f"async 1:{name}" for name in MAKERS})
            each = (first, *floors(small, CALLS, 1), *more, *loops)
            return Contest("one warm call of 4.5 KB", each)

        def fetch() -> Contest:
            each = (*fetches(hundred, "pycurl+msgspec", *FETCH_PEERS), *floors(hundred, 1, 1))
            return Contest("fetch and decode of 100 trades", each)

        def download() -> Contest:
            each = entries(large, {name: f"download:{name}" for name in CALLERS})
            return Contest("10,000 trades over loopback", (*each, *floors(large, 1, 1)))

        slower = functools.partial(Goal, faster=False)
        warm = "warm 4.5 KB call against libcurl and the decoder, times slower"
        warm_goal = slower(warm, (FLOOR,), 1.7, 1.2, rests=INTERPRETER, floor=WIRE_PEERS[0])
        run.play("call", call, warm_goal)
        run.play(
            "16",
            lambda: at_once_of(small, AT_ONCE, *MAKERS),
            Goal("16 at once, times faster than aiohttp", (AIOHTTP,), 3, 5, rests=LOOP),
            Goal("16 at once, times faster than httpx", ("httpx+msgspec",), 20, 60, rests=LOOP),
        )
        goals = (
            Goal(f"fetch and decode, times faster than {label}", (label,), *bounds)
            for label, bounds in FETCH_PEERS.items()
        )
        run.play("fetch", fetch, *goals)
        large_one = "10k trades, times slower than"
        run.play(
            "download",
            download,
            slower(f"{large_one} a libcurl download", (BARE,), 2, 1.3, floor=FLOOR),
            slower(f"{large_one} libcurl and the decoder", (FLOOR,), 1.3, 1.1),
        )


LINES = {  # what the body is, and the gate and aim against peers
    "plain": ("plain", 4, 5),
    "gzip": ("gzip", 3, 4),
    "tls-plain": ("plain over TLS", 2, 3),
    "tls-gzip": ("gzip over TLS", 3, 4),
    "hard": ("hard to read, plain", 3.5, 5),
}
PACED = {"paced-plain": "plain", "paced-gzip": "gzip"}


def wire(run: Run) -> None:
    """A large book as users receive it: compressed, encrypted, paced by the line, hard to read."""
    plain = book("Trade", 10_000)
    bodies = {"plain": plain, "gzip": plain, "hard": book("Trade", 10_000, "hard")}
    with (
        serving(bodies, compressed=["gzip"]) as served,
        pacing([plain, compressed(plain)]) as (paced_url, clock),
    ):

        def line(name: str, what: str) -> Contest:
            secure, _, body = name.rpartition("-")
            at, ca_file = (served.https, served.ca_file) if secure else (served.http, "")
            source = Source("Trade", base_url=f"{at}/{body}", ca_file=ca_file)
            discarded = Entry(DISCARDED, "http", "fetch:discard", source)
            each = (*fetches(source, *WIRE_PEERS), discarded)
            return Contest(f"10,000 trades over loopback, {what}", each)

        def paced(at: int, what: str) -> Contest:
            """CPU is that of the complete call; the wall time counts from the last byte."""
            source = Source("Trade", base_url=f"{paced_url}/{at}", clock=clock)
            at_once = Entry(UNPACED, "records", "tradingdata", trades())
            title = f"10,000 trades at 100 Mbit/s, {what}: wall from the last byte"
            return Contest(title, (*fetches(source, *WIRE_PEERS), at_once), shared=False)

        for name, (what, gate, aim) in LINES.items():
            title = f"10k trades, {what}, to a book, times faster"
            goal = Goal(title, WIRE_PEERS, gate, aim)
            run.play(name, functools.partial(line, name, what), goal)
        for at, (name, what) in enumerate(PACED.items()):
            title = f"left of the decoding after the last byte, {what} at 100 Mbit/s"
            goal = Goal(title, (UNPACED,), 0.15, 0.1, faster=False, metric="wall")
            run.play(name, functools.partial(paced, at, what), goal)


def many(run: Run) -> None:
    """Many calls at once, and many accounts that are polled in one process."""
    with serving({"small": book("Trade", 5)}) as served:
        source = Source("Trade", base_url=f"{served.http}/small")

        for number in MANY_AT_ONCE:
            title = f"{number} at once against libcurl and the decoder, times slower"
            goal = Goal(title, (FLOOR,), 2.5, 2, faster=False, rests=LOOP)
            contest = functools.partial(at_once_of, source, number, AIOHTTP)
            run.play(str(number), contest, goal)
        if run.wants("accounts"):
            title = f"{ACCOUNTS:,} accounts, each polled every {PERIOD} s"
            headings = [title, "CPU a call", "p50", "p99", "memory an account"]
            run.show(Table(headings, [_polled(label, source) for label in POLLERS]))


def _polled(label: str, source: Source) -> list[str]:
    found = run_module(label, "http", label, asdict(source))
    if found is None:
        return [label, *["-"] * 4]
    times = [shown(found[name]) for name in ("cpu", "p50", "p99")]
    return [label, *times, f"{found['memory'] / 1024:.0f} KiB"]


# Accounts that are polled.

ACCOUNTS = 1000
PERIOD = 5  # seconds
PERIODS = 3  # the first is not measured: it connects


async def our_polls(source: Source, closing: AsyncExitStack) -> list[AsyncCall]:
    """A client for each account, since each has its own token."""
    client = peer("tradingdata").AsyncClient
    clients = [client(source.base_url, access_token=f"{TOKEN}-{i}") for i in range(ACCOUNTS)]
    return [(await closing.enter_async_context(one)).trade_book for one in clients]


async def aiohttp_polls(source: Source, closing: AsyncExitStack) -> list[AsyncCall]:
    """One session, whose connections all accounts share."""
    aiohttp, url, decode = peer("aiohttp"), url_of(source), struct_decoder(source.record).decode
    connector = aiohttp.TCPConnector(limit=0)
    session = await closing.enter_async_context(aiohttp.ClientSession(connector=connector))

    def call_of(account: int) -> AsyncCall:
        headers = HEADERS | {"Authorization": f"Bearer {TOKEN}-{account}"}

        async def call() -> Any:
            async with session.post(url, data=BODY, headers=headers) as response:
                return decode(await response.read()).data

        return call

    return [call_of(account) for account in range(ACCOUNTS)]


POLLERS = {"tradingdata": our_polls, "aiohttp+msgspec": aiohttp_polls}


async def _poll(call: AsyncCall, first: float, latencies: list[float]) -> None:
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
    label, source = map(json.loads, sys.argv[1:])
    print(json.dumps(asyncio.run(_measure(label, Source(**source)))))
