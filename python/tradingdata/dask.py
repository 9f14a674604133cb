"""The books of many accounts on a Dask cluster: a data frame with one partition an account.

Each account is asked by the worker that makes its partition, when that is computed; to make the
frame asks nothing. No token is in the graph: workers find tokens where the accounts say that they
are, so profiles, files and variables must be there on the workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ._util.optional_imports import require
from .accounts.client_spec import client_of, recipe_of
from .accounts.fetch import named_accounts
from .accounts.labelled_frames import ACCOUNT, Labelled
from .books.book import OrderBook, TradeBook
from .errors import TradingDataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    import dask.dataframe as dd
    import pandas as pd

    from .accounts.client_spec import Recipe
    from .accounts.fetch import Accounts

ERROR = "error"
_KINDS: dict[str, Any] = {"Trade": TradeBook, "Order": OrderBook}


def trade_books(
    accounts: Accounts,
    *,
    columns: Sequence[str] | None = None,
    errors: Literal["raise", "keep"] = "raise",
    timeout: float | None = None,
) -> dd.DataFrame:
    """The trade books of many accounts as a Dask data frame, a partition an account.

    ``accounts`` lists names of profiles, or maps a label to the name of one or to options as a
    profile has them, of which one says where the token is: ``access_token_file``, a path;
    ``access_token_variable``, of the environment; or ``access_token``, a function that can be
    imported. All of these are read on the worker. A literal token is refused, since it would stand
    in the graph and on the dashboard.

    The columns are ``account`` and those of ``to_pandas()``; ``columns`` picks some, and so does a
    computation that needs few. With ``errors="keep"`` an account that fails is a row with its
    ``account`` and a text in the last column, ``error``, and nothing else; with ``"raise"`` its
    error is the computation's. ``timeout`` in seconds is for each account.

    Each call makes a new frame, and computing it twice asks twice: ``persist()`` one that is to
    stay as it is. Raises ConfigurationError for an account whose token cannot be had so, KeyError
    for a column that the record does not have, and ImportError without dask.
    """
    return _frame("Trade", accounts, columns, errors, timeout)


def order_books(
    accounts: Accounts,
    *,
    columns: Sequence[str] | None = None,
    errors: Literal["raise", "keep"] = "raise",
    timeout: float | None = None,
) -> dd.DataFrame:
    """The order books of many accounts as a Dask data frame; see ``trade_books``."""
    return _frame("Order", accounts, columns, errors, timeout)


def _frame(
    record: str,
    accounts: Accounts,
    columns: Sequence[str] | None,
    errors: str,
    timeout: float | None,
) -> dd.DataFrame:
    if errors not in ("raise", "keep"):
        raise ValueError(f"errors is 'raise' or 'keep', not {errors!r}")
    recipes = {label: recipe_of(label, given) for label, given in named_accounts(accounts).items()}
    if not recipes:
        raise ValueError("accounts is empty: a frame has a partition an account")
    frames = require("dask.dataframe", "dask", "tradingdata.dask")
    meta = _rows(record, {}, _with_ours(columns, errors), errors)
    made: dd.DataFrame = frames.from_map(
        _partition,
        list(recipes),
        list(recipes.values()),
        meta=meta,
        label=f"{record.lower()}-books",
        columns=meta.columns.tolist(),
        record=record,
        errors=errors,
        timeout=timeout,
        # Equal names are one result on a cluster: a later call must not be given an earlier answer.
        call=uuid4().hex,
    )
    return made


def _partition(
    label: str,
    recipe: Recipe,
    *,
    columns: list[str],
    record: str,
    errors: str,
    timeout: float | None,
    call: str,
) -> pd.DataFrame:
    """One account's book; ``call`` tells this asking from others."""
    kind = _KINDS[record]
    try:
        with client_of(label, recipe) as client:
            book = client._book(kind, timeout)
    except TradingDataError as error:
        error.account = error.account or label
        if errors == "raise":
            error.add_note(f"account {label!r}")
            raise
        return _failed(_rows(record, {}, columns, errors), label, error)
    return _rows(record, {label: book}, columns, errors)


def _rows(
    record: str, books: dict[str, Any], columns: Sequence[str] | None, errors: str
) -> pd.DataFrame:
    """The rows in the schema of the frame, in the order of ``columns``."""
    pandas = require("pandas", "dask", "tradingdata.dask", major=3)
    wanted = None if columns is None else [name for name in columns if name != ERROR]
    frame = Labelled(_KINDS[record], books).to_pandas(wanted)
    if errors == "keep":
        frame[ERROR] = pandas.Series(index=frame.index, dtype=frame[ACCOUNT].dtype)
    # Dask asks for the columns that a computation needs, which need not be the account.
    return frame if columns is None else frame[list(columns)]


def _with_ours(columns: Sequence[str] | None, errors: str) -> list[str] | None:
    """The columns that the caller wants, with ours before and behind them."""
    if columns is None:
        return None
    fields = [name for name in columns if name not in (ACCOUNT, ERROR)]
    return [ACCOUNT, *fields, *([ERROR] if errors == "keep" else [])]


def _failed(empty: pd.DataFrame, label: str, error: TradingDataError) -> pd.DataFrame:
    """One row that says which account failed, and why."""
    row = empty.reindex([0])
    for name, text in ((ACCOUNT, label), (ERROR, f"{type(error).__name__}: {error}")):
        if name in row:
            row[name] = row[name].astype(empty[name].dtype)
            row.loc[0, name] = text
    return row.reset_index(drop=True)
