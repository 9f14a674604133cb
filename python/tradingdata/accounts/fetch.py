"""Concurrent requests for the books of many accounts, with the failures listed by account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from .._util.optional_imports import progress_bar
from .._util.platform import wait_until
from .._util.stopping import stop_on
from .._util.validate import count, flag, shown
from .._util.warn import warn_user
from ..books.book import OrderBook, TradeBook, concat
from ..client.client import Client
from ..client.profiles import load_profile
from ..client.snapshot import Books
from ..errors import ConfigurationError, DataWarning, TradingDataError
from ..table.export import TableExport

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Sequence

    from ..table.selection import Selection

    Account = Client | str | Mapping[str, Any]
    Accounts = Mapping[str, Account] | Iterable[str]

AnyBooks = TypeVar("AnyBooks", bound=TradeBook | OrderBook | Books)
Fetched = TypeVar("Fetched")
Item = TypeVar("Item")

_NAMED = 3  # number of accounts listed in a message


class AccountBooks(TableExport, Mapping[str, AnyBooks]):
    """The books of several accounts by label, and the errors of those that failed.

    A mapping from the label of an account to its ``TradeBook``, ``OrderBook`` or pair of ``Books``,
    in the order of the accounts, without the accounts that failed: check ``errors``, or call
    ``raise_errors()``, before using totals.

    Exports give one table with the column ``account``, with the same schema even if every
    account failed. Pairs of books are two tables: use ``orders`` and ``trades``.

    Attributes:
        errors: The errors by label; empty if every account has its books.
    """

    def __init__(
        self, kind: type[AnyBooks], books: dict[str, AnyBooks], errors: dict[str, TradingDataError]
    ) -> None:
        self._kind = kind
        self._books = books
        self.errors = errors

    def __getitem__(self, label: str) -> AnyBooks:
        if label in self.errors:
            raise KeyError(f"{label!r} failed, see `.errors`") from self.errors[label]
        return self._books[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._books)

    def __len__(self) -> int:
        return len(self._books)

    @property
    def orders(self: AccountBooks[Books]) -> AccountBooks[OrderBook]:
        """The order books of pairs, with the same errors."""
        books = {label: pair.orders for label, pair in self.items()}
        return AccountBooks(OrderBook, books, self.errors)

    @property
    def trades(self: AccountBooks[Books]) -> AccountBooks[TradeBook]:
        """The trade books of pairs, with the same errors."""
        books = {label: pair.trades for label, pair in self.items()}
        return AccountBooks(TradeBook, books, self.errors)

    def raise_errors(self) -> None:
        """Raises the errors, if any.

        Raises:
            TradingDataError: One account failed.
            ExceptionGroup: Several accounts failed.
        """
        raise_errors(self.errors)

    def _selection(self, columns: Sequence[str] | None = None, *, extra: bool = False) -> Selection:
        if self._kind is Books:
            raise TypeError("each account has a pair of books: use `.orders` or `.trades`")
        kind: Any = self._kind
        books: list[Any] = list(self._books.values()) or [kind()]
        chosen: Selection = concat(books)._selection(columns, extra=extra)
        return chosen

    def __repr__(self) -> str:
        accounts = "1 account" if len(self) == 1 else f"{len(self):,} accounts"
        failed = f", {_failure_text(self.errors)}" if self.errors else ""
        return f"<AccountBooks: {self._kind.__name__} of {accounts}{failed}>"


def trade_books(
    accounts: Accounts,
    *,
    concurrency: int = 8,
    timeout: float | None = None,
    progress: bool = False,
) -> AccountBooks[TradeBook]:
    """Returns the trade books of many accounts, fetched in threads.

    A failing account does not stop the others: its error is in ``errors``, and a ``DataWarning``
    reports it. With several accounts, each needs its own token, because
    ``TRADINGDATA_ACCESS_TOKEN`` would return the books of one account under all labels.

    Args:
        accounts: Names of profiles, or a mapping from a label to the arguments of a ``Client``, to
            the name of a profile, or to a client.
        concurrency: Maximum number of accounts fetched at a time.
        timeout: Seconds for each account.
        progress: Whether to show a progress bar (tqdm).

    Returns:
        The books and the errors by account.

    Raises:
        TypeError: A value does not describe an account.
        ValueError: A name occurs twice.

    Example:
        >>> books = td.trade_books(["desk1", "desk2"])
        >>> books.to_pandas().groupby("account")["trade_value"].sum()
    """
    fetched = _fetch_each(Client.trade_book, accounts, concurrency, timeout, progress)
    return AccountBooks(TradeBook, *fetched)


def order_books(
    accounts: Accounts,
    *,
    concurrency: int = 8,
    timeout: float | None = None,
    progress: bool = False,
) -> AccountBooks[OrderBook]:
    """Returns the order books of many accounts; see ``trade_books``."""
    fetched = _fetch_each(Client.order_book, accounts, concurrency, timeout, progress)
    return AccountBooks(OrderBook, *fetched)


def fetch_books(
    accounts: Accounts,
    *,
    concurrency: int = 8,
    timeout: float | None = None,
    progress: bool = False,
) -> AccountBooks[Books]:
    """Returns the order and trade books of many accounts, those of each account consistent.

    ``Client.books`` for each account, ``concurrency`` at a time; see ``trade_books``.

    Args:
        accounts: Names of profiles, or a mapping from a label to the arguments of a ``Client``, to
            the name of a profile, or to a client.
        concurrency: Maximum number of accounts fetched at a time.
        timeout: Seconds for each account.
        progress: Whether to show a progress bar (tqdm).

    Returns:
        A pair of ``Books`` by account; ``.orders`` and ``.trades`` are the books of one kind. If
        the books of an account remain inconsistent, its error has the latest pair in ``books``.
    """
    fetched = _fetch_each(Client.books, accounts, concurrency, timeout, progress)
    return AccountBooks(Books, *fetched)


def named_accounts(accounts: Any) -> dict[str, Account]:
    """Returns the accounts by label; a list of profiles maps each name to itself."""
    if isinstance(accounts, str) or not isinstance(accounts, Iterable):
        hint = f": use [{accounts!r}]" if isinstance(accounts, str) else ""
        raise TypeError(
            f"accounts must be a list of profiles or a mapping, not {shown(accounts)}{hint}"
        )
    if isinstance(accounts, Mapping):
        named = dict(accounts)
    else:
        names = list(accounts)
        named = dict(zip(names, names, strict=True))
        if len(named) < len(names):
            raise ValueError("accounts names a profile twice")
    for label, account in named.items():
        if not isinstance(label, str) or not label:
            raise TypeError(f"an account's label must be non-empty text, not {shown(label)}")
        if not isinstance(account, (str, Mapping, Client)):
            raise TypeError(
                f"account {label!r} must be the name of a profile, the arguments of a Client or a "
                f"client, not {type(account).__name__}"
            )
    return named


def client_of(label: str, account: Account, *, alone: bool = False) -> Client:
    """Returns the client of an account.

    Raises ConfigurationError if it would take its token from the environment and is not ``alone``.
    """
    if isinstance(account, Client):
        return account
    options = load_profile(account) if isinstance(account, str) else account
    if not alone and options.get("access_token") is None:
        raise ConfigurationError(
            f"account {label!r} has no access token of its own: give each account one, because "
            "TRADINGDATA_ACCESS_TOKEN would return the books of one account for all of them"
        )
    return Client(**{**options, "account": label})


def side_by_side(
    work: Callable[[Item], Fetched], items: Collection[Item], workers: int, progress: bool
) -> Generator[tuple[Item, Fetched], None, None]:
    """Yields each item with what ``work`` returns for it, as it arrives, ``workers`` at a time.

    An interrupt, or the first error, is raised at once, and so is what ends the generator: what
    waits for its turn is not begun, and the calls in progress end within a slice of their wait. The
    threads are daemons, because nothing ends a token function that hangs.
    """
    bar = progress_bar("fetch", "accounts", enabled=flag("progress", progress), total=len(items))
    stop = Event()
    waiting = iter(items)
    taking = Lock()
    done: SimpleQueue[tuple[Item, Any, BaseException | None]] = SimpleQueue()

    def work_on() -> None:
        stop_on(stop)
        while not stop.is_set():
            with taking:
                taken = list(islice(waiting, 1))
            for item in taken:
                try:
                    done.put((item, work(item), None))
                except BaseException as error:
                    done.put((item, None, error))
            if not taken:
                return

    arrived: list[tuple[Item, Any, BaseException | None]] = []

    def arrives(seconds: float) -> bool:
        with suppress(Empty):
            arrived.append(done.get(timeout=seconds))
        return bool(arrived)

    try:
        for number in range(min(workers, len(items))):
            Thread(target=work_on, name=f"tradingdata-account-{number}", daemon=True).start()
        for _ in items:
            wait_until(arrives)
            item, result, error = arrived.pop()
            if error is not None:
                raise error
            bar.update(1)
            yield item, result
    finally:
        stop.set()
        bar.close()


def _fetch_each(
    call: Callable[..., Fetched],
    accounts: Accounts,
    concurrency: int,
    timeout: float | None,
    progress: bool,
) -> tuple[dict[str, Fetched], dict[str, TradingDataError]]:
    """Returns the results of the call by label, and the errors of the accounts that failed."""
    named = named_accounts(accounts)
    workers = count("concurrency", concurrency)

    def fetch(label: str) -> Fetched | TradingDataError:
        account = named[label]
        try:
            client = client_of(label, account, alone=len(named) == 1)
            if client is account:
                return call(client._under(label), timeout=timeout)
            with client:
                return call(client, timeout=timeout)
        except TradingDataError as error:
            error.account = error.account or label
            return error
        except Exception as error:  # e.g. a TypeError for an unknown option of Client
            error.add_note(f"account {label!r}")
            raise

    with closing(side_by_side(fetch, named, workers, progress)) as arrivals:
        arrived = dict(arrivals)
    results = {label: arrived[label] for label in named}
    errors = {label: each for label, each in results.items() if isinstance(each, TradingDataError)}
    if errors:
        warn_user(DataWarning(f"{_failure_text(errors)}; see .errors"))
    fetched = {
        label: each for label, each in results.items() if not isinstance(each, TradingDataError)
    }
    return fetched, errors


def raise_errors(failed: Mapping[str, Exception]) -> None:
    """Raises the errors of accounts, if any: one as it is, several as an ``ExceptionGroup``."""
    errors = list(failed.values())
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(_failure_text(failed), errors)


def _failure_text(errors: Mapping[str, Exception]) -> str:
    named = [f"{label} ({type(errors[label]).__name__})" for label in list(errors)[:_NAMED]]
    if len(errors) > _NAMED:
        named.append(f"{len(errors) - _NAMED} more")
    return f"{len(errors)} {'account' if len(errors) == 1 else 'accounts'} failed: " + ", ".join(
        named
    )
