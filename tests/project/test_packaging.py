"""What the package says of itself: metadata, bill of materials, notices."""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tradingdata._util.optional_imports import versions

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INSTALLED = importlib.metadata.distribution("tradingdata")


def minors(text: str) -> set[int]:
    """The minor versions of Python 3 that a text names."""
    return {int(minor) for minor in re.findall(r"\b3\.(\d+)", text)}


def installed_file(end: str) -> str:
    """The text of the installed file whose path ends so."""
    found = [path for path in INSTALLED.files or () if str(path).endswith(end)]
    assert len(found) == 1, f"{end}: {found}"
    return found[0].read_text()


def bill_of_materials() -> dict[str, Any]:
    bill: dict[str, Any] = json.loads(installed_file(".dist-info/sboms/tradingdata.cdx.json"))
    return bill


def test_the_classifiers_begin_where_requires_python_begins() -> None:
    project = PROJECT["project"]
    named = minors(" ".join(project["classifiers"]))
    (oldest,) = minors(project["requires-python"])
    assert named == set(range(oldest, max(named) + 1))


def test_the_hosted_builder_builds_what_the_classifiers_name() -> None:
    builds = PROJECT["tool"]["cibuildwheel"]["build"]
    built = {int(minor) for minor in re.findall(r"\bcp3(\d+)-", " ".join(builds))}
    assert built >= minors(" ".join(PROJECT["project"]["classifiers"]))


def test_the_oldest_python_is_the_one_that_the_checkers_assume() -> None:
    (oldest,) = minors(PROJECT["project"]["requires-python"])
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py3{oldest}"
    assert PROJECT["tool"]["mypy"]["python_version"] == f"3.{oldest}"
    assert PROJECT["tool"]["pyright"]["pythonVersion"] == f"3.{oldest}"
    assert sys.version_info >= (3, oldest)


def test_every_part_of_the_extra_all_is_an_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.findall(r"\w+", everything.removeprefix("tradingdata")))
    # s3 ties boto3 to one version; JupyterLab and Dask are as large as all the others together.
    assert named == set(extras) - {"all", "s3", "notebook", "dask"}


def test_extras_are_for_users_and_groups_for_contributors() -> None:
    project, groups = PROJECT["project"], PROJECT["dependency-groups"]
    documented = (ROOT / "docs/how-to/install.md").read_text("utf-8")
    named = set(re.findall(r"`tradingdata\[(\w+)\]`", documented))
    assert set(project["optional-dependencies"]) == named
    assert not set(project["optional-dependencies"]) & set(groups)
    assert PROJECT["tool"]["uv"]["default-groups"] == []


def test_the_bill_of_materials_is_of_this_version() -> None:
    bill = bill_of_materials()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    described = bill["metadata"]["component"]
    assert described["name"] == INSTALLED.metadata["Name"]
    assert described["version"] == INSTALLED.version


def test_show_versions_agrees_with_the_bill_of_materials() -> None:
    parts = {part["name"]: part["version"] for part in bill_of_materials()["components"]}
    assert "pybind11" in parts
    found = versions()
    assert parts == {name: found[name] for name in parts}


def test_every_part_has_a_licence_and_an_address() -> None:
    for part in bill_of_materials()["components"]:
        assert re.fullmatch(r"pkg:[a-z]+/\S+@\S+", part["purl"])
        assert part["licenses"][0]["license"]["id"]


def test_what_is_linked_in_brings_its_notice() -> None:
    for part in bill_of_materials()["components"]:
        notice = installed_file(f"/third-party/{part['name'].lower()}.txt")
        assert "copyright" in notice.lower()


@pytest.mark.parametrize("name", ["simdjson", "doctest"])
def test_what_only_tests_link_is_no_part(name: str) -> None:
    assert name not in {part["name"] for part in bill_of_materials()["components"]}
