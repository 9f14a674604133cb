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
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Service]:
    """A simulated Trading Data Service, new for each test.

    ``TRADINGDATA_BASE_URL`` and ``TRADINGDATA_ACCESS_TOKEN`` lead to it during the test, so code
    that creates its own ``Client()`` reaches it too, and no test reaches the real service.
    ``@pytest.mark.tradingdata_sandbox(seed=7, speed=0)`` sets arguments of ``sandbox.start``.
    """
    from tradingdata import sandbox

    marker = request.node.get_closest_marker(_MARKER)
    if marker is not None and marker.args:
        raise pytest.UsageError(f"{_MARKER} takes keyword arguments only, such as seed=7")
    with sandbox.start(**({} if marker is None else marker.kwargs)) as service:
        monkeypatch.setenv("TRADINGDATA_BASE_URL", service.base_url)
        monkeypatch.setenv("TRADINGDATA_ACCESS_TOKEN", service.token())
        monkeypatch.delenv("TRADINGDATA_PROFILE", raising=False)
        yield service


@pytest.fixture
def tradingdata_client(tradingdata_service: Service) -> Iterator[Client]:
    """A client for the first account of ``tradingdata_service``."""
    with tradingdata_service.client() as client:
        yield client
