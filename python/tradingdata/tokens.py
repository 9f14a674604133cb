"""Access tokens that die: where the next one comes from, asked for once however many calls wait."""

from __future__ import annotations

import os
import threading

from .errors import AuthenticationError, ConfigurationError, ServiceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from . import _core

# What says that a token may have died: HTTP 401 or 403, or an envelope that says no.
REFUSALS = (AuthenticationError, ServiceError)

NO_TOKEN = (
    "the books need an access token: pass access_token=, set TRADINGDATA_ACCESS_TOKEN, "
    "or assign client.access_token"
)


def _is_async(function: Callable[..., object]) -> bool:
    from inspect import iscoroutinefunction

    return iscoroutinefunction(function)


class TokenSource:
    """The token of one client: a fixed text, or a function that is asked when one is needed."""

    def __init__(self, core: _core.Client, token: str | Callable[[], str] | None) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._asking: int | None = None  # the thread that runs the function now
        self._generation = 0
        self._function: Callable[[], str] | None = None
        self.assign(token)

    def assign(self, token: str | Callable[[], str] | None) -> None:
        """Replaces the token, or what gives it."""
        if token is not None and not isinstance(token, str) and not callable(token):
            raise ConfigurationError(
                f"access_token is text or a function that returns it, not {type(token).__name__}"
            )
        if callable(token) and _is_async(token):
            raise ConfigurationError(
                "access_token is an async function: that needs AsyncClient; pass a plain function"
            )
        with self._lock:
            self._generation += 1
            self._function = None if isinstance(token, str) else token
            if isinstance(token, str):
                self._core.set_token(token)
            else:
                self._core.clear_token()

    @property
    def known(self) -> bool:
        """Whether there is a token, or a function that gives one."""
        return self._function is not None or self._core.has_token

    def ready(self) -> int:
        """Makes sure that there is a token; returns which one, to be told to ``refresh``."""
        if self._core.has_token:
            return self._generation
        if self._function is None:
            raise ConfigurationError(NO_TOKEN)
        with self._lock:
            if not self._core.has_token:
                self._ask()
            return self._generation

    def refresh(self, generation: int) -> bool:
        """Asks for another token after the one of ``generation`` was refused.

        False where there is no function or it gives the same token again: then the refusal stands.
        """
        if self._function is None:
            return self._generation != generation  # assigned meanwhile
        self._refuse_reentry()
        with self._lock:
            if self._generation != generation:
                return True  # another call has asked meanwhile
            return self._ask()

    def _refuse_reentry(self) -> None:
        if self._asking == threading.get_ident():
            raise ConfigurationError(
                "the access_token function used the client that waits for its token"
            )

    def _ask(self) -> bool:
        function = self._function
        if function is None:
            return False
        self._asking = threading.get_ident()
        try:
            token = function()
        except ConfigurationError:
            raise
        except Exception as error:
            raise AuthenticationError(
                f"the access_token function failed with {type(error).__name__}; see its cause"
            ) from error
        finally:
            self._asking = None
        return self._take(token)

    def _take(self, token: object) -> bool:
        if not isinstance(token, str):
            raise AuthenticationError(
                f"the access_token function returned {type(token).__name__}, not text"
            )
        try:
            changed = self._core.set_token(token)
        except ConfigurationError as error:
            raise AuthenticationError(
                f"the access_token function returned a token that cannot be used: {error}"
            ) from None
        if changed:
            self._generation += 1
        return changed


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
