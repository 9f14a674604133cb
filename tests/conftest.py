"""Fixtures for every test: the scripted service in plain HTTP and in TLS, and its authority."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service import Authority, Proxy, Service


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
def proxy(tls_service: Service) -> Iterator[Proxy]:
    """A recording proxy that leads every target to `tls_service`."""
    with Proxy(tls_service) as running:
        yield running
