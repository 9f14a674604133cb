"""The error tree: picklable with all it carries, and every kind of the core's in it."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from pathlib import Path

import pytest

import tradingdata as td
from service import as_json, stocks
from tradingdata import _core, errors

HEADER = Path(__file__).parents[2] / "cpp/src/base/error.hpp"
CLASSES = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value) and issubclass(value, td.TradingDataError)
]
# Raised in Python only.
BY_PYTHON = {
    "PaginationError",
    "TradingDataError",
    "AccountsError",
    "StockNotFoundError",
    "ArchiveError",
    "BooksDisagreeError",
}
DETAILS = {
    "status_code": 429,
    "account": "desk1",
    "attempts": 3,
    "elapsed": 1.5,
    "retryable": True,
    "passing": True,
    "body": "slow down",
    "service_message": "Too many requests",
    "retry_after": 2.5,
    "offset": 17,
    "path": "$.data[3]",
    "page": 7,
}


def test_every_kind_of_the_core_has_a_class_and_every_class_a_source() -> None:
    enumeration = re.search(r"enum class ErrorKind[^{]*\{(.*?)\};", HEADER.read_text(), re.DOTALL)
    assert enumeration is not None
    kinds = re.findall(r"^\s*(\w+),", enumeration[1], re.MULTILINE)
    raised = _core.error_classes()
    assert len(raised) == len(kinds)
    assert {cls.__name__ for cls in CLASSES} == {*raised} | BY_PYTHON


@pytest.mark.parametrize("cls", CLASSES)
def test_an_error_keeps_all_it_carries(cls: type[td.TradingDataError]) -> None:
    error = cls("it failed", **DETAILS)
    error.received = td.StockList.from_json(as_json(stocks(2)))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is cls
        assert str(again) == str(error) == "it failed"
        assert vars(again) == vars(error)
        assert {name: getattr(again, name) for name in DETAILS} == DETAILS
    assert vars(copy.copy(error)) == vars(error)


@pytest.mark.parametrize("cls", CLASSES)
def test_what_is_not_known_has_a_default(cls: type[td.TradingDataError]) -> None:
    error = cls()
    assert (error.status_code, error.attempts, error.retryable, error.body) == (None, 0, False, "")
    assert error.received is None


def test_what_may_be_tried_again_may_pass() -> None:
    assert td.ServerError("down", retryable=True).passing
    assert not td.ServerError("down").passing
    assert not td.DeadlineError("late", passing=True).retryable
