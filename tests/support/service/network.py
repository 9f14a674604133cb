"""What is around the service: certificates, ports, a proxy, name lookups, a bare client."""

from __future__ import annotations

import ctypes
import datetime as dt
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .connection import Connection
from .server import Service

if TYPE_CHECKING:
    import trustme

HOSTS = ("127.0.0.1", "::1", "localhost", "api.example.test")
DAY = dt.timedelta(days=1)


class Authority:
    """A certificate authority; `pem_file` is the file that a client must trust.

    Every context may be given `alpn`, the protocols offered, such as ["h2", "http/1.1"]. Where
    there is no wheel for what trustme needs, tests that use an authority are skipped.
    """

    def __init__(self, folder: Path) -> None:
        self._ca: trustme.CA = pytest.importorskip("trustme").CA()
        self.pem_file = folder / "test-ca.pem"
        self._ca.cert_pem.write_to_path(self.pem_file)

    def good(self, *hosts: str, alpn: Sequence[str] = ()) -> ssl.SSLContext:
        """Serve with a valid certificate for `hosts`; without any, for loopback and HOSTS."""
        return _context(self._ca.issue_cert(*(hosts or HOSTS)), alpn)

    def expired(self) -> ssl.SSLContext:
        """Serve with a certificate that ended yesterday."""
        now = dt.datetime.now(dt.UTC)
        leaf = self._ca.issue_cert(*HOSTS, not_before=now - 2 * DAY, not_after=now - DAY)
        return _context(leaf)

    def not_yet_valid(self) -> ssl.SSLContext:
        """Serve with a certificate that begins tomorrow."""
        now = dt.datetime.now(dt.UTC)
        leaf = self._ca.issue_cert(*HOSTS, not_before=now + DAY, not_after=now + 2 * DAY)
        return _context(leaf)

    def wrong_host(self) -> ssl.SSLContext:
        """Serve with a valid certificate for another host."""
        return self.good("other.example.test")

    def unknown_ca(self) -> ssl.SSLContext:
        """Serve with a certificate of an authority that no client trusts."""
        return _context(type(self._ca)().issue_cert(*HOSTS))

    def self_signed(self, folder: Path) -> ssl.SSLContext:
        """Serve with a certificate that signed itself; `folder` holds its files."""
        own = type(self._ca)()
        chain = folder / "self-signed.pem"
        own.private_key_pem.write_to_path(chain)
        own.cert_pem.write_to_path(chain, append=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def client_certificate(self) -> ssl.SSLContext:
        """Serve only clients that have a certificate, which TLS 1.3 asks for at the end."""
        context = self.good()
        context.verify_mode = ssl.CERT_REQUIRED
        self._ca.configure_trust(context)
        return context

    def old_tls(self) -> ssl.SSLContext:
        """Serve TLS 1.1 and nothing newer; RuntimeError where OpenSSL has none."""
        if not ssl.HAS_TLSv1_1:
            raise RuntimeError("this Python's OpenSSL has no TLS 1.1")
        context = self.good()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        return context


def _context(leaf: trustme.LeafCert, alpn: Sequence[str] = ()) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context


ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Proxy(Service):
    """A proxy that leads every target to one service; a script gives it faults of its own.

    `requests` are those made to the proxy; `seen` is all its clients sent, to look for a canary in.
    """

    def __init__(self, upstream: Service, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self._upstream = upstream
        self._tunnelled = bytearray()
        self.script(then=self._relay)

    @property
    def seen(self) -> bytes:
        """Every byte that clients sent to the proxy or through it."""
        return b"".join(request.raw for request in self.requests) + bytes(self._tunnelled)

    def _relay(self, client: Connection) -> None:
        assert client.request is not None
        assert client.request.method == "CONNECT"
        with socket.create_connection(("127.0.0.1", self._upstream.port)) as sock:
            client.send(ESTABLISHED)
            self._pass_on(client, client.beside(sock))
        client.close()

    def _pass_on(self, client: Connection, upstream: Connection) -> None:
        while True:
            for side in client.either(upstream):
                data = side.receive()
                if not data:
                    return
                if side is client:
                    self._tunnelled += data
                (upstream if side is client else client).send(data)


def cut_off(connection: Connection) -> None:
    """Drop every packet that comes on the connection, as a middlebox does.

    A filter on the service's socket drops them before they are acknowledged. Skips where a process
    may attach none.
    """
    if sys.platform != "linux":
        pytest.skip("dropping packets needs Linux")
    attach_filter = getattr(socket, "SO_ATTACH_FILTER", 26)
    instruction = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # keep 0 bytes
    program = struct.pack("H6xP", 1, ctypes.addressof(instruction))
    try:
        connection.socket.setsockopt(socket.SOL_SOCKET, attach_filter, program)
    except PermissionError:
        pytest.skip("this user may attach no filter to a socket")


SOURCE = Path(__file__).with_name("resolver.c")


def resolver(folder: Path, *, seconds: float = 0.0, address: str | None = None) -> dict[str, str]:
    """Return environment variables under which every name but localhost resolves as said.

    It takes `seconds`, in which no signal is heard by the resolving thread, and gives `address`
    (None: no such host). The shim is built beside `folder`, once. Skips away from Linux or without
    cc.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        pytest.skip("a slow resolver needs Linux and a C compiler")
    shim = folder.parent / "resolver.so"  # the folder of all tests of a worker
    if not shim.exists():
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(shim), str(SOURCE), "-ldl"]
        subprocess.run(command, check=True)
    environment = {"LD_PRELOAD": str(shim), "TEST_RESOLVER_SECONDS": str(seconds)}
    if address is not None:
        environment["TEST_RESOLVER_ADDRESS"] = address
    return environment


def exchange(port: int, request: bytes) -> bytes:
    """Send the bytes, return all that comes until the service closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        sock.sendall(request)
        return b"".join(iter(lambda: sock.recv(65536), b""))
