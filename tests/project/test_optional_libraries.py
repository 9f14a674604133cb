"""Optional libraries: their oldest versions, and the extras that install them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tradingdata._util.optional_imports import MINIMUM

ROOT = Path(__file__).parents[2]


def extras() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return found


def test_the_oldest_versions_are_those_that_the_extras_require() -> None:
    required = {
        name.partition("[")[0]: least
        for lines in extras().values()
        for name, separator, least in (line.partition(">=") for line in lines)
        if separator
    }
    assert {name: required.get(name) for name in MINIMUM} == MINIMUM


def test_each_extra_that_an_error_names_exists() -> None:
    code = "\n".join(
        path.read_text("utf-8") for path in (ROOT / "python/tradingdata").rglob("*.py")
    )
    named = re.findall(r'require\(\s*"[\w.]+",\s*"(\w+)"', code)
    assert len(named) >= 10
    assert set(named) <= set(extras())


WITHOUT = """
import sys
for name in %r:
    sys.modules[name] = None  # importing it says that it is not installed
import io, pydoc, typing
from contextlib import redirect_stdout
from tradingdata import *
import tradingdata as td
import tradingdata.archive, tradingdata.dask, tradingdata.plot, tradingdata.types
assert all(hasattr(td, name) for name in td.__all__)
with redirect_stdout(io.StringIO()) as text:
    help(td)
    help(td.Archive)
assert "tradingdata[archive]" in text.getvalue()
assert td.realised_pnl(td.TradeBook([])).to_dicts() == td.positions(td.TradeBook([])).to_dicts()
assert typing.get_type_hints(td.TradeBook.to_pandas)["return"] is typing.Any
for call in (
    lambda: td.Archive("books"),
    lambda: td.dask.fetch(["a"], None),
    lambda: td.plot.blotter(td.TradeBook([])),
    lambda: td.TradeBook([]).to_pandas(),
    lambda: td.TradeBook([]).to_excel("x.xlsx"),
):
    try:
        call()
    except ImportError as error:
        print(error)
"""


def test_a_base_installation_imports_and_describes_everything(tmp_path: Path) -> None:
    script = WITHOUT % ([*MINIMUM, "numpy", "arro3", "certifi", "tqdm"],)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    extras = re.findall(r"not installed: pip install 'tradingdata\[(\w+)\]'", done.stdout)
    assert extras == ["archive", "dask", "plot", "pandas", "excel"]
