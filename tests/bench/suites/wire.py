"""A large book as users receive it: compressed, encrypted, paced by the line, hard to read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from ..harness.bodies import book, compressed
from ..harness.case import Source
from ..harness.goals import Goal, Row
from ..harness.paced_server import pacing
from ..harness.rounds import Contest, Entry
from ..harness.server import Served, serving
from ..harness.suite import Show, Suite, play_all

COUNT = 10_000
PEERS = ("pycurl+msgspec", "httpx+msgspec")
DISCARDED = "pycurl, body discarded"
AT_ONCE = "decoding at once, no line"
LINES = {
    "plain": "plain",
    "gzip": "gzip",
    "tls-plain": "plain over TLS",
    "tls-gzip": "gzip over TLS",
    "hard": "hard to read, plain",
}
PACED = {"paced-plain": "plain", "paced-gzip": "gzip"}


def run(rounds: int, show: Show, only: str | None) -> list[Row]:
    plain, hard = book("Trade", COUNT), book("Trade", COUNT, "hard")
    bodies = {"plain": plain, "gzip": plain, "hard": hard}
    with (
        serving(bodies, compressed=["gzip"]) as served,
        pacing([plain, compressed(plain)]) as paced,
    ):
        return play_all(_suite(served, *paced, plain), rounds, show, only)


def _suite(served: Served, paced_url: str, clock: str, plain: Path) -> Suite:
    return Suite(
        contests={
            **{name: partial(_line, name, served) for name in LINES},
            **{
                name: partial(
                    _paced, what, Source("Trade", base_url=f"{paced_url}/{at}", clock=clock), plain
                )
                for at, (name, what) in enumerate(PACED.items())
            },
        },
        goals=(
            _faster("plain", 4, 5),
            _faster("gzip", 3, 4),
            _faster("tls-plain", 2, 3),
            _faster("tls-gzip", 3, 4),
            _faster("hard", 3.5, 5),
            *(
                Goal(f"left of the decoding after the last byte, {what} at 100 Mbit/s", name,
                     (AT_ONCE,), 0.15, 0.1, faster=False, metric="wall")
                for name, what in PACED.items()
            ),
        ),
    )  # fmt: skip


def _faster(name: str, gate: float, aim: float) -> Goal:
    title = f"10k trades, {LINES[name]}, to a book, times faster"
    return Goal(title, name, PEERS, gate, aim, metric="wall")


def _line(name: str, served: Served) -> Contest:
    secure, _, body = name.rpartition("-")
    at, ca_file = (served.https, served.ca_file) if secure else (served.http, "")
    source = Source("Trade", base_url=f"{at}/{body}", ca_file=ca_file)
    entries = [_fetch(label, source) for label in ("tradingdata", *PEERS)]
    discarded = Entry(DISCARDED, "http_cases", "fetch:discard", source)
    return Contest(f"10,000 trades over loopback, {LINES[name]}", (*entries, discarded))


def _paced(what: str, source: Source, plain: Path) -> Contest:
    """CPU is that of the complete call; the wall time counts from the last byte."""
    at_once = Entry(AT_ONCE, "record_cases", "decode:tradingdata", Source("Trade", str(plain)))
    entries = [_fetch(label, source) for label in ("tradingdata", *PEERS)]
    title = f"10,000 trades at 100 Mbit/s, {what}: wall from the last byte"
    return Contest(title, (*entries, at_once), shared=False)


def _fetch(label: str, source: Source) -> Entry:
    return Entry(label, "http_cases", f"fetch:{label}", source)
