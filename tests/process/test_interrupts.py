"""Ctrl-C in every phase of a call: within 100 ms, and the client goes on working afterwards."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import service as s
from calls import BOOK_PATH, good_book, in_time, run_child
from service import Authority, Behaviour, Request, Service
from stalled_phases import served_phase

# Interrupts itself while `work` waits; prints how long the interrupt took to come out.
INTERRUPT = """
import signal, threading
from signalling import send
url, good_url, ca_file, what = sys.argv[1:]
sent = []

def interrupt():
    time.sleep(0.3)
    sent.append((time.monotonic(), starved()))
    send()

class Odd(Exception):
    pass

def handler(number, frame):
    raise Odd

def token():
    time.sleep(20)

options = dict(timeout=60, connect_timeout=60, ca_file=ca_file)
client = td.Client(url, access_token=token if what == "token" else TOKEN, **options)
expected = KeyboardInterrupt
if what == "handler":
    signal.signal(signal.SIGINT, handler)
    expected = Odd
if what == "rate limit":
    pace = td.RateLimit(0.01)
    client = td.Client(good_url, access_token=TOKEN, rate_limit=pace, timeout=600)
    client.trade_book()
if what == "turn":
    client = td.Client(url, access_token=token, **options)
    threading.Thread(target=client.trade_book, daemon=True).start()
    time.sleep(0.1)

def work():
    if what == "pages":
        for stock in client.search("x", page_size=10):
            pass
    else:
        client.trade_book()

threading.Thread(target=interrupt, daemon=True).start()
try:
    work()
    print("ended by itself")
except expected:
    [(at, before)] = sent
    print(time.monotonic() - at, starved() - before)
signal.signal(signal.SIGINT, signal.default_int_handler)
again = td.Client(good_url, access_token=TOKEN)
print(len(again.trade_book()))
client.close()
"""


@pytest.mark.parametrize(
    "phase",
    ["DNS", "connect", "TLS", "first byte", "body", "back-off", "pages", "rate limit", "token",
     "turn", "handler"],
)  # fmt: skip
def test_an_interrupt_comes_out_within_100_ms(
    phase: str, ca: Authority, service: Service, tmp_path: Path
) -> None:
    service.script(then=good_book())
    environment = s.resolver(tmp_path, seconds=4) if phase == "DNS" else {}
    with served_phase(phase, ca) as url:
        arguments = (url, service.base_url, str(ca.pem_file), phase)
        latency, rows = run_child(INTERRUPT, *arguments, environment=environment).splitlines()
    elapsed, waited = map(float, latency.split())
    in_time(elapsed, 0, waited=waited)
    assert rows == "3"


def test_an_interrupted_connection_is_given_up_and_the_client_works_on(service: Service) -> None:
    service.script(good_book(), s.stall_mid_body(), then=good_book(5))
    code = """
import threading
from signalling import send
client = td.Client(sys.argv[1], access_token=TOKEN)
client.trade_book()
threading.Timer(0.2, send).start()
try:
    client.trade_book()
except KeyboardInterrupt:
    print("interrupted")
print(len(client.trade_book()))
"""
    assert run_child(code, service.base_url).splitlines() == ["interrupted", "5"]
    assert [request.connection for request in service.requests] == [0, 0, 1]


def test_a_handler_that_raises_nothing_disturbs_nothing(service: Service) -> None:
    service.script(s.delay(0.5, good_book()))
    code = """
import signal, threading
from signalling import HARMLESS, send
caught = []
signal.signal(HARMLESS, lambda number, frame: caught.append(number))
def send_some():
    for _ in range(20):
        time.sleep(0.01)
        send(HARMLESS)
threading.Thread(target=send_some).start()
print(len(td.Client(sys.argv[1], access_token=TOKEN).trade_book()), len(caught) > 0)
"""
    assert run_child(code, service.base_url).strip() == "3 True"


def test_asyncio_run_is_interrupted_too(service: Service) -> None:
    service.script(then=s.stall())
    # The call is measured, not the close after it, which ends a thread of C++.
    code = """
import asyncio, threading
from signalling import send
def interrupt():
    time.sleep(0.3)
    sent.append((time.monotonic(), starved()))
    send()
async def run():
    async with td.AsyncClient(sys.argv[1], access_token=TOKEN) as client:
        try:
            await client.trade_book()
        finally:
            [(at, before)] = sent
            print(time.monotonic() - at, starved() - before)
sent = []
threading.Thread(target=interrupt, daemon=True).start()
try:
    asyncio.run(run())
except KeyboardInterrupt:
    print("interrupted")
"""
    latency, outcome = run_child(code, service.base_url).splitlines()
    elapsed, waited = map(float, latency.split())
    in_time(elapsed, 0, waited=waited)
    assert outcome == "interrupted"


def test_threads_of_their_own_are_not_interrupted(service: Service) -> None:
    """Only the main thread hears the signal; another thread's call runs to its end."""
    gate = threading.Event()

    def respond(request: Request) -> Behaviour:
        if request.path == BOOK_PATH:
            return s.hold(gate, good_book())
        gate.set()
        return s.book_reply([])

    service.choose(respond)
    code = """
import threading
from signalling import send
client = td.Client(sys.argv[1], access_token=TOKEN)
lengths = []
thread = threading.Thread(target=lambda: lengths.append(len(client.trade_book())))
thread.start()
threading.Timer(0.2, send).start()
try:
    client.trade_book()
except KeyboardInterrupt:
    print("interrupted")
client.order_book()
thread.join()
print(lengths)
"""
    assert run_child(code, service.base_url).splitlines() == ["interrupted", "[3]"]


def test_signals_are_handled_during_a_long_diff() -> None:
    """Handlers run while the core compares; without that, once, after it."""
    code = """
import signal, threading
from signalling import HARMLESS, send_often
rows = b",".join(b'{"order_no": "%d"}' % number for number in range(100_000))
before = td.OrderBook.from_json(b'{"status": "success", "data": [' + rows + b"]}")
after = before[::-1]
caught = []
signal.signal(HARMLESS, lambda number, frame: caught.append(number))
ended = threading.Event()
sender = threading.Thread(target=send_often, args=(ended,))
sender.start()
changes = after.diff(before)
ended.set()
sender.join()
print(len(changes), len(caught) > 3)
"""
    assert run_child("import warnings; warnings.simplefilter('ignore')" + code).strip() == "0 True"


STOPPING = """
class Stopping:
    \"\"\"Does something at one line of the package, counted from 1 within a call.\"\"\"
    def __init__(self, at, stop):
        self.left = at
        self.stop = stop

    def __call__(self, frame, event, argument):
        if "/tradingdata/" not in frame.f_code.co_filename.replace("\\\\", "/"):
            return None
        return self.line

    def line(self, frame, event, argument):
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                self.stop()
        return self.line

def interrupt():
    raise KeyboardInterrupt
"""

LINES = (
    STOPPING
    + """
import threading
from token_sources import Source

url = sys.argv[1]
at = bad = 0
while True:
    at += 1
    source = Source()
    client = td.Client(url, access_token=source, attempts=1, timeout=1)
    client.trade_book()
    client.access_token = source  # the next call calls the function
    trace = Stopping(at, interrupt)
    interrupted = False
    sys.settrace(trace)
    try:
        client.trade_book()
    except KeyboardInterrupt:
        interrupted = True
    except BaseException as error:
        print("line", at, "first", repr(error))
    finally:
        sys.settrace(None)
    try:
        client.trade_book()
        others = []
        one = threading.Thread(target=lambda: others.append(len(client.trade_book())))
        one.start(); one.join()
        assert others == [3]
    except Exception as error:
        print("line", at, "next", repr(error))
    client.close()
    if trace.left > 0:
        break
print(at > 60)
"""
)

ASYNC_LINES = (
    STOPPING
    + """
import asyncio
from token_sources import AsyncSource, Source

url, stop, source = sys.argv[1:]

async def call(client):
    return len(await asyncio.wait_for(client.trade_book(), 5))

async def stopped(client, trace):
    first = asyncio.create_task(call(client))
    def cancel():
        (asyncio.current_task() or first).cancel()
    trace.stop = cancel if stop == "cancel" else interrupt
    sys.settrace(trace)
    try:
        ended = await asyncio.gather(first, call(client), return_exceptions=True)
    finally:
        sys.settrace(None)
    if any(not isinstance(one, asyncio.CancelledError) and one != 3 for one in ended):
        print("line", at, "first", ended)
    assert await call(client) == 3

at = unreached = 0
while unreached < 3:  # how many lines run depends on when the event loop gets what
    at += 1
    client = td.AsyncClient(url, access_token=globals()[source](), attempts=1, timeout=2)
    trace = Stopping(at, None)
    try:
        asyncio.run(stopped(client, trace))
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        print("line", at, "then", repr(error))
    try:
        assert asyncio.run(call(client)) == 3
    except BaseException as error:
        print("line", at, "next", repr(error))
    unreached = unreached + 1 if trace.left > 0 else 0
print(at > 300)
"""
)


def test_an_interrupt_at_any_line_of_a_refresh(service: Service) -> None:
    """The next call goes on, in the thread that was interrupted and in any other."""
    service.script(then=good_book())
    assert run_child(LINES, service.base_url).splitlines() == ["True"]


@pytest.mark.slow
@pytest.mark.parametrize("source", ["AsyncSource", "Source"])
@pytest.mark.parametrize("stop", ["interrupt", "cancel"])
def test_a_task_is_stopped_at_any_line_of_a_refresh(
    stop: str, source: str, service: Service
) -> None:
    """The next call goes on, in the same loop and in another."""
    service.script(then=good_book())
    ignored = "import warnings; warnings.simplefilter('ignore')\n"
    assert run_child(ignored + ASYNC_LINES, service.base_url, stop, source).splitlines() == ["True"]
