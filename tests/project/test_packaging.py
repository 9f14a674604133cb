"""What the package says of itself: metadata, bill of materials, notices."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

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
    # JupyterLab and Dask are as large as all the others together.
    assert named == set(extras) - {"all", "notebook", "dask"}


def test_the_bill_of_materials_is_of_this_version() -> None:
    bill = bill_of_materials()
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    described = bill["metadata"]["component"]
    assert described["name"] == INSTALLED.metadata["Name"]
    assert described["version"] == INSTALLED.version


def linkage(part: dict[str, Any]) -> str:
    return next((one["value"] for one in part.get("properties", [])), "headers")


def test_show_versions_agrees_with_the_bill_of_materials() -> None:
    parts = {part["name"]: part["version"] for part in bill_of_materials()["components"]}
    assert "pybind11" in parts
    found = versions()
    assert parts.keys() - found.keys() <= {"libc++", "libstdc++"}
    assert {name: found[name] for name in parts if name in found}.items() <= parts.items()


def test_every_part_has_a_supplier_a_licence_and_an_address() -> None:
    bill = bill_of_materials()
    for part in bill["components"]:
        assert re.fullmatch(r"pkg:[a-z]+/\S+@\S+", part["purl"])
        assert part["licenses"][0]["expression"]
        assert part["supplier"]["name"]
    every = {part["bom-ref"] for part in [*bill["components"], bill["metadata"]["component"]]}
    assert {one["ref"] for one in bill["dependencies"]} == every
    assert {ref for one in bill["dependencies"] for ref in one["dependsOn"]} < every


def test_what_is_linked_in_brings_its_notice() -> None:
    for part in bill_of_materials()["components"]:
        if linkage(part) != "shared":
            notice = installed_file(f"/third-party/{part['name'].lower()}.txt")
            assert "copyright" in notice.lower()


def test_what_a_wheel_contains_is_in_its_bill(tmp_path: Path) -> None:
    """As of a wheel with the pinned libraries; `check_wheel.py` compares real ones to `nm`."""
    pins = tomllib.loads((ROOT / ".ci/platforms/libraries.toml").read_text("utf-8"))
    parts = [pin | {"name": name, "ends": None} for name, pin in pins.items() if name != "zlib"]
    (tmp_path / "parts.json").write_text(json.dumps(parts))
    script = str(ROOT / ".ci/bill.py")
    command = [sys.executable, script, "1.2.3", "3.0.0", str(tmp_path), "c++"]
    bill = json.loads(subprocess.check_output(command))
    listed = {part["name"]: part for part in bill["components"]}
    assert {name for name, part in listed.items() if linkage(part) == "static"} == {*pins} - {
        "zlib"
    }
    for name in {*pins} - {"zlib"}:
        (release,) = listed[name]["externalReferences"]
        assert release["hashes"] == [{"alg": "SHA-256", "content": pins[name]["sha256"]}]
    needs = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    assert needs[listed["libcurl"]["bom-ref"]] == [listed["OpenSSL"]["bom-ref"]]
    assert len(needs["pkg:pypi/tradingdata@1.2.3"]) == len(listed)
