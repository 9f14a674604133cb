"""Access tokens that die: where the next one comes from, asked for once however many calls wait."""

from __future__ import annotations

import os
import threading
from contextvars import ContextVar

from .errors import AuthenticationError, ConfigurationError, ServiceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop, Lock
    from collections.abc import Awaitable, Callable
    from typing import Any
    from weakref import WeakKeyDictionary

    from . import _core

# What says that a token may have died: HTTP 401 or 403, or an envelope that says no.
REFUSALS = (AuthenticationError, ServiceError)

_NO_TOKEN = (
    "the books need an access token: pass access_token=, set TRADINGDATA_ACCESS_TOKEN, "
    "or assign client.access_token"
)

# The sources whose function runs in this thread or task: it must not wait for itself.
_asking: ContextVar[tuple[object, ...]] = ContextVar("tradingdata_asking", default=())


def _is_async(function: Callable[..., object]) -> bool:
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(type(function), "__call__", None)
    )


class _Source:
    """What both kinds of source share: the token's generation, and what a function may return."""

    _takes_async = False

    def __init__(self, core: _core.Client, token: Any) -> None:
        self._core = core
        self._changing = threading.Lock()
        self._generation = 0
        self._function: Callable[[], Any] | None = None
        self.assign(token)

    @property
    def known(self) -> bool:
        """Whether there is a token, or a function that gives one."""
        return self._function is not None or self._core.has_token

    def assign(self, token: Any) -> None:
        """Replaces the token, or what gives it."""
        if token is not None and not isinstance(token, str) and not callable(token):
            raise ConfigurationError(
                f"access_token is text or a function that returns it, not {type(token).__name__}"
            )
        if callable(token) and not self._takes_async and _is_async(token):
            raise ConfigurationError(
                "access_token is an async function, which AsyncClient takes; pass a plain function"
            )
        with self._changing:
            if isinstance(token, str):
                self._set(token)
            else:
                self._core.clear_token()
            self._function = None if isinstance(token, str) else token
            self._generation += 1

    def _set(self, token: str) -> bool:
        """Hands the token to the core; ConfigurationError where it cannot be a header."""
        if not token.isascii():  # pybind11 would show a value that it cannot convert
            raise ConfigurationError(
                "access_token cannot be sent in a header: it holds a character outside ASCII "
                "(the value is not shown)"
            )
        return self._core.set_token(token)

    def _function_or_fail(self) -> Callable[[], Any]:
        if self._function is None:
            raise ConfigurationError(_NO_TOKEN)
        return self._function

    def _refuse_reentry(self) -> None:
        if self in _asking.get():
            raise ConfigurationError(
                "the access_token function used the client that waits for its token"
            )

    def _take(self, token: object) -> bool:
        """Keeps what the function returned; False where it is the token that was refused."""
        if not isinstance(token, str):
            raise AuthenticationError(
                f"the access_token function returned {type(token).__name__}, not text"
            )
        try:
            with self._changing:
                changed = self._set(token)
                self._generation += changed
        except ConfigurationError as error:
            raise AuthenticationError(
                f"the access_token function returned a token that cannot be used: {error}"
            ) from None
        return changed


def _failed(error: Exception) -> AuthenticationError:
    return AuthenticationError(
        f"the access_token function failed with {type(error).__name__}: see the error above"
    )


class TokenSource(_Source):
    """The token of one client: a fixed text, or a function that is asked when one is needed."""

    def __init__(self, core: _core.Client, token: str | Callable[[], str] | None) -> None:
        self._turn = threading.Lock()  # who holds it asks; the others wait and use the answer
        super().__init__(core, token)

    def ready(self) -> int:
        """Makes sure that there is a token; returns which one, to be told to ``refresh``."""
        if not self._core.has_token:
            self._refuse_reentry()
            with self._turn:
                if not self._core.has_token:
                    self._take(self._asked(self._function_or_fail()))
        return self._generation

    def refresh(self, generation: int) -> bool:
        """Asks for another token after the one of ``generation`` was refused.

        False where there is no function or it gives the same token again: the refusal stands then.
        """
        self._refuse_reentry()
        with self._turn:
            if self._generation != generation:
                return True  # another call asked meanwhile, or a token was assigned
            if self._function is None:
                return False
            return self._take(self._asked(self._function))

    def _asked(self, function: Callable[[], Any]) -> object:
        asking = _asking.set((*_asking.get(), self))
        try:
            return function()
        except Exception as error:
            raise _failed(error) from error
        finally:
            _asking.reset(asking)


class AsyncTokenSource(_Source):
    """The same for AsyncClient: the function may be async; a plain one runs on a thread."""

    _takes_async = True

    def __init__(
        self, core: _core.Client, token: str | Callable[[], str | Awaitable[str]] | None
    ) -> None:
        from weakref import WeakKeyDictionary

        self._turns: WeakKeyDictionary[AbstractEventLoop, Lock] = WeakKeyDictionary()
        super().__init__(core, token)

    async def ready(self) -> int:
        """As ``TokenSource.ready``."""
        if not self._core.has_token:
            self._refuse_reentry()
            async with self._turn():
                if not self._core.has_token:
                    self._take(await self._asked(self._function_or_fail()))
        return self._generation

    async def refresh(self, generation: int) -> bool:
        """As ``TokenSource.refresh``."""
        self._refuse_reentry()
        async with self._turn():
            if self._generation != generation:
                return True
            if self._function is None:
                return False
            return self._take(await self._asked(self._function))

    def _turn(self) -> Lock:
        import asyncio

        return self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())

    async def _asked(self, function: Callable[[], Any]) -> object:
        import asyncio

        asking = _asking.set((*_asking.get(), self))
        try:
            return await (function() if _is_async(function) else asyncio.to_thread(function))
        except Exception as error:
            raise _failed(error) from error
        finally:
            _asking.reset(asking)


def token_file(path: str | os.PathLike[str]) -> Callable[[], str]:
    """A token function that reads a file: ``Client(url, access_token=td.token_file(path))``.

    The file is read when a token is needed, so a job that writes a new one each morning is enough.
    White space round the token is dropped.
    """
    name = os.fspath(path)

    def read_token() -> str:
        with open(name, encoding="utf-8") as file:
            return file.read().strip()

    return read_token
