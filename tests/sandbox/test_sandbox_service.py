"""The sandbox's life: tokens, accounts, what it was asked, its end, and its own process."""

from __future__ import annotations

import errno
import socket
import threading
from pathlib import Path

import pytest

import tradingdata as td
from calls import run_child
from sandbox_calls import PATHS, ask, call, connect
from systems import needs
from tradingdata import sandbox


def threads() -> set[threading.Thread]:
    """The threads of sandboxes, among them those of a test that left one running."""
    return {one for one in threading.enumerate() if one.name.startswith("tradingdata-sandbox")}


def test_a_token_ends_and_another_takes_its_place() -> None:
    with sandbox.start(accounts=["day", "night"], orders=5) as service:
        old = {"Content-Type": "application/json", "Authorization": f"Bearer {service.token()}"}
        other = service.token("night")
        new = service.expire_token()
        assert service.token() == service.token("day") == new
        assert new != old["Authorization"].partition(" ")[2]
        assert call(service, "POST", PATHS["trade_book"], b'{"source":"N"}', old).status == 401
        assert ask(service, "trade_book").status == 200
        assert service.token("night") == other
        assert ask(service, "trade_book", "night").status == 200


def test_a_client_is_that_of_an_account_with_its_own_options() -> None:
    with sandbox.start(accounts=["day", "night"], orders=0) as service:
        service.client().order_book()
        with service.client("night", timeout=5) as client:
            client.order_book()
        with pytest.raises(td.AuthenticationError):
            service.client(access_token="other").order_book()
        assert [request.account for request in service.requests] == ["day", "night", None]
        assert client.account == "night"


def test_it_tells_what_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tradingdata.sandbox.service._KEPT", 4)
    with sandbox.start(orders=5) as service:
        call(service, "GET", "/forgotten")
        ask(service, "trade_book")
        ask(service, "search")
        service.fail_next("stall", seconds=0)
        with pytest.raises(ConnectionResetError):
            ask(service, "order_book")
        call(service, "GET", "/elsewhere", headers={"Authorization": "Bearer x"})
        seen = service.requests
        assert len(seen) == 4
        assert [request.endpoint for request in seen] == [
            "trade_book",
            "search",
            "order_book",
            None,
        ]
        assert [request.status for request in seen] == [200, 200, None, 404]
        assert [request.account for request in seen] == ["desk1", None, "desk1", None]
        assert [request.token_sent for request in seen] == [True, False, True, True]
        assert [request.fault for request in seen] == [None, None, "stall", None]
        assert dict(seen[1].query) == {"query": "tata"}
        assert (seen[-1].method, seen[-1].path) == ("GET", "/elsewhere")
        assert seen[0].at == service.now
        assert seen[1:3] == [seen[1], seen[2]]
        assert service.token() not in repr(seen)
        for method in (service.token, service.expire_token):
            with pytest.raises(ValueError, match=r"'dsk1': use one of desk1"):
                method("dsk1")
        seen.clear()
        assert not service.requests


def test_stop_frees_port_connections_and_threads_and_may_be_called_again() -> None:
    others = threads()
    service = sandbox.start(orders=5)
    port = int(service.base_url.rpartition(":")[2])
    kept = connect(service)
    kept.request("GET", f"{PATHS['search']}?query=tata")
    kept.getresponse().read()
    assert kept.sock is not None
    service.fail_next("stall", seconds=3600, times=2)  # longer than a test may take
    for _ in range(2):
        with pytest.raises(TimeoutError):
            ask(service, "search", timeout=0.05)
    service.stop()
    service.stop()
    assert kept.sock.recv(1) == b""
    kept.close()
    assert threads() <= others
    assert "stopped" in repr(service)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)
    with sandbox.start(orders=0, port=port) as again:
        assert again.base_url == service.base_url
        running = threads()
        with pytest.raises(OSError, match=r".") as refused:
            sandbox.start(orders=0, port=port)
        assert refused.value.errno in (errno.EADDRINUSE, errno.EACCES)
        assert threads() <= running


def test_many_may_start_and_stop_without_a_leak() -> None:
    folder = Path("/proc/self/fd")
    others = threads()
    before = len(list(folder.iterdir())) if folder.exists() else 0
    for _ in range(50):
        with sandbox.start(orders=1) as service:
            ask(service, "trade_book")
    assert threads() <= others
    if folder.exists():
        assert len(list(folder.iterdir())) <= before


def test_a_program_that_forgets_to_stop_it_ends_all_the_same() -> None:
    code = """
from sandbox_calls import PATHS, connect
kept = connect(td.sandbox.start(orders=5))
kept.request("GET", PATHS["search"] + "?query=tata")
print(kept.getresponse().status)
kept.close()
"""
    assert run_child(code) == "200\n"


@needs("fork")
def test_a_forked_child_that_ends_leaves_its_parents_service_alone() -> None:
    run_child("""
import warnings
from sandbox_calls import PATHS, connect
warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
service = td.sandbox.start(orders=5)
kept = connect(service)
def ask():
    kept.request("GET", PATHS["search"] + "?query=tata")
    return kept.getresponse().read()
first = ask()
child = os.fork()
if child == 0:
    kept.close()
    raise SystemExit(0)
assert os.waitpid(child, 0)[1] == 0
assert ask() == first
kept.close()
service.stop()
""")
