"""The hosted workflows run the commands of a contributor, completely."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TEST = (ROOT / ".ci" / "test").read_text("utf-8")


def array(name: str) -> set[str]:
    """The words of a bash array of `.ci/test`, without other arrays in it."""
    (words,) = re.findall(rf"^{name}=\(([^)]*)\)", TEST, re.MULTILINE)
    return set(re.findall(r"(?<!\S)[a-z]+(?!\S)", words))


def test_ci_runs_every_stage_of_all_once() -> None:
    groups = re.findall(r"^ {10}- ([a-z ]+)$", CI, re.MULTILINE)
    stages = " ".join(groups).split()
    assert sorted(stages) == sorted(array("fast_stages") | array("all_stages") | {"floor"})


def test_the_tests_of_a_wheel_import_what_is_installed_for_them() -> None:
    """A test that imported DuckDB would have failed the release on every system."""
    group = PROJECT["dependency-groups"]["test-wheel"]
    installed = {re.split(r"[>=]", one)[0].replace("-", "_") for one in group} | {"tradingdata"}
    helpers = [*(ROOT / "tests").glob("support/*"), *(ROOT / "tests").glob("*/")]
    ours = {path.stem for path in helpers} | {"__future__"}
    named = re.findall(
        r"\{project\}/(\S+)", " ".join(PROJECT["tool"]["cibuildwheel"]["test-command"])
    )
    paths = [path for name in named for path in [ROOT / name, *(ROOT / name).glob("test_*.py")]]
    files = [path for path in paths if path.is_file()]
    assert len(files) > 10
    for path in files:
        for node in ast.parse(path.read_text("utf-8")).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            foreign = {name.split(".")[0] for name in names} - sys.stdlib_module_names
            assert foreign <= installed | ours, path
