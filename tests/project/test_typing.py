"""What the package tells type checkers: it ships types, and the examples in `typing/` hold."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import public_names

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "tests/typing").glob("*.py"))


def checked(*command: object) -> str:
    environment = os.environ | {"MYPYPATH": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_annotations_of_all_that_is_public_can_be_evaluated() -> None:
    """Frameworks and notebooks read them: FastAPI, Typer, pydantic, beartype."""
    unresolved = {}
    names = []
    for name, value in public_names.annotated():
        names.append(name)
        try:
            typing.get_type_hints(value)
        except Exception as error:
            unresolved[name] = repr(error)
    assert not unresolved
    assert {"tradingdata.day_pnl", "tradingdata.Client.__init__"} <= set(names)
    assert {"tradingdata.TradeBook.to_pandas", "tradingdata.types.Watch.__next__"} <= set(names)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["mypy", "pyright"])
def test_the_examples_hold(tool: str, tmp_path: Path) -> None:
    """A wrong type fails, and so does an error that is expected but not found."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    if tool == "mypy":
        report = checked("mypy", "--strict", "--cache-dir", tmp_path, *EXAMPLES)
        assert f"no issues found in {len(EXAMPLES)} source files" in report
    else:
        report = checked("pyright", "--pythonpath", sys.executable, *EXAMPLES)
        assert "0 errors, 0 warnings" in report
