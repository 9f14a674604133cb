"""Loopback ports: to listen on, closed, deaf, and those that swallow every connect."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

BACKLOG = 512


def has_ipv6() -> bool:
    """Tell whether ::1 can be used here."""
    try:
        _bound("::1", 0).close()
    except OSError:
        return False
    return True


def listen(*, port: int = 0, ipv6: bool = True) -> socket.socket:
    """Listen on a port of this machine, over IPv4 and, where there is IPv6, over both."""
    if not (ipv6 and _IPV6):
        return socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
    both = socket.AF_INET6
    return socket.create_server(("::", port), family=both, backlog=BACKLOG, dualstack_ipv6=True)


@contextlib.contextmanager
def closed_port() -> Iterator[int]:
    """Give a port that refuses connections and that nobody else can take meanwhile."""
    with _bound("127.0.0.1", 0) as sock:
        yield sock.getsockname()[1]


@contextlib.contextmanager
def black_hole(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """Give a port on which every connect hangs: the backlog is full, nothing accepts."""
    with contextlib.ExitStack() as stack:
        sock = stack.enter_context(_bound(host, port))
        sock.listen(0)
        number: int = sock.getsockname()[1]
        for _ in range(8):
            filler = stack.enter_context(socket.socket(sock.family, socket.SOCK_STREAM))
            filler.settimeout(0.05)
            try:
                filler.connect((host, number))
            except TimeoutError:
                break
        else:
            raise OSError("this system takes connections beyond the backlog")
        yield number


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    return sock


_IPV6 = has_ipv6()
