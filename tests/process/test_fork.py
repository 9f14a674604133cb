"""Forks beside other threads: the child has a copy of all they hold, and none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from calls import good_book, run_child
from service import Authority, Service, book_reply, trades
from systems import needs

pytestmark = needs("fork")

# A fork beside other threads is the matter here; newer Pythons warn of every one.
FORKING = """
import faulthandler, os, warnings
warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
def in_child(work):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(45, exit=True)  # a failure that shows where it hangs
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child
def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
long = pytest.mark.long


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [10, pytest.param(1000, marks=long)])
def test_a_fork_over_tls_leaves_the_parent_s_connection_whole(
    rounds: int, tls_service: Service, ca: Authority
) -> None:
    """The child makes connections of its own, and ends without a word on its parent's."""
    tls_service.choose(lambda request: book_reply(trades(len(request.raw) % 7)))
    code = (
        FORKING
        + """
url, ca_file, rounds = sys.argv[1:]
clients = [td.Client(url, access_token="x" * (20 + i), ca_file=ca_file) for i in range(2)]
right = [len(client.trade_book()) for client in clients]
def work():
    for client, rows in zip(clients, right, strict=True):
        assert len(client.trade_book()) == rows
for _ in range(int(rounds)):
    child = in_child(work)
    work()
    assert ended(child) == 0
print(right[0] != right[1])
"""
    )
    arguments = (tls_service.base_url, str(ca.pem_file), str(rounds))
    printed = run_child(code, *arguments, timeout=500).strip()
    assert printed == "True"
    assert len(tls_service.connections) == 2 + 2 * rounds


def test_a_fork_while_other_threads_call(service: Service) -> None:
    """No lock that a thread held is waited for in the child."""
    service.script(then=good_book())
    code = (
        FORKING
        + """
import threading
client = td.Client(sys.argv[1], access_token=lambda: TOKEN)
stop = threading.Event()
def call():
    while not stop.is_set():
        client.trade_book()
threads = [threading.Thread(target=call) for _ in range(4)]
for thread in threads:
    thread.start()
def work():
    assert len(client.trade_book(timeout=10)) == 3
    client.access_token = "another"
    assert len(td.Client(sys.argv[1], access_token=TOKEN).trade_book(timeout=10)) == 3
codes = [ended(in_child(work)) for _ in range(20)]
stop.set()
for thread in threads:
    thread.join()
print(set(codes))
"""
    )
    assert run_child(code, service.base_url).strip() == "{0}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [15, pytest.param(1000, marks=long)])
def test_a_fork_while_other_threads_connect(
    rounds: int, tls_service: Service, ca: Authority
) -> None:
    """Nor a lock of libcurl's or OpenSSL's, which know nothing of forks."""
    tls_service.script(then=good_book())
    code = (
        FORKING
        + """
import threading
url, ca_file, rounds = sys.argv[1:]
stop = threading.Event()
def connect():
    with td.Client(url, access_token=TOKEN, ca_file=ca_file) as client:
        assert len(client.trade_book(timeout=20)) == 3
def connect_again_and_again():
    while not stop.is_set():
        connect()
threads = [threading.Thread(target=connect_again_and_again) for _ in range(4)]
for thread in threads:
    thread.start()
codes = [ended(in_child(connect)) for _ in range(int(rounds))]
stop.set()
for thread in threads:
    thread.join()
print(set(codes))
"""
    )
    arguments = (tls_service.base_url, str(ca.pem_file), str(rounds))
    assert run_child(code, *arguments, timeout=500).strip() == "{0}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [4, pytest.param(300, marks=long)])
def test_a_fork_while_other_threads_do_a_thing_for_the_first_time(
    rounds: int, service: Service, body_file: Path
) -> None:
    """Nothing is initialised on first use, so the child finds nothing half initialised."""
    service.script(then=good_book())
    code = (
        FORKING
        + """
import threading
url, body_file = sys.argv[1:]
with open(body_file, "rb") as file:
    body = file.read()
ready = threading.Barrier(6)
def use():
    book = td.TradeBook.from_json(body)
    book.filter(symbol="X"), book.to_csv(), td.OrderBook().diff(td.OrderBook())
    with td.Client(url, access_token=TOKEN) as client:
        assert len(client.trade_book(timeout=20)) == 3
def use_when_ready():
    ready.wait()
    use()
threads = [threading.Thread(target=use_when_ready) for _ in range(5)]
for thread in threads:
    thread.start()
ready.wait()
children = []
while len(children) < 3 or len(children) < 20 and any(thread.is_alive() for thread in threads):
    children.append(in_child(use))
    time.sleep(0.0005)
print({ended(child) for child in children})
"""
    )
    for _ in range(rounds):
        assert run_child(code, service.base_url, str(body_file)).strip() == "{0}"


def test_a_fork_does_not_wait_for_an_import(tmp_path: Path) -> None:
    """A module of the standard library may import one of the host's that takes seconds."""
    (tmp_path / "slow.py").write_text("import time, threading\nstarted.set()\ntime.sleep(3)\n")
    code = (
        FORKING
        + """
import builtins, threading
builtins.started = threading.Event()
sys.path.insert(0, sys.argv[1])
import _imp
thread = threading.Thread(target=__import__, args=("slow",), daemon=True)
thread.start()
started.wait()
_imp.acquire_lock()
_imp.release_lock()
before = time.monotonic()
code = ended(in_child(lambda: None))
print(code, time.monotonic() - before < 2)
os._exit(0) if not sys.stdout.flush() else None
"""
    )
    assert run_child(code, str(tmp_path)).strip() == "0 True"


def test_a_fork_within_a_token_s_turn(service: Service) -> None:
    """The child does not wait for the parent's thread, which is not in it."""
    service.script(then=good_book())
    code = (
        FORKING
        + """
import threading
gate = threading.Event()
entered = threading.Event()
parent = os.getpid()
def token():
    if os.getpid() == parent:
        entered.set()
        gate.wait(20)
    return TOKEN
client = td.Client(sys.argv[1], access_token=token)
thread = threading.Thread(target=client.trade_book)
thread.start()
entered.wait(20)
child = in_child(lambda: client.trade_book(timeout=5))
print(ended(child))
gate.set()
thread.join()
"""
    )
    assert run_child(code, service.base_url).strip() == "0"


def test_asyncio_in_a_forked_child(service: Service) -> None:
    service.script(then=good_book())
    code = (
        FORKING
        + """
import asyncio
client = td.AsyncClient(sys.argv[1], access_token=TOKEN)
async def call():
    return len(await client.trade_book())
async def close():
    rows = await call()
    await client.aclose()
    return rows
async def parent():
    assert await call() == 3
    return await asyncio.to_thread(lambda: ended(in_child(child))), await call()
def child():
    assert asyncio.run(call()) == 3
    assert asyncio.run(close()) == 3
print(asyncio.run(parent()), asyncio.run(call()))
"""
    )
    assert run_child(code, service.base_url).strip() == "(0, 3) 3"
