"""A test certificate authority and server contexts that are right, or wrong in one way (F9-F13)."""

from __future__ import annotations

import datetime as dt
import ssl
import warnings
from collections.abc import Sequence
from pathlib import Path

import trustme

HOSTS = ("127.0.0.1", "::1", "localhost", "api.example.test")
DAY = dt.timedelta(days=1)


class Authority:
    """A certificate authority; `pem_file` is the file that a client must trust.

    Every context may be given `alpn`, the protocols offered, such as ["h2", "http/1.1"].
    """

    def __init__(self, folder: Path) -> None:
        self._ca = trustme.CA()
        self.pem_file = folder / "test-ca.pem"
        self._ca.cert_pem.write_to_path(self.pem_file)

    def good(self, *hosts: str, alpn: Sequence[str] = ()) -> ssl.SSLContext:
        """Serve with a valid certificate for `hosts`; without any, for loopback and HOSTS."""
        return _context(self._ca.issue_cert(*(hosts or HOSTS)), alpn)

    def expired(self) -> ssl.SSLContext:
        """Serve with a certificate that ended yesterday (F9)."""
        now = dt.datetime.now(dt.UTC)
        leaf = self._ca.issue_cert(*HOSTS, not_before=now - 2 * DAY, not_after=now - DAY)
        return _context(leaf)

    def not_yet_valid(self) -> ssl.SSLContext:
        """Serve with a certificate that begins tomorrow (F10)."""
        now = dt.datetime.now(dt.UTC)
        leaf = self._ca.issue_cert(*HOSTS, not_before=now + DAY, not_after=now + 2 * DAY)
        return _context(leaf)

    def wrong_host(self) -> ssl.SSLContext:
        """Serve with a valid certificate for another host (F11)."""
        return self.good("other.example.test")

    def unknown_ca(self) -> ssl.SSLContext:
        """Serve with a certificate of an authority that no client trusts (F12)."""
        return _context(trustme.CA().issue_cert(*HOSTS))

    def self_signed(self, folder: Path) -> ssl.SSLContext:
        """Serve with a certificate that signed itself (F12); `folder` holds its files."""
        own = trustme.CA()
        chain = folder / "self-signed.pem"
        own.private_key_pem.write_to_path(chain)
        own.cert_pem.write_to_path(chain, append=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def client_certificate(self) -> ssl.SSLContext:
        """Serve only clients that have a certificate, which TLS 1.3 asks for at the end (F134)."""
        context = self.good()
        context.verify_mode = ssl.CERT_REQUIRED
        self._ca.configure_trust(context)
        return context

    def common_name_only(self, host: str) -> ssl.SSLContext:
        """Serve with a certificate that names `host` as its Common Name and nowhere else."""
        return _context(self._ca.issue_cert("me@example.test", common_name=host))

    def old_tls(self) -> ssl.SSLContext:
        """Serve TLS 1.1 and nothing newer (F13); RuntimeError where OpenSSL has none."""
        if not ssl.HAS_TLSv1_1:
            raise RuntimeError("this Python's OpenSSL has no TLS 1.1")
        context = self.good()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("DEFAULT@SECLEVEL=0")
        return context


def _context(leaf: trustme.LeafCert, alpn: Sequence[str] = ()) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    leaf.configure_cert(context)
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context
