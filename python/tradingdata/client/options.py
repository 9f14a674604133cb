"""Client options: validates them and creates the core's client."""

from __future__ import annotations

import os

from .. import _core
from .._util.validate import count, flag, seconds, text
from ..errors import ClientClosedError, ConfigurationError
from .ca_roots import find_ca_file

BASE_URL_VARIABLE = "TRADINGDATA_BASE_URL"
MOST_ATTEMPTS = 2**31 - 1


def make_core(
    base_url: str | None,
    *,
    timeout: float,
    connect_timeout: float,
    attempts: int,
    rate_limit: _core.RateLimit | None,
    proxy: str | None,
    trust_env: bool,
    ca_file: str | os.PathLike[str] | None,
    max_body: int,
    strict: bool,
    keep_personal_data: bool,
) -> _core.Client:
    """Returns the core's client for the options that both clients take."""
    url = os.environ.get(BASE_URL_VARIABLE, "") if base_url is None else base_url
    if not text("base_url", url):
        raise ConfigurationError(
            f"no base URL: pass it as the first argument or set {BASE_URL_VARIABLE}; "
            "to try the package without an account, run `python -m tradingdata demo`"
        )
    if rate_limit is not None and not isinstance(rate_limit, _core.RateLimit):
        raise TypeError(f"rate_limit must be a tradingdata.RateLimit, not {rate_limit!r}")
    secure = not url.lower().startswith("http:")
    return _core.Client(
        base_url=url,
        timeout=seconds("timeout", timeout),
        connect_timeout=seconds("connect_timeout", connect_timeout),
        attempts=min(count("attempts", attempts), MOST_ATTEMPTS),
        rate_limit=rate_limit,
        proxy=None if proxy is None else text("proxy", proxy),
        trust_env=flag("trust_env", trust_env),
        ca_file=find_ca_file(ca_file, trust_env=trust_env) if secure else "",
        max_body=count("max_body", max_body),
        strict=flag("strict", strict),
        keep_personal_data=flag("keep_personal_data", keep_personal_data),
    )


def check_open(core: _core.Client) -> None:
    """Raises ClientClosedError, before a token function is called to no purpose."""
    if core.closed:
        raise ClientClosedError("the client is closed: make a new one")
