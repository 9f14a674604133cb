"""Exports of a search: the methods of ``StockList``, each of which reads all pages first."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from ..books.book import StockList
from ..export.book_selection import checked_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Options = ParamSpec("Options")
    Result = TypeVar("Result")

    class _Readable(Protocol):
        def all(self) -> StockList: ...

    class _AsyncReadable(Protocol):
        async def all(self) -> StockList: ...


def of_all(
    export: Callable[Concatenate[StockList, Options], Result],
) -> Callable[Concatenate[_Readable, Options], Result]:
    """Returns the method of a pager that exports all stocks of its search."""

    @wraps(export)
    def run(pager: _Readable, /, *args: Options.args, **kwargs: Options.kwargs) -> Result:
        _check(export, args, kwargs)
        return export(pager.all(), *args, **kwargs)

    _describe(run)
    return run


def of_all_async(
    export: Callable[Concatenate[StockList, Options], Result],
) -> Callable[Concatenate[_AsyncReadable, Options], Coroutine[Any, Any, Result]]:
    """Returns the async variant of that method."""

    @wraps(export)
    async def run(
        pager: _AsyncReadable, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Result:
        _check(export, args, kwargs)
        return export(await pager.all(), *args, **kwargs)

    _describe(run)
    return run


def _check(export: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Raises for invalid arguments, before the first request."""
    from inspect import signature

    given = signature(export).bind(StockList(), *args, **kwargs).arguments
    checked_columns("Stock", given.get("columns"))


def _describe(method: Any) -> None:
    method.__doc__ = (
        f"Reads all pages of the search and exports them; see ``StockList.{method.__name__}``.\n\n"
        "Invalid arguments raise before the first request."
    )
