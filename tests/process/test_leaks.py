"""Secrets stay where they are: a canary token and account number, looked for in all there is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import service as s
import tradingdata as td
from calls import BOOK_PATH, run_child
from echoes import BODIES, echo, said_by
from service import Service

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
