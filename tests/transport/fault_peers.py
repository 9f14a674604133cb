"""The same faults for this library and for requests, httpx, aiohttp and pycurl, in one run.

python tests/transport/fault_peers.py [--markdown FILE]: a table of what each comes to within a
timeout of one second. The peers are used as their first pages show: a POST, raise for the status,
parse the JSON, take `data`. Marked WRONG is a damaged response that came out as rows all the same,
a call that runs on 0.3 s behind its timeout, and a token that another service saw.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import io
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import service as s
import tradingdata as td

TIMEOUT, NOISE, PATIENCE = 1.0, 0.3, 4.0
PATH = "/api/v1/trade/book"
BODY = b'{"source":"N"}'
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer peer-token"}
GOOD = s.book_reply(s.trades(3))
WHOLE = s.as_json(s.envelope(list(s.trades(3))))
Peer = Callable[[str, str], Any]
MIB = 2**20


def of_tradingdata(url: str, ca_file: str) -> Any:
    options: dict[str, Any] = {"timeout": TIMEOUT, "max_body": 8 * MIB, "ca_file": ca_file}
    with td.Client(url, access_token="peer-token", **options) as client:
        return client.trade_book().to_dicts()


def of_requests(url: str, ca_file: str) -> Any:
    requests = importlib.import_module("requests")
    options = {"timeout": TIMEOUT, "verify": ca_file, "headers": HEADERS}
    response = requests.post(url + PATH, data=BODY, **options)
    response.raise_for_status()
    return response.json()["data"]


def of_httpx(url: str, ca_file: str) -> Any:
    httpx = importlib.import_module("httpx")
    context = importlib.import_module("ssl").create_default_context(cafile=ca_file)
    with httpx.Client(timeout=TIMEOUT, verify=context) as client:
        response = client.post(url + PATH, content=BODY, headers=HEADERS)
    response.raise_for_status()
    return response.json()["data"]


def of_aiohttp(url: str, ca_file: str) -> Any:
    aiohttp = importlib.import_module("aiohttp")
    context = importlib.import_module("ssl").create_default_context(cafile=ca_file)

    async def run() -> Any:
        limit = aiohttp.ClientTimeout(total=TIMEOUT)
        options = {"data": BODY, "headers": HEADERS, "ssl": context}
        async with (
            aiohttp.ClientSession(timeout=limit, raise_for_status=True) as session,
            session.post(url + PATH, **options) as response,
        ):
            return (await response.json())["data"]

    return asyncio.run(run())


def of_pycurl(url: str, ca_file: str) -> Any:
    curl = importlib.import_module("pycurl")
    handle, received = curl.Curl(), io.BytesIO()
    for option, value in {
        curl.URL: url + PATH,
        curl.POSTFIELDS: BODY.decode(),
        curl.HTTPHEADER: [f"{name}: {value}" for name, value in HEADERS.items()],
        curl.TIMEOUT_MS: int(TIMEOUT * 1000),
        curl.CAINFO: ca_file,
        curl.ACCEPT_ENCODING: "gzip",
        curl.FAILONERROR: True,
        curl.NOSIGNAL: True,
        curl.WRITEDATA: received,
    }.items():
        handle.setopt(option, value)
    handle.perform()
    handle.close()
    return json.loads(received.getvalue())["data"]


PEERS: dict[str, Peer] = {
    "tradingdata": of_tradingdata,
    "requests": of_requests,
    "httpx": of_httpx,
    "aiohttp": of_aiohttp,
    "pycurl": of_pycurl,
}

# The fault, what the service does the first time and then, and whether rows are right.
FAULTS: list[tuple[Any, ...]] = [  # name, first response, further responses, is it complete
    ("F7 empty reply, then fine", s.hang_up, GOOD, True),
    ("F19 reset mid body, then fine", s.reset_mid_body(), GOOD, True),
    ("F20 cut length, then fine", s.cut_content_length(), GOOD, True),
    ("F51 503, then fine", s.reply(503), GOOD, True),
    ("F48 429 with Retry-After 0, then fine", s.retry_after("0"), GOOD, True),
    ("F50 garbage in Retry-After, then fine", s.retry_after("soon"), GOOD, True),
    ("F21 no last chunk", s.cut_chunked(WHOLE), s.cut_chunked(WHOLE), False),
    ("F24 two lengths", *[s.two_content_lengths(WHOLE + b" " * 10)] * 2, False),
    ("F27 cut by the close", *[s.close_delimited(keep=30)] * 2, False),
    ("F28 no body", *[s.reply(200, b"")] * 2, False),
    ("F31 stall before headers", *[s.stall()] * 2, False),
    ("F31 stall mid body", *[s.stall_mid_body()] * 2, False),
    ("F32 drip", *[s.drip(s.EMPTY_BOOK * 3, every=0.1)] * 2, False),
    ("F33 header flood", *[s.header_flood()] * 2, False),
    ("F36 gzip bomb of 64 MiB, 8 allowed here", *[s.gzip_bomb(64 * MIB)] * 2, True),
    ("F41 cut gzip", *[s.gzip_cut(WHOLE)] * 2, False),
    ("F42 gzip without checksum", *[s.gzip_without_crc(WHOLE)] * 2, False),
    ("F53 HTML", *[s.html_reply()] * 2, False),
    ("F57 refusal inside 200", *[s.json_reply({"status": "error", "data": []})] * 2, True),
    ("F58 data null", *[s.json_reply({"status": "success", "data": None})] * 2, True),
    ("F62 redirect to another port", s.redirect(307, "/"), GOOD, True),
]


def outcome(peer: Peer, url: str, ca_file: str) -> tuple[str, float]:
    """What a call comes to, in a word, and after how long; it is left alone after PATIENCE."""
    reported: list[str] = []

    def call() -> None:
        try:
            rows = peer(url, ca_file)
            reported.append("no rows reported" if rows is None else f"{len(rows)} rows")
        except Exception as error:
            reported.append(type(error).__name__)

    started = time.monotonic()
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return (reported or ["still waiting"])[0], time.monotonic() - started


def verdict(peer: Peer, fault: tuple[str, s.Behaviour, s.Behaviour, bool], ca_file: str) -> str:
    _, first, then, rows_are_right = fault
    with s.Service() as elsewhere, s.Service() as service:
        elsewhere.script(then=GOOD)
        if "redirect" in fault[0]:
            first = then = s.redirect(307, elsewhere.base_url + PATH)
        service.script(first, then=then)
        said, elapsed = outcome(peer, service.base_url, ca_file)
        astray = any(request.header("authorization") for request in elsewhere.requests)
    wrong = (said.endswith("rows") and not rows_are_right) or elapsed > TIMEOUT + NOISE or astray
    late = f" after {elapsed:.1f} s" if elapsed > TIMEOUT + NOISE else ""
    return f"{'WRONG: ' if wrong else ''}{said}{late}{', token sent along' if astray else ''}"


def available() -> dict[str, Peer]:
    found = {}
    for name, peer in PEERS.items():
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed and left out", file=sys.stderr)
        else:
            found[name] = peer
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table there")
    options = parser.parse_args()
    peers = available()
    lines = [f"| Fault | {' | '.join(peers)} |", "|---" * (len(peers) + 1) + "|"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        ca_file = str(s.Authority(Path(folder)).pem_file)
        for fault in FAULTS:
            cells = [verdict(peer, fault, ca_file) for peer in peers.values()]
            lines.append(f"| {fault[0]} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
