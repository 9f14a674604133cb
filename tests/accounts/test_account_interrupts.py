"""Ctrl-C while many accounts are fetched: soon, in every phase, and what arrived is kept."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

import service as s
import tradingdata as td
from calls import BOOK_PATH, TOKEN, good_book, run_child, wait_until
from sandbox_calls import arguments
from service import Authority, Behaviour, Request, Service
from signalling import sent_after
from stalled_phases import served_phase
from starvation import starved
from tradingdata import sandbox
from tradingdata._util.waiting import ForkLock, Stopped, pause, raise_if_stopped, stop_on
from tradingdata.accounts import side_by_side

PROMISED = 1.5  # seconds until the process has ended

# Twelve accounts of which eight are fetched at a time, and one that succeeds. Prints when the
# interrupt came, and the seconds until its calls had ended: a token function ends by itself.
INTERRUPT = """
import threading
from signalling import send
url, good_url, ca_file, what, form = sys.argv[1:]

def token():
    time.sleep(20)

def interrupt():
    time.sleep(0.5)
    sent.append((time.monotonic(), starved()))
    send()

sent = []
options = dict(timeout=3600, connect_timeout=60, ca_file=ca_file, access_token=TOKEN)
if what in ("token", "turn"):
    options["access_token"] = token
if what == "rate limit":
    options["rate_limit"] = td.RateLimit(0.01)
accounts = {f"desk{number}": {"base_url": url, **options} for number in range(12)}
accounts["good"] = {"base_url": good_url, "access_token": TOKEN}
if form == "clients":
    accounts = {label: td.Client(**given, account=label) for label, given in accounts.items()}
if what == "turn":
    accounts |= dict.fromkeys(accounts, accounts["desk0"])
threading.Thread(target=interrupt, daemon=True).start()
try:
    td.Accounts(accounts).trade_book()
    print("ended by itself")
except KeyboardInterrupt:
    [(at, before)] = sent
if form == "clients":
    assert not any(client.closed for client in accounts.values())
def working():
    return [each for each in threading.enumerate() if each.name.startswith("tradingdata-account")]
while what not in ("token", "turn") and working():
    time.sleep(0.01)
print(at, time.monotonic() - at, starved() - before)
"""


@pytest.mark.parametrize(
    ("phase", "form"),
    [
        *product(
            ("DNS", "connect", "TLS", "first byte", "body", "back-off", "rate limit", "token"),
            ("clients",),
        ),
        *product(("first byte", "back-off", "token"), ("options",)),
        ("turn", "clients"),  # several labels wait for the token of one client
    ],
)
def test_an_interrupt_ends_the_process_in_every_phase(
    phase: str, form: str, ca: Authority, service: Service, tmp_path: Path
) -> None:
    service.script(then=good_book())
    environment = s.resolver(tmp_path, seconds=20) if phase == "DNS" else {}
    with served_phase(phase, ca) as url:
        arguments = (url, service.base_url, str(ca.pem_file), phase, form)
        before = starved()
        [line] = run_child(INTERRUPT, *arguments, environment=environment).splitlines()
        ended, ours = time.monotonic(), starved() - before
    sent, calls_ended, waited = map(float, line.split())
    assert calls_ended - waited <= PROMISED
    assert ended - sent - waited - ours <= PROMISED


def test_clients_of_an_interrupted_fetch_work_on(service: Service) -> None:
    gate = threading.Event()

    def respond(request: Request) -> Behaviour:
        if request.path != BOOK_PATH:
            gate.set()
            return s.book_reply([])
        return good_book() if gate.is_set() else s.stall()

    service.choose(respond)
    clients = {label: td.Client(service.base_url, access_token=TOKEN) for label in "ab"}
    accounts = td.Accounts(clients)
    with pytest.raises(KeyboardInterrupt), sent_after(0.3):
        accounts.trade_book()
    clients["a"].order_book()
    assert [trade.account for trade in accounts.trade_book()] == ["a"] * 3 + ["b"] * 3


def test_accounts_that_wait_for_their_turn_are_not_begun(service: Service) -> None:
    service.script(then=good_book())
    gate, begun = threading.Event(), []

    def token_of(label: str) -> Callable[[], str]:
        def token() -> str:
            begun.append(label)
            gate.wait(20)
            return TOKEN

        return token

    options = {label: {"access_token": token_of(label)} for label in "abc"}
    given = {label: {"base_url": service.base_url, **each} for label, each in options.items()}
    with pytest.raises(KeyboardInterrupt), sent_after(0.3):
        td.Accounts(given, concurrency=1).trade_book()
    gate.set()
    names = ("tradingdata-account",)
    wait_until(lambda: not [t for t in threading.enumerate() if t.name.startswith(names)], 5)
    assert begun == ["a"]


def test_nothing_is_begun_after_an_error() -> None:
    """As long as nobody looks, a pool goes on (mozilla/bigquery-etl#812)."""
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(side_by_side(work, range(100), 1, False))
    assert begun == [0]


def test_what_had_arrived_is_in_the_archive(tmp_path: Path) -> None:
    labels = ("desk1", "desk2", "desk3")
    with sandbox.start(accounts=labels, orders=12) as service:
        service.fail_next("stall", seconds=60, account="desk2", times=None)
        archive = td.Archive(tmp_path / "books")
        accounts = td.Accounts(arguments(service))
        with pytest.raises(KeyboardInterrupt), sent_after(1.0):
            archive.fetch(accounts)
        stored = {(entry.account, entry.book) for entry in archive.fetches() if entry.ok}
    assert stored == {
        (label, book) for label in ("desk1", "desk3") for book in ("orders", "trades")
    }


def test_waits_of_a_thread_end_with_the_flag_and_no_others() -> None:
    stop, ended, lock = threading.Event(), [], ForkLock()

    def waits(wait: Callable[[float], object]) -> None:
        stop_on(stop)
        try:
            wait(20)
        except Stopped:
            ended.append(wait)

    def take(seconds: float) -> None:
        lock.holding(lambda: None, seconds)

    waiting: list[Callable[[float], object]] = [pause, take]
    threads = [threading.Thread(target=waits, args=(wait,)) for wait in waiting]

    def stop_them() -> None:
        for thread in threads:
            thread.start()
        stop.set()
        wait_until(lambda: len(ended) == len(waiting), 2)

    lock.holding(stop_them)
    for thread in threads:
        thread.join()
    raise_if_stopped()
    pause(0.01)
