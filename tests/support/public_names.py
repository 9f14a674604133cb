"""The public objects of the package, found by its lists of exports."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import tradingdata as td
from tradingdata import analysis, archive, dask, errors, sandbox, types

MODULES: tuple[Any, ...] = (td, analysis, archive, dask, errors, sandbox, td.plot, types)


def exported() -> dict[str, Any]:
    """Every public name, as users import it, and what it names."""
    return {
        f"{module.__name__}.{name}": getattr(module, name)
        for module in MODULES
        for name in module.__all__
    }


def public_types() -> dict[str, type[Any]]:
    return {name: value for name, value in exported().items() if inspect.isclass(value)}


def annotated() -> Iterator[tuple[str, Callable[..., Any] | type[Any]]]:
    """Every public function and type, and every method that a user may call."""
    for name, value in exported().items():
        if inspect.isfunction(value):
            yield name, value
        if inspect.isclass(value):
            yield name, value
            for member in (name for name in dir(value) if not re.match("_(?!_)", name)):
                found = inspect.getattr_static(value, member)
                found = getattr(found, "fget", getattr(found, "__func__", found))
                if inspect.isfunction(found) and found.__module__.startswith("tradingdata"):
                    yield f"{name}.{member}", found
