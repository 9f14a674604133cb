"""A client of many accounts: the same calls for all of them, side by side, as one book."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import tzinfo
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Self, TypeVar

from ._util.optional_imports import progress_bar
from ._util.validate import NoNewAttributes, NotCopied, count, flag, seconds, shown
from ._util.waiting import Result, stop_on, wait_until
from .books.book import Books, OrderBook, TradeBook, concat
from .client.client import Client
from .client.options import CHECKS, check_names, hidden
from .client.profiles import load_profile
from .client.tokens import Held, hide
from .errors import AccountsError, ClientClosedError, ConfigurationError, TradingDataError

Account = Client | str | Mapping[str, Any]


Item = TypeVar("Item")
FetchedBook = TypeVar("FetchedBook", TradeBook, OrderBook)
Fetched = TypeVar("Fetched", TradeBook, OrderBook, Books)

_NAMED = 3  # number of accounts listed in a message
_MOST_KEPT = 250  # clients; each has a connection open, and a process may often have 1,024 files


class Accounts(NoNewAttributes, NotCopied):
    """A client of many accounts, which calls the service for all of them side by side.

    Each call returns one book with the rows of all accounts, in their order; the field ``account``
    of a row is its label. Two labels of one client are two accounts. An account that fails stops no
    other: ``AccountsError`` has its error, and the book of those that succeeded.

    Each account needs its own token: ``TRADINGDATA_ACCESS_TOKEN`` would return the books of one
    account under all labels. Thread-safe. Clients are created when they are first needed and kept
    until ``close``, unless there are more than 250 accounts: then each call creates and closes its
    own, since each client keeps a connection open. Clients that you pass stay open.

    Args:
        accounts: Names of profiles, or a mapping from a label to the arguments of a ``Client``, to
            the name of a profile, or to a client.
        concurrency: Maximum number of accounts fetched at a time, each in a thread.
        progress: Whether to show a progress bar (tqdm).

    Raises:
        TypeError: A value does not describe an account.
        ConfigurationError: There are no accounts.
        ValueError: A name occurs twice.

    Example:
        >>> with td.Accounts(["desk1", "desk2"]) as accounts:
        ...     trades = accounts.trade_book()
        >>> trades.to_pandas().groupby("account")["trade_value"].sum()
    """

    __module__ = "tradingdata"
    _not_copied = "its tokens must not leave it"
    _set_elsewhere = tuple(CHECKS)

    def __init__(
        self,
        accounts: Mapping[str, Account] | Iterable[str],
        *,
        concurrency: int = 8,
        progress: bool = False,
    ) -> None:
        self._closed = False
        self._accounts: dict[str, Account] = {}
        # Error reporters print the local variables of a traceback.
        hidden_accounts = hide(accounts)
        accounts = ()
        self._accounts = named_accounts(hidden_accounts)
        if not self._accounts:
            raise ConfigurationError(
                "there are no accounts: pass names of profiles, or a mapping from labels to clients"
            )
        self._concurrency = count("concurrency", concurrency)
        self._progress = flag("progress", progress)
        self._clients: dict[str, Client] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the accounts, in order."""
        return tuple(self._accounts)

    @property
    def closed(self) -> bool:
        """Whether ``close`` was called."""
        return self._closed

    def trade_book(self, *, timeout: float | None = None) -> TradeBook:
        """Returns the trades of all accounts; see ``Client.trade_book``.

        Args:
            timeout: Seconds for each account; replaces that of its client.

        Returns:
            A ``TradeBook`` with the rows of all accounts, in their order.

        Raises:
            AccountsError: The book of an account could not be fetched. ``received`` is the book of
                the others, and ``errors`` has the errors by label.
        """
        book: TradeBook = self._fetched(Client.trade_book, timeout, partial(_joined, TradeBook))
        return book

    def order_book(self, *, timeout: float | None = None) -> OrderBook:
        """Returns the orders of all accounts; see ``trade_book``."""
        book: OrderBook = self._fetched(Client.order_book, timeout, partial(_joined, OrderBook))
        return book

    def books(self, *, timeout: float | None = None) -> Books:
        """Returns the orders and trades of all accounts, those of each account consistent.

        Args:
            timeout: Seconds for all requests of an account together.

        Returns:
            ``(orders, trades)``, a ``Books``.

        Raises:
            AccountsError: As in ``trade_book``; ``received`` is a pair. If the books of an account
                remain inconsistent, its error has the latest pair in ``books``.
        """
        return self._fetched(Client.books, timeout, _joined_pairs)

    def close(self) -> None:
        """Closes the clients that it created. Safe to call more than once."""
        self._closed = True
        for client in list(self._clients.values()):
            client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._accounts)

    def __repr__(self) -> str:
        accounts = "1 account" if len(self) == 1 else f"{len(self):,} accounts"
        return f"<Accounts: {accounts}{', closed' if self._closed else ''}>"

    def _not_assignable(self, name: str) -> str:
        if name in CHECKS:
            return f"{name} is an option of a client: write it in the options of each account"
        if name in ("accounts", "concurrency", "progress"):
            return f"{name} is set when an Accounts is created: pass it to Accounts"
        return super()._not_assignable(name)

    def _check_open(self) -> None:
        if self._closed:
            raise ClientClosedError("the accounts are closed: make a new Accounts")

    def _fetched(
        self,
        call: Callable[..., Fetched],
        timeout: float | None,
        join: Callable[[list[Fetched]], Fetched],
    ) -> Fetched:
        """Returns the results of a call as one; raises if it failed for an account."""
        limit = None if timeout is None else seconds("timeout", timeout)
        self._check_open()

        def fetch(label: str) -> Fetched | TradingDataError:
            try:
                with self._client(label) as client:
                    return call(client, timeout=limit)
            except TradingDataError as error:
                error.account = error.account or label
                return error
            except Exception as error:  # such as a TypeError for the value of an option
                error.add_note(f"account {label!r}")
                raise

        with closing(
            side_by_side(fetch, self._accounts, self._concurrency, self._progress)
        ) as arrivals:
            arrived = dict(arrivals)
        fetched: list[Fetched] = []
        errors: dict[str, Exception] = {}
        for label in self._accounts:
            outcome = arrived[label]
            if isinstance(outcome, TradingDataError):
                errors[label] = outcome
            elif fetched and (own := _zone_of(outcome)) != (zone := _zone_of(fetched[0])):
                # Times in different zones cannot be in one book.
                errors[label] = ConfigurationError(
                    f"its times are in {own}, and those of other accounts in {zone}: give all the "
                    "same `tz`",
                    account=label,
                )
            else:
                fetched.append(outcome)
        received = join(fetched)
        if errors:
            raise accounts_error(errors, received)
        return received

    @contextmanager
    def _client(self, label: str) -> Iterator[Client]:
        """Yields the client of an account, under its label."""
        account = self._accounts[label]
        client = account if isinstance(account, Client) else self._clients.get(label)
        new = self._make(label) if client is None else None
        if new is not None and len(self) <= _MOST_KEPT:
            client = self._clients.setdefault(label, new)
            if client is not new or self._closed:  # another thread was faster
                new.close()
        if client is not None:
            yield client._under(label)
        elif new is not None:
            with new:
                yield new._under(label)

    def _make(self, label: str) -> Client:
        return client_of(label, self._accounts[label], alone=len(self) == 1)


def _joined(kind: type[FetchedBook], books: Collection[FetchedBook]) -> FetchedBook:
    return concat(books) if books else kind()


def _joined_pairs(pairs: list[Books]) -> Books:
    orders, trades = zip(*pairs, strict=True) if pairs else ((), ())
    return Books(_joined(OrderBook, orders), _joined(TradeBook, trades))


def _zone_of(fetched: TradeBook | OrderBook | Books) -> tzinfo | None:
    return (fetched.trades if isinstance(fetched, Books) else fetched)._rows.zone


def named_accounts(accounts: Held) -> dict[str, Account]:
    """Returns the accounts by label; a list of profiles maps each name to itself."""
    if isinstance(accounts.value, str) or not isinstance(accounts.value, Iterable):
        hint = f": use [{accounts.value!r}]" if isinstance(accounts.value, str) else ""
        raise TypeError(
            f"accounts must be a list of profiles or a mapping, not {shown(accounts.value)}{hint}"
        )
    if isinstance(accounts.value, Mapping):
        named = {label: _hidden(account) for label, account in accounts.value.items()}
    else:
        names = [_hidden(name) for name in accounts.value]
        if any(isinstance(name, dict) for name in names):
            raise TypeError("accounts by label are a mapping: pass {label: profile or options}")
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
        if isinstance(account, Mapping):
            check_names(f"account {label!r}: Client", account)
    return named


def _hidden(account: Any) -> Any:
    return hidden(account) if isinstance(account, Mapping) else account


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
    work: Callable[[Item], Result], items: Collection[Item], workers: int, progress: bool
) -> Generator[tuple[Item, Result], None, None]:
    """Yields each item with what ``work`` returns for it, as it arrives, ``workers`` at a time.

    An interrupt, or the first error, is raised at once, and so is what ends the generator: what
    waits for its turn is not begun, and the calls in progress end within a slice of their wait. The
    threads are daemons, because nothing ends a token function that hangs.
    """
    bar = progress_bar("fetch", "accounts", enabled=flag("progress", progress), total=len(items))
    stop = Event()
    waiting = iter(items)
    taking = Lock()
    done: SimpleQueue[tuple[Item, Result] | BaseException] = SimpleQueue()

    def work_on() -> None:
        stop_on(stop)
        while not stop.is_set():
            with taking:
                taken = list(islice(waiting, 1))
            for item in taken:
                try:
                    done.put((item, work(item)))
                except BaseException as error:
                    done.put(error)
                    stop.set()  # at once: the caller may not look before the next item is taken
            if not taken:
                return

    arrived: list[tuple[Item, Result] | BaseException] = []

    def arrives(seconds: float) -> bool:
        with suppress(Empty):
            arrived.append(done.get(timeout=seconds))
        return bool(arrived)

    try:
        for number in range(min(workers, len(items))):
            Thread(target=work_on, name=f"tradingdata-account-{number}", daemon=True).start()
        for _ in items:
            wait_until(arrives)
            arrival = arrived.pop()
            if isinstance(arrival, BaseException):
                raise arrival
            bar.update(1)
            yield arrival
    finally:
        stop.set()
        bar.close()


def accounts_error(errors: Mapping[str, Exception], received: object) -> AccountsError:
    """Returns the error of a call that failed for some accounts."""
    named = [f"{label} ({type(errors[label]).__name__})" for label in list(errors)[:_NAMED]]
    if len(errors) > _NAMED:
        named.append(f"{len(errors) - _NAMED} more")
    accounts = "account" if len(errors) == 1 else "accounts"
    return AccountsError(
        f"{len(errors)} {accounts} failed: {', '.join(named)}: `errors` has them by label, and "
        "`received` what the other accounts returned",
        errors=dict(errors),
        received=received,
        retryable=all(getattr(error, "retryable", False) for error in errors.values()),
        passing=all(getattr(error, "passing", False) for error in errors.values()),
    )
