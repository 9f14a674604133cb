"""Books of many accounts on a Dask cluster: a data frame with one partition per account.

Creating the frame sends no request: the worker that computes a partition fetches its account. The
graph contains no token. Workers look tokens up, so the profiles, files and variables that the
accounts name must exist on the workers.
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

__all__ = ["order_books", "trade_books"]

ERROR = "error"
_KINDS: dict[str, Any] = {"Trade": TradeBook, "Order": OrderBook}


def trade_books(
    accounts: Accounts,
    *,
    columns: Sequence[str] | None = None,
    errors: Literal["raise", "keep"] = "raise",
    timeout: float | None = None,
) -> dd.DataFrame:
    """Returns the trade books of many accounts as a Dask data frame, one partition per account.

    Computing the frame twice fetches twice; use ``persist()`` to keep one state. The columns are
    ``account`` and those of ``TradeBook.to_pandas()``; a computation that needs few columns loads
    only those.

    Args:
        accounts: Names of profiles, or a mapping from a label to the name of a profile or to
            options. The options are those of a profile and must say where to find the token:
            ``access_token_file``, a path; ``access_token_variable``, the name of an environment
            variable; or ``access_token``, an importable function. All three are evaluated on the
            worker. A literal token is refused, because it would appear in the graph and on the
            dashboard.
        columns: The columns to load; all if None.
        errors: ``"raise"`` lets the error of an account fail the computation. ``"keep"`` turns it
            into one row with the ``account`` and a text in an additional last column, ``error``.
        timeout: Seconds for each account.

    Returns:
        A new lazy data frame.

    Raises:
        ConfigurationError: An account contains a token, or does not say where one is.
        KeyError: The record has no such column.
        ImportError: dask is not installed.
    """
    return _frame("Trade", accounts, columns, errors, timeout)


def order_books(
    accounts: Accounts,
    *,
    columns: Sequence[str] | None = None,
    errors: Literal["raise", "keep"] = "raise",
    timeout: float | None = None,
) -> dd.DataFrame:
    """Returns the order books of many accounts as a Dask data frame; see ``trade_books``."""
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
        raise ValueError("accounts is empty: name at least one account, since each is a partition")
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
        # Dask identifies results by name: without this, a later call could return an older result.
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
    """Fetches one account's book; ``call`` only distinguishes this call from others."""
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
    """Returns the rows in the schema of the frame, in the order of ``columns``."""
    pandas = require("pandas", "dask", "tradingdata.dask")
    wanted = None if columns is None else [name for name in columns if name != ERROR]
    frame = Labelled(_KINDS[record], books).to_pandas(wanted)
    if errors == "keep":
        frame[ERROR] = pandas.Series(index=frame.index, dtype=frame[ACCOUNT].dtype)
    # Dask requests the columns that a computation needs, which may not include the account.
    return frame if columns is None else frame[list(columns)]


def _with_ours(columns: Sequence[str] | None, errors: str) -> list[str] | None:
    """Returns the caller's columns between ``account`` and, if kept, ``error``."""
    if columns is None:
        return None
    fields = [name for name in columns if name not in (ACCOUNT, ERROR)]
    return [ACCOUNT, *fields, *([ERROR] if errors == "keep" else [])]


def _failed(empty: pd.DataFrame, label: str, error: TradingDataError) -> pd.DataFrame:
    """Returns one row with the account that failed and its error."""
    row = empty.reindex([0])
    for name, text in ((ACCOUNT, label), (ERROR, f"{type(error).__name__}: {error}")):
        if name in row:
            row[name] = row[name].astype(empty[name].dtype)
            row.loc[0, name] = text
    return row.reset_index(drop=True)


def __dir__() -> list[str]:
    return sorted(__all__)
