"""Search for the file of CA root certificates; libcurl itself reads no environment variable."""

from __future__ import annotations

import os

from .._util import validate
from .._util.platform import HAS_ROOT_STORE
from ..errors import ConfigurationError

# Paths of the distributions. The libcurl of a wheel may have been built with another default path.
_SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/pki/tls/cacert.pem",  # OpenELEC
    "/etc/ssl/cert.pem",  # macOS, BSD
)
_VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


def find_ca_file(ca_file: str | os.PathLike[str] | None, *, trust_env: bool) -> str:
    """Returns the file of root certificates to trust: given, environment's, system's or certifi's.

    Returns ``""`` if none is found, and on Windows if none is named: the system's store of roots or
    libcurl's own default then applies. Raises ConfigurationError if the given file or the
    environment's does not exist.
    """
    if ca_file is not None:
        return _named(validate.path("ca_file", ca_file), "ca_file")
    if trust_env:
        for variable in _VARIABLES:
            named = os.environ.get(variable)
            if named:
                return _named(named, variable)
    if HAS_ROOT_STORE:  # it has the roots of the user's organisation, which certifi lacks
        return ""
    for path in _SYSTEM_FILES:
        if os.path.isfile(path):
            return path
    try:
        import certifi
    except ImportError:
        return ""
    where: str = certifi.where()
    return where


def _named(path: str, source: str) -> str:
    if not os.path.isfile(validate.text(source, path)):
        raise ConfigurationError(
            f"the CA file {path} named by {source} does not exist", hint="ca_file"
        )
    return path
