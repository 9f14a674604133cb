"""What completion offers, and what is suggested for a misspelt name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import public_names
import tradingdata as td
from tradingdata import _core, analysis, dask, errors, sandbox, types

TYPES = ("name", "book")  # of a record, which a directive of the reference documents
BOOK = td.TradeBook([td.Trade(quantity=5, symbol="INFY"), td.Trade(quantity=7, symbol="TCS")])


@pytest.mark.parametrize(
    "module", [td, analysis, sandbox, dask, types], ids=lambda module: module.__name__
)
def test_completion_offers_the_public_names_only(module: Any) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in dir(module))


def test_a_public_type_names_the_module_that_exports_it() -> None:
    exported = public_names.exported()
    for name, value in public_names.public_types().items():
        said = f"{value.__module__}.{value.__qualname__}"
        assert exported.get(said) is value, f"{name} says {said}"


@pytest.mark.parametrize("module", ["accounts.Accounts", "archive.archive.Archive"])
def test_a_type_imported_on_first_use_says_so_from_the_start(module: str) -> None:
    path, _, name = f"tradingdata.{module}".rpartition(".")
    code = f"from {path} import {name}; print({name}.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "tradingdata\n"


def documented() -> set[str]:
    """The names that the reference documents, as it spells them."""
    pages = (Path(__file__).parents[2] / "docs/reference").rglob("*.md")
    entry = re.compile(r"^\.\. auto(?:class|function|exception|module|data)::\s*(\S+)", re.M)
    return {name for page in pages for name in entry.findall(page.read_text())}


def test_every_public_name_has_an_entry_in_the_reference() -> None:
    entries = documented()
    entries |= {f"tradingdata.{name}" for name in vars(errors)}  # ``automodule`` with members
    declared: Any = _core.records()
    entries |= {f"tradingdata.{record[key]}" for record in declared for key in TYPES}
    entries |= {name.rpartition(".")[0] for name in entries}
    missing = [
        f"{module.__name__}.{name}"
        for module in (td, analysis, sandbox, types)
        for name in module.__all__
        if name[:2] != "__" and not {f"{module.__name__}.{name}", f"tradingdata.{name}"} & entries
    ]
    assert not missing, f"add an `autoclass` or `autofunction` to docs/reference: {missing}"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("td.realized_pnl", "realised_pnl"), ("td.TradeBook().to_panda", "to_pandas")],
)
def test_python_suggests_the_name_that_was_misspelt(wrong: str, right: str) -> None:
    command = [sys.executable, "-c", f"import tradingdata as td; {wrong}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"Did you mean: '{right}'?" in done.stderr


def test_required_returns_the_value_or_raises() -> None:
    assert td.required(BOOK[0].quantity) == 5
    assert td.required(0.0) == 0.0
    assert td.required("") == ""
    with pytest.raises(ValueError, match=r"missing \(None\): `issues`"):
        td.required(BOOK[0].traded_price)
