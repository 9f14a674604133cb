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
CHECKERS = {"mypy": "python_version", "pyright": "pythonVersion"}
INSTALLED = importlib.metadata.distribution("tradingdata")


def installed_file(end: str) -> str:
    """The text of the installed file whose path ends so."""
    found = [path for path in INSTALLED.files or () if str(path).endswith(end)]
    assert len(found) == 1, f"{end}: {found}"
    return found[0].read_text()


def bill_of_materials() -> dict[str, Any]:
    bill: dict[str, Any] = json.loads(installed_file(".dist-info/sboms/tradingdata.cdx.json"))
    return bill


def test_every_part_of_the_extra_all_is_an_extra() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.findall(r"\w+", everything.removeprefix("tradingdata")))
    # JupyterLab and Dask are as large as all the others together.
    assert named == set(extras) - {"all", "notebook", "dask"}


def test_the_oldest_python_is_the_same_everywhere() -> None:
    project, tools = PROJECT["project"], PROJECT["tool"]
    oldest = project["requires-python"].removeprefix(">=")
    minors = re.findall(r"3\.(\d+)", " ".join(project["classifiers"]))
    assert f"3.{min(map(int, minors))}" == oldest
    assert tools["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert {tools[tool][key] for tool, key in CHECKERS.items()} == {oldest}


def test_the_bill_of_materials_is_of_this_version_and_complete() -> None:
    """`check_wheel.py` compares it to the symbols of a wheel."""
    bill = bill_of_materials()
    described = bill["metadata"]["component"]
    assert (described["name"], described["version"]) == ("tradingdata", INSTALLED.version)
    parts = {part["name"]: part["version"] for part in bill["components"]}
    assert "pybind11" in parts
    found = versions()
    assert parts.keys() - found.keys() <= {"libc++", "libstdc++"}
    assert {name: found[name] for name in parts if name in found}.items() <= parts.items()
    for part in bill["components"]:
        assert re.fullmatch(r"pkg:[a-z]+/\S+@\S+", part["purl"])
        assert part["licenses"][0]["expression"]
        assert part["supplier"]["name"]
        if "shared" not in str(part.get("properties")):  # what is linked in brings its notice
            notice = installed_file(f"/third-party/{part['name'].lower()}.txt")
            assert "copyright" in notice.lower()


def linkage(part: dict[str, Any]) -> str:
    return next((one["value"] for one in part.get("properties", [])), "headers")


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
