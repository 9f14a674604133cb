"""Accepts one book, or the books of several accounts by label, as input of a calculation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..books.book import OrderBook, TradeBook, concat

AnyBook = TypeVar("AnyBook", OrderBook, TradeBook)
Book_co = TypeVar("Book_co", bound=OrderBook | TradeBook, covariant=True)


class BooksByAccount(Protocol[Book_co]):
    """The books of several accounts, such as ``td.trade_books(...)`` returns."""

    @property
    def books(self) -> Mapping[str, Book_co]:
        """The books by account label."""

    def raise_errors(self) -> None:
        """Raises the errors of the accounts whose book could not be fetched."""


if TYPE_CHECKING:
    Orders = OrderBook | Mapping[str, OrderBook] | BooksByAccount[OrderBook]
    Trades = TradeBook | Mapping[str, TradeBook] | BooksByAccount[TradeBook]


def joined(argument: str, given: object, kind: type[AnyBook]) -> tuple[AnyBook, list[str | None]]:
    """Returns all rows as one book, and the account label of each row.

    A single book has the label of the client that fetched it, if any. The books of several accounts
    are used only if every account has one, because sums without the others would mislead.

    Raises:
        TypeError: If ``given`` is neither a book of that kind nor such books by label.
        TradingDataError: If the book of an account could not be fetched.
    """
    if isinstance(given, kind):
        label = given.response.account if given.response is not None else None
        return given, [label] * len(given)
    if hasattr(given, "raise_errors"):
        given.raise_errors()
        given = getattr(given, "books", None)
    if not isinstance(given, Mapping):
        raise TypeError(_expected(argument, kind, given))
    for label, book in given.items():
        if not isinstance(label, str) or not isinstance(book, kind):
            raise TypeError(_expected(argument, kind, book))
    books: list[Any] = list(given.values())
    labels = [label for label, book in given.items() for _ in range(len(book))]
    return (concat(books) if books else kind()), labels


def _expected(argument: str, kind: type[Any], given: object) -> str:
    return (
        f"{argument} takes a book of type {kind.__name__}, or such books by account label, not "
        f"{type(given).__name__}"
    )
