"""pytest plugin of `tradingdata`: fixtures over the sandbox, for the tests of users' own code.

pytest imports every installed plugin in every run. This one is therefore a package of its own that
imports nothing of `tradingdata`, and no extension module, until a test requests a fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tradingdata import Client
    from tradingdata.sandbox import Service

_MARKER = "tradingdata_sandbox"


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(**options): arguments of tradingdata.sandbox.start() for tradingdata_service",
    )


@pytest.fixture
def tradingdata_service(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """A simulated Trading Data Service, new for each test.

    ``TRADINGDATA_BASE_URL`` and ``TRADINGDATA_ACCESS_TOKEN`` lead to it during the test, and so do
    profiles: there is one for each account, by its label, and ``from_profile()`` is that of the
    first account. Another name is a ``ConfigurationError``. So code that creates its own client
    reaches the simulated service, and the real one only if it passes ``base_url`` or created the
    client before the test. ``@pytest.mark.tradingdata_sandbox(seed=7, accounts=["live"])`` sets
    arguments of ``sandbox.start``.
    """
    from tradingdata import sandbox

    marker = request.node.get_closest_marker(_MARKER)
    if marker is not None and marker.args:
        raise pytest.UsageError(f"{_MARKER} takes keyword arguments only, such as seed=7")
    with sandbox.start(**({} if marker is None else marker.kwargs)) as service:
        monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
        monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", service.token())
        profiles = tmp_path_factory.mktemp("tradingdata") / "profiles.toml"
        profiles.touch(mode=0o600)
        profiles.write_text(_profiles(service), "utf-8")
        monkeypatch.setenv("TRADINGDATA_PROFILES", str(profiles))
        monkeypatch.setenv("TRADINGDATA_PROFILE", service.accounts[0])
        yield service


def _profiles(service: Service) -> str:
    """Returns a profile file with the accounts of a service."""
    from json import dumps  # text in JSON is text in TOML

    return "".join(
        f"[{dumps(account)}]\nbase_url = {dumps(service.base_url)}\n"
        f"access_token = {dumps(service.token(account))}\n"
        for account in service.accounts
    )


@pytest.fixture
def tradingdata_client(tradingdata_service: Service) -> Iterator[Client]:
    """A client for the first account of ``tradingdata_service``."""
    with tradingdata_service.client() as client:
        yield client
