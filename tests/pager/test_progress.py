"""`progress=True`: a bar that counts stocks, in a terminal, and gone when the search is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import tradingdata as td
from searching import kinds, replayed
from service import Service, html_reply, pages, stocks
from systems import posix

tqdm = pytest.importorskip("tqdm.auto").tqdm
ROWS = stocks(25)


def shown_in_a_terminal(code: str, *arguments: str) -> str:
    """What a Python process writes to a terminal."""
    ours, theirs = posix("pty").openpty()
    posix("termios").tcsetwinsize(theirs, (24, 100))
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    written = b""
    try:
        while more := os.read(ours, 4096):
            written += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0, written
    return written.decode()


READ = """
import asyncio, sys
import tradingdata as td
async def read():
    async with td.AsyncClient(sys.argv[1]) as client:
        await client.search("tata", page_size=10, progress=True).all()
if sys.argv[2] == "async":
    asyncio.run(read())
else:
    td.Client(sys.argv[1]).search("tata", page_size=10, progress=True).all()
"""


@kinds
def test_a_terminal_shows_how_many_came(service: Service, kind: str) -> None:
    service.choose(pages(ROWS))
    shown = shown_in_a_terminal(READ, service.base_url, kind)
    assert "search 'tata': 0 stocks" in shown
    assert "search 'tata': 25 stocks" in shown
    assert shown.endswith("\r\n")


@kinds
def test_the_bar_is_closed_at_the_end_and_by_an_error(
    service: Service, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(client: Any) -> Any:
        return client.search("x" * 500, page_size=10, progress=True).all()

    service.choose(pages(ROWS))
    replayed(read, service.base_url, kind)
    shown = capsys.readouterr().err
    assert "25 stocks" in shown
    assert "x" * 100 not in shown
    service.choose(pages(ROWS, faults={2: [html_reply()]}))
    with pytest.raises(td.DecodeError):
        replayed(read, service.base_url, kind)
    assert "10 stocks" in capsys.readouterr().err
    assert not tqdm._instances


def test_the_bar_is_closed_by_leaving_the_loop(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    service.choose(pages(ROWS))
    with td.Client(service.base_url) as client:
        for _ in client.search("x", page_size=10, progress=True):
            break
    assert not tqdm._instances
    assert "10 stocks" in capsys.readouterr().err


@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
def test_where_tqdm_is_missing_it_is_said_before_anything_is_asked(
    service: Service, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"needs tqdm, .*: pip install"):
        kind(service.base_url).search("x", progress=True)
    kind(service.base_url).search("x")


def test_without_it_tqdm_is_not_imported(service: Service) -> None:
    service.choose(pages(ROWS))
    code = (
        "import sys; import tradingdata as td; td.Client(sys.argv[1]).search('x').all();"
        "assert 'tqdm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, service.base_url], check=True)
