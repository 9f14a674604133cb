"""Secrets stay where they are: a canary token and account number, looked for in all there is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import service as s
import tradingdata as td
from calls import BOOK_PATH, both, failure, run_child
from echoes import BODIES, echo, said_by
from service import Authority, Proxy, Service

# A slash and a plus, so that escaped and percent-encoded forms differ from the plain one.
SECRET = "canary/7f3b+91c2=="
FORMS = (SECRET, SECRET.replace("/", "\\/"), "canary%2F7f3b%2B91c2%3D%3D", "canary/7f3b")


def holds_secret(text: str) -> bool:
    return any(form in text for form in FORMS)


def assigned(client: td.Client) -> None:
    client.access_token = SECRET
    client.access_token = "fresh-token-1"


def refreshed(client: td.Client) -> None:
    tokens = iter([SECRET, "fresh-token-1", "fresh-token-2"])
    client.access_token = lambda: next(tokens)
    with pytest.raises(td.AuthenticationError):
        client.order_book()


def replaced_by_a_function(client: td.Client) -> None:
    client.access_token = SECRET
    client.access_token = lambda: "fresh-token-1"


@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("change", [assigned, refreshed, replaced_by_a_function])
@pytest.mark.parametrize("what", ["trade_book", "search"])
def test_a_former_token_that_a_service_repeats_is_not_shown_either(
    status: int, body: str, change: Callable[[td.Client], None], what: str, log: io.StringIO
) -> None:
    """Yesterday's token; and a search, which carries none, knows of the client's tokens too."""
    with Service() as service, td.Client(service.base_url, attempts=1) as client:
        service.script(then=s.json_reply({}, 401), path="/api/v1/order/book")
        service.script(then=echo(status, BODIES[body](SECRET)), path=BOOK_PATH)
        service.script(then=echo(status, BODIES[body](SECRET)), path="/api/v1/stocks")
        change(client)
        with pytest.raises(td.TradingDataError) as caught:
            client.trade_book() if what == "trade_book" else client.search("x").all()
    assert not holds_secret(said_by(caught.value) + log.getvalue())


BAD = SECRET + "\n"
URL = "https://api.example.test"


@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
@pytest.mark.parametrize(
    "attempt",
    [
        lambda kind: kind("http://example.test", access_token=SECRET),
        lambda kind: kind(URL, access_token=SECRET, timeout=-1),
        lambda kind: kind(URL, access_token=BAD),
        lambda kind: kind(URL, access_token=SECRET.encode()),
        lambda kind: setattr(kind(URL), "access_token", BAD),
        lambda kind: kind.from_profile("a", access_token=SECRET, timeout=-1),
        lambda kind: kind.from_profile("a", timeout=-1),
        lambda kind: kind.from_profile("a", proxy=f"http://u:{SECRET}@p:1", timeout=-1),
        lambda kind: kind(SECRET),
        lambda kind: kind(SECRET + "\udcff"),
        lambda kind: kind(URL, proxy=f"http://u:{SECRET}@p:1", attempts="4"),
        lambda kind: kind(URL, proxy=f"http://u:{SECRET}@p:1".encode()),
        lambda kind: kind(URL, proxy=f"nosuch://u:{SECRET}@p:1"),
        lambda kind: kind.from_profile("nosuch", access_token=SECRET),
        lambda kind: kind.from_profile("odd"),
        lambda kind: kind.from_profile("bad"),
    ],
)
def test_no_local_of_a_traceback_shows_a_token_on_its_way_in(
    kind: Any, attempt: Callable[[Any], Any], profiles: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools that report errors show the locals of every frame."""
    options = f"base_url = {URL!r}\nproxy = 'http://u:{SECRET}@p:1'\naccess_token = "
    lines = [f"[{name}]\n{options}" for name in ("a", "odd", "bad")]
    profiles.write_text(
        f'{lines[0]}{SECRET!r}\n{lines[1]}{SECRET!r}\nnosuch = 1\n{lines[2]}"{SECRET}\\n"\n'
    )
    monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", SECRET)
    with pytest.raises((td.ConfigurationError, TypeError)) as caught:
        attempt(kind)
    assert not holds_secret(said_by(caught.value))


def test_a_proxy_sees_no_token_and_its_password_is_not_shown(
    proxy: Proxy, tls_service: Service, ca: Authority, log: io.StringIO
) -> None:
    password = f"http://user:canary%2F7f3b@127.0.0.1:{proxy.port}"
    proxy.script(then=s.reply(407))
    # No name is looked up: a proxy gets the host's name and refuses it.
    error = failure(
        "https://api.example.test",
        access_token=SECRET,
        ca_file=ca.pem_file,
        proxy=password,
        attempts=1,
    )
    assert not holds_secret(said_by(error) + log.getvalue())
    assert SECRET.encode() not in proxy.seen
    [request] = proxy.requests
    assert request.method == "CONNECT"
    with s.closed_port() as port:
        unreachable = f"http://user:canary%2F7f3b@127.0.0.1:{port}"
        error = failure("https://api.example.test", proxy=unreachable, attempts=1)
    assert not holds_secret(said_by(error) + log.getvalue())


def test_netrc_is_not_read(service: Service, tmp_path: Path) -> None:
    """~/.netrc and NETRC may hold a password for the host; nothing of it is sent."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login user password netrc-canary\n")
    netrc.chmod(0o600)
    service.script(s.json_reply([]), s.book_reply([]))
    code = """
client = td.Client(sys.argv[1], access_token=TOKEN)
client.search("x").all()
client.trade_book()
"""
    run_child(code, service.base_url, environment={"HOME": str(tmp_path), "NETRC": str(netrc)})
    search, book = service.requests
    assert search.header("authorization") is None
    assert (book.header("authorization") or "").startswith("Bearer ")
    assert b"netrc" not in search.raw + book.raw


@both
@pytest.mark.parametrize("content", [BAD.encode() + b"x", SECRET.encode() + b"\xff", b"\xff" * 9])
def test_a_file_or_function_of_an_unusable_token_shows_nothing_of_it(
    call: Callable[..., Any], content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "token").write_bytes(content)
    sources: list[Any] = [td.token_file(tmp_path / "token"), lambda: BAD, lambda: SECRET.encode()]
    for source in sources:
        with pytest.raises(td.AuthenticationError) as caught:
            call(URL, access_token=source)
        assert not holds_secret(said_by(caught.value))
        assert not holds_secret(f"{caught.value.__cause__!r} {caught.value.__context__!r}")


@pytest.mark.parametrize("kind", [td.Client, td.AsyncClient])
def test_no_part_of_a_client_shows_the_token(kind: Any, service: Service) -> None:
    client = kind(service.base_url, access_token=SECRET, account="desk1")
    seen: set[int] = set()

    def walk(value: object, depth: int = 0) -> Iterator[str]:
        if id(value) in seen or depth > 6:
            return
        seen.add(id(value))
        yield repr(value)
        for name in dir(value):
            if name.startswith("__") or name == "access_token":
                continue
            part = getattr(value, name, None)
            if type(value).__module__.startswith("tradingdata"):
                yield from walk(part, depth + 1)

    assert not holds_secret(" ".join(walk(client)))
