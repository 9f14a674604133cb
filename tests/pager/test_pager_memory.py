"""What a search keeps of the pages that its reader drops."""

from __future__ import annotations

import pytest

from calls import run_child
from service import Service, pages, stocks

READING = """
import tradingdata as td

def resident():
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1])

client = td.Client(sys.argv[1])
client.search("x", page_size=1000).first(1000)
before, most, read = resident(), 0, 0
for page in client.search("x", page_size=1000).pages():
    read += len(page)
    most = max(most, resident())
assert read == 100_000, read
print(most - before)
"""


@pytest.mark.memory
@pytest.mark.slow
def test_a_hundred_thousand_stocks_take_less_than_70_megabytes(service: Service) -> None:
    service.choose(pages(stocks(100_000)))
    assert int(run_child(READING, service.base_url)) < 70_000  # kilobytes
