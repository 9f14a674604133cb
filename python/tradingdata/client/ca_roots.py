"""Where the roots of trust are: libcurl as a library looks at no environment variable."""

from __future__ import annotations

import os

from .._util.validate import text
from ..errors import ConfigurationError

# What OpenSSL and the distributions use; a wheel's own libcurl may have been built for another one.
_SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/pki/tls/cacert.pem",  # OpenELEC
    "/etc/ssl/cert.pem",  # macOS, BSD
)
_VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


def find_ca_file(ca_file: str | os.PathLike[str] | None, *, trust_env: bool) -> str:
    """The file of CA roots to trust: the one given, the environment's, the system's, or certifi's.

    Returns ``""`` where none is found: libcurl's own default decides then. Raises
    ConfigurationError for a file that was named and is not there.
    """
    if ca_file is not None:
        try:
            path = os.fsdecode(ca_file)
        except TypeError:
            raise TypeError(f"ca_file is the path of a file, not {ca_file!r}") from None
        return _named(path, "ca_file=")
    if trust_env:
        for variable in _VARIABLES:
            named = os.environ.get(variable)
            if named:
                return _named(named, variable)
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
    if not os.path.isfile(text(source, path)):
        raise ConfigurationError(
            f"the CA file {path} that {source} names is not there; name a file of trusted roots "
            "in PEM form with ca_file="
        )
    return path
