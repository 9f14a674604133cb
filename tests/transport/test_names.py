"""Names of hosts: how long a lookup may take, and when a name is looked up again."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from calls import good_book, run_child, served
from service import Authority, Service, black_hole, resolver

# Two calls; the address becomes the second argument's before the first one's second attempt.
CALLS = """
url, ca_file, connect_timeout, later = sys.argv[1:]
def hook(retry):
    print(retry.attempt, retry.reason)
    os.environ["TEST_RESOLVER_ADDRESS"] = later
client = td.Client(
    url, access_token=TOKEN, ca_file=ca_file, connect_timeout=float(connect_timeout), on_retry=hook
)
for _ in range(2):
    book = client.trade_book()
    print(len(book), "rows", book.response.attempts, "attempts")
"""
SILENT, REFUSING = "127.0.0.2", "127.0.0.3"


def call(
    service: Service, ca: Authority, environment: dict[str, str], connect_timeout: float, later: str
) -> list[str]:
    """The lines that CALLS prints."""
    url = f"https://api.example.test:{service.port}"
    arguments = (url, str(ca.pem_file), str(connect_timeout), later)
    return run_child(CALLS, *arguments, environment=environment).splitlines()


def test_a_lookup_may_take_longer_than_connect_timeout(ca: Authority, tmp_path: Path) -> None:
    environment = resolver(tmp_path, seconds=1.5, address="127.0.0.1")
    with served(then=good_book(), tls=ca.good()) as service:
        printed = call(service, ca, environment, 1, "127.0.0.1")
    assert printed == ["3 rows 1 attempts", "3 rows 1 attempts"]


@pytest.mark.parametrize("old", [SILENT, REFUSING])
def test_a_name_is_looked_up_again_after_a_failed_connection(
    ca: Authority, tmp_path: Path, old: str
) -> None:
    log = tmp_path / "lookups"
    environment = {**resolver(tmp_path, address=old), "TEST_RESOLVER_LOG": str(log)}
    with (
        served(then=good_book(), tls=ca.good(), ipv6=False) as service,
        black_hole(SILENT, service.port),
    ):
        failed, *books = call(service, ca, environment, 1, "127.0.0.1")
    word = "connect_timeout passed while connecting" if old == SILENT else "cannot connect"
    assert failed.startswith(f"1 {word} to api.example.test")
    assert books == ["3 rows 2 attempts", "3 rows 1 attempts"]
    assert len(log.read_text()) in (2, 4)  # newer versions of libcurl ask once for each family


def test_a_silent_address_leaves_time_for_the_next_one(ca: Authority, tmp_path: Path) -> None:
    environment = resolver(tmp_path, seconds=0.5, address=f"{SILENT},127.0.0.1")
    with (
        served(then=good_book(), tls=ca.good(), ipv6=False) as service,
        black_hole(SILENT, service.port),
    ):
        printed = call(service, ca, environment, 4, "127.0.0.1")
    assert printed == ["3 rows 1 attempts", "3 rows 1 attempts"]


def test_a_name_is_looked_up_once_a_connection(ca: Authority, tmp_path: Path) -> None:
    """Not twice, although the transfer that looks it up is started again; a kept one needs none."""
    log = tmp_path / "lookups"
    environment = {**resolver(tmp_path, address="127.0.0.1"), "TEST_RESOLVER_LOG": str(log)}
    with served(then=good_book(), tls=ca.good()) as service:
        call(service, ca, environment, 5, "127.0.0.1")
        assert len(service.connections) == 1
    assert log.read_text() in (".", "..")  # newer versions of libcurl ask once for each family


# A nameserver that answers nothing, or no question for IPv6 addresses, and one that answers all.
NAMESERVERS = """
import socket, threading
from pathlib import Path
from service import Authority, Service, book_reply, trades
SILENT_FOR = set(sys.argv[2].split())
def serve(address, silent_for):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    def answer():
        while True:
            query, client = server.recvfrom(512)
            end = query.index(0, 12) + 1
            kind = {1: "A", 28: "AAAA"}[int.from_bytes(query[end:end + 2], "big")]
            if kind in silent_for:
                continue
            question = query[12:end + 4]
            has = kind == "A"
            head = query[:2] + bytes([0x85, 0x80, 0, 1, 0, has, 0, 0, 0, 0])
            record = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4\\x7f\\0\\0\\1" if has else b""
            server.sendto(head + question + record, client)
    threading.Thread(target=answer, daemon=True).start()
serve("127.0.0.2", SILENT_FOR)
serve("127.0.0.3", set())
ca = Authority(Path(sys.argv[1]))
with Service(tls=ca.good(), ipv6=False) as service:
    service.script(then=book_reply(trades(3)))
    url = f"https://api.example.test:{service.port}"
    client = td.Client(url, access_token=TOKEN, ca_file=ca.pem_file, connect_timeout=0.9)
    book = client.trade_book()
    print(len(book), "rows", book.response.attempts, "attempts", book.response.elapsed > 0.9)
"""


@pytest.mark.parametrize("silent_for", ["A AAAA", "AAAA"])
def test_a_silent_first_nameserver_costs_its_timeout_only(tmp_path: Path, silent_for: str) -> None:
    settings = tmp_path / "resolv.conf"
    settings.write_text("nameserver 127.0.0.2\nnameserver 127.0.0.3\noptions timeout:1\n")
    prepare = f"ip link set lo up && mount --bind {settings} /etc/resolv.conf"
    namespace = ["unshare", "--map-root-user", "--net", "--mount", "sh", "-ec", f'{prepare}; "$@"']
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("needs unshare and ip")
    if subprocess.run([*namespace, "sh", "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may make no network namespace")
    printed = run_child(NAMESERVERS, str(tmp_path), silent_for, within=[*namespace, "sh"])
    assert printed == "3 rows 1 attempts True\n"
