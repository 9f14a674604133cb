"""F119: a service repeats the token in every part of a response; a program that prints all it can
get, in a process of its own, prints no twelve characters of the token."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator

import pytest

from command_line import PROGRAM
from echoes import BODIES, PLACES, SPELLINGS, random_token, success_with
from service import Behaviour, Connection, Request, Service

LENGTH = 12
STATUSES = (200, 401, 403, 404, 429, 500, 502)


def response(
    status: int, body: bytes, *headers: str, reason: str = "X", length: int | None = None
) -> bytes:
    length = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status} {reason}", f"Content-Length: {length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def chunked(status: int, body: bytes, extension: str = "", trailer: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunk = f"{len(body):x}{extension}\r\n".encode() + body + b"\r\n"
    return head + chunk + f"0\r\n{trailer}\r\n".encode()


def deflated(status: int, body: bytes, coding: str, cut: int = 0) -> bytes:
    packed = gzip.compress(body) if coding == "gzip" else zlib.compress(body)
    packed = packed[: len(packed) - cut]
    return response(status, packed, f"Content-Encoding: {coding}")


def responses_with(token: str) -> dict[str, bytes]:
    """Complete responses, as bytes, that hold the token somewhere."""
    good = b'{"status":"success","message":"Success","data":[]}'
    name = "".join(letter for letter in token if letter.isalnum())
    found: dict[str, bytes] = {}
    for status in STATUSES:
        text = f"Bearer {token} is no good"
        body = BODIES["JSON"](text)
        found |= {
            f"{status} reason": response(status, good, reason=text),
            f"{status} header": response(status, good, f"X-Debug: {token}"),
            f"{status} header name": response(status, good, f"{name}: 1"),
            f"{status} folded header": response(status, good, "X-Debug: a", f" {token}"),
            f"{status} cookie": response(status, good, f"Set-Cookie: session={token}; Path=/"),
            f"{status} content type": response(status, good, f"Content-Type: {token}"),
            f"{status} retry after": response(status, good, f"Retry-After: {token}"),
            f"{status} authenticate": response(
                status, good, f'WWW-Authenticate: Bearer error="{token}"'
            ),
            f"{status} content encoding": response(status, good, f"Content-Encoding: {token}"),
            f"{status} chunk extension": chunked(status, body, f";token={token}"),
            f"{status} bad chunk": chunked(status, body).replace(b"\n0\r", f"\n{token}\r".encode()),
            f"{status} trailer": chunked(status, body, "", f"X-Token: {token}\r\n"),
            f"{status} gzip": deflated(status, body, "gzip"),
            f"{status} deflate": deflated(status, body, "deflate"),
            f"{status} gzip that ends early": deflated(status, body, "gzip", 12),
            f"{status} body that ends early": response(status, body[:-9], length=len(body)),
            f"{status} body that ends in the token": response(
                status, body[: 60 + len(token) // 2], length=len(body)
            ),
            f"{status} percent": response(status, BODIES["HTML"](SPELLINGS["all percent"](text))),
            f"{status} escapes": response(
                status, BODIES["JSON"](SPELLINGS["all JSON escapes"](text))
            ),
        }
        found |= {
            f"{status} body as {kind}": response(status, make(text))
            for kind, make in BODIES.items()
        }
    for status in (301, 302, 303, 307, 308):
        for place in (f"/{token}", f"https://{name[:60]}.test/?t={token}", f"//x/#{token}", token):
            found[f"{status} to {place}"] = response(status, b"", f"Location: {place}")
    found["no HTTP"] = f"{token}\r\n\r\n".encode()
    found["HTTP/9.9"] = f"HTTP/9.9 {token}\r\n\r\n".encode()
    found["length"] = f"HTTP/1.1 200 OK\r\nContent-Length: {token}\r\n\r\n".encode()
    found["interim response"] = (
        f"HTTP/1.1 103 {token}\r\nLink: {token}\r\n\r\n".encode() + response(401, b"")
    )
    for where in PLACES:
        found[f"success, {where}"] = response(200, success_with(token, where))
    return found


# Prints everything that a program can come by: text, logs, warnings, pickles and tracebacks.
PRINTING = """
import logging, os, pickle, sys, traceback, warnings
import tradingdata as td

logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
warnings.simplefilter("always")

def show(*things):
    for thing in things:
        print(str(thing), repr(thing), pickle.dumps(thing))

for at in range(int(os.environ["CASES"])):
    base_url = f"{os.environ['SERVICE']}/{at}"
    client = td.Client(base_url, access_token=os.environ["TOKEN"], attempts=1, timeout=5)
    try:
        book = client.trade_book() if at % 2 else client.order_book()
        show(book, book.response, *book, *book.issues)
        print(book.response.content, book.to_csv(None, extra=True), book.to_dicts(extra=True))
    except td.TradingDataError as error:
        show(error)
        traceback.print_exc(file=sys.stdout)
        print(error.args, vars(error), getattr(error, "body", ""))
        print(traceback.format_exception_only(error), error.__cause__, error.__context__)
        try:
            raise RuntimeError("Later") from error
        except RuntimeError:
            logging.exception("Logged")
    print(client, client.stats)
    client.close()
    print("done", at)
"""


@pytest.fixture(scope="module")
def echoing() -> Iterator[Service]:
    with Service() as service:
        yield service


def respond_with(service: Service, cases: list[bytes]) -> None:
    """Responds to a request below /N/ with case N, and ends the connection."""

    def behaviour(request: Request) -> Behaviour:
        def send(connection: Connection) -> None:
            connection.send(cases[int(request.path.split("/")[1])])
            connection.close()

        return send

    service.choose(behaviour)


def child(service: Service, token: str, *command: str, **variables: str) -> str:
    """All output of a process that uses the token."""
    account = {"TOKEN": token, "SERVICE": service.base_url, **variables}
    done = subprocess.run(
        command, capture_output=True, check=False, timeout=100, env={**BARE, **account}
    )
    return (done.stdout + done.stderr).decode("latin-1")


BARE = {
    "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    "PYTHONFAULTHANDLER": "1",
    "PYTHONIOENCODING": "utf-8",
    "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),  # Windows opens no socket without it
}


def windows(text: str, token: str) -> set[str]:
    return {token[at : at + LENGTH] for at in range(len(token) - LENGTH + 1)} & {
        text[at : at + LENGTH] for at in range(len(text) - LENGTH + 1)
    }


@pytest.mark.parametrize("length", [36, 700])
def test_f119_a_program_that_prints_everything_prints_no_token(
    echoing: Service, length: int
) -> None:
    token = random_token(length, length)
    cases = responses_with(token)
    respond_with(echoing, list(cases.values()))
    shown = child(echoing, token, sys.executable, "-c", PRINTING, CASES=str(len(cases)))
    assert f"done {len(cases) - 1}" in shown, shown[-2000:]
    assert shown.count("StatusError") > 100
    assert shown.count("<token>") > 100
    leaks = []
    for part, name in zip(shown.split("\ndone "), cases, strict=False):
        if found := windows(part, token):
            leaks.append((name, sorted(found)[:3]))
    assert leaks == []


def test_f119_check_prints_no_token(echoing: Service) -> None:
    token = random_token(5, 300)
    cases = responses_with(token)
    some = [
        "401 reason",
        "403 cookie",
        "500 gzip",
        "429 trailer",
        "502 body as HTML",
        "success, message",
    ]
    respond_with(echoing, [cases[name] for name in some])
    for at, name in enumerate(some):
        shown = child(
            echoing,
            token,
            *PROGRAM,
            "check",
            TRADINGDATA_BASE_URL=f"{echoing.base_url}/{at}",
            TRADINGDATA_ACCESS_TOKEN=token,
        )
        assert shown != "", name
        assert windows(shown, token) == set(), name


def test_the_windows_are_found() -> None:
    token = random_token(1, 40)
    assert windows(f"a {token[3:15]} b", token) == {token[3:15]}
    assert windows(f"a {token[3:14]} b", token) == set()
