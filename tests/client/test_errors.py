"""The error tree: as drawn, picklable with all it carries, and every kind of the core's in it."""

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


def drawn_tree() -> dict[str, list[str]]:
    """The tree of the docstring: each class, with its parents."""
    above: list[str] = []
    found: dict[str, list[str]] = {}
    drawing = (errors.__doc__ or "").split("::", 1)[1]
    for line in drawing.splitlines():
        match = re.match(r"^ {4}((?:[| ]  )*)(\+- )?(\w+)(?: \(also (\w+)\))?", line)
        if match is None:
            continue
        depth = len(match[1]) // 3 + (match[2] is not None)
        found[match[3]] = [*(above[depth - 1 : depth] or ["Exception"]), *filter(None, [match[4]])]
        above = [*above[:depth], match[3]]
    return found


def test_the_tree_is_as_it_is_drawn() -> None:
    real = {cls.__name__: [base.__name__ for base in cls.__bases__] for cls in CLASSES}
    assert drawn_tree() == real


def test_every_class_is_exported_and_documented() -> None:
    for cls in CLASSES:
        assert getattr(td, cls.__name__) is cls
        assert cls.__doc__


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


def test_a_data_warning_is_no_error() -> None:
    assert issubclass(td.DataWarning, UserWarning)
    assert not issubclass(td.DataWarning, td.TradingDataError)
