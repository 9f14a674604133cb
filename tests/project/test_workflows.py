"""The hosted workflows run the commands of a contributor, completely."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
NOX = (ROOT / "noxfile.py").read_text("utf-8")
TEST = (ROOT / ".ci" / "test").read_text("utf-8")


def array(name: str) -> set[str]:
    """The words of a bash array of `.ci/test`, without other arrays in it."""
    (words,) = re.findall(rf"^{name}=\(([^)]*)\)", TEST, re.MULTILINE)
    return set(re.findall(r"(?<!\S)[a-z]+(?!\S)", words))


def classified() -> set[str]:
    return set(re.findall(r":: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"])))


def test_the_hooks_use_the_versions_of_the_lock_file() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    locked = tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]
    versions = {package["name"]: package["version"] for package in locked if "version" in package}
    pinned = re.findall(r'"([\w-]+)==([\w.]+)"', hooks)
    assert len(pinned) == hooks.count("- id:")
    assert dict(pinned) == {name: versions[name] for name, _ in pinned}


def test_every_stage_is_a_session_of_nox() -> None:
    sessions = re.findall(r"^@nox.session\ndef (\w+)", NOX, re.MULTILINE)
    stages = array("fast_stages") | array("all_stages") | array("long_stages")
    assert stages <= {*sessions}
    assert array("test_stages") <= stages


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_the_commands_of_a_workflow_exist(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    commands = set(re.findall(r"(?<!\S)(?:\./|python3? )((?:\.ci|tests)/[\w./-]+)", text))
    assert commands
    for command in commands:
        assert (ROOT / command).is_file()
        assert os.access(ROOT / command, os.X_OK) or command.endswith(".py")


def test_ci_runs_every_stage_of_all_once() -> None:
    groups = re.findall(r"^ {10}- ([a-z ]+)$", CI, re.MULTILINE)
    stages = " ".join(groups).split()
    assert sorted(stages) == sorted(array("fast_stages") | array("all_stages") | {"floor"})


def test_ci_tests_each_python_that_the_classifiers_name() -> None:
    (pythons,) = re.findall(r"python: \[(.*)\]", CI)
    assert classified() <= set(re.findall(r"3\.\d+", pythons))


def test_the_tests_of_a_wheel_import_what_is_installed_for_them() -> None:
    """A test that imported DuckDB would have failed the release on every system."""
    group = PROJECT["dependency-groups"]["test-wheel"]
    installed = {re.split(r"[>=]", one)[0].replace("-", "_") for one in group} | {"tradingdata"}
    ours = {path.stem for path in (ROOT / "tests").glob("support/*")} | {"__future__"}
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
