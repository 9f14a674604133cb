"""A good citizen of its process: fork, exit, memory, reload, subinterpreters."""

from __future__ import annotations

from pathlib import Path

import pytest

from calls import good_book, run_child
from service import Service, book_reply, json_reply, oversize_body, pages, stall, stocks, trades
from systems import posix
from tradingdata._util.declarations import CALLS

long = pytest.mark.long


EXIT = """
import asyncio, random, threading
os.dup2(1, 2)  # what it says of its end is among what it prints
url, body_file, seed = sys.argv[1:]
random.seed(int(seed))
with open(body_file, "rb") as file:
    body = file.read()
big = td.TradeBook.from_json(body)
client = td.Client(url, access_token=TOKEN)
def call():
    try:
        client.trade_book()
    except td.TradingDataError:
        pass
def search():
    try:
        client.search("x").all()
    except td.TradingDataError:
        pass
async def many():
    asyncio.get_running_loop().slow_callback_duration = 3600  # or a busy machine makes it log
    async with td.AsyncClient(url, access_token=TOKEN) as other:
        await asyncio.gather(*(other.trade_book() for _ in range(4)), return_exceptions=True)
def again_and_again(work):
    while True:
        work()
without_the_gil = [
    lambda: td.TradeBook.from_json(body),
    lambda: big.to_csv(),
    lambda: big.__arrow_c_stream__(),
    lambda: td.concat([big, big]),
]
targets = [lambda work=work: again_and_again(work) for work in without_the_gil]
for target in [call, call, call, search, lambda: asyncio.run(many()), *targets]:
    threading.Thread(target=target, daemon=True).start()
time.sleep(random.random() * 0.2)
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("rounds", [4, pytest.param(1000, marks=long)])
def test_an_interpreter_ends_with_calls_in_flight(
    rounds: int, service: Service, body_file: Path
) -> None:
    """No abort, no traceback, no waiting for a response that does not come.

    Decoding, exports and joins are under way too: they work without the GIL, and want it back.
    """
    service.choose(lambda request: good_book() if len(service.requests) % 3 else stall())
    for seed in range(rounds):
        assert run_child(EXIT, service.base_url, str(body_file), str(seed)) == ""


MEMORY = """
import asyncio, gc, pathlib
url, what, count = sys.argv[1:]
def kib():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4
def sync_calls(n):
    for _ in range(n):
        if what == "search":
            for page in client.search("x").pages():
                pass
        elif what == "error":
            try:
                client.trade_book()
            except td.TradingDataError:
                pass
        else:
            getattr(client, what)()
async def async_calls(n):
    async with td.AsyncClient(url, access_token=TOKEN) as other:
        for _ in range(n // 8):
            await asyncio.gather(*(other.trade_book() for _ in range(8)))
with td.Client(url, access_token=TOKEN, attempts=1) as client:
    run = (lambda n: asyncio.run(async_calls(n))) if what == "async" else sync_calls
    run(200)
    gc.collect()
    before = kib()
    run(int(count))
    gc.collect()
    print(kib() - before)
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=long)])
@pytest.mark.parametrize("what", [*CALLS, "error", "async"])
def test_calls_grow_no_memory(what: str, count: int, service: Service) -> None:
    """At most 4 MiB after however many calls of a kind."""
    bodies = {
        "/api/v1/trade/book": json_reply({"status": "error"}, 400) if what == "error" else
        book_reply(trades(20)),
        "/api/v1/order/book": book_reply([]),
    }  # fmt: skip
    for path, response in bodies.items():
        service.script(then=response, path=path)
    service.choose(pages(stocks(5)), path="/api/v1/stocks")
    arguments = (service.base_url, what, str(count))
    assert int(run_child(MEMORY, *arguments, timeout=500)) <= 4 * 1024


def test_memory_that_runs_out_is_an_error_and_no_crash(service: Service) -> None:
    """A body larger than what the process may have."""
    posix("resource")
    service.script(oversize_body(250 * 2**20), oversize_body(250 * 2**20), then=good_book())
    code = """
import pathlib, resource
client = td.Client(sys.argv[1], access_token=TOKEN, attempts=1)
size = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (size + 100 * 2**20,) * 2)
for _ in range(2):
    try:
        client.trade_book()
    except (MemoryError, td.TransportError) as error:
        print("reported")
print(len(client.trade_book()))
"""
    assert run_child(code, service.base_url).splitlines() == ["reported", "reported", "3"]


def test_the_module_may_be_reloaded(service: Service) -> None:
    service.script(then=good_book())
    code = """
import importlib
client = td.Client(sys.argv[1], access_token=TOKEN)
importlib.reload(td)
importlib.reload(sys.modules["tradingdata.client.client"])
print(len(client.trade_book()))
print(len(td.Client(sys.argv[1], access_token=TOKEN).trade_book()))
"""
    assert run_child(code, service.base_url).splitlines() == ["3", "3"]


def test_collected_in_any_order_at_exit(service: Service) -> None:
    service.script(then=good_book())
    code = """
import builtins
client = td.Client(sys.argv[1], access_token=TOKEN)
book = client.trade_book()
class Late:
    def __del__(self):
        assert len(self.book) == 3
        self.client.close()
late = Late()
late.book, late.client, late.self = book, client, late
builtins.kept = late
iterator = iter(client.search("x"))
"""
    assert run_child(code, service.base_url) == ""


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
    failed = interpreters.exec
    made = [interpreters.create(), interpreters.create("legacy")]
except ImportError:
    import _xxsubinterpreters as interpreters
    failed = interpreters.run_string
    made = [interpreters.create(), interpreters.create(isolated=False)]
client = td.Client(sys.argv[1], access_token=TOKEN)
for interpreter in made:
    try:
        print(failed(interpreter, "import tradingdata"))
    except Exception as error:
        print(error)
    interpreters.destroy(interpreter)
    print(len(client.trade_book()))
"""


def test_a_subinterpreter_is_refused_clearly(service: Service) -> None:
    """Pybind11 alone would wait for ever; the main interpreter is not disturbed (O9)."""
    service.script(then=good_book())
    code = "import warnings\nwarnings.simplefilter('ignore')\n" + SUBINTERPRETER
    lines = run_child(code, service.base_url).splitlines()
    assert [line for line in lines if line.isdigit()] == ["3", "3"]
    reported = [line for line in lines if "ImportError" in line and "subinterpreter" in line]
    assert len(reported) == 2
