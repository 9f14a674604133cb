"""Logging: one line for each call and each retry, in the logger ``tradingdata``.

Lines never contain a token, a search query or a response body.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable

    from ..errors import TradingDataError

CALLS = {"Trade": "trade_book", "Order": "order_book", "Stock": "search"}


class Retry(NamedTuple):
    """A failed attempt and the wait before the next one, as passed to ``on_retry``.

    Attributes:
        call: ``"trade_book"``, ``"order_book"`` or ``"search"``.
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


_found: logging.Logger | None = None


def _logger() -> logging.Logger | None:
    # A program that never imported logging has no handler: do not make it pay for the import.
    global _found
    if _found is None and (module := sys.modules.get("logging")) is not None:
        _found = module.getLogger("tradingdata")
        if not _found.handlers:
            _found.addHandler(module.NullHandler())  # silent unless the user configures logging
    return _found


def log_retry(
    what: str, account: str | None, on_retry: Callable[[Retry], object] | None
) -> Callable[[int, str, float], None]:
    """Returns the function that the core calls before it waits for another attempt."""

    def report(attempt: int, reason: str, delay: float) -> None:
        retry = Retry(CALLS[what], account, attempt, reason, delay)
        logger = _logger()
        if logger is not None:
            label = f" [{account}]" if account is not None else ""
            logger.info(
                "%s%s: attempt %d failed (%s), again in %.2f s",
                retry.call, label, attempt, reason, delay,
            )  # fmt: skip
        if on_retry is not None:
            on_retry(retry)

    return report


def log_end(
    what: str,
    account: str | None,
    elapsed: float,
    *,
    status: int | None = None,
    error: TradingDataError | None = None,
) -> None:
    """Logs how a call ended."""
    logger = _logger()
    if logger is None:
        return
    label = f" [{account}]" if account is not None else ""
    if error is None:
        logger.debug("%s%s: %s in %.3f s", CALLS[what], label, status, elapsed)
    else:
        kind = type(error).__name__
        logger.info("%s%s: %s in %.3f s: %s", CALLS[what], label, kind, elapsed, error)
