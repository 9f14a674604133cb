"""A real server beside the scripted one: nginx, certified by a test authority."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

import tradingdata as td
from calls import TOKEN
from service import as_json, envelope, trades

PATH = os.environ.get("PATH", "") + ":/usr/sbin"
NGINX = shutil.which("nginx", path=PATH)
ROWS = 500

CONFIGURATION = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 128; }}
http {{
  access_log off;
  gzip on;
  gzip_types application/json;
  default_type application/json;
  keepalive_requests 10;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl http2;
    ssl_certificate {folder}/chain.pem;
    ssl_certificate_key {folder}/key.pem;
    root {folder}/www;
    error_page 405 =200 $uri;
  }}
}}
"""


class Files:
    """A folder that a server reads: certificate, key, and the responses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        authority = trustme.CA()
        leaf = authority.issue_cert("127.0.0.1", "localhost")
        self.ca = folder / "ca.pem"
        authority.cert_pem.write_to_path(self.ca)
        leaf.private_key_pem.write_to_path(folder / "key.pem")
        for number, blob in enumerate(leaf.cert_chain_pems):
            blob.write_to_path(folder / "chain.pem", append=number > 0)
        book = folder / "www/api/v1/trade/book"
        book.parent.mkdir(parents=True)
        book.write_bytes(as_json(envelope(list(trades(ROWS)))))
        # Started as root, nginx's workers are of another user.
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """The server, once it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None, f"{command[0]} ended with {process.returncode}"
                assert time.monotonic() < until, f"{command[0]} does not listen"
                time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def nginx() -> Iterator[Files]:
    if NGINX is None:
        pytest.skip("nginx is not installed (Debian: nginx-light)")
    # Not below pytest's own folder, which nginx's workers may not enter.
    folder = Path(tempfile.mkdtemp(prefix="nginx-"))
    files = Files(folder)
    (folder / "nginx.conf").write_text(
        CONFIGURATION.format(folder=folder, port=files.port), encoding="ascii"
    )
    try:
        with running([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")], files.port):
            yield files
    finally:
        shutil.rmtree(folder)


def test_nginx_serves_books_over_kept_connections(nginx: Files) -> None:
    """TLS, gzip, and a server that closes each connection after ten requests."""
    url = f"https://127.0.0.1:{nginx.port}"
    with td.Client(url, access_token=TOKEN, ca_file=nginx.ca) as client:
        for _ in range(25):
            assert len(client.trade_book()) == ROWS
        assert client.stats.connections == 3
        assert client.stats.failures == 0
        plain = 25 * (nginx.folder / "www/api/v1/trade/book").stat().st_size
        assert client.stats.bytes_received < plain / 3


def test_nginx_serves_many_calls_of_asyncio(nginx: Files) -> None:
    async def run() -> set[int]:
        url = f"https://127.0.0.1:{nginx.port}"
        async with td.AsyncClient(url, access_token=TOKEN, ca_file=nginx.ca) as client:
            books = await asyncio.gather(*(client.trade_book() for _ in range(60)))
            return {len(book) for book in books}

    assert asyncio.run(run()) == {ROWS}
