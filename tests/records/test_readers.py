"""What other libraries make of each public object: they read all of it, or raise."""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import pickletools
import subprocess
import sys
from pathlib import Path

import pytest

import public_names
from records import readers

SLOW = {"fastapi", "joblib", "dask", "pandas", "polars", "duckdb", "narwhals"}
# What a reader must read of ours; it refuses all else, with its own error.
ROWS = {"pydantic", "fastapi", "msgspec", "cattrs", "pprint", "rich", "copy", "pickle"}
ROWS |= {"joblib", "dask", "pandas", "polars", "dataclasses"}
TABLES = {"pprint", "rich", "copy", "pickle", "joblib", "dask"}
TABLES |= {"pandas", "polars", "pyarrow", "duckdb", "narwhals"}
EXCEPTIONS = {
    ("cattrs", "a row of a query"),  # its generated function has no room for a column `b c`
    # Such a row is also iterable, which pandas takes for a list: `to_pandas()` has the names.
    ("pandas", "a row of a query"),
    ("pandas", "a query's result"),
    # polars converts times of any dataclass to UTC: `to_polars()` keeps the zone.
    ("polars", "Trade in a zone"),
    ("polars", "TradeBook in a zone"),
}


def is_installed(reader: str) -> bool:
    modules = readers.modules_of(reader)
    return all(importlib.util.find_spec(name.partition(".")[0]) for name in modules)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_readers_read_all_or_raise(slow: bool) -> None:
    """In another process, which orjson once ended."""
    names = [name for name in readers.READERS if (name in SLOW) == slow and is_installed(name)]
    command = [sys.executable, str(Path(readers.__file__)), *names]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, f"{done.stdout[-200:]}{done.stderr}"
    wrong = []
    for reader, kind, title, said in map(json.loads, done.stdout.splitlines()):
        needed = (kind == "row" and reader in ROWS) or (kind == "table" and reader in TABLES)
        if (reader, title) in EXCEPTIONS:
            continue
        if said.startswith("Lost") or (needed and said != "read"):
            wrong.append(f"{reader}: {title}: {said}")
    assert not wrong, "\n".join(wrong)


def globals_in(pickled: bytes) -> set[str]:
    """The names that a pickle imports."""
    operations = pickletools.genops(pickled)
    names = {str(value) for operation, value, _ in operations if operation.name == "GLOBAL"}
    return {name.replace(" ", ".") for name in names if name.startswith("tradingdata")}


@pytest.mark.filterwarnings("ignore::tradingdata.DataWarning")
def test_a_pickle_names_one_function_and_public_types_only() -> None:
    """So that every other module can move."""
    public = {"tradingdata._util.declarations.restore", *public_names.exported()}
    refused = {"Client", "RateLimit", "module"}
    for title, value in {**readers.rows(), **readers.tables(), **readers.others()}.items():
        if title not in refused:
            assert globals_in(pickle.dumps(value, 2)) <= public, title
