"""TLS faults: what a handshake says is not tried again, one that breaks is; messages help."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tradingdata as td
from calls import TOKEN, both, failure, good_book, served, within
from service import (
    EMPTY_BOOK,
    Authority,
    Behaviour,
    Connection,
    Service,
    close_delimited,
    hang_up,
    stall,
    steps,
)
from tradingdata._util.platform import HAS_ROOT_STORE
from tradingdata.client import options as certificates


@both
def test_a_trusted_certificate_serves(call: Any, tls_service: Service, ca: Authority) -> None:
    tls_service.script(good_book())
    assert len(call(tls_service.base_url, ca_file=ca.pem_file)) == 3
    assert tls_service.connections[0].tls == "TLSv1.3"
    assert tls_service.connections[0].alpn is None


@both
def test_https_on_a_plain_port(call: Any, service: Service, ca: Authority) -> None:
    error = failure(service.url(scheme="https"), call=call, ca_file=ca.pem_file)
    check_refused(error, OLD)


def test_http_on_a_tls_port_is_no_endless_wait(tls_service: Service) -> None:
    error = failure(tls_service.url(scheme="http"), attempts=1, timeout=5)
    assert isinstance(error, td.TransportError)
    assert error.elapsed < 5  # the deadline


@both
def test_a_handshake_that_stalls_ends_at_the_deadline(call: Any, ca: Authority) -> None:
    with Service(tls=ca.good(), on_connect=stall()) as service, within(0.3, at_least=0.25):
        error = failure(service.base_url, call=call, ca_file=ca.pem_file, timeout=0.3)
    assert type(error) is td.DeadlineError
    assert "the deadline passed during the TLS handshake with 127.0.0.1" in str(error)


def test_a_handshake_that_stalls_ends_with_connect_timeout(ca: Authority) -> None:
    with Service(tls=ca.good(), on_connect=stall()) as service:
        options: dict[str, Any] = {"connect_timeout": 0.2, "attempts": 2, "timeout": 10}
        error = failure(service.base_url, ca_file=ca.pem_file, **options)
        assert len(service.connections) == 2
    assert type(error) is td.ConnectError
    assert "connect_timeout passed during the TLS handshake" in str(error)


ALERT = b"\x15\x03\x03\x00\x02\x02"  # a fatal one, without its number


def alert(number: int) -> Behaviour:
    """Refuse the client's hello with an alert of TLS."""

    def behave(connection: Connection) -> None:
        connection.take(100)
        connection.send(ALERT + bytes([number]))
        connection.close()

    return behave


def after_hello(behaviour: Behaviour) -> Behaviour:
    """Do something once the client's hello has arrived."""

    def behave(connection: Connection) -> None:
        connection.take(100)
        behaviour(connection)

    return behave


INTERNAL_ERROR, HANDSHAKE_FAILURE, BAD_CERTIFICATE, PROTOCOL_VERSION = 80, 40, 42, 70


@both
@pytest.mark.parametrize(
    "way",
    [hang_up, after_hello(hang_up), after_hello(Connection.reset), alert(INTERNAL_ERROR)],
    ids=["closed", "closed after the hello", "reset", "internal error"],
)
def test_a_handshake_that_breaks_is_tried_again(call: Any, ca: Authority, way: Behaviour) -> None:
    def first_only(connection: Connection) -> None:
        if connection.number == 0:
            way(connection)

    with served(then=good_book(), tls=ca.good(), on_connect=first_only) as service:
        assert len(call(service.base_url, ca_file=ca.pem_file)) == 3
        assert len(service.connections) == 2
    with Service(tls=ca.good(), on_connect=way) as service:
        error = failure(service.base_url, call=call, ca_file=ca.pem_file, attempts=2)
    assert type(error) is td.ConnectError
    assert error.retryable
    assert "the connection to 127.0.0.1 broke during the TLS handshake" in str(error)


def client_certificate(ca: Authority, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = ca.client_certificate()
    context.maximum_version = version
    return context


UNTRUSTED = "no trusted connection to 127.0.0.1: the server's certificate "
UNCERTIFIED = "no TLS connection to 127.0.0.1"
OLD = r"no TLS connection to 127.0.0.1 \(TLS 1.2 or later is required\)"
REFUSED: dict[str, tuple[Callable[[Authority, Path], ssl.SSLContext], str]] = {
    "F9 expired": (lambda ca, _: ca.expired(), f"{UNTRUSTED}has expired"),
    "F10 not yet valid": (lambda ca, _: ca.not_yet_valid(), f"{UNTRUSTED}is not yet valid"),
    "F11 wrong host": (lambda ca, _: ca.wrong_host(), f"{UNTRUSTED}is for another host"),
    "F12 unknown CA": (lambda ca, _: ca.unknown_ca(), f"{UNTRUSTED}is signed by an authority that"),
    # It names no host either, which libcurl 8.22 checks first.
    "F12 self-signed": (
        lambda ca, folder: ca.self_signed(folder),
        f"{UNTRUSTED}(is signed by an authority that is not trusted here|is for another host)",
    ),
    "F13 TLS 1.1": (lambda ca, _: ca.old_tls(), OLD),
    "F134 TLS 1.2": (lambda ca, _: client_certificate(ca, ssl.TLSVersion.TLSv1_2), UNCERTIFIED),
    "F134 TLS 1.3": (lambda ca, _: client_certificate(ca, ssl.TLSVersion.TLSv1_3), UNCERTIFIED),
}


def check_refused(error: td.TradingDataError, words: str) -> None:
    assert type(error) is td.TLSError
    assert (error.attempts, error.retryable) == (1, False)
    assert re.match(f"POST /api/v1/trade/book: {words}", str(error))


@both
@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_certificate_or_handshake_is_refused_at_once(
    call: Any, ca: Authority, tmp_path: Path, name: str
) -> None:
    make, words = REFUSED[name]
    with Service(tls=make(ca, tmp_path)) as service:
        error = failure(service.base_url, call=call, ca_file=ca.pem_file)
        assert service.requests == []
        assert len(service.connections) == 1
    check_refused(error, words)


@both
@pytest.mark.parametrize("number", [HANDSHAKE_FAILURE, BAD_CERTIFICATE, PROTOCOL_VERSION])
def test_an_alert_that_refuses_the_handshake_is_final(
    call: Any, ca: Authority, number: int
) -> None:
    with Service(tls=ca.good(), on_connect=alert(number)) as service:
        error = failure(service.base_url, call=call, ca_file=ca.pem_file)
        assert len(service.connections) == 1
    check_refused(error, "no TLS connection to 127.0.0.1")


@both
@pytest.mark.parametrize("notify", [True, False], ids=["close_notify", "no close_notify"])
def test_a_whole_body_ended_by_the_close_is_taken(
    call: Any, tls_service: Service, ca: Authority, notify: bool
) -> None:
    """Curl says OK for a close without close_notify: the JSON decides."""
    tls_service.script(close_delimited(notify=notify))
    assert len(call(tls_service.base_url, ca_file=ca.pem_file)) == 0


@pytest.mark.parametrize("notify", [True, False], ids=["close_notify", "no close_notify"])
@pytest.mark.parametrize("keep", [0, 1, len(EMPTY_BOOK) // 2, len(EMPTY_BOOK) - 1])
def test_a_cut_body_ended_by_the_close_is_never_a_book(
    tls_service: Service, ca: Authority, notify: bool, keep: int
) -> None:
    cut: Behaviour = close_delimited(notify=notify, keep=keep)
    tls_service.script(cut, good_book())
    with td.Client(tls_service.base_url, access_token=TOKEN, ca_file=ca.pem_file) as client:
        assert len(client.trade_book()) == 3
    tls_service.script(then=cut)
    error = failure(tls_service.base_url, ca_file=ca.pem_file, attempts=2)
    assert error.retryable
    assert "incomplete body" in str(error) or "empty body" in str(error)


@pytest.mark.parametrize("states", ["other right other right gone", "right gone right"])
def test_a_replaced_ca_file_counts_at_once(states: str, tmp_path: Path, ca: Authority) -> None:
    """Also as the first change of a file that libcurl has parsed: it keeps that for a day."""
    file, authorities = tmp_path / "roots", {"other": Authority(tmp_path), "right": ca}
    refusals = {"other": "not trusted here", "gone": "cannot read the CA certificates"}
    with served(then=steps(good_book(), hang_up), tls=ca.good()) as service:
        shutil.copy(authorities[states.split()[0]].pem_file, file)
        with td.Client(service.base_url, access_token=TOKEN, ca_file=file) as client:
            for state in states.split():
                if state == "gone":
                    file.unlink()
                else:
                    new = shutil.copy(authorities[state].pem_file, tmp_path / "new")
                    Path(new).replace(file)
                if state == "right":
                    assert len(client.trade_book()) == 3
                    continue
                with pytest.raises(td.TLSError, match=refusals[state]):
                    client.trade_book()


class TestRoots:
    """Ca_file=, SSL_CERT_FILE, CURL_CA_BUNDLE, REQUESTS_CA_BUNDLE, the system's, certifi's."""

    VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")

    @pytest.fixture(autouse=True)
    def bare_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (*self.VARIABLES, "SSL_CERT_DIR"):
            monkeypatch.delenv(name, raising=False)

    @pytest.mark.parametrize("variable", VARIABLES)
    def test_the_environment_s_roots_are_trusted(
        self, tls_service: Service, ca: Authority, monkeypatch: pytest.MonkeyPatch, variable: str
    ) -> None:
        monkeypatch.setenv(variable, str(ca.pem_file))
        tls_service.script(then=good_book())
        with td.Client(tls_service.base_url, access_token=TOKEN) as client:
            assert len(client.trade_book()) == 3
        error = failure(tls_service.base_url, trust_env=False)
        assert type(error) is td.TLSError

    def test_the_order_of_places(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        files = {name: tmp_path / name for name in ("given", *self.VARIABLES)}
        for name, file in files.items():
            file.touch()
            if name != "given":
                monkeypatch.setenv(name, str(file))
        assert certificates.find_roots(files["given"], trust_env=True)[0] == str(files["given"])
        for name in self.VARIABLES:
            assert certificates.find_roots(None, trust_env=True)[0] == str(files[name])
            monkeypatch.delenv(name)
        system = certificates.find_roots(None, trust_env=True)[0]
        assert system == certificates.find_roots(None, trust_env=False)[0]
        assert not system or Path(system).is_file()

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig", "DER", "remark"])
    def test_a_file_in_another_form_is_read(
        self, tls_service: Service, ca: Authority, tmp_path: Path, encoding: str
    ) -> None:
        pem, file = ca.pem_file.read_text(), tmp_path / "roots"
        if encoding == "remark":
            pem, encoding = f"0 is where DER begins, too\n{pem}", "ascii"
        mark = "\ufeff" if encoding == "utf-16-be" else ""
        data = ssl.PEM_cert_to_DER_cert(pem) if encoding == "DER" else (mark + pem).encode(encoding)
        file.write_bytes(data)
        tls_service.script(then=good_book())
        with td.Client(tls_service.base_url, access_token=TOKEN, ca_file=file) as client:
            assert len(client.trade_book()) == 3

    @pytest.mark.parametrize("start", [b"", b"\x30\x82", b"\xff\xfe", b"\xfe\xffx", b"PK"])
    def test_a_file_that_is_none_has_the_reason_in_the_error(
        self, tls_service: Service, tmp_path: Path, start: bytes
    ) -> None:
        file = tmp_path / "roots"
        file.write_bytes(start + b"no certificate\n")
        error = failure(tls_service.base_url, ca_file=file)
        assert type(error) is td.TLSError
        assert f"cannot read the CA certificates in {file}: " in str(error)
        assert "name the PEM file of the authorities that you trust as `ca_file`" in str(error)

    @pytest.mark.skipif(HAS_ROOT_STORE, reason="libcurl reads no folder there")
    def test_ssl_cert_dir_is_read(
        self, tls_service: Service, ca: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "roots"
        folder.mkdir()
        hash_of = ["openssl", "x509", "-hash", "-noout", "-in", str(ca.pem_file)]
        name = subprocess.run(hash_of, capture_output=True, text=True, check=True).stdout.strip()
        shutil.copy(ca.pem_file, folder / f"{name}.0")
        monkeypatch.setenv("SSL_CERT_DIR", os.pathsep.join(["/nowhere", str(folder)]))
        tls_service.script(then=good_book())
        with td.Client(tls_service.base_url, access_token=TOKEN) as client:
            assert len(client.trade_book()) == 3
        other = Authority(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(other.pem_file))
        assert type(failure(tls_service.base_url)) is td.TLSError
        assert type(failure(tls_service.base_url, ca_file=other.pem_file)) is td.TLSError

    @pytest.mark.parametrize("variable", [*VARIABLES, "SSL_CERT_DIR"])
    def test_a_variable_that_names_no_file_is_named_in_the_error(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
    ) -> None:
        names = [str(tmp_path / name) for name in ("none", "nor")]
        value = os.pathsep.join(names) if variable == "SSL_CERT_DIR" else names[0]
        monkeypatch.setenv(variable, value)
        message = f"{re.escape(value)} named by {variable} do(es)? not exist"
        with pytest.raises(td.ConfigurationError, match=message):
            td.Client("https://api.example.test")
        td.Client("https://api.example.test", trust_env=False).close()

    def test_plain_http_on_loopback_needs_no_roots(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
        td.Client("http://127.0.0.1:1").close()

    @pytest.mark.skipif(HAS_ROOT_STORE, reason="the roots are those of the system's store")
    def test_certifi_is_the_last_resort(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(certificates, "_SYSTEM_FILES", ())
        (tmp_path / "certifi.py").write_text("def where(): return 'roots of certifi'\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(__import__("sys").modules, "certifi", raising=False)
        assert certificates.find_roots(None, trust_env=True)[0] == "roots of certifi"

    def test_without_any_libcurl_s_own_default_decides(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(certificates, "_SYSTEM_FILES", ())
        monkeypatch.setitem(__import__("sys").modules, "certifi", None)
        assert certificates.find_roots(None, trust_env=True)[0] == ""
