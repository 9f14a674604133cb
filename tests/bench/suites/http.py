"""Calls over loopback: one after the other, 16 at once, with decoding, and a large download."""

from __future__ import annotations

from ..cases.http_cases import AT_ONCE, CALLS, url_of
from ..floors import programs
from ..harness.bodies import book
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.rounds import Contest, Entry
from ..harness.server import serving
from ..harness.suite import Show, Suite, play_all

FLOOR = "libcurl, C++"
SIZES = {"small": 5, "hundred": 100, "large": 10_000}  # trades; five are 4.5 KB


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    bodies = {name: book("Trade", count) for name, count in SIZES.items()}
    with serving(bodies) as at:
        sources = {name: Source("Trade", base_url=f"{at.http}/{name}") for name in SIZES}
        return play_all(_suite(sources), rounds, show, only)


def _suite(sources: dict[str, Source]) -> Suite:
    small, hundred, large = (sources[name] for name in SIZES)
    return Suite(
        contests={
            "call": lambda: Contest(
                "one warm call of 4.5 KB",
                (
                    _sync("tradingdata", small, "call:tradingdata"),
                    floor(small, CALLS, 1),
                    _sync("a raw socket", small, "call:socket"),
                    *(_sync(name, small, f"call:{name}") for name in PEERS),
                    *(_async(f"{name}, async", small, f"call:{name}") for name in ASYNC),
                ),
            ),
            "16": lambda: Contest(
                "16 calls of 4.5 KB at once, for each",
                (
                    _async("tradingdata", small, "16:tradingdata"),
                    _sync("tradingdata, 16 threads", small, "threads:tradingdata"),
                    floor(small, CALLS, AT_ONCE),
                    _async("pycurl, multi", small, "16:pycurl"),
                    _async("aiohttp", small, "16:aiohttp"),
                    _async("httpx, async", small, "16:httpx"),
                    _sync("requests, 16 threads", small, "threads:requests"),
                ),
            ),
            "fetch": lambda: Contest(
                "fetch and decode of 100 trades",
                tuple(
                    _sync(label, hundred, f"fetch:{label}")
                    for label in ("tradingdata", "pycurl+msgspec", *FETCH_PEERS)
                ),
            ),
            "download": lambda: Contest(
                "10,000 trades over loopback (ours decodes them too)",
                (
                    _sync("tradingdata", large, "download:tradingdata"),
                    floor(large, 1, 1),
                    *(_sync(name, large, f"download:{name}") for name in PEERS),
                ),
            ),
        },
        goals=(
            Goal("warm 4.5 KB call against libcurl, times slower", "call", (FLOOR,), 1.7, 1.2,
                 faster=False, metric="wall"),
            Goal("16 at once, times faster than aiohttp", "16", ("aiohttp",), 3, 5, metric="wall"),
            Goal("16 at once, times faster than httpx", "16", ("httpx, async",), 20, 60,
                 metric="wall"),
            Goal("fetch and decode, times faster than httpx+msgspec", "fetch",
                 ("httpx+msgspec",), 4, 6),
            Goal("fetch and decode, times faster than requests+json", "fetch",
                 ("requests+json",), 6, 10),
            Goal("10k trades against a libcurl download, times slower", "download", (FLOOR,), 2,
                 1.3, faster=False, metric="wall"),
        ),
    )  # fmt: skip


PEERS = ("pycurl", "http.client", "urllib3", "httpx", "requests")
ASYNC = ("tradingdata", "aiohttp", "httpx")
FETCH_PEERS = ("httpx+msgspec", "requests+json")


def _sync(label: str, source: Source, case: str) -> Entry:
    return Entry(label, "http_cases", case, source)


def _async(label: str, source: Source, case: str) -> Entry:
    return Entry(label, "async_cases", case, source)


def floor(source: Source, calls: int, at_once: int) -> Entry:
    program = (str(programs.libcurl_floor()), url_of(source), str(calls), str(at_once))
    return Entry(FLOOR, "", "", source, program)
