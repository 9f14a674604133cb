"""A service that sends its bodies at the speed of a line, and notes when the last byte left.

    python -m bench.harness.paced_server CLOCK FILE...

It prints its port, then serves each file as the trade book of the base URL `/<position>`: a file
whose name ends in .gz as gzip. Before it sends the last piece of a body, it writes the time in
nanoseconds of CLOCK_MONOTONIC, which `time.perf_counter_ns()` of other processes reads too, to the
first eight bytes of the file CLOCK. Ends when its standard input is closed.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .bodies import PYTHONPATH

BYTES_A_SECOND = 100e6 / 8
PIECE = 16 * 1024
CLOCK = struct.Struct("=q")


@contextlib.contextmanager
def pacing(bodies: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Serves bodies from a process of its own; yields its URL and the file of its clock."""
    with tempfile.NamedTemporaryFile() as clock:
        clock.write(bytes(CLOCK.size))
        clock.flush()
        command = [sys.executable, "-m", __name__, clock.name, *map(str, bodies)]
        environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=pipe, text=True, env=environment
        ) as child:
            assert child.stdout is not None
            yield f"http://127.0.0.1:{int(child.stdout.readline())}", clock.name
            assert child.stdin is not None
            child.stdin.close()


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
