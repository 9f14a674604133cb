"""Fixtures for every test: the scripted service in plain HTTP and in TLS, and its authority."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol

from calls import TooLate
from service import Authority, Proxy, Service, as_json, envelope, trades

if TYPE_CHECKING:
    from command_line import Run
    from tradingdata.sandbox import Service as SandboxService


# pytest-xdist sets them, and a shell may; what a terminal shows would depend on them.
for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Takes the thousands of tests out of each collection of garbage that a test asks for."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Libraries count what is left of theirs at the end."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority that clients are told to trust (`ca_file=ca.pem_file`)."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def service() -> Iterator[Service]:
    """A service in plain HTTP, for the test to script."""
    with Service() as running:
        yield running


@pytest.fixture
def tls_service(ca: Authority) -> Iterator[Service]:
    """A service in TLS with a good certificate, for the test to script."""
    with Service(tls=ca.good()) as running:
        yield running


@pytest.fixture
def body_file(tmp_path: Path) -> Path:
    """A book's body that takes some milliseconds to decode."""
    file = tmp_path / "body.json"
    file.write_bytes(as_json(envelope(list(trades(1)) * 2000)))
    return file


@pytest.fixture
def proxy(tls_service: Service) -> Iterator[Proxy]:
    """A recording proxy that leads every target to `tls_service`."""
    with Proxy(tls_service) as running:
        yield running


@pytest.fixture
def run(
    sandbox: SandboxService,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Run:
    """Runs a command line in this process, with the account of the module's `sandbox`."""
    from command_line import account, run_here

    return run_here(capsysbinary, monkeypatch, account(sandbox))


# A machine has slow moments; a promise that is broken stays broken. So a test that only came too
# late is run again from its fixtures on, and must be in time once.
TRIES = 4
LATE = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[LATE] = call.excinfo is not None and call.excinfo.errisinstance(TooLate)
    return report


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not isinstance(item, pytest.Function):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for tries in range(1, TRIES + 1):
        item.stash[LATE] = False
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if not item.stash[LATE] or tries == TRIES:
            break
        item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
