"""Token functions that count, and a service that takes one token, for the tests of tokens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from calls import good_book
from service import Behaviour, Request, Service, reply


def accepting(token: str, refusal: Behaviour | None = None) -> Callable[[Request], Behaviour]:
    """The service's choice: a book for this token, the refusal (401) for any other."""
    book = good_book()
    refusal = refusal or reply(401)
    return lambda request: book if request.header("authorization") == f"Bearer {token}" else refusal


def tokens_sent(service: Service) -> list[str]:
    return [(request.header("authorization") or "").removeprefix("Bearer ") for request in
            service.requests]  # fmt: skip


class Source:
    """A token function that counts: token-1, token-2, ..., up to `last`, after `seconds`."""

    def __init__(self, *, last: int = 99, seconds: float = 0.0) -> None:
        self.asked = 0
        self.at_once = self.most_at_once = 0
        self.last = last
        self.seconds = seconds

    def __call__(self) -> str:
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self.seconds)
        self.at_once -= 1
        return f"token-{min(self.asked, self.last)}"


class AsyncSource(Source):
    """The same, awaited."""

    async def __call__(self) -> str:  # type: ignore[override]
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.at_once -= 1
        return f"token-{min(self.asked, self.last)}"
