"""Exports of an async search: the methods of ``StockList``, awaited after reading all pages."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from ..books.book import StockList
from ..export.book_selection import checked_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Options = ParamSpec("Options")
    Result = TypeVar("Result")

    class _AsyncReadable(Protocol):
        async def all(self) -> StockList: ...


def of_all_async(
    export: Callable[Concatenate[StockList, Options], Result],
) -> Callable[Concatenate[_AsyncReadable, Options], Coroutine[Any, Any, Result]]:
    """Returns the method of an async pager that exports all stocks of its search."""

    @wraps(export)
    async def run(
        pager: _AsyncReadable, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Result:
        from inspect import signature

        given = signature(export).bind(StockList(), *args, **kwargs).arguments
        checked_columns("Stock", given.get("columns"))
        return export(await pager.all(), *args, **kwargs)

    run.__doc__ = (
        f"Reads all pages of the search and exports them; see ``StockList.{export.__name__}``.\n\n"
        "Invalid arguments raise before the first request."
    )
    return run
