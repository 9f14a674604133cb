"""gevent and eventlet, each in a process of its own: what the user runs may switch greenlets."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from calls import BOOK_PATH, TOKEN, good_book, served
from service import delay, reply, stall

PATCH = {
    "gevent": """
from gevent import monkey
monkey.patch_all()
import gevent
spawn, Timeout = gevent.spawn, gevent.Timeout
def results(started): return [one.get() for one in started]
def on_thread(work): return gevent.get_hub().threadpool.spawn(work)
""",
    "eventlet": """
import eventlet, eventlet.tpool
eventlet.monkey_patch()
spawn, Timeout = eventlet.spawn, eventlet.Timeout
def results(started): return [one.wait() for one in started]
def on_thread(work): return spawn(eventlet.tpool.execute, work)
""",
}
IMPORT = """
import sys, time
import tradingdata as td
"""
# A client whose token function waits; `calls` counts how often.
CALLS = f"""
url, calls = sys.argv[1], []
def token():
    calls.append(1)
    time.sleep(0.1)
    return {TOKEN!r}
client = td.Client(url, access_token=token)
def rows():
    return len(client.trade_book())
"""

libraries = pytest.mark.parametrize("library", PATCH)


def run(library: str, code: str, url: str = "", *, imported_first: bool = False) -> str:
    """What a process prints whose standard library is patched before or after the import."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    beginning = [IMPORT, PATCH[library]] if imported_first else [PATCH[library], IMPORT]
    command = [sys.executable, "-X", "dev", "-c", "".join(beginning) + code, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@libraries
@pytest.mark.parametrize("imported_first", [False, True], ids=["patched first", "imported first"])
def test_calls_that_need_a_token_at_once_have_results(library: str, imported_first: bool) -> None:
    code = CALLS + "print(results([spawn(rows) for _ in range(4)]), len(calls))"
    with served(then=good_book()) as service:
        printed = run(library, code, service.base_url, imported_first=imported_first)
    assert printed == "[3, 3, 3, 3] 1"


@libraries
def test_threads_of_the_library_share_a_token_function(library: str) -> None:
    """The recipe of docs/explanation/threads.md: gevent's own lock forgets a thread that waits."""
    code = CALLS + "print(results([on_thread(rows) for _ in range(4)]), len(calls))"
    with served(then=good_book()) as service:
        assert run(library, code, service.base_url) == "[3, 3, 3, 3] 1"


@libraries
def test_a_hook_and_a_log_handler_may_switch(library: str) -> None:
    code = (
        CALLS
        + """
import logging
class Slow(logging.Handler):
    def emit(self, record):
        time.sleep(0.01)
logging.getLogger("tradingdata").addHandler(Slow())
logging.getLogger("tradingdata").setLevel("DEBUG")
hooked = []
def hook(retry):
    time.sleep(0.02)
    hooked.append(retry.attempt)
client = td.Client(url, access_token=token, on_retry=hook)
print(results([spawn(rows) for _ in range(4)]), len(hooked))
"""
    )
    with served(*4 * [reply(status=503)], then=good_book()) as service:
        assert run(library, code, service.base_url) == "[3, 3, 3, 3] 4"


@libraries
def test_a_killed_greenlet_leaves_the_lock_free(library: str) -> None:
    code = (
        CALLS
        + """
def stuck():
    calls.append(1)
    if len(calls) == 1:
        time.sleep(1000)
    return token()
client.access_token = stuck
def impatient():
    try:
        with Timeout(0.05):
            return rows()
    except Timeout:
        return "killed"
print(results([spawn(impatient), spawn(rows)]), rows())
"""
    )
    with served(then=good_book()) as service:
        assert run(library, code, service.base_url) == "['killed', 3] 3"


@libraries
def test_others_have_their_turn_while_a_call_waits(library: str) -> None:
    code = (
        CALLS
        + """
ticks = []
def tick():
    while True:
        ticks.append(1)
        time.sleep(0.01)
spawn(tick)
print(rows(), len(ticks) > 2)
try:
    with Timeout(0.2):
        client.order_book(timeout=100)
except Timeout:
    print("timeout")
"""
    )
    with served() as service:
        service.script(delay(1, good_book()), path=BOOK_PATH)
        service.script(then=stall())
        assert run(library, code, service.base_url).splitlines() == ["3 True", "timeout"]


@libraries
def test_a_simulated_service_in_the_same_process_responds(library: str) -> None:
    code = """
with td.sandbox.start(accounts=["A", "B"]) as service:
    with service.client("A") as client:
        assert client.trade_book() and client.search("a", page_size=5).all()
    with td.Accounts({name: service.client(name) for name in "AB"}) as accounts:
        print(sorted({trade.account for trade in accounts.trade_book()}))
"""
    assert run(library, code) == "['A', 'B']"


@libraries
def test_a_stream_of_arrow_may_wait(library: str) -> None:
    code = """
import pyarrow as pa
table = pa.table({"exchange": ["NSE"], "quantity": [1]})
def batches():
    for _ in range(3):
        time.sleep(0.02)
        yield from table.to_batches()
def made():
    reader = pa.RecordBatchReader.from_batches(table.schema, batches())
    return len(td.TradeBook.from_arrow(reader, names={}))
print(results([spawn(made) for _ in range(3)]))
"""
    pytest.importorskip("pyarrow")
    assert run(library, code) == "[3, 3, 3]"
