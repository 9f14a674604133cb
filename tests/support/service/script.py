"""Which behaviour responds to which request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TypeAlias

from .connection import Behaviour
from .request import Request

Choice: TypeAlias = Callable[[Request], Behaviour]


class Unscripted(Exception):
    """A request came for which the script has no behaviour."""


class Script:
    """Behaviours by path; a path without its own is handled by the ones for all paths."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._choices: dict[str | None, Choice] = {}

    def script(
        self,
        *behaviours: Behaviour,
        then: Behaviour | None = None,
        path: str | None = None,
    ) -> None:
        """Use the behaviours one by one, and `then` for each request after them.

        Without `then`, a request more than scripted is an error that leaving the service raises.
        A new script for a `path` (None: all paths) takes the place of the old one.
        """
        self.script_from(behaviours, then=then, path=path)

    def script_from(
        self,
        behaviours: Iterable[Behaviour],
        *,
        then: Behaviour | None = None,
        path: str | None = None,
    ) -> None:
        """Do what `script` does for any iterable, an endless one included."""
        left = iter(behaviours)

        def next_of(request: Request) -> Behaviour:
            behaviour = next(left, then)
            if behaviour is None:
                raise Unscripted(f"{request.method} {request.target[:200]}")
            return behaviour

        self.choose(next_of, path=path)

    def choose(self, choice: Choice, *, path: str | None = None) -> None:
        """Ask a function for the behaviour of each request; calls never overlap."""
        with self._lock:
            self._choices[path] = choice

    def _behaviour_for(self, request: Request) -> Behaviour:
        with self._lock:
            choice = self._choices.get(request.path) or self._choices.get(None)
            if choice is None:
                raise Unscripted(f"{request.method} {request.target[:200]}")
            return choice(request)
