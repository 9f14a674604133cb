"""Fixtures for every test: the scripted service in plain HTTP and in TLS, and its authority."""

from __future__ import annotations

import gc
import io
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Generator, Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from service import Authority, Proxy, Service, as_json, envelope, trades
from systems import NO_NUMPY, NUMPY, is_wine, skip_without_numpy

if TYPE_CHECKING:
    from command_line import Run, Screen
    from tradingdata.sandbox import Service as SandboxService

OWN_FOLDER = pytest.StashKey[str]()
FAILED = pytest.StashKey[bool]()

# What tests expect must not depend on who runs them: on their shell, pytest-xdist or a CI service.
# Here and not in a fixture, since libraries read some of these when they are imported.
for variable in list(os.environ):
    if variable in (
        *("COLUMNS", "LINES", "LANGUAGE", "PYTHONIOENCODING", "PYTHONUTF8", "XDG_CONFIG_HOME"),
        *("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "COLORTERM", "GITHUB_ACTIONS", "TTY_COMPATIBLE"),
        *("TRADINGDATA_BASE_URL", "TRADINGDATA_ACCESS_TOKEN", "TRADINGDATA_PROFILE"),
    ) or variable.startswith("LC_"):
        del os.environ[variable]
os.environ.update(TERM="xterm-256color", LANG="C.UTF-8")
os.umask(0o022)

# How long an example takes depends on what else the machine does. Other numbers of examples than
# the usual 100 are multiples of it, so that all are fewer in the short profile, of ./.ci/test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("short", settings.get_profile("untimed"), max_examples=25)
settings.load_profile("untimed")


# numpy does not load under Wine, and neither does what is built on it. A module of tests can import
# these all the same; a test that uses one is skipped.


class Unloadable(MetaPathFinder, Loader):
    """Imports libraries as modules without content."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        known = name.partition(".")[0] in ("pandas", "polars", "pyarrow", "duckdb")
        return ModuleSpec(name, self, is_package=True) if known else None

    def exec_module(self, module: types.ModuleType) -> None:
        def missing(attribute: str) -> object:
            if attribute.startswith("_") and attribute != "__version__":
                raise AttributeError(attribute)  # pytest looks for some of these
            raise ModuleNotFoundError(f"No module named {module.__name__!r}", name=module.__name__)

        module.__dict__["__getattr__"] = missing


if is_wine():
    sys.meta_path.append(Unloadable())

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        collector: pytest.Collector,
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Skips a module of tests that imports numpy."""
        report = yield
        if report.failed and NUMPY.search(str(report.longrepr)):
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"Skipped: {NO_NUMPY}")
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
        """Skips a test that imports numpy."""
        try:
            yield
        except ImportError as error:
            skip_without_numpy(f"{error} {error.__cause__}")
            raise


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Gives each run a folder for temporary files of its own, which its workers share.

    The default is a folder of the user, in which runs at the same time remove each other's files.
    """
    if config.option.basetemp is None:
        own = tempfile.mkdtemp(prefix="tradingdata-tests-")
        config.option.basetemp = os.path.join(own, "run")
        config.stash[OWN_FOLDER] = own


def pytest_unconfigure(config: pytest.Config) -> None:
    """Removes it unless a test failed, in the process that made it."""
    if (own := config.stash.get(OWN_FOLDER, None)) and not config.stash.get(FAILED, False):
        shutil.rmtree(own, ignore_errors=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Takes the thousands of tests out of each collection of garbage that a test asks for."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Libraries count what is left of theirs at the end."""
    gc.unfreeze()
    session.config.stash[FAILED] = session.testsfailed > 0


@pytest.fixture(autouse=True)
def own_settings() -> Iterator[None]:
    """No test leaves settings in the environment to the next."""
    before = {name: os.environ[name] for name in os.environ if name.startswith("TRADINGDATA_")}
    yield
    for name in [name for name in os.environ if name.startswith("TRADINGDATA_")]:
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority that clients trust (`ca_file=ca.pem_file`)."""
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
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private, empty file of profiles that is looked at."""
    file = tmp_path / "profiles.toml"
    file.touch(0o600)
    monkeypatch.setenv("TRADINGDATA_PROFILES", str(file))
    return file


@pytest.fixture
def proxy(tls_service: Service) -> Iterator[Proxy]:
    """A recording proxy that leads every target to `tls_service`."""
    with Proxy(tls_service) as running:
        yield running


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxService]:
    """The simulated service whose account `run` uses."""
    from tradingdata.sandbox import start

    with start(orders=60) as running:
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


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Makes standard output a terminal of a width, for commands in this process."""
    from tradingdata.cli import terminal

    def made(width: int) -> io.StringIO:
        shown = io.StringIO()
        monkeypatch.setenv("TERM", "xterm")
        screen = terminal.Screen(shown, (width, 30))
        monkeypatch.setattr(terminal, "screen", lambda: screen)
        return shown

    return made
