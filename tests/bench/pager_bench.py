"""What a page of a search costs: `python tests/bench/pager_bench.py`. It informs; no gate.

CPU time of this process for each page of 100 stocks, beside that of its decoding alone; and the
wall time of 48 pages that the service takes 50 ms for. The service is a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import tradingdata as td
from service import stocks

ROWS = 100  # a page
PAGES = 200
SLOW_PAGES, SLOW = 48, 0.05


def bodies(pages: int) -> list[bytes]:
    rows = stocks(ROWS * pages)
    return [json.dumps(rows[at : at + ROWS]).encode() for at in range(0, len(rows), ROWS)]


async def serve() -> None:
    """Returns a `page` of the listing whose length and delay are in the query: `200 0`."""
    ready = dict(enumerate(bodies(PAGES), start=1))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                asked = parse_qs(urlsplit(head.split()[1].decode()).query)
                pages, delay = asked["query"][0].split()
                number = int(asked["page"][0])
                await asyncio.sleep(float(delay))
                body = ready[number] if number <= int(pages) else b"[]"
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                await writer.drain()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextlib.contextmanager
def serving() -> Iterator[str]:
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def measured(run: Callable[[], int], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Seconds of each round, after one to get warm; `run` says how many rows it saw."""
    taken = []
    for _ in range(rounds + 1):
        started = clock()
        rows = run()
        taken.append(clock() - started)
        assert rows in (ROWS * PAGES, ROWS * SLOW_PAGES)
    return taken[1:]


def rows_of(search: td.types.SearchPager) -> int:
    return len(search.all())


def show(label: str, seconds: list[float], scale: float, unit: str) -> None:
    middle, least, most = (of(seconds) * scale for of in (statistics.median, min, max))
    print(f"| {label} | {middle:.0f} | {least:.0f} to {most:.0f} | {unit} |", flush=True)


def main(rounds: int) -> None:
    decoded = bodies(PAGES)
    print("| case | median | rounds | unit |\n|---|---|---|---|")
    with serving() as url, td.Client(url) as client, asyncio.Runner() as runner:

        def read(prefetch: int) -> int:
            search = client.search(f"{PAGES} 0", prefetch=prefetch)
            return sum(len(page) for page in search.pages())

        async def aread(prefetch: int) -> int:
            async with td.AsyncClient(url) as other:
                search = other.search(f"{PAGES} 0", prefetch=prefetch)
                return sum([len(page) async for page in search.pages()])

        cases: dict[str, Callable[[], int]] = {
            "decoding alone": lambda: sum(len(td.StockList.from_json(body)) for body in decoded),
            "Client, prefetch 0": lambda: read(0),
            "Client, prefetch 1": lambda: read(1),
            "Client, prefetch 8": lambda: read(8),
            "AsyncClient, prefetch 8": lambda: runner.run(aread(8)),
        }
        for label, case in cases.items():
            taken = measured(case, rounds, time.process_time)
            show(f"CPU of a page of {ROWS}: {label}", taken, 1e6 / PAGES, "us")
        for prefetch in (0, 1, 8):
            search = client.search(f"{SLOW_PAGES} {SLOW}", prefetch=prefetch)
            taken = measured(partial(rows_of, search), 1, time.monotonic)
            show(f"{SLOW_PAGES} pages of 50 ms, prefetch {prefetch}", taken, 1e3, "ms wall")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve()) if options.serve else main(options.rounds)
