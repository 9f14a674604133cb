"""Services on loopback in processes of their own, with responses from files.

nginx serves them compressed or encrypted. The other one, `python -m bench.servers CLOCK FILE...`,
sends at the speed of a line: it prints its port, then serves each file as the trade book of the
base URL `/<position>`, a file whose name ends in .gz as gzip. Before it sends the last piece of a
body, it writes the time in nanoseconds of CLOCK_MONOTONIC, which `time.perf_counter_ns()` of other
processes reads too, to the first eight bytes of the file CLOCK. It ends with its standard input.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .bodies import compressed as as_gzip
from .contest import ENVIRONMENT

BOOK_PATH = "api/v1/trade/book"
ORDERS_PATH = "api/v1/order/book"
SEARCH_PATH = "api/v1/stocks"
BYTES_A_SECOND = 100e6 / 8
PIECE = 16 * 1024
CLOCK = struct.Struct("=q")

# A file serves GET requests only; 405 redirects to the same file, so that a POST is as fast.
CONFIGURATION = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  sendfile on;
  gzip_static on;
  tcp_nodelay on;
  keepalive_requests {calls};
  keepalive_timeout 3600;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  default_type application/json;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    listen 127.0.0.1:{tls_port} ssl;
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/certificate.pem;
    root {folder}/www;
    error_page 405 =200 $uri;
    location ~ /stocks$ {{ try_files $uri/$arg_page $uri/none; }}
  }}
}}
"""


@dataclass(frozen=True)
class Served:
    """Where bodies are served, each at the base URL `<http>/<name>`."""

    http: str
    https: str
    ca_file: str


NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")


@contextlib.contextmanager
def serving(
    bodies: Mapping[str, Path],
    compressed: Container[str] = (),
    *,
    orders: Mapping[str, Path] | None = None,
    pages: Mapping[str, Sequence[bytes]] | None = None,
    calls: int = 1_000_000_000,
) -> Iterator[Served]:
    """Serves bodies as trade books by name; those in `compressed` as gzip to whoever accepts it.

    `orders` are served as order books, and `pages` as those of a search. Each connection is closed
    after that number of `calls`.
    """
    if NGINX is None:
        raise FileNotFoundError("this suite needs nginx: apt-get install nginx-light")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Bound here and inherited, so that nobody takes a port before nginx binds it.
        listeners = [socket.create_server(("127.0.0.1", 0), backlog=1024) for _ in range(2)]
        port, tls_port = (listener.getsockname()[1] for listener in listeners)
        for path, named in ((BOOK_PATH, bodies), (ORDERS_PATH, orders or {})):
            for body, source in named.items():
                file = folder / "www" / body / path
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, file)
                if body in compressed:
                    shutil.copyfile(as_gzip(source), file.with_name(f"{file.name}.gz"))
        for search, found in (pages or {}).items():
            directory = folder / "www" / search / SEARCH_PATH
            directory.mkdir(parents=True)
            for number, page in enumerate([*found, b"[]"], 1):
                name_of_page = str(number) if number <= len(found) else "none"
                (directory / name_of_page).write_bytes(page)
        _write_certificates(folder)
        _let_workers_read(folder)
        configuration = folder / "nginx.conf"
        settings = CONFIGURATION.format(folder=folder, port=port, tls_port=tls_port, calls=calls)
        configuration.write_text(settings, "ascii")
        inherited = [listener.fileno() for listener in listeners]
        process = subprocess.Popen(
            [NGINX, "-p", name, "-c", configuration],
            env={**os.environ, "NGINX": "".join(f"{number};" for number in inherited)},
            pass_fds=inherited,
        )
        for listener in listeners:
            listener.close()
        try:
            at = (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{tls_port}")
            yield Served(*at, str(folder / "ca.pem"))
        finally:
            process.terminate()
            process.wait()


def _write_certificates(folder: Path) -> None:
    import trustme  # the processes that are measured do without

    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_and_cert_chain_pem.write_to_path(folder / "certificate.pem")


def _let_workers_read(folder: Path) -> None:
    """Started as root, nginx's workers are of another user; the bodies are made up."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


@contextlib.contextmanager
def pacing(bodies: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Serves bodies from a process of its own; yields its URL and the file of its clock."""
    with tempfile.NamedTemporaryFile() as clock:
        clock.write(bytes(CLOCK.size))
        clock.flush()
        command = [sys.executable, "-m", "bench.servers", clock.name, *map(str, bodies)]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, env=ENVIRONMENT
        ) as child:
            assert child.stdout is not None
            yield f"http://127.0.0.1:{int(child.stdout.readline())}", clock.name
            child.communicate()  # closes its input


def last_byte(clock: str) -> Callable[[], int]:
    """Reads when the last piece of the latest body was sent."""
    with Path(clock).open("rb") as file:
        shared = mmap.mmap(file.fileno(), CLOCK.size, prot=mmap.PROT_READ)

    def read() -> int:
        (nanoseconds,) = CLOCK.unpack(shared[: CLOCK.size])
        return int(nanoseconds)

    return read


def main() -> None:
    bodies = [Path(name) for name in sys.argv[2:]]
    with Path(sys.argv[1]).open("r+b") as file:
        clock = mmap.mmap(file.fileno(), CLOCK.size)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    threading.Thread(target=_accept, args=(listener, bodies, clock), daemon=True).start()
    sys.stdin.read()


def _accept(listener: socket.socket, bodies: Sequence[Path], clock: mmap.mmap) -> None:
    contents = [body.read_bytes() for body in bodies]
    heads = [_head(body, len(content)) for body, content in zip(bodies, contents, strict=True)]
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        arguments = (connection, heads, contents, clock)
        threading.Thread(target=_serve, args=arguments, daemon=True).start()


def _head(body: Path, length: int) -> bytes:
    encoding = "Content-Encoding: gzip\r\n" if body.suffix == ".gz" else ""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n"
    return f"{head}{encoding}\r\n".encode()


def _serve(
    connection: socket.socket, heads: list[bytes], contents: list[bytes], clock: mmap.mmap
) -> None:
    with connection, connection.makefile("rb") as requests:
        while line := requests.readline():
            position = int(line.split()[1].split(b"/")[1])
            length = 0
            while (field := requests.readline()) not in (b"\r\n", b""):
                name, _, value = field.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            requests.read(length)
            connection.sendall(heads[position])
            _send(connection, contents[position], clock)


def _send(connection: socket.socket, content: bytes, clock: mmap.mmap) -> None:
    started = time.monotonic()
    for at in range(0, len(content), PIECE):
        piece = content[at : at + PIECE]
        arrives = started + (at + len(piece)) / BYTES_A_SECOND
        time.sleep(max(arrives - time.monotonic(), 0))
        if at + PIECE >= len(content):
            clock[: CLOCK.size] = CLOCK.pack(time.perf_counter_ns())
        connection.sendall(piece)


if __name__ == "__main__":
    main()
