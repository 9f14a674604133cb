"""Cases of calls one after the other over a kept connection, and of 16 threads at once."""

from __future__ import annotations

import http.client
import io
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from ..harness.case import Fact, Prepare, Ready, Source, peer
from ..harness.facts import item, of_records
from ..harness.paced_server import last_byte
from ..harness.server import BOOK_PATH
from .models import struct_decoder

CALLS = 20  # in one run, so that reading the clocks costs nothing
AT_ONCE = 16
TOKEN = "bench-token"
BODY = b'{"source":"N"}'
HEADERS = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}

Call = Callable[[], Any]


def url_of(source: Source) -> str:
    return f"{source.base_url}/{BOOK_PATH}"


def requests_call(source: Source) -> Call:
    post, url = peer("requests").Session().post, url_of(source)
    return lambda: post(url, data=BODY, headers=HEADERS).content


def httpx_call(source: Source) -> Call:
    post, url = peer("httpx").Client(verify=source.ca_file or True).post, url_of(source)
    return lambda: post(url, content=BODY, headers=HEADERS).content


def urllib3_call(source: Source) -> Call:
    request, url = peer("urllib3").PoolManager().request, url_of(source)
    return lambda: request("POST", url, body=BODY, headers=HEADERS).data


def pycurl_call(source: Source) -> Call:
    handle = pycurl_handle(source)

    def call() -> bytes:
        received = io.BytesIO()
        handle.setopt(handle.WRITEDATA, received)
        handle.perform()
        return received.getvalue()

    return call


def discarding_call(source: Source) -> Call:
    """The body is received as sent, neither kept nor inflated."""
    handle = pycurl_handle(source)
    handle.setopt(handle.HTTP_CONTENT_DECODING, 0)
    handle.setopt(handle.BUFFERSIZE, 256 << 10)
    handle.setopt(handle.WRITEFUNCTION, lambda piece: None)
    call: Call = handle.perform
    return call


def pycurl_handle(source: Source) -> Any:
    handle = peer("pycurl").Curl()
    handle.setopt(handle.URL, url_of(source))
    handle.setopt(handle.POSTFIELDS, BODY.decode())
    handle.setopt(handle.ACCEPT_ENCODING, "gzip")
    if source.ca_file:
        handle.setopt(handle.CAINFO, source.ca_file)
    handle.setopt(handle.HTTPHEADER, [f"{name}: {value}" for name, value in HEADERS.items()])
    return handle


def http_client_call(source: Source) -> Call:
    at = urlsplit(url_of(source))
    connection = http.client.HTTPConnection(at.netloc)

    def call() -> bytes:
        connection.request("POST", at.path, BODY, HEADERS)
        return connection.getresponse().read()

    return call


def socket_call(source: Source) -> Call:
    """What a call costs at least: the response's length is known after the first."""
    at = urlsplit(url_of(source))
    lines = [f"POST {at.path} HTTP/1.1", f"Host: {at.netloc}", f"Content-Length: {len(BODY)}"]
    lines += [f"{name}: {value}" for name, value in HEADERS.items()]
    request = "\r\n".join([*lines, "", ""]).encode() + BODY
    connection = socket.create_connection((at.hostname, at.port))
    connection.sendall(request)
    response = connection.recv(1 << 20)
    while (head := response.find(b"\r\n\r\n")) < 0 or response[-1:] != b"}":
        response += connection.recv(1 << 20)
    whole, buffer = len(response), bytearray(len(response))

    def call() -> bytes:
        connection.sendall(request)
        received, view = 0, memoryview(buffer)
        while received < whole:
            received += connection.recv_into(view[received:])
        return bytes(view[head + 4 :])

    return call


def ours_call(source: Source) -> Call:
    secure = {"ca_file": source.ca_file} if source.ca_file else {}
    call: Call = (
        peer("tradingdata").Client(source.base_url, access_token=TOKEN, **secure).trade_book
    )
    return call


def size_of(response: Any) -> Fact:
    """Of our own book too: it keeps the body."""
    return {"bytes": len(response if isinstance(response, bytes) else response.response.content)}


def _one_by_one(make: Callable[[Source], Call], calls: int) -> Prepare:
    def prepare(source: Source) -> Ready:
        call = make(source)

        def run() -> Any:
            for _ in range(calls - 1):
                call()
            return call()

        return Ready(run, size_of, calls)

    return prepare


def _threads(make: Callable[[Source], Call]) -> Prepare:
    """16 threads, each with its own client, as the libraries advise."""

    def prepare(source: Source) -> Ready:
        pool = ThreadPoolExecutor(AT_ONCE)
        calls = [make(source) for _ in range(AT_ONCE)]

        def series(call: Call) -> Any:
            for _ in range(CALLS - 1):
                call()
            return call()

        return Ready(lambda: list(pool.map(series, calls))[-1], size_of, AT_ONCE * CALLS)

    return prepare


def _fetched(make: Callable[[Source], Call], decode: Callable[[Source], Callable[[bytes], Any]],
             get: Callable[[Any, str], Any] = getattr) -> Prepare:  # fmt: skip
    """Fetched and decoded to records; our own call does both."""

    def prepare(source: Source) -> Ready:
        call, decoded = make(source), decode(source)
        return Ready(
            lambda: decoded(call()),
            lambda rows: of_records(source.record, rows, get),
            since=last_byte(source.clock) if source.clock else None,
        )

    return prepare


def _structs(source: Source) -> Callable[[bytes], Any]:
    decode = struct_decoder(source.record).decode
    return lambda body: decode(body).data


def _dicts(source: Source) -> Callable[[bytes], Any]:
    return lambda body: json.loads(body)["data"]


def _discarded(source: Source) -> Ready:
    return Ready(discarding_call(source), lambda nothing: {})


def _as_is(source: Source) -> Callable[[Any], Any]:
    return lambda book: book


CALLERS = {
    "tradingdata": ours_call,
    "socket": socket_call,
    "pycurl": pycurl_call,
    "http.client": http_client_call,
    "urllib3": urllib3_call,
    "httpx": httpx_call,
    "requests": requests_call,
}
CASES: dict[str, Prepare] = {
    **{f"call:{name}": _one_by_one(make, CALLS) for name, make in CALLERS.items()},
    **{f"download:{name}": _one_by_one(make, 1) for name, make in CALLERS.items()},
    **{f"threads:{name}": _threads(CALLERS[name]) for name in ("tradingdata", "requests")},
    "fetch:tradingdata": _fetched(ours_call, _as_is),
    "fetch:pycurl+msgspec": _fetched(pycurl_call, _structs),
    "fetch:httpx+msgspec": _fetched(httpx_call, _structs),
    "fetch:discard": _discarded,
    "fetch:requests+json": _fetched(requests_call, _dicts, item),
}
