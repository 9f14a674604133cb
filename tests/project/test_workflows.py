"""The hosted workflows run the commands of a contributor, completely."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
RELEASE = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
NOX = (ROOT / "noxfile.py").read_text("utf-8")
TEST = (ROOT / ".ci" / "test").read_text("utf-8")


def array(name: str) -> set[str]:
    """The words of a bash array of `.ci/test`, without other arrays in it."""
    (words,) = re.findall(rf"^{name}=\(([^)]*)\)", TEST, re.MULTILINE)
    return set(re.findall(r"(?<!\S)[a-z]+(?!\S)", words))


def classified() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return set(re.findall(r":: (3\.\d+)", " ".join(project["classifiers"])))


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
    assert sorted(stages) == sorted(array("fast_stages") | array("all_stages"))


def test_ci_tests_each_python_that_the_classifiers_name() -> None:
    (pythons,) = re.findall(r"python: \[(.*)\]", CI)
    assert classified() <= set(re.findall(r"3\.\d+", pythons))


def test_a_release_has_wheels_for_each_python_that_the_classifiers_name() -> None:
    (pythons,) = re.findall(r"uv python install ([\d. t]+)$", RELEASE, re.MULTILINE)
    assert classified() <= set(pythons.split())


def test_a_release_has_wheels_for_each_platform_that_can_be_built() -> None:
    wheels = (ROOT / ".ci/platforms/wheels").read_text("utf-8")
    named = set(re.findall(r"\b(?:glibc|musl)-\w+\b", wheels))
    (built,) = re.findall(r"run: \./\.ci/platforms/wheels (.*)$", RELEASE, re.MULTILINE)
    assert named <= set(built.split())
