"""HTTPS where the CA roots lie as other systems keep them, by tests/wheels/room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calls import PRELUDE, good_book
from service import Authority, Service
from systems import needs_shell

pytestmark = needs_shell
ROOM = Path(__file__).parents[1] / "wheels/room"
VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR")
CALL = """
sys.modules["certifi"] = None  # which the base installation does not have
try:
    print(len(td.Client(sys.argv[1], access_token=TOKEN).trade_book()), "trades")
except td.TLSError as error:
    print(error)
"""


def call_in_room(url: str, roots: str, ca_file: Path, **environment: str) -> str:
    """What a call prints where `ca_file` lies as the system `roots` keeps its roots."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    room = {"ROOM": "must", "HIDE": "roots", "CA_ROOTS": roots, "CA_FILE": str(ca_file)}
    done = subprocess.run(
        [ROOM, sys.executable, "-c", PRELUDE + CALL, url],
        env={**kept, **room, **environment},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("roots", ["debian", "rhel", "alpine"])
def test_the_roots_of_a_system_are_found(roots: str, tls_service: Service, ca: Authority) -> None:
    tls_service.script(then=good_book())
    assert call_in_room(tls_service.base_url, roots, ca.pem_file) == "3 trades"


def test_without_any_root_nothing_is_trusted_and_the_message_says_what_to_give(
    tls_service: Service, ca: Authority
) -> None:
    response = call_in_room(tls_service.base_url, "none", ca.pem_file)
    assert "`ca_file`" in response
    assert tls_service.requests == []
