"""A real server beside the scripted one: nginx, certified by a test authority."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

import tradingdata as td
from calls import TOKEN
from nginx import NGINX, Served, serving
from service import as_json, envelope, trades

ROWS = 500
BOOK = as_json(envelope(list(trades(ROWS))))


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if NGINX is None:
        pytest.skip("nginx is not installed (Debian: nginx-light)")
    body = Path(tmp_path_factory.mktemp("bodies"), "book")
    body.write_bytes(BOOK)
    with serving(calls=10) as served:
        served.add(".", "Trade", body, compressed=True)
        yield served


def test_nginx_serves_books_over_kept_connections(nginx: Served) -> None:
    """TLS, gzip, and a server that closes each connection after ten requests."""
    with td.Client(nginx.https, access_token=TOKEN, ca_file=nginx.ca_file) as client:
        for _ in range(25):
            assert len(client.trade_book()) == ROWS


def test_nginx_serves_many_calls_of_asyncio(nginx: Served) -> None:
    async def run() -> set[int]:
        async with td.AsyncClient(nginx.https, access_token=TOKEN, ca_file=nginx.ca_file) as client:
            books = await asyncio.gather(*(client.trade_book() for _ in range(60)))
            return {len(book) for book in books}

    assert asyncio.run(run()) == {ROWS}
