"""Client recipes: plain values without secrets, from which a Dask worker creates a client.

A recipe is part of the task graph, which schedulers store and display. It therefore never contains
a token, only where to find one (a profile, a file, a variable or a function).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from operator import attrgetter
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..client.client import Client
from ..client.profiles import check_options, load_profile
from ..client.tokens import token_file
from ..errors import ConfigurationError
from .fetch import require_token

if TYPE_CHECKING:
    from collections.abc import Callable

    Recipe = dict[str, Any]

_FILE, _VARIABLE, _FUNCTION = "access_token_file", "access_token_variable", "access_token_function"
_SOURCES = (
    "name a profile, or pass access_token_file= (a path), access_token_variable= (the name of an "
    "environment variable) or access_token= (an importable function), which the worker evaluates"
)


def recipe_of(label: str, account: object) -> Recipe:
    """Returns the recipe of an account.

    Raises ConfigurationError if it would contain a secret, or does not say where a token is.
    """
    if isinstance(account, str):
        return {"profile": account}
    if not isinstance(account, Mapping):
        raise ConfigurationError(
            f"account {label!r} is a {type(account).__name__}, which cannot leave this process: "
            f"{_SOURCES}"
        )
    options = dict(account)
    token = options.pop("access_token", None)
    variable = options.pop(_VARIABLE, None)
    if isinstance(token, str):
        raise ConfigurationError(
            f"account {label!r} contains its access token, which would appear in the task graph "
            f"and on the dashboard: {_SOURCES}"
        )
    check_options(f"account {label!r}", options)
    for name in ("base_url", "proxy"):
        _refuse_password(label, name, options.get(name, ""))
    sources = {_FILE: options.pop(_FILE, None), _VARIABLE: variable}
    sources[_FUNCTION] = None if token is None else _reference(label, token)
    given = {name: source for name, source in sources.items() if source is not None}
    if len(given) != 1:
        named = " and ".join(given) if given else "no access token of its own"
        raise ConfigurationError(f"account {label!r} has {named}: {_SOURCES}")
    if variable is not None and not (isinstance(variable, str) and variable.isidentifier()):
        # The message omits the value: it may be a token, passed instead of the variable's name.
        raise ConfigurationError(
            f"account {label!r}: {_VARIABLE} must be the name of an environment variable"
        )
    return {"options": {**options, "account": label}, **given}


def _refuse_password(label: str, name: str, url: str) -> None:
    try:
        holds = "@" in urlsplit(url).netloc
    except ValueError:
        return  # creating the client reports what is wrong with it
    if holds:
        raise ConfigurationError(
            f"account {label!r}: {name} contains a password, which would appear in the task graph: "
            "put it into a profile"
        )


def _reference(label: str, function: object) -> str:
    """Returns ``module:name`` of a function, which is passed to workers by name, never by value."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if callable(function) and module != "__main__" and module and name:
        with suppress(AttributeError, KeyError):
            if attrgetter(name)(sys.modules[module]) is function:
                return f"{module}:{name}"
    raise ConfigurationError(
        f"account {label!r}: its access_token function cannot be imported by name, and pickling it "
        f"would copy the values it refers to: define it in a module; or {_SOURCES}"
    )


def client_of(label: str, recipe: Recipe) -> Client:
    """Creates the client and looks up its token in this process. Raises ConfigurationError."""
    if "profile" in recipe:
        options = load_profile(recipe["profile"])
        require_token(label, options)
        return Client(**{**options, "account": label})
    return Client(**recipe["options"], access_token=_token(label, recipe))


def _token(label: str, recipe: Recipe) -> Callable[[], str]:
    if _FILE in recipe:
        return token_file(recipe[_FILE])
    if _FUNCTION in recipe:
        try:
            function: Callable[[], str] = resolve_name(recipe[_FUNCTION])
        except (ImportError, AttributeError) as error:
            raise ConfigurationError(
                f"account {label!r}: its access_token function {recipe[_FUNCTION]} cannot be "
                f"imported here: {error}"
            ) from None
        return function
    variable = recipe[_VARIABLE]

    def read_variable() -> str:
        try:
            return os.environ[variable]
        except KeyError:
            raise ConfigurationError(
                f"{variable} is not set in this worker's environment: set it before starting the "
                "worker"
            ) from None

    return read_variable
