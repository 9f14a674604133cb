"""The options of both clients: signature, documentation and validation; and the CA roots.

An option is declared here and nowhere else in Python: in the signature, in ``Args`` and in
``CHECKS``. Profiles accept every option that a file can hold.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import tzinfo
from functools import wraps
from numbers import Real
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

from .. import _core
from .._util import validate
from .._util.platform import HAS_ROOT_STORE
from .._util.time_zones import checked_zone
from .._util.validate import NotCopied, count, did_you_mean, flag, hook, path, seconds, shown, text
from ..errors import ConfigurationError
from .tokens import Held, held, hide

# Paths of the distributions. The libcurl of a wheel may have been built with another default path.
_SYSTEM_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Alpine, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/pki/tls/cacert.pem",  # OpenELEC
    "/etc/ssl/cert.pem",  # macOS, BSD
)
_VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
_MARKS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}


def find_roots(ca_file: str | os.PathLike[str] | None, *, trust_env: bool) -> tuple[str, str]:
    """Returns the file of root certificates to trust, or the folders that ``SSL_CERT_DIR`` names.

    A file takes precedence: given, or else the environment's; without folders, the system's or
    certifi's. The folders are a list as in ``PATH``, of PEM files with hashed names, as ``openssl
    rehash`` makes them. Both are ``""`` if nothing is found, and on Windows if nothing is named:
    the system's store of roots or libcurl's own default then applies.

    Raises ConfigurationError if the given file or the environment's does not exist, or none of the
    folders.
    """
    variables = {name: os.environ.get(name) for name in _VARIABLES if trust_env}
    for source, file in {"ca_file": ca_file, **variables}.items():
        if file is not None and (file or source == "ca_file"):
            return _file_of_roots(file, source), ""
    folders = os.environ.get("SSL_CERT_DIR", "") if trust_env else ""
    if folders and not any(map(os.path.isdir, folders.split(os.pathsep))):
        raise ConfigurationError(
            f"the CA folders {folders} named by SSL_CERT_DIR do not exist: unset it, or name the "
            "PEM file of the authorities that you trust as `ca_file` or in SSL_CERT_FILE"
        )
    if folders or HAS_ROOT_STORE:  # the store has the roots of the user's organisation, too
        return "", folders
    for system in _SYSTEM_FILES:
        if os.path.isfile(system):
            return system, ""
    try:
        import certifi
    except ImportError:
        return "", ""
    return certifi.where(), ""


def _file_of_roots(file: str | os.PathLike[str], source: str) -> str:
    path = validate.text(source, validate.path(source, file))
    if not os.path.isfile(path):
        problem = "is not a file" if os.path.exists(path) else "does not exist"
        raise ConfigurationError(
            f"the CA file {path} named by {source} {problem}: name the PEM file of the authorities "
            "that you trust as `ca_file` or in SSL_CERT_FILE"
        )
    return path


def pem_of(file: str) -> str:
    """Returns a file of roots as PEM if libcurl cannot read it itself, else ``""``.

    Windows exports certificates as DER, and text as UTF-16 or with a byte order mark. What cannot
    be read is left to libcurl, which says why.
    """
    with suppress(OSError), open(file, "rb") as opened:
        content = opened.read()
        if content.startswith(b"\x30\x82"):  # a long ASN.1 sequence; text may begin with "0"
            from ssl import DER_cert_to_PEM_cert

            return DER_cert_to_PEM_cert(content)
        for mark, coding in _MARKS.items():
            if content.startswith(mark):
                return content.decode(coding, "replace")
    return ""


BASE_URL_VARIABLE = "TRADINGDATA_BASE_URL"
_MOST_ATTEMPTS = 2**31 - 1

P = ParamSpec("P")
Token = TypeVar("Token")
"""The type of ``access_token``: text, or the kinds of function that the client can call."""


def attempts(name: str, value: object) -> int:
    """Returns a number of requests that the core can count to."""
    return min(count(name, value), _MOST_ATTEMPTS)


class RateLimit(NotCopied):
    """Limits the request rate of one or more clients that share it.

    Calls wait for their turn within their deadline.

    Args:
        per_second: Average number of requests per second.
        burst: Number of requests that may be sent at once after a pause.

    Raises:
        ConfigurationError: ``per_second`` is not above 0, or ``burst`` is not from 1 to 1,000,000.
    """

    __module__ = "tradingdata"
    _not_copied = "the clients of one process share it"

    def __init__(self, per_second: float, *, burst: int = 1) -> None:
        number: object = per_second  # a type checker does not take a float for a Real
        if not isinstance(number, Real):
            raise TypeError(f"per_second must be a number, not {shown(per_second)}")
        try:
            pace = float(number)
        except OverflowError:
            raise ConfigurationError(
                "RateLimit: per_second is above all floats: pass a smaller number"
            ) from None
        self._limit = _core.RateLimit(pace, count("burst", burst, most=1_000_000))

    @property
    def per_second(self) -> float:
        """Average number of requests per second."""
        return self._limit.per_second

    @property
    def burst(self) -> int:
        """Number of requests that may be sent at once after a pause."""
        return self._limit.burst

    def __repr__(self) -> str:
        return f"RateLimit({self.per_second:g}, burst={self.burst})"


def rate_limit(name: str, value: object) -> _core.RateLimit:
    """Returns the core's part of a rate limit."""
    if not isinstance(value, RateLimit):
        raise TypeError(f"{name} must be a tradingdata.RateLimit, not {shown(value)}")
    return value._limit


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "base_url": text,
    "account": text,
    "timeout": seconds,
    "connect_timeout": seconds,
    "attempts": attempts,
    "rate_limit": rate_limit,
    "proxy": text,
    "trust_env": flag,
    "ca_file": path,
    "max_body": count,
    "strict": flag,
    "keep_personal_data": flag,
    "on_retry": hook,
    "tz": checked_zone,
}
"""How each option but the token is validated. None is valid where it is the default."""


IN_FILES = {name: check for name, check in CHECKS.items() if check not in (rate_limit, hook)}
"""The options that a profile may have."""

SECRET = ("access_token", "base_url", "proxy")
"""The options that may hold a secret; both clients take their values wrapped by ``hide`` too."""

_KNOWN = {"access_token", *CHECKS}


def hidden(options: Mapping[str, Any], known: Collection[str] = CHECKS) -> dict[str, Any]:
    """Wraps the values that may be secret, also under a name that is no option."""
    return {
        name: value if value is None or (name in known and name not in SECRET) else hide(value)
        for name, value in options.items()
    }


RetryHook = Callable[[int, str, float], None]  # attempt, reason, delay


class Retry(NamedTuple):
    """A failed attempt and the wait before the next one, as passed to ``on_retry``.

    Attributes:
        call: Name of the client's method, such as ``"trade_book"`` or ``"search"``.
        account: The client's label for the account, or ``None``.
        attempt: Number of the attempt that failed, from 1.
        reason: Text that describes the failure.
        delay: Seconds until the next attempt.
    """

    call: str
    account: str | None
    attempt: int
    reason: str
    delay: float


_INSTEAD = {
    "access_token=": "token api_key key secret auth",
    "attempts=": "retries max_retries max_retry retry",
    "base_url=": "url host endpoint",
    "tz=": "timezone zone tzinfo",
    "proxy=": "proxies",
    "ca_file= for other authorities; certificates are always verified": "verify cert",
}


def check_names(owner: str, options: Iterable[str]) -> None:
    """Raises TypeError for a name that is no option, with the one that was probably meant."""
    for name in options:
        if name not in _KNOWN:
            hint = did_you_mean(name, _KNOWN, _INSTEAD)
            raise TypeError(f"{owner} has no option {name!r}{hint}")


def _named_right(function: Callable[P, None]) -> Callable[P, None]:
    """Makes the TypeError of wrong arguments name the right ones, and show no value."""

    @wraps(function)
    def checked(*args: Any, **options: Any) -> None:
        self, *values = args
        args = (self, *map(hide, values))
        values = [None] * len(values)
        options = hidden(options)
        check_names(type(self).__name__, options)
        if len(values) > 1:
            raise TypeError(
                f"{type(self).__name__} takes options by name: write access_token=, timeout= ..."
            )
        function(*args, **options)

    return checked


class ClientOptions(Generic[Token]):
    """Validates the options of a client, then opens it."""

    _open: Callable[..., None]

    @_named_right
    def __init__(
        self,
        base_url: str | None = None,
        *,
        access_token: Token | None = None,
        account: str | None = None,
        timeout: float = 30,
        connect_timeout: float = 5,
        attempts: int = 4,
        rate_limit: RateLimit | None = None,
        proxy: str | None = None,
        trust_env: bool = True,
        ca_file: str | os.PathLike[str] | None = None,
        max_body: int = 256 * 2**20,
        strict: bool = False,
        keep_personal_data: bool = False,
        on_retry: Callable[[Retry], object] | None = None,
        tz: str | tzinfo | None = None,
    ) -> None:
        """Creates a client; sends no request.

        Args:
            base_url: URL of the service, such as ``https://api.example.com``; defaults to the
                environment variable ``TRADINGDATA_BASE_URL``. Plain http is accepted for loopback
                only.
            access_token: Bearer token, or a function that returns one and is called again when the
                service refuses the current token (see ``token_file``); for ``AsyncClient`` it may
                be an async function. Defaults to the environment variable
                ``TRADINGDATA_ACCESS_TOKEN``. Without a token, ``search`` works and the books raise
                ``ConfigurationError``.
            account: Label of the account for your own use; never sent. The rows of books, responses
                and errors have it as ``account``.
            timeout: Total seconds for a call, including all attempts and the waits between them.
            connect_timeout: Seconds for one attempt to connect, with its TLS handshake. The lookup
                of the name before it may take until the deadline.
            attempts: Maximum number of requests per call.
            rate_limit: A ``RateLimit``; several clients may share one.
            proxy: URL of an HTTP or SOCKS proxy, or ``""`` for none; ``None`` uses the
                environment's proxy. Never used for loopback.
            trust_env: Whether to use the environment's proxies and CA files.
            ca_file: File of trusted root certificates, in PEM or DER. Defaults to
                ``SSL_CERT_FILE``, ``CURL_CA_BUNDLE``, ``REQUESTS_CA_BUNDLE``, the folders of
                ``SSL_CERT_DIR``, the system's file or certifi's, in this order.
            max_body: Maximum size of a decompressed response body in bytes.
            strict: Whether lost or missing values raise ``DecodeError`` instead of issuing a
                warning.
            keep_personal_data: Whether to keep PANs, clients' tax numbers, instead of masking them.
            on_retry: Called with a ``Retry`` before each wait for another attempt.
            tz: Time zone of the times in the books, such as ``"Asia/Kolkata"``; see
                ``TradeBook.localize``. The service does not document one, so times are naive unless
                given.

        Raises:
            ConfigurationError: An option is missing or has an unusable value.
            TypeError: An option has the wrong type.
        """
        # Drop from this frame what may be secret before anything can raise: error reporters print
        # the local variables of a traceback. They need the names, so none is deleted. A proxy's URL
        # may have a password, and the base URL may be a token, passed by mistake.
        token = held(access_token)
        access_token = None
        if base_url is None:
            base_url = os.environ.get(BASE_URL_VARIABLE, "")
        hidden = {"base_url": hide(base_url), "proxy": hide(proxy)}
        base_url = proxy = None
        arguments = {**locals(), **hidden}
        options = {name: _checked_option(name, arguments[name]) for name in CHECKS}
        if not options["base_url"].value:
            raise ConfigurationError(
                f"no base URL: pass `base_url`, set {BASE_URL_VARIABLE} or use a profile; to try "
                "the package without an account, run `python -m tradingdata demo`"
            )
        self._open(token, options)


_INIT: Any = vars(ClientOptions.__init__)["__wrapped__"]
_DEFAULTS: dict[str, object] = _INIT.__kwdefaults__


def _checked_option(name: str, value: Any) -> Any:
    if isinstance(value, Held):
        return value if value.value is None else Held(CHECKS[name](name, value.value))
    if value is None and _DEFAULTS.get(name, ...) is None:
        return None
    return CHECKS[name](name, value)
