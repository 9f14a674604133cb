"""Access tokens that die: where the next one comes from, asked for once however many calls wait."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from contextvars import ContextVar

from .._util.fork_safety import ForkLock
from ..errors import AuthenticationError, ConfigurationError, DeadlineError, ServiceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .. import _core

ACCESS_TOKEN_VARIABLE = "TRADINGDATA_ACCESS_TOKEN"  # the variable's name, not a token

# What says that a token may have died: HTTP 401 or 403, or an envelope that says no.
REFUSALS = (AuthenticationError, ServiceError)

_NO_TOKEN = (
    "the books need an access token: pass access_token=, set TRADINGDATA_ACCESS_TOKEN, "
    "or assign client.access_token"
)

# The sources whose function runs in this thread or task: it must not wait for itself.
_asking: ContextVar[tuple[object, ...]] = ContextVar("tradingdata_asking", default=())


class Held:
    """A token, or what gives it, on its way to the core.

    Tools that show the locals of a traceback show this and nothing of the token: no frame of the
    package keeps one under a name of its own while something may be raised.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def held(token: Any) -> Held:
    """The token that was given, or the environment's; an empty variable is none."""
    if isinstance(token, Held):
        return token
    return Held((os.environ.get(ACCESS_TOKEN_VARIABLE) or None) if token is None else token)


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling it gives something to await, as far as can be told without calling it."""
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004
    )


class Source:
    """What both kinds of source share: the token's generation, and what a function may return."""

    _takes_async = False

    def __init__(self, core: _core.Client, token: Held) -> None:
        self._core = core
        self._changing = ForkLock()
        self._generation = 0
        self._function: Callable[[], Any] | None = None
        self.assign(token)

    @property
    def known(self) -> bool:
        """Whether there is a token, or a function that gives one."""
        return self._function is not None or self._core.has_token

    def assign(self, token: Held) -> None:
        """Replaces the token, or what gives it."""
        fixed = isinstance(token.value, str)
        if token.value is not None and not fixed and not callable(token.value):
            kind = type(token.value).__name__
            raise TypeError(f"access_token is text or a function that returns it, not {kind}")
        if callable(token.value) and not self._takes_async and is_async(token.value):
            raise ConfigurationError(
                "access_token is an async function, which AsyncClient takes; pass a plain function"
            )
        with self._changing:
            if fixed:
                self._set(token)
            else:
                self._core.clear_token()
            self._function = None if fixed else token.value
            self._generation += 1

    def _set(self, token: Held) -> bool:
        """Hands the token to the core; ConfigurationError where it cannot be a header."""
        if not token.value.isascii():  # pybind11 would show a value that it cannot convert
            raise ConfigurationError(
                "access_token cannot be sent in a header: it holds a character outside ASCII "
                "(the value is not shown)"
            )
        return self._core.set_token(token.value)

    def _function_or_fail(self) -> Callable[[], Any]:
        if self._function is None:
            raise ConfigurationError(_NO_TOKEN)
        return self._function

    def _refuse_reentry(self) -> None:
        if self in _asking.get():
            raise ConfigurationError(
                "the access_token function used the client that waits for its token"
            )

    def _take(self, token: Held) -> bool:
        """Keeps what the function returned; False where it is the token that was refused."""
        if not isinstance(token.value, str):
            if hasattr(token.value, "close"):
                token.value.close()  # a coroutine must not be left to warn that nobody awaited it
            kind = type(token.value).__name__
            raise AuthenticationError(f"the access_token function returned {kind}, not text")
        try:
            with self._changing:
                changed = self._set(token)
                self._generation += changed
        except ConfigurationError as error:
            raise AuthenticationError(
                f"the access_token function returned a token that cannot be used: {error}"
            ) from None
        return changed

    @contextmanager
    def _as_asking(self) -> Iterator[None]:
        """Marks this thread or task as the one that asks, and wraps what the function raises."""
        asking = _asking.set((*_asking.get(), self))
        try:
            yield
        except ConfigurationError as error:  # its message is ours, and holds no secret
            raise AuthenticationError(f"the access_token function failed: {error}") from error
        except Exception as error:
            raise AuthenticationError(
                f"the access_token function failed with {type(error).__name__}: see the error above"
            ) from error
        finally:
            _asking.reset(asking)


def late() -> DeadlineError:
    """The error of a call whose time went by before there was a token to send."""
    error = DeadlineError(
        "the time was up while the access_token function was asked; make it faster, or give a "
        "longer timeout="
    )
    error.retryable = True
    return error


class TokenSource(Source):
    """The token of one client: a fixed text, or a function that is asked when one is needed."""

    def __init__(self, core: _core.Client, token: Held) -> None:
        super().__init__(core, token)
        self._turn = ForkLock()  # held by the thread that calls the function; others use its result

    def ready(self, deadline: float) -> int:
        """Makes sure that there is a token; returns which one, to be told to ``refresh``.

        ``deadline`` is on ``time.monotonic``: others that ask are not waited for longer.
        """
        if not self._core.has_token:
            with self._asking_alone(deadline):
                if not self._core.has_token:
                    self._take(Held(self._asked(self._function_or_fail())))
        return self._generation

    def refresh(self, generation: int, deadline: float) -> bool:
        """Asks for another token after the one of ``generation`` was refused.

        False where there is no function or it gives the same token again: the refusal stands then.
        """
        if self._generation != generation:
            return True  # another call asked meanwhile, or a token was assigned
        if self._function is None:
            return False
        with self._asking_alone(deadline):
            if self._generation != generation:
                return True
            return self._take(Held(self._asked(self._function)))

    @contextmanager
    def _asking_alone(self, deadline: float) -> Iterator[None]:
        self._refuse_reentry()
        if not self._turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise late()
        try:
            yield
        finally:
            self._turn.release()

    def _asked(self, function: Callable[[], Any]) -> object:
        with self._as_asking():
            return function()


def token_file(path: str | os.PathLike[str]) -> Callable[[], str]:
    """A token function that reads a file: ``Client(url, access_token=td.token_file(path))``.

    The file is read when a token is needed, so a job that writes a new one each morning is enough.
    White space round the token is dropped, and so is a byte order mark.
    """
    name = os.fspath(path)

    def read_token() -> str:
        # Bytes that are no text stay a character that no token may have: the error of a codec would
        # carry the file's content along.
        try:
            with open(name, encoding="utf-8-sig", errors="replace") as file:
                return file.read().strip()
        except OSError as error:
            # Without its name: it may be the token itself, given where its file's name belongs.
            raise ConfigurationError(
                f"the token's file cannot be read: {error.strerror}; check access_token_file, or "
                "the path of td.token_file()"
            ) from error

    return read_token
