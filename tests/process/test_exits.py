"""The end of the process while threads call: never by a signal, and soon."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import tradingdata as td
from calls import TOKEN, good_book, run_child
from service import Service, delay, stall

LOOPS = ("sync", "search", "watch", "books", "asyncio")

# Calls without end in daemon threads that catch our errors, until the main thread ends.
LOOP = """
import asyncio, sys, threading, time
import tradingdata as td
loop, threads, url, token, lasts = sys.argv[1:]
sys.setswitchinterval(1e-6)
options = {"access_token": token, "timeout": 5, "attempts": 2}
client = td.Client(url, **options)
calls = {
    "sync": client.trade_book,
    "search": lambda: client.search("ta").first(150),
    "watch": lambda: [None for _ in client.watch_trades(interval=0.001)],
    "books": lambda: client.books(timeout=1),
}
async def gather():
    async with td.AsyncClient(url, **options) as other:
        while True:
            try:
                await asyncio.gather(*(other.trade_book() for _ in range(4)))
            except td.TradingDataError:
                pass
def work():
    if loop == "asyncio":
        asyncio.run(gather())
    while True:
        try:
            calls[loop]()
        except td.TradingDataError:
            pass
for _ in range(int(threads)):
    threading.Thread(target=work, daemon=True).start()
time.sleep(float(lasts))
"""


def ended(loop: str, threads: int, url: str, token: str, lasts: float) -> tuple[object, ...]:
    command = [sys.executable, "-c", LOOP, loop, str(threads), url, token, f"{lasts:.3f}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    return done.returncode, done.stderr, loop, threads


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("rounds", [1, pytest.param(50, marks=pytest.mark.long)])
def test_no_exit_by_a_signal_while_daemon_threads_call(rounds: int) -> None:
    with td.sandbox.start() as service, ThreadPoolExecutor(2) as pool:
        places = [(service.base_url, service.token()), ("http://127.0.0.1:9", TOKEN)]
        runs = [
            (loop, threads, *place, 0.02 + 0.2 * (number + 1) / rounds)
            for number in range(rounds)
            for loop in LOOPS
            for threads, place in ((1, places[1 - number % 2]), (32, places[number % 2]))
        ]
        found = list(pool.map(lambda run: ended(*run), runs))
    assert [one for one in found if one[:2] != (0, "")] == []


@pytest.mark.parametrize("call", ["trade_book()", "search('ta').first(3)", "books()", "asyncio"])
def test_a_daemon_thread_that_calls_ends_at_the_exit_and_says_nothing(
    service: Service, call: str
) -> None:
    """A traceback would be wrong, and one that is cut off makes Python abort."""
    service.choose(lambda request: stall())
    code = """
import asyncio, threading, time
sys.stderr = sys.stdout
async def gather():
    asyncio.get_running_loop().slow_callback_duration = 3600  # or a busy machine makes it log
    async with td.AsyncClient(sys.argv[1], access_token=TOKEN) as client:
        await client.trade_book()
client = td.Client(sys.argv[1], access_token=TOKEN)
call = sys.argv[2]
work = (lambda: asyncio.run(gather())) if call == "asyncio" else lambda: eval("client." + call)
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print(time.time())
"""
    assert time.time() - float(run_child(code, service.base_url, call)) < 20  # not the deadline


def test_an_exit_handler_may_wait_for_a_thread_that_calls(service: Service) -> None:
    service.choose(lambda request: stall())
    code = """
import atexit, sys, threading, time
def end():
    thread.join()
    try:
        client.order_book()
    except td.ClientClosedError as error:
        print(error)
atexit.register(end)  # before the import of tradingdata, so it runs after tradingdata's own
import tradingdata as td
client = td.Client(sys.argv[1], access_token="t")
def work():
    try:
        client.trade_book()
    except td.ClientClosedError as error:
        print(error)
thread = threading.Thread(target=work, daemon=True)
thread.start()
time.sleep(0.3)
"""
    command = [sys.executable, "-c", code, service.base_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    ending = "the process is ending"
    assert (done.returncode, done.stdout.count(ending), done.stderr) == (0, 2, "")


def test_an_end_that_takes_long_is_no_signal_either() -> None:
    """Threads of which a call was interrupted take the GIL while Python ends."""
    code = """
import threading, time
class Slow:
    def __init__(self):
        self.sleep, self.write = time.sleep, os.write
    def __del__(self):
        self.sleep(1.5)
        self.write(1, b"ended")  # print is gone
sys.slow = Slow()  # goes with the last modules
client = td.Client("http://127.0.0.1:9", access_token=TOKEN)
def work():
    while True:
        try:
            client.trade_book()
        except td.TradingDataError:
            pass
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    assert run_child(code) == "ended"


def test_the_package_may_go_from_sys_modules_during_a_call(service: Service) -> None:
    """The core imports nothing while it runs: what it calls was handed over at import."""
    service.choose(lambda request: stall())
    code = """
import threading
client = td.Client(sys.argv[1], access_token=TOKEN, timeout=0.3)
book = td.TradeBook.from_json(b'{"status": "success", "data": [{"order_no": "1", "new": [1]}]}')
said = []
def work():
    try:
        client.trade_book()
    except td.DeadlineError:
        said.append("deadline")
thread = threading.Thread(target=work)
thread.start()
# Still waiting at the exit: whatever prints a traceback then is ended by Python itself.
threading.Thread(target=client.trade_book, kwargs={"timeout": 60}, daemon=True).start()
for name in [name for name in sys.modules if name.startswith("tradingdata")]:
    del sys.modules[name]
thread.join()
print(*said, book[0]["new"], hasattr(book[0], "nothing"))
"""
    environment = {"PYTHONWARNINGS": "ignore"}
    out = run_child(
        "import warnings; warnings.simplefilter('ignore')" + code,
        service.base_url,
        environment=environment,
    )
    assert out == "deadline [1] False\n"


def test_a_second_copy_of_the_package_shares_errors_and_rows(service: Service) -> None:
    service.choose(lambda request: good_book())
    code = """
from unittest import mock
def row():
    from tradingdata.table.rows import restored_rows
    return restored_rows(("Row", [("a", "text", "")]), [["INFY"]], None)[0]
first, first_row = td, row()
for name in [name for name in sys.modules if name.startswith("tradingdata")]:
    del sys.modules[name]
with mock.patch.dict("sys.modules"):
    import tradingdata as second
import tradingdata as third
assert first is not second is not third
assert type(row()) is type(first_row) and row() == first_row
for copy in (first, second, third):
    try:
        copy.Client(sys.argv[1]).trade_book()
    except first.ConfigurationError:
        pass
    try:
        first.TradeBook.from_json(b"{")
    except copy.DecodeError as error:
        assert type(error) is copy.errors.DecodeError
    print(len(copy.Client(sys.argv[1], access_token=TOKEN).trade_book()))
"""
    assert run_child(code, service.base_url).split() == ["3", "3", "3"]


def test_other_threads_keep_their_calls_at_the_exit(service: Service) -> None:
    """Python waits for them, so they get the books that they asked for."""
    service.choose(lambda request: delay(0.7, good_book()))
    code = """
import threading
from concurrent.futures import ThreadPoolExecutor
client = td.Client(sys.argv[1], access_token=TOKEN, timeout=25)
def work():
    sys.stdout.write(f"{len(client.trade_book())}\\n")  # at once: two threads write
threading.Thread(target=work).start()
ThreadPoolExecutor().submit(work)
"""
    assert run_child(code, service.base_url).split() == ["3", "3"]
