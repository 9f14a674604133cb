"""Access tokens: refresh after a refusal, single-flight however many calls are waiting.

Token text is kept in the core; Python code passes it on inside a ``Held`` and keeps no copy.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any

from .. import _core
from .._util import validate
from .._util.platform import require_private
from .._util.waiting import ForkLock, Plan
from ..errors import AuthenticationError, ConfigurationError, DeadlineError, ServiceError

if TYPE_CHECKING:
    from asyncio import Task
    from concurrent.futures import Future

Fetch = Callable[[], object]  # a token function, which may return anything

ACCESS_TOKEN_VARIABLE = "TRADINGDATA_ACCESS_TOKEN"  # the variable's name, not a token

# Failures that may mean an expired token: HTTP 401 or 403, or an error envelope with HTTP 200.
REFUSALS = (AuthenticationError, ServiceError)

# Sources whose function is running in this thread or task. A function that uses its own client
# would wait for itself for ever, so that is refused.
_fetching: ContextVar[tuple[object, ...]] = ContextVar("tradingdata_fetching", default=())


class Held:
    """Wraps a token, or the function that returns one, on its way to the core.

    Its repr does not show the token. While an exception may be raised, no frame of the package
    binds the bare token to a local variable, because error reporters print those.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def hide(value: object) -> Held:
    """Wraps a value unless it is wrapped."""
    return value if isinstance(value, Held) else Held(value)


def held(token: object) -> Held:
    """Wraps the given token or the environment's; an empty variable counts as unset."""
    return hide((os.environ.get(ACCESS_TOKEN_VARIABLE) or None) if token is None else token)


def is_async(function: Callable[..., object]) -> bool:
    """Returns whether the function or callable object is declared async."""
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function) or iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004
    )


OF_SANDBOX = "sandbox-"
"""How the tokens of the simulated service begin."""


class Source:
    """Base of the token sources: the token's generation, and validation of new tokens.

    Attributes:
        generation: How often the token has changed.
        is_of_sandbox: Whether the token is one of the simulated service, whose clock is that of its
            books.
    """

    _takes_async = False
    # Renews the token when it is this call's turn, unless it is new by then.
    _in_turn: Callable[[Callable[[], bool], Fetch, float], bool | Awaitable[bool]]

    def __init__(self, core: _core.Client, token: Held) -> None:
        self._core = core
        self.is_of_sandbox = False
        self.generation = 0
        self._function: Fetch | None = None
        self._failures = 0  # how often a function has failed
        self._failure = ""
        self.assign(token)

    @property
    def known(self) -> bool:
        """Whether there is a token, or a function that returns one."""
        return self._function is not None or self._core.has_token

    def require(self) -> None:
        """Raises ConfigurationError if there is neither a token nor a function."""
        if not self.known:
            raise ConfigurationError(
                f"the books need an access token: pass `access_token`, set {ACCESS_TOKEN_VARIABLE} "
                "or use a profile"
            )

    def assign(self, token: Held) -> None:
        """Replaces the token or the token function."""
        fixed = isinstance(token.value, str)
        if token.value is not None and not fixed and not callable(token.value):
            kind = type(token.value).__name__
            raise TypeError(
                f"access_token must be text or a function that returns text, not {kind}"
            )
        if callable(token.value) and not self._takes_async and is_async(token.value):
            raise ConfigurationError(
                "access_token is an async function: pass a plain function, or use AsyncClient"
            )
        if fixed:
            self._set(token)
        else:
            self._core.clear_token()
        self._function = None if fixed else token.value
        self.generation += 1

    def _set(self, token: Held) -> bool:
        """Passes the token to the core. Raises ConfigurationError if a header cannot carry it."""
        if not token.value.isascii():  # pybind11's own error would show the value
            raise ConfigurationError(
                "access_token cannot be sent in a header: it contains a character outside ASCII "
                "(the value is not shown)"
            )
        on_loopback = self._core.base_url.startswith("http:")  # plain HTTP is accepted nowhere else
        self.is_of_sandbox = on_loopback and token.value.startswith(OF_SANDBOX)
        return self._core.set_token(token.value)

    def get(self, deadline: float) -> Plan[bool]:
        """Calls the function for the first token.

        Waits until ``deadline`` (``time.monotonic``) for a call of the function by another caller.
        """
        self.require()
        return (yield from self._renew(lambda: self._core.has_token, deadline))

    def refresh(self, generation: int, deadline: float) -> Plan[bool]:
        """Replaces the token of ``generation``, which the service refused.

        Returns False if there is no function, or if it returns the same token again: the caller
        then raises the refusal.
        """
        return (yield from self._renew(lambda: self.generation != generation, deadline))

    def _renew(self, is_new: Callable[[], bool], deadline: float) -> Plan[bool]:
        """Calls the function unless another call has renewed the token, or one was assigned."""
        function = self._function
        if is_new() or function is None:
            return is_new()
        if self in _fetching.get():
            raise ConfigurationError(
                "the access_token function used the client that is waiting for its token: use "
                "another client, or none, inside the function"
            )
        failures = self._failures

        def is_renewed() -> bool:
            failed = self._failures > failures and self._function is function
            if failed and not is_new():  # repeated logins may lock an account
                raise AuthenticationError(f"{self._failure} (in another call, at the same time)")
            return is_new()

        renewed: bool = yield self._in_turn(is_renewed, function, deadline)
        return renewed

    @contextmanager
    def _failures_counted(self) -> Iterator[None]:
        """Counts a failure for the calls that wait for the same run of the function."""
        try:
            yield
        except AuthenticationError as error:
            self._failures, self._failure = self._failures + 1, str(error)
            raise

    def _take(self, token: Held, function: Fetch) -> bool:
        """Stores what the function returned; False if it is the token that was refused."""
        if not isinstance(token.value, str):
            if hasattr(token.value, "close"):
                token.value.close()  # otherwise Python warns about a coroutine never awaited
            kind = type(token.value).__name__
            raise AuthenticationError(f"the access_token function returned {kind}, not text")
        if self._function is not function:  # another token was assigned meanwhile
            return True
        try:
            changed = self._set(token)
            self.generation += changed
        except ConfigurationError as error:
            raise AuthenticationError(
                f"the access_token function or file has a token that cannot be used: {error}"
            ) from None
        return changed

    @contextmanager
    def _inside_function(self) -> Iterator[None]:
        """Marks this context as running the function; wraps what the function raises."""
        reset = _fetching.set((*_fetching.get(), self))
        try:
            yield
        except ConfigurationError as error:  # raised by this package, so its text has no secret
            raise AuthenticationError(f"there is no access token: {error}") from error
        except Exception as error:
            raise AuthenticationError(
                f"the access_token function failed with {type(error).__name__}: see the error above"
            ) from error
        finally:
            _fetching.reset(reset)


def late(*, of_token: bool = True) -> DeadlineError:
    """Returns the error of a call whose deadline passed before a request was sent."""
    before = "waiting for the access_token function" if of_token else "preparing the request"
    return DeadlineError(
        f"the deadline passed while {before}: pass a longer `timeout`", passing=True
    )


class TokenSource(Source):
    """The token of one client: fixed text, or a function called when a token is needed."""

    def __init__(self, core: _core.Client, token: Held) -> None:
        super().__init__(core, token)
        self._turn = ForkLock()  # held while the function runs; waiting threads use its result

    def _in_turn(self, is_new: Callable[[], bool], function: Fetch, deadline: float) -> bool:
        def renew() -> bool:
            if is_new():
                return True
            with self._failures_counted():
                # In a context of its own: an interrupt may prevent the reset.
                return self._take(copy_context().run(self._fetch, function), function)

        try:
            return self._turn.holding(renew, deadline - time.monotonic())
        except TimeoutError:
            raise late() from None

    def _fetch(self, function: Fetch) -> Held:
        with self._inside_function():
            return Held(function())


class AsyncTokenSource(Source):
    """A ``TokenSource`` to await: async functions run in the calling task, others in a thread."""

    _takes_async = True

    # The process and the task that call the function now, and a future that completes when the call
    # ends. The process id matters: nothing in a forked child completes a call that the parent
    # began; and so does the task, which an interrupt may have ended anywhere.
    _turn: tuple[int, Task[object] | None, Future[None]] | None = None

    def __init__(self, core: _core.Client, token: Held) -> None:
        super().__init__(core, token)
        self._changing = ForkLock()

    async def _in_turn(self, is_new: Callable[[], bool], function: Fetch, deadline: float) -> bool:
        from asyncio import shield, wrap_future
        from concurrent.futures import Future

        mine: Future[None] = Future()
        async with _until(deadline):
            while (other := self._changing.holding(lambda: self._take_turn(mine))) is not None:
                # Shielded: cancelling a waiting task must not complete the running call.
                await shield(wrap_future(other))
        try:
            if is_new():
                return True
            with self._failures_counted():
                return self._take(await self._fetch(function, deadline), function)
        finally:
            self._turn = None
            mine.set_result(None)

    def _take_turn(self, mine: Future[None]) -> Future[None] | None:
        from asyncio import current_task

        if self._turn is not None:
            process, task, other = self._turn
            # `asyncio.run` may close its loop with a task unfinished after an interrupt.
            over = task is not None and (task.done() or task.get_loop().is_closed())
            if process == os.getpid() and not over:
                return other
        self._turn = (os.getpid(), current_task(), mine)
        return None

    async def _fetch(self, function: Fetch, deadline: float) -> Held:
        from asyncio import to_thread
        from inspect import isawaitable

        async with _until(deadline):
            with self._inside_function():
                result = function() if is_async(function) else await to_thread(function)
                return Held(await result if isawaitable(result) else result)


@asynccontextmanager
async def _until(deadline: float) -> AsyncIterator[None]:
    from asyncio import timeout

    try:
        async with timeout(deadline - time.monotonic()):
            yield
    except TimeoutError:
        raise late() from None


def token_file(path: str | os.PathLike[str]) -> Callable[[], str]:
    """Returns a token function that reads a file.

    The file is read when a token is needed and again after a refusal, so a job that replaces the
    file each morning is enough. Surrounding white space and a byte order mark are dropped.

    Args:
        path: A UTF-8 text file that contains the token and nothing else.

    Returns:
        A function for ``access_token=``. It raises ``ConfigurationError`` if the file cannot be
        read.

    Example:
        >>> client = td.Client(url, access_token=td.token_file("token.txt"))
    """
    return token_reader(validate.path("path", path))


def token_reader(path: str, *, is_private: bool = False) -> Callable[[], str]:
    """Returns a function that reads a token; an ``is_private`` file must be its owner's alone."""

    def read_token() -> str:
        # Invalid bytes become a character that no token may contain. A UnicodeDecodeError would
        # carry the file's content.
        try:
            with open(path, encoding="utf-8-sig", errors="replace") as file:
                if is_private:
                    require_private(file, path)
                return file.read().strip()
        except OSError as error:
            # The message omits the path: it may be the token itself, passed by mistake.
            raise ConfigurationError(
                f"the token file cannot be read ({error.strerror}): check `access_token_file`, or "
                "the path of td.token_file()"
            ) from error

    return read_token
