"""Behaviour that differs between systems: files, ports, roots and consoles."""

from __future__ import annotations

import errno
import re
import socket
import time
from pathlib import Path

import pytest

from signalling import sent_after
from tradingdata._util import platform, waiting
from tradingdata._util.waiting import ForkLock
from tradingdata.client import options as ca_roots

ROOT = Path(__file__).parents[2]
# What only one kind of system has, or how code finds out which one it runs on.
SYSTEM_WORDS = {
    ".py": r"\bos\.name\b|\bsys\.platform\b|\b(import|from) (fcntl|msvcrt|ctypes|termios)\b"
    r"|\bos\.(fork|getuid|chmod)\b",
    ".cpp": r"_WIN32|<(windows|winsock2|unistd|fcntl|poll|pthread)\.h>|<sys/",
}
SYSTEM_WORDS[".hpp"] = SYSTEM_WORDS[".cpp"]


def test_only_the_platform_modules_ask_for_the_system() -> None:
    found = {
        path.name
        for folder in ("cpp/src", "python/bindings", "python/tradingdata")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in SYSTEM_WORDS
        and re.search(SYSTEM_WORDS[path.suffix], path.read_text("utf-8"))
    }
    assert found == {"platform.py", "platform.cpp"}


def test_a_wait_is_made_of_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows waits for a lock until it is free, whatever the user presses."""
    monkeypatch.setattr(waiting, "SLICE", 0.01)
    waits: list[float] = []

    def ends(seconds: float) -> bool:
        waits.append(seconds)
        time.sleep(seconds)
        return len(waits) == 5

    assert waiting.wait_until(ends)
    assert waits == [0.01] * 5
    assert not waiting.wait_until(ends, 0.025)
    assert max(waits) == 0.01
    assert not waiting.wait_until(lambda _: False, 0)


def test_a_wait_ends_with_what_a_signal_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    lock = ForkLock()

    def wait() -> None:
        with sent_after(0.1), pytest.raises(KeyboardInterrupt):
            lock.holding(lambda: None, 30)

    lock.holding(wait)
    assert lock.holding(lambda: 5) == 5


def test_a_lock_is_free_after_an_error_and_not_waited_for_in_vain() -> None:
    lock = ForkLock()
    with pytest.raises(ZeroDivisionError):
        lock.holding(lambda: 1 // 0)
    with pytest.raises(TimeoutError):
        lock.holding(lambda: lock.holding(lambda: None, 0.1))
    assert lock.holding(lambda: "free", 0) == "free"


@pytest.mark.parametrize(
    ("number", "windows", "closed"),
    [
        (errno.EPIPE, False, True),
        (errno.EPIPE, True, True),
        (errno.EINVAL, True, True),
        (errno.EINVAL, False, False),
        (errno.ENOSPC, True, False),
    ],
)
def test_a_pipe_that_nobody_reads_is_recognised(
    number: int, windows: bool, closed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "WINDOWS", windows)
    assert platform.is_closed_pipe(OSError(number, "")) is closed
    assert platform.is_closed_pipe(OSError(number, "", "book.csv")) is (number == errno.EPIPE)


def test_no_other_program_can_listen_on_the_sandboxs_port() -> None:
    with socket.socket() as ours, socket.socket() as theirs:
        platform.own_port(ours)
        ours.bind(("127.0.0.1", 0))
        ours.listen()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match=r".") as refused:
            theirs.bind(ours.getsockname())
    assert refused.value.errno


def test_windows_trusts_its_store_of_roots_unless_a_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Certifi lacks the roots of the user's organisation, which the store has."""
    for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(ca_roots, "HAS_ROOT_STORE", True)
    assert ca_roots.find_roots(None, trust_env=True)[0] == ""
    (tmp_path / "own.pem").write_text("")
    assert ca_roots.find_roots(tmp_path / "own.pem", trust_env=True)[0] == str(tmp_path / "own.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
    assert ca_roots.find_roots(None, trust_env=True)[0] == str(tmp_path / "own.pem")
